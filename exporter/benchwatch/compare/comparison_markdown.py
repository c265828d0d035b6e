"""A comparison as Markdown, as GitHub renders it (https://github.github.com/gfm/).

Names of runs, parameters and their values come from outside. All of them pass through `plain`, which leaves nothing
that Markdown would interpret: no cell of a table, link, address, image, HTML, emphasis or list.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..values.printable import printable
from .comparison import Comparison, Comparisons
from .wording import cells, describe, heading, level, sentence


def markdown(found: Comparisons) -> str:
    """The whole document."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Comparisons) -> Iterator[str]:
    for place, comparison in enumerate(found.others):
        if place:
            yield ""
        yield f"## {plain(comparison.other.name)} against {plain(found.base.name)}"
        yield ""
        yield f"- base: {plain(describe(found.base))}"
        yield f"- other: {plain(describe(comparison.other))}"
        yield ""
        for verdict in comparison.verdicts:
            yield f"**{plain(sentence(verdict, found.roles, found.each))}**"
            yield ""
        yield from _table(found, comparison)
        if comparison.parameters:
            yield from ("", "| differs | base | other |", "|---|---|---|")
            for one in comparison.parameters:
                name = plain(one.name)
                values = (plain(value) or "-" for value in (one.base, one.other))
                yield table_row([name if one.intended else f"**{name}**", *values])
        if comparison.findings:
            yield ""
            yield from (f"- {plain(finding.text)}" for finding in comparison.findings)


def _table(found: Comparisons, comparison: Comparison) -> Iterator[str]:
    yield f"| | base | other | change | {level(found.each)} interval | better |"
    yield "|---|--:|--:|--:|--:|---|"
    for group, rows in groupby(comparison.rows, lambda row: row.group):
        if heading(group):
            yield table_row([f"**{plain(heading(group))}**", "", "", "", "", ""])
        for row in rows:
            texts = cells(row, found.roles, found.warmup)
            yield table_row([f"**{text}**" if text else "" for text in texts] if comparison.verdict(row) else texts)


def table_row(cells: Sequence[str]) -> str:
    """A row of a table, of cells that are Markdown."""
    return f"| {' | '.join(cells)} |"


_MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])|(?<=www)\.|:(?=//)", re.IGNORECASE)
"""Characters with a meaning in Markdown anywhere in a line, and those that turn text into an address."""
_BLOCK = re.compile(r"^(\d{0,9})([#+=.)-])")
"""The beginning of a heading, a list or a rule."""


def plain(text: str) -> str:
    """Text from outside, escaped so that it is shown unchanged."""
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text).strip())
    return _BLOCK.sub(r"\1\\\2", escaped)
