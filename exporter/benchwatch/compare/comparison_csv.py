"""A comparison as CSV: a record for each figure; docs/compare.md explains the columns."""

from collections.abc import Iterable, Iterator

from ..show.as_csv import Value, records
from .comparison import Comparisons
from .measures import unit_of
from .wording import heading

COLUMNS = (
    "base",
    "other",
    "part",
    "measure",
    "unit",
    "better",
    "base_value",
    "other_value",
    "change",
    "change_low",
    "change_high",
    "verdict",
)


def table(found: Iterable[Comparisons]) -> str:
    """The text."""
    return records(COLUMNS, (row for one in found for row in _rows(one)))


def _rows(found: Comparisons) -> Iterator[dict[str, Value]]:
    for comparison in found.others:
        for row in comparison.rows:
            verdict = comparison.verdict(row)
            low, high = row.interval or (None, None)
            yield {
                "base": found.base.name,
                "other": comparison.other.name,
                "part": heading(row.group),
                "measure": row.measure.name,
                "unit": unit_of(row.measure, found.roles),
                "better": row.measure.better,
                "base_value": row.base,
                "other_value": row.other,
                "change": row.ratio,
                "change_low": low,
                "change_high": high,
                "verdict": verdict.word if verdict else None,
            }
