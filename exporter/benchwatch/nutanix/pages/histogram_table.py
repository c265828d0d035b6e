"""A latency or size histogram of one vdisk: `0 <= x < 1 ms` | average | number of IOs | percent | a bar of 20 cells.

The header says `Latency Range` for sizes too. Averages are in microseconds or bytes, without a unit. An empty range has
empty cells. The last range ends at `inf`; the row `Total` follows. The window is the last 3 s, approximately.
"""

import math
import re
from typing import NamedTuple

from ...metrics.samples import Family
from .. import families as f
from ..families import Series
from .columns import Fields, excerpt, labelled_rows
from .notes import Notes
from .quantities import BYTES, MICROSECONDS, UNITS, Dimension, PrintedUnit, QuantityUnreadable, number
from .tables import PageTable

_RANGE = re.compile(r"([\d.]+) ?([a-zµμ]*) ?(?:<=|≤) ?x ?< ?([\d.]+|inf(?:inity)?|∞) ?([a-zµμ]*)")
_LABELS = ("latency range", "size range", "range")
_AGREES = 1.1
"""IOs that complete while the page is written make a difference, but a small one."""
_KINDS = ("read ", "write ", "")
_WHATS = ("latency", "size")
_IGNORED = frozenset(("bar graph", "percent", *(f"percent of {kind}ios" for kind in _KINDS)))


class HistogramKind(NamedTuple):
    """A kind of histogram, and the families that it becomes: IOs and their average by range, the average of all."""

    dimension: Dimension
    unit: PrintedUnit
    """The unit of averages."""
    ios: Family
    averages: Family
    average: Family | None


LATENCY = HistogramKind(
    "seconds", MICROSECONDS, f.FRONTEND_LATENCY_WINDOW, f.FRONTEND_LATENCY_RANGE, f.FRONTEND_LATENCY
)
SIZE = HistogramKind("bytes", BYTES, f.SIZE_WINDOW, f.SIZE_RANGE, None)


def read_histogram(table: PageTable, section: str, kind: HistogramKind, op: str, notes: Notes) -> dict[Series, float]:
    """IOs up to each upper edge (`le`, in seconds or whole bytes), and averages; no average where there was no IO.

    A size below 16 kB is at most 16,383 bytes, so that is the edge. A latency has any value: its edge is the end of its
    range, which the IOs are below. Empty if there was no IO, if a range is missing or unreadable, because all counts
    above it would be wrong, or if the row `Total` has another number of IOs.
    """
    total = average = None
    buckets: dict[float, tuple[float, float, float | None]] = {}  # lower edge: upper edge, IOs, their average
    fields: Fields[str] = {
        **{(f"number of {of}ios", ""): "ios" for of in _KINDS},
        **{(f"average bucket {what}", unit): "average" for what in _WHATS for unit in ("", kind.dimension)},
    }
    for label, cells in labelled_rows(table, section, _LABELS, fields, notes, _IGNORED):
        try:
            if label.lower() == "total":
                total = cells["ios"].value() if "ios" in cells else None
                average = cells["average"].value(kind.unit) if "average" in cells else None
                continue
            low, high = _range(label.lower(), kind.dimension)
            ios = cells["ios"].value()
            if low in buckets:
                raise QuantityUnreadable(label)
            buckets[low] = high, ios or 0.0, cells["average"].value(kind.unit) if "average" in cells and ios else None
        except (QuantityUnreadable, KeyError):
            notes.refuse(section, f"row {excerpt([label, *(cell.text for cell in cells.values())])}")
    if not any(ios for _, ios, _ in buckets.values()):
        return {}
    ranges = sorted(buckets.items())
    ends, lows = [0.0, *(high for _, (high, _, _) in ranges)], [*(low for low, _ in ranges), math.inf]
    gaps = [end for end, low in zip(ends, lows, strict=True) if not math.isclose(end, low)]
    if gaps:
        notes.refuse(section, f"ranges: none begins at {gaps[0]:g}")
        return {}
    counts: dict[Series, float] = {}
    averages: dict[Series, float] = {}
    count = 0.0
    for _, (high, ios, mean) in ranges:
        count += ios
        le = _le(high if kind is LATENCY or high == math.inf else math.ceil(high) - 1)
        counts[kind.ios, (op, le)] = count
        if mean is not None:
            averages[kind.averages, (op, le)] = mean
    if total is not None and total != count:
        notes.refuse(section, f"row 'Total': {total:g} IOs, but {count:g} in the ranges")
        if not count / _AGREES <= total <= count * _AGREES:
            return {}
    full = [(low, high, mean) for low, (high, ios, mean) in ranges if ios]
    everything = full[0][0], full[-1][1], average
    for low, high, mean in (*full, everything):
        if mean is not None and not low <= mean <= high:
            notes.refuse(section, f"averages: {mean:g} is not within {low:g} to {high:g}, so their unit is not known")
            return counts
    if kind.average and average is not None:
        averages[kind.average, (op,)] = average
    return counts | averages


def _le(edge: float) -> str:
    """An edge as the value of `le`: 0.001, 4096, +Inf."""
    if edge == math.inf:
        return "+Inf"
    return str(int(edge)) if edge == int(edge) else repr(edge)


def _range(label: str, dimension: Dimension) -> tuple[float, float]:
    """Lower and upper edge in base units. Raises QuantityUnreadable if the label is not a range."""
    match = _RANGE.fullmatch(label)
    if match is None:
        raise QuantityUnreadable(label)
    low, low_unit, high, high_unit = match.groups()
    top = math.inf if high[0] in "i∞" else _edge(high, high_unit, dimension)
    return (0.0 if low == "0" else _edge(low, low_unit, dimension)), top


def _edge(text: str, unit_name: str, dimension: Dimension) -> float:
    unit = UNITS.get(unit_name)
    value = number(text, unit) if unit is not None and unit.dimension == dimension else None
    if value is None:
        raise QuantityUnreadable(text)
    return value
