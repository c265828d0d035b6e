"""A comparison as Markdown, as GitHub renders it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from .comparison import Comparison, Comparisons
from .description import describe
from .text import cells, heading, level, sentence


def markdown(found: Comparisons) -> str:
    """The whole document."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Comparisons) -> Iterator[str]:
    for place, comparison in enumerate(found.others):
        if place:
            yield ""
        yield f"## {_plain(comparison.other.name)} against {_plain(found.base.name)}"
        yield ""
        yield f"- base: {_plain(describe(found.base))}"
        yield f"- other: {_plain(describe(comparison.other))}"
        yield ""
        for verdict in comparison.verdicts:
            row = next(row for row in comparison.rows if comparison.verdict(row) is verdict)
            yield f"**{_plain(sentence(verdict, row, found.tool, found.each))}**"
            yield ""
        yield from _table(found, comparison)
        if comparison.parameters:
            yield from ("", "| differs | base | other |", "|---|---|---|")
            for one in comparison.parameters:
                name = one.name if one.intended else f"**{one.name}**"
                yield _row([name, one.base or "-", one.other or "-"])
        if comparison.findings:
            yield ""
            yield from (f"- {_plain(finding.text)}" for finding in comparison.findings)


def _table(found: Comparisons, comparison: Comparison) -> Iterator[str]:
    yield f"| | base | other | change | {level(found.each)} interval | better |"
    yield "|---|--:|--:|--:|--:|---|"
    for group, rows in groupby(comparison.rows, lambda row: row.group):
        if heading(group):
            yield _row([f"**{heading(group)}**", "", "", "", "", ""])
        for row in rows:
            texts = cells(row, found.tool)
            yield _row([f"**{text}**" if text else "" for text in texts] if comparison.verdict(row) else texts)


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for text in texts) + " |"


def _plain(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")
