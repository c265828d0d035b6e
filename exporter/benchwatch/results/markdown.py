"""Results as Markdown, as GitHub renders it, for a pull request or a job's summary (see compare.markdown)."""

from collections.abc import Iterator, Sequence

from ..compare.markdown import plain, table_row
from .requirements import CheckedRequirement
from .result import RunResult, Subject
from .text import figures, notes, together


def markdown(subjects: Sequence[Subject], answers: Sequence[Sequence[CheckedRequirement]]) -> str:
    """The whole document; `answers` are those of each subject."""
    return "\n".join(line for one in zip(subjects, answers, strict=True) for line in _subject(*one)) + "\n"


def _subject(subject: Subject, answers: Sequence[CheckedRequirement]) -> Iterator[str]:
    yield from (f"## {plain(subject.name)}", "")
    for result in () if subject.swept else subject.results:
        yield from _result(result)
    if subject.repeated or subject.swept:
        for head, table, lines in together(subject):
            yield from (f"**{plain(head)}**", "")
            yield from _table(table)
            yield from _list(lines)
    if answers:
        yield from _table([["requirement", "", "measured"], *(_answer(one) for one in answers)])


def _answer(one: CheckedRequirement) -> list[str]:
    return [one.requirement.text, "met" if one.met else "NOT MET", one.measured]


def _result(result: RunResult) -> Iterator[str]:
    head, *lines = notes(result)
    yield from (f"**{plain(head)}**", "")
    yield from _table(figures(result))
    yield from _list(lines)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    head, *others = rows
    yield table_row([plain(cell) for cell in head])
    yield f"|---|{'--:|' * (len(head) - 1)}"
    yield from (table_row([plain(cell) for cell in row]) for row in others)
    yield ""


def _list(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"- {plain(line.removeprefix('! '))}" for line in lines)
    if lines:
        yield ""
