"""A comparison as blocks: both sides, verdicts, figures, numbers of parts, parameters that differ, and warnings."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..show.content import Block, Column, Heading, Sentence, Table, TableRow, Tone, table
from .changes import Row
from .comparison import Comparison, Comparisons
from .wording import describe, figure, heading, interval, level, percent, row_title, sentence

_MOST_PARTS = 12
_TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "strong",
    "not judged": "unclear",
    "": "",
}
_MARKS: dict[str, Tone] = {"better": "good", "worse": "bad", "unclear": "dim"}


def blocks(found: Comparisons) -> Iterator[Block]:
    """The whole comparison, each of the others after a heading. A warning that several of them share stands once."""
    warnings: set[str] = set()
    for one in found.others:
        yield Heading(f"{one.other.name} against {found.base.name}")
        yield Sentence(f"base: {describe(found.base)}", "dim")
        yield Sentence(f"other: {describe(one.other)}", "dim")
        for row in one.verdicts:
            yield Sentence(sentence(row, found.roles, found.each), _TONES[row.verdict or ""])
        yield _figures(found, one)
        if one.parts:
            yield _parts(one)
        if one.parameters:
            yield _parameters(one)
        new = [finding.text for finding in one.findings if finding.text not in warnings]
        warnings.update(new)
        yield from (Sentence(text, "warning") for text in new)


def _figures(found: Comparisons, comparison: Comparison) -> Table:
    names = ("base", "other", "change", f"{level(found.each)} interval")
    columns = [Column("", right=False), *map(Column, names), Column("", right=False)]
    rows = []
    for group, members in groupby(comparison.rows, lambda row: row.group):
        if heading(group):
            rows.append(TableRow([heading(group)], heading=True))
        for row in members:
            mark = "" if row.verdict else _MARKS[row.outlook]
            rows.append(TableRow(_cells(row, found), _TONES[row.verdict or ""], mark=mark))
    return Table(columns, rows)


def _cells(row: Row, found: Comparisons) -> Sequence[str]:
    roles, outlook = found.roles, ""
    if row.ratio is not None:
        outlook = f"{'▲ ' if row.ratio > 0 else '▼ ' if row.ratio < 0 else ''}{row.outlook}"
    both = figure(row.base, row.measure, roles), figure(row.other, row.measure, roles)
    change = "" if row.ratio is None else percent(row.ratio)
    return row_title(row.measure, roles, found.warmup), *both, change, interval(row.interval), outlook


def _parts(comparison: Comparison) -> Table:
    """Numbers of the parts, without a verdict; all are in JSON and CSV."""
    shown = comparison.parts[:_MOST_PARTS]
    more = len(comparison.parts) - len(shown)
    rows = [
        [one.name, one.text(one.base), one.text(one.other), "" if one.ratio is None else percent(one.ratio)]
        for one in shown
    ]
    rows += [[f"and {more} more", "", "", ""]] if more else []
    return table(["part", "base", "other", "change"], rows)


def _parameters(comparison: Comparison) -> Table:
    columns = [Column(name, right=False) for name in ("differs", "base", "other")]
    rows = [
        TableRow(
            (f"{'' if one.intended else '! '}{one.name}", one.base or "-", one.other or "-"),
            "" if one.intended else "bad",
        )
        for one in comparison.parameters
    ]
    return Table(columns, rows)
