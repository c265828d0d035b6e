"""Results as Markdown, as GitHub renders it, for a pull request; rules of compare.comparison_markdown."""

from collections.abc import Iterator, Sequence

from ..compare.comparison_markdown import plain, table_row
from .requirements import CheckedRequirement
from .result import Subject
from .result_text import of_run, together


def markdown(subjects: Sequence[Subject], answers: Sequence[Sequence[CheckedRequirement]]) -> str:
    """The whole document; `answers` has the checked requirements of each subject."""
    return "\n".join(line for one in zip(subjects, answers, strict=True) for line in _subject(*one)) + "\n"


def _subject(subject: Subject, answers: Sequence[CheckedRequirement]) -> Iterator[str]:
    yield from (f"## {plain(subject.name)}", "")
    blocks = [] if subject.swept else [of_run(result) for result in subject.results]
    if subject.repeated or subject.swept:
        blocks += together(subject)
    for head, table, lines in blocks:
        yield from (f"**{plain(head)}**", "")
        yield from _table(table)
        if lines:
            yield from (*(f"- {plain(line.removeprefix('! '))}" for line in lines), "")
    rows = [[one.requirement.text, "met" if one.met else "NOT MET", one.measured] for one in answers]
    if rows:
        yield from _table([["requirement", "", "measured"], *rows])


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    head, *others = rows
    yield table_row([plain(cell) for cell in head])
    yield f"|---|{'--:|' * (len(head) - 1)}"
    yield from (table_row([plain(cell) for cell in row]) for row in others)
    yield ""
