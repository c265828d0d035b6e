"""A latency or size histogram of one vdisk: `0 <= x < 1 ms` | average | number of IOs | percent | a bar of 20 cells.

The header says `Latency Range` for sizes too. Averages are in microseconds or bytes, without a unit. An empty range has
empty cells. The last range ends at `inf`; the row `Total` follows. The window is the last 3 s, approximately.
"""

import math
import re
from itertools import accumulate
from typing import NamedTuple

from .columns import Fields, excerpt, labelled_rows
from .notes import Notes
from .quantities import BYTES, MICROSECONDS, UNITS, Dimension, QuantityUnreadable, number
from .tables import PageTable

_RANGE = re.compile(r"([\d.]+) ?([a-zµμ]*) ?(?:<=|≤) ?x ?< ?([\d.]+|inf(?:inity)?|∞) ?([a-zµμ]*)")
_LABELS = ("latency range", "size range", "range")
_KINDS = ("read ", "write ", "")
_WHATS = ("latency", "size")
_IGNORED = frozenset(("bar graph", "percent", *(f"percent of {kind}ios" for kind in _KINDS)))
_FIELDS: Fields = {
    **{(f"number of {kind}ios", ""): "ios" for kind in _KINDS},
    **{(f"average bucket {what}", ""): "average" for what in _WHATS},
}


class Histogram(NamedTuple):
    """`cumulative` counts the IOs up to each upper edge (seconds, or whole bytes; the last is infinite).

    A size below 16 kB is at most 16,383 bytes, so that is the edge. A latency has any value: its edge is the end of its
    range, which the IOs are below.

    `average` is the average of all IOs, `averages` has one per range. None: no IOs, or no such column.
    """

    edges: tuple[float, ...]
    cumulative: tuple[float, ...]
    average: float | None
    averages: tuple[float | None, ...] = ()


def read_histogram(table: PageTable, section: str, dimension: Dimension, notes: Notes) -> Histogram | None:
    """None if there was no IO, or if a range is missing or unreadable, because all counts above it would be wrong."""
    total = average = None
    unit = MICROSECONDS if dimension == "seconds" else BYTES
    buckets: dict[float, tuple[float, float, float | None]] = {}  # lower edge: upper edge, IOs, their average
    fields: Fields = {**_FIELDS, **{(f"average bucket {what}", dimension): "average" for what in _WHATS}}
    for label, cells in labelled_rows(table, section, _LABELS, fields, notes, _IGNORED):
        try:
            if label.lower() == "total":
                total = cells["ios"].value() if "ios" in cells else None
                average = cells["average"].value(unit) if "average" in cells else None
                continue
            low, high = _range(label.lower(), dimension)
            ios = cells["ios"].value()
            if low in buckets:
                raise QuantityUnreadable(label)
            buckets[low] = high, ios or 0.0, cells["average"].value(unit) if "average" in cells and ios else None
        except (QuantityUnreadable, KeyError):
            notes.refuse(section, f"row {excerpt([label, *(cell.text for cell in cells.values())])}")
    if not any(ios for _, ios, _ in buckets.values()):
        return None
    lows = sorted(buckets)
    edges, counts, averages = zip(*(buckets[low] for low in lows), strict=True)
    gaps = [end for end, low in zip((0, *edges), (*lows, math.inf), strict=True) if not math.isclose(end, low)]
    if gaps:
        notes.refuse(section, f"ranges: none begins at {gaps[0]:g}")
        return None
    if dimension == "bytes":
        edges = tuple(edge if edge == math.inf else float(math.ceil(edge) - 1) for edge in edges)
    cumulative = tuple(accumulate(counts))
    if total is not None and total != cumulative[-1]:
        notes.refuse(section, f"row 'Total': {total:g} IOs, but {cumulative[-1]:g} in the ranges")
    return Histogram(edges, cumulative, average, averages)


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
