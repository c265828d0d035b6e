"""A comparison on a terminal: rich draws the tables, in colour if the terminal has it, in plain text into a pipe.

All text goes through `_text`, because names of runs, parameters and their values come from outside.
"""

from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..values.printable import printable
from .comparison import Comparison, Comparisons
from .wording import cells, describe, heading, level, sentence

_COLOURS = {"better": "bold green", "worse": "bold red", "no difference shown": "bold", "not judged": "bold yellow"}

_WIDEST = 1000


def terminal(found: Comparisons) -> str:
    """The whole comparison."""
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as shown:  # rich itself would end the process when the reader has
        _print(found, console)
    return shown.get()


def _print(found: Comparisons, console: Console) -> None:
    console.print(_text("base   ", "dim") + _text(describe(found.base), "bold"))
    for comparison in found.others:
        console.print(_text("other  ", "dim") + _text(describe(comparison.other), "bold"))
        console.print()
        for verdict in comparison.verdicts:
            console.print(_text(sentence(verdict, found.roles, found.each), _COLOURS[verdict.word]))
        console.print()
        _print_figures(console, _table(found, comparison))
        console.print()
        if comparison.parameters:
            console.print(_parameters(comparison))
            console.print()
        for finding in comparison.findings:
            console.print(_text(f"! {finding.text}", "yellow"))
        if comparison.findings:
            console.print()


def _print_figures(console: Console, table: Table) -> None:
    """Print the table of figures, wider than a narrow terminal if need be: a figure must not lose digits."""
    width = console.width
    console.width = max(width, Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum)
    console.print(table)
    console.width = width


def _table(found: Comparisons, comparison: Comparison) -> Table:
    table = _new_table()
    table.add_column("", no_wrap=True)
    for name in ("base", "other", "change", f"{level(found.each)} interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("better")
    for group, rows in groupby(comparison.rows, lambda row: row.group):
        if heading(group):
            table.add_section()
            table.add_row(_text(heading(group), "bold"))
        for row in rows:
            verdict = comparison.verdict(row)
            table.add_row(
                *map(_text, cells(row, found.roles, found.warmup)), style=_COLOURS[verdict.word] if verdict else ""
            )
    return table


def _parameters(comparison: Comparison) -> Table:
    table = _new_table()
    table.add_column("differs", overflow="fold", no_wrap=True)
    for name in ("base", "other"):
        table.add_column(name, overflow="fold")
    for one in comparison.parameters:
        mark = "" if one.intended else "! "
        texts = (f"{mark}{one.name}", one.base or "-", one.other or "-")
        table.add_row(*map(_text, texts), style="" if one.intended else "bold red")
    return table


def _text(content: str, style: str = "") -> Text:
    return Text(printable(content), style)


def _new_table() -> Table:
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
