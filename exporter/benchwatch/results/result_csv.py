"""Results as CSV: a record for each figure; docs/results.md explains the columns."""

from collections.abc import Iterator, Sequence

from ..compare.measures import unit_of
from ..compare.wording import heading
from ..show.as_csv import Value, records
from .result import RunResult, Subject

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


def _rows(result: RunResult) -> Iterator[dict[str, Value]]:
    run = result.run
    common: dict[str, Value] = {
        "run": run.name,
        "state": result.state,
        "tool": run.tool,
        "version": result.version or None,
        "workers": len(run.timelines),
        "start": result.start,
        "seconds": result.seconds,
        "warmup_seconds": run.warmup,
    }
    if not run.figures:
        yield common
    for (group, measure), figure in run.figures.items():
        yield {
            **common,
            "part": heading(group),
            "measure": measure.name,
            "unit": unit_of(measure, run.roles),
            "better": measure.better,
            "value": figure.value,
        }
