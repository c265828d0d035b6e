"""The page of one vdisk (`/vdisk_stats`): nine tables, each headed `VDisk <id> <section>`.

Ops and Randomness         Read | Write | Total; rows `IOPS (kIO/s)`, `IO Rate (MB/s)`, `Random %`, `Sequential %`
Frontend Read Latency      histogram, as are Frontend Write Latency, Read Size Distribution, Write Size Distribution:
                           `0 <= x < 1 ms` | average | number of IOs | percent | a bar of 20 cells
Working Set Sizes          `2 min` | `1 hr`; rows `Read WSS (MB)`, `Write WSS (MB)`, `Union WSS (MB)`
Read Source                Source | Data (MB/s) | Percent; rows Oplog, Extent cache, Cache DRAM ... Total; none is empty
Write Destination          the same with Oplog, Estore, Block Store, Total
Extent Group Up-Migration  rows `Last 300 seconds` | number, no header

The histograms, randomness, read source and write destination cover a trailing window of about 3 seconds; rates there
are whole kIO/s and MB/s, too coarse for most vdisks. `Sequential %` describes the pattern of the IO; it does not say
whether writes bypass the oplog. The page without a query may show all vdisks one after another.

The header of a histogram says `Latency Range` for sizes too. Averages are in microseconds or bytes, without a unit. An
empty range has empty cells. The last range ends at `inf`; the row `Total` follows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import ceil, inf, isclose
from typing import NamedTuple

from ...metrics.samples import Family
from .. import families as f
from ..families import Series
from .columns import Fields, excerpt, labelled_rows
from .quantities import BYTES, MICROSECONDS, NO_VALUE, PERCENT, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import Notes, PageTable, collapse, identifier, read_tables

_TITLE = re.compile(r"v-?disk (\S+) (.+)")
_SPAN = re.compile(r"(?:last )?(\d{1,9}) ?(s|sec|second|min|minute|h|hr|hour|d|day)s?")
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

_ROWS: Fields[Series] = {
    ("iops", "ops/s"): None,
    ("", "ops/s"): None,
    ("io rate", "bytes/s"): None,
    ("random", "ratio"): (f.RANDOM, ()),
    ("sequential", "ratio"): (f.SEQUENTIAL, ()),
    **{(f"{op}{wss}", "bytes"): (f.WORKING_SET, (op,)) for op in ("read", "write", "union") for wss in ("", " wss")},
}
"""What the rows of tables of operations and of working sets become, with the label of the column as last label."""
_SHARES: Fields[str] = {
    ("source", "any"): "label",
    ("destination", "any"): "label",
    ("data", "bytes/s"): "rate",
    ("percent", ""): "ratio",
    ("percent", "ratio"): "ratio",
    ("", "ratio"): "ratio",
}
_ROUNDING = 0.1
"""The shares on a page are whole percents, so their sum may differ from 1."""

_RANGES: Fields[str] = {
    **{(f"{what}range", "any"): "label" for what in ("latency ", "size ", "")},
    **{(f"number of {of}ios", ""): "ios" for of in ("read ", "write ", "")},
    ("average bucket latency", ""): "average",
    ("average bucket latency", "seconds"): "average",
    ("average bucket size", ""): "average",
    ("average bucket size", "bytes"): "average",
    **{(words, "any"): None for words in ("bar graph", "percent", "percent of read ios", "percent of write ios")},
}
_RANGE = re.compile(r"(.+?) ?(?:<=|≤) ?x ?< ?(.+)", re.IGNORECASE)
_INFINITE = ("inf", "infinity", "∞")
_AGREES = 1.1
"""IOs that complete while the page is written make a difference, but a small one."""

VdiskStats = Mapping[Series, float]
"""The numbers of one vdisk."""


@dataclass
class VdiskPage(Notes):
    """The content of one page, by vdisk id; empty if it is not the page of a vdisk."""

    vdisks: dict[str, dict[Series, float]] = field(default_factory=dict)

    def of(self, label: str) -> VdiskStats | None:
        """The numbers of the vdisk with this label on the main page; None if this page does not have them.

        If the main page shows no ids, the label is a name, which this page does not show: the only vdisk here is meant.
        """
        if not label.isdecimal() and len(self.vdisks) == 1:
            return next(iter(self.vdisks.values()))
        return self.vdisks.get(label)


def read_vdisk_page(html: bytes) -> VdiskPage:
    """Read the page. Never raises."""
    page = VdiskPage()
    seen: set[tuple[str, str]] = set()
    for table in read_tables(html, page):
        headings = (_TITLE.fullmatch(title.lower().rstrip(" :")) for title in reversed(table.titles))
        named = ((match[1], identifier(match[2])) for match in headings if match)
        vdisk, section = next((pair for pair in named if pair[1] in _SECTIONS), ("", ""))
        if not section:
            if table.columns or any(map(any, table.rows)):
                title = table.titles[-1] if table.titles else ""
                page.refuse("", f"table {title!r} of {len(table.rows)} rows")
        elif (vdisk, section) in seen:
            page.refuse(section, f"section: a second one of vdisk {vdisk}")
        else:
            seen.add((vdisk, section))
            page.found(section)
            page.vdisks.setdefault(vdisk, {}).update(_SECTIONS[section](table, section, page))
    return page


def _rows(table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    columns: Fields[str] = {
        **{(op, ""): op for op in ("read", "write", "total")},
        **{(head.lower(), ""): span for head in table.columns if (span := _span(head))},
    }
    found: dict[Series, float] = {}
    for text, numbers in labelled_rows(table, section, columns, notes).items():
        label = read_label(text)
        key = label.words, label.unit.dimension
        if key not in _ROWS or label.unknown:
            notes.refuse(section, f"row {text!r}")
        elif series := _ROWS[key]:
            family, labels = series
            known = {column: value for column, value in numbers.items() if value is not None and column != "total"}
            new = {(family, (*labels, column)): value for column, value in known.items()}
            if new.keys() & found.keys():
                notes.refuse(section, f"row {text!r}: a second row with this name")
            else:
                found |= new
    for op in ("read", "write"):
        shares = [(family, labels) for family, labels in found if labels == (op,)]
        total = sum(found[series] for series in shares)
        found = _whole(found, shares, total if len(shares) > 1 or not total else 1, section, notes)
    return found


def _shares(ratio: Family, rate: Family, table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    found: dict[Series, float] = {
        (family, (identifier(text),)): value
        for text, numbers in labelled_rows(table, section, _SHARES, notes, {"ratio": PERCENT}).items()
        for column, family in (("ratio", ratio), ("rate", rate))
        if (value := numbers.get(column)) is not None
    }
    total = found.pop((ratio, ("total",)), 1)
    found.pop((rate, ("total",)), None)
    return _whole(found, [series for series in found if series[0] is ratio], total, section, notes)


def _whole(
    found: dict[Series, float], shares: Sequence[Series], total: float, section: str, notes: Notes
) -> dict[Series, float]:
    """What was found, without the shares if they are parts of nothing, or of something else than a whole."""
    if 1 - _ROUNDING <= total <= 1 + _ROUNDING:
        return found
    if any(found[series] for series in shares):
        notes.refuse(section, f"shares of {100 * total:g} % together: expected 100 %")
    return {series: value for series, value in found.items() if series not in shares}


def _up_migrations(table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    found: dict[Series, float] = {}
    for cells in table.rows:
        span = _span(cells[0]) if len(cells) == 2 else ""
        series = f.UP_MIGRATIONS, (span,)
        try:
            value = number(cells[1]) if span else None
        except QuantityUnreadable:
            value = None
        if value is not None and series not in found:
            found[series] = value
        elif any(cells) and not (span and cells[1] in NO_VALUE):
            notes.refuse(section, f"row {excerpt(cells)}")
    return found


def _span(text: str) -> str:
    """`2 min` or `Last 120 seconds` as `120s`; empty if the text is not a span of time."""
    match = _SPAN.fullmatch(collapse(text).lower())
    return f"{int(match[1]) * _SPAN_SECONDS[match[2][0]]}s" if match else ""


class _Range(NamedTuple):
    """IOs from one edge to another, and their average, None if it is not known."""

    low: float
    high: float
    ios: float = 0
    average: float | None = None


def _histogram(
    unit: PrintedUnit, families: tuple[Family, Family], op: str, table: PageTable, section: str, notes: Notes
) -> dict[Series, float]:
    """IOs up to each upper edge (`le`, in seconds or whole bytes), and averages; no average where there was no IO.

    `unit` is that of averages; `families` are those of IOs and of their averages, by range. A size below 16 kB is at
    most 16,383 bytes, so that is the edge. A latency has any value: its edge is the end of its range, which the IOs are
    below. Empty if there was no IO, if a range is missing or unreadable, because all counts above it would be wrong, or
    if the row `Total` has another number of IOs.
    """
    total = average = None
    ranges: list[_Range] = []
    for label, numbers in labelled_rows(table, section, _RANGES, notes, {"average": unit}).items():
        try:
            if label.lower() == "total":
                total, average = numbers["ios"], numbers.get("average")
            else:
                ios = numbers["ios"] or 0.0
                ranges.append(_Range(*_edges(label, unit), ios, numbers.get("average") if ios else None))
        except (QuantityUnreadable, KeyError):
            notes.refuse(section, f"row {label!r}")
    ranges.sort()
    full = [each for each in ranges if each.ios]
    if not full:
        return {}
    for below, above in pairwise((_Range(0, 0), *ranges, _Range(inf, inf))):
        if not isclose(below.high, above.low):
            notes.refuse(section, f"ranges: none begins at {below.high:g}")
            return {}
    of_ios, of_averages = families
    counts: dict[Series, float] = {}
    averages: dict[Series, float] = {}
    count = 0.0
    for _, high, ios, mean in ranges:
        count += ios
        edge = ceil(high) - 1 if unit is BYTES and high != inf else high
        labels = op, "+Inf" if edge == inf else repr(edge).removesuffix(".0")
        counts[of_ios, labels] = count
        if mean is not None:
            averages[of_averages, labels] = mean
    if total is not None and total != count:
        notes.refuse(section, f"row 'Total': {total:g} IOs, but {count:g} in the ranges")
        if not count / _AGREES <= total <= count * _AGREES:
            return {}
    for low, high, _, mean in (*full, _Range(full[0].low, full[-1].high, count, average)):
        if mean is not None and not low <= mean <= high:
            notes.refuse(section, f"averages: {mean:g} is not within {low:g} to {high:g}, so their unit is not known")
            return counts
    if unit is MICROSECONDS and average is not None:
        averages[f.FRONTEND_LATENCY, (op,)] = average
    return counts | averages


def _edges(label: str, unit: PrintedUnit) -> tuple[float, float]:
    """Lower and upper edge in base units. Raises QuantityUnreadable if the label is not a range."""
    match = _RANGE.fullmatch(label)
    if match is None:
        raise QuantityUnreadable(label)
    base = PrintedUnit(unit.dimension)
    low, high = (inf if text.lower() in _INFINITE else number(text, base) for text in match.groups())
    if low is None or high is None or (low and match[1][-1].isdigit()) or match[2][-1].isdigit():  # without its unit
        raise QuantityUnreadable(label)
    return low, high


_latencies = partial(_histogram, MICROSECONDS, (f.FRONTEND_LATENCY_WINDOW, f.FRONTEND_LATENCY_RANGE))
_sizes = partial(_histogram, BYTES, (f.SIZE_WINDOW, f.SIZE_RANGE))
_SECTIONS: Mapping[str, Callable[[PageTable, str, Notes], Mapping[Series, float]]] = {
    "ops_and_randomness": _rows,
    "frontend_read_latency": partial(_latencies, "read"),
    "frontend_write_latency": partial(_latencies, "write"),
    "read_size_distribution": partial(_sizes, "read"),
    "write_size_distribution": partial(_sizes, "write"),
    "working_set_sizes": _rows,
    "read_source": partial(_shares, f.READ_SOURCE_RATIO, f.READ_SOURCE_BYTES),
    "write_destination": partial(_shares, f.WRITE_DESTINATION_RATIO, f.WRITE_DESTINATION_BYTES),
    "extent_group_up_migration": _up_migrations,
}
SECTION_NAMES = tuple(_SECTIONS)
"""All known sections, in the page's order."""
