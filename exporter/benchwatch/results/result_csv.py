"""Results as CSV: a record for each figure; docs/results.md explains the columns."""

from collections.abc import Iterator, Sequence

from ..compare.measured import Result
from ..compare.measures import unit_of
from ..compare.wording import heading
from ..show.as_csv import Value, records
from .result import Subject, reported

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
    for timeline in result.timelines:
        for sample in reported(timeline):
            pairs = [f"{name}={value}" for name, value in zip(sample.family.labels, sample.labels, strict=True)]
            own = [f"worker={timeline.worker}"] if len(result.timelines) > 1 else []
            yield {
                **common,
                "part": ", ".join([*own, *pairs]),
                "measure": sample.family.name,
                "value": float(sample.value) if isinstance(sample.value, int | float) else None,
            }
