"""Results as CSV: a record for each figure; docs/results.md explains the columns."""

from collections.abc import Iterator, Sequence

from ..compare.measured import Result
from ..compare.measures import unit_of
from ..compare.wording import heading
from ..show.as_csv import Value, records
from .result import Subject

COLUMNS = (
    "run",
    "state",
    "tool",
    "version",
    "workers",
    "start",
    "seconds",
    "warmup_seconds",
    "part",
    "measure",
    "unit",
    "better",
    "value",
)


def table(subjects: Sequence[Subject]) -> str:
    """The text; a result without figures has one record without a measure."""
    results = [result for subject in subjects for result in subject.results]
    return records(COLUMNS, (row for result in results for row in _rows(result)))


def _rows(result: Result) -> Iterator[dict[str, Value]]:
    common: dict[str, Value] = {
        "run": result.name,
        "state": result.state,
        "tool": result.tool,
        "version": result.version or None,
        "workers": len(result.timelines),
        "start": result.start,
        "seconds": result.length,
        "warmup_seconds": result.warmup,
    }
    if not result.figures:
        yield common
    for (group, measure), figure in result.figures.items():
        yield {
            **common,
            "part": heading(group),
            "measure": measure.name,
            "unit": unit_of(measure, result.roles),
            "better": measure.better,
            "value": figure.value,
        }
