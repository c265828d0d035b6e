"""A latency or size histogram of one vdisk: `0 <= x < 1 ms` | average | number of IOs | percent | a bar of 20 cells.

The header says `Latency Range` for sizes too. Averages are in microseconds or bytes, without a unit. An empty range has
empty cells. The last range ends at `inf`; the row `Total` follows. The window is the last 3 s, approximately.
"""

import re
from itertools import pairwise
from math import ceil, inf, isclose
from typing import NamedTuple

from ...metrics.samples import Family
from .. import families as f
from ..families import Series
from .columns import Fields, labelled_rows
from .notes import Notes
from .quantities import BYTES, MICROSECONDS, Dimension, PrintedUnit, QuantityUnreadable, number
from .tables import PageTable

_RANGE = re.compile(r"(.+?) ?(?:<=|≤) ?x ?< ?(.+)", re.IGNORECASE)
_INFINITE = ("inf", "infinity", "∞")
_AGREES = 1.1
"""IOs that complete while the page is written make a difference, but a small one."""
_KINDS = ("read ", "write ", "")


class HistogramKind(NamedTuple):
    """A kind of histogram, and the families that it becomes: IOs and their average by range, the average of all."""

    unit: PrintedUnit
    """The unit of averages."""
    ios: Family
    averages: Family
    average: Family | None

    @property
    def fields(self) -> Fields[str]:
        """The columns."""
        dimensions: tuple[Dimension, ...] = ("", self.unit.dimension)
        return {
            **{(f"{what}range", "any"): "label" for what in ("latency ", "size ", "")},
            **{(f"number of {of}ios", ""): "ios" for of in _KINDS},
            **{(f"average bucket {what}", unit): "average" for what in ("latency", "size") for unit in dimensions},
            **{(words, "any"): None for words in ("bar graph", "percent", *(f"percent of {of}ios" for of in _KINDS))},
        }


LATENCY = HistogramKind(MICROSECONDS, f.FRONTEND_LATENCY_WINDOW, f.FRONTEND_LATENCY_RANGE, f.FRONTEND_LATENCY)
SIZE = HistogramKind(BYTES, f.SIZE_WINDOW, f.SIZE_RANGE, None)


class _Range(NamedTuple):
    """IOs from one edge to another, and their average, None if it is not known."""

    low: float
    high: float
    ios: float
    average: float | None


def read_histogram(kind: HistogramKind, op: str, table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    """IOs up to each upper edge (`le`, in seconds or whole bytes), and averages; no average where there was no IO.

    A size below 16 kB is at most 16,383 bytes, so that is the edge. A latency has any value: its edge is the end of its
    range, which the IOs are below. Empty if there was no IO, if a range is missing or unreadable, because all counts
    above it would be wrong, or if the row `Total` has another number of IOs.
    """
    total = average = None
    ranges: list[_Range] = []
    for label, numbers in labelled_rows(table, section, kind.fields, notes, {"average": kind.unit}).items():
        try:
            if label.lower() == "total":
                total, average = numbers["ios"], numbers.get("average")
            else:
                ios = numbers["ios"] or 0.0
                ranges.append(_Range(*_edges(label, kind.unit.dimension), ios, numbers.get("average") if ios else None))
        except (QuantityUnreadable, KeyError):
            notes.refuse(section, f"row {label!r}")
    ranges.sort()
    full = [each for each in ranges if each.ios]
    if not full:
        return {}
    nothing = _Range(0, 0, 0, None)
    for below, above in pairwise((nothing, *ranges, nothing._replace(low=inf))):
        if not isclose(below.high, above.low):
            notes.refuse(section, f"ranges: none begins at {below.high:g}")
            return {}
    counts: dict[Series, float] = {}
    averages: dict[Series, float] = {}
    count = 0.0
    for _, high, ios, mean in ranges:
        count += ios
        le = _le(high if kind is LATENCY or high == inf else ceil(high) - 1)
        counts[kind.ios, (op, le)] = count
        if mean is not None:
            averages[kind.averages, (op, le)] = mean
    if total is not None and total != count:
        notes.refuse(section, f"row 'Total': {total:g} IOs, but {count:g} in the ranges")
        if not count / _AGREES <= total <= count * _AGREES:
            return {}
    for low, high, _, mean in (*full, _Range(full[0].low, full[-1].high, count, average)):
        if mean is not None and not low <= mean <= high:
            notes.refuse(section, f"averages: {mean:g} is not within {low:g} to {high:g}, so their unit is not known")
            return counts
    if kind.average and average is not None:
        averages[kind.average, (op,)] = average
    return counts | averages


def _le(edge: float) -> str:
    """An edge as the value of `le`: 0.001, 4096, +Inf."""
    return "+Inf" if edge == inf else repr(edge).removesuffix(".0")


def _edges(label: str, dimension: Dimension) -> tuple[float, float]:
    """Lower and upper edge in base units. Raises QuantityUnreadable if the label is not a range."""
    match = _RANGE.fullmatch(label)
    if match is None:
        raise QuantityUnreadable(label)
    low, high = (inf if text.lower() in _INFINITE else number(text, PrintedUnit(dimension)) for text in match.groups())
    if low is None or high is None or (low and match[1][-1].isdigit()) or match[2][-1].isdigit():  # without its unit
        raise QuantityUnreadable(label)
    return low, high
