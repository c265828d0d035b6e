"""The page of one vdisk (`/vdisk_stats`): nine tables, each headed `VDisk <id> <section>`.

Ops and Randomness         Read | Write | Total; rows `IOPS (kIO/s)`, `IO Rate (MB/s)`, `Random %`, `Sequential %`
Frontend Read Latency      histogram (`histogram_table`), as are Frontend Write Latency, Read Size Distribution and
                           Write Size Distribution
Working Set Sizes          `2 min` | `1 hr`; rows `Read WSS (MB)`, `Write WSS (MB)`, `Union WSS (MB)`
Read Source                Source | Data (MB/s) | Percent; rows Oplog, Extent cache, Cache DRAM ... Total; none is empty
Write Destination          the same with Oplog, Estore, Block Store, Total
Extent Group Up-Migration  rows `Last 300 seconds` | number, no header

The histograms, randomness, read source and write destination cover a trailing window of about 3 seconds; rates there
are whole kIO/s and MB/s, too coarse for most vdisks. `Sequential %` describes the pattern of the IO; it does not say
whether writes bypass the oplog. The page without a query may show all vdisks one after another.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...metrics.samples import Family
from .. import families as f
from ..families import Series
from .columns import Cell, Fields, excerpt, labelled_rows
from .histogram_table import LATENCY, SIZE, HistogramKind, read_histogram
from .notes import Notes, Unrecognised
from .quantities import NO_VALUE, PERCENT, PLAIN, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import PageTable, collapse, identifier, read_tables

_TITLE = re.compile(r"v-?disk (\S+) (.+)")
_SPAN = re.compile(r"(\d{1,9}) ?(s|sec|second|min|minute|h|hr|hour|d|day)s?")
_SPAN_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600}
_SPAN_SECONDS |= {"d": 86400, "day": 86400}

_OPERATIONS: Fields[str] = {(op, ""): op for op in ("read", "write", "total")}
_ROWS: Fields[Series | None] = {
    ("iops", "ops/s"): None,
    ("", "ops/s"): None,
    ("io rate", "bytes/s"): None,
    ("random", "ratio"): (f.RANDOM, ()),
    ("sequential", "ratio"): (f.SEQUENTIAL, ()),
    **{(f"{op}{wss}", "bytes"): (f.WORKING_SET, (op,)) for op in ("read", "write", "union") for wss in ("", " wss")},
}
"""What the rows of tables of operations and of working sets become, with the label of the column as last label."""
_SHARES: Fields[str] = {
    ("data", "bytes/s"): "rate",
    ("percent", ""): "ratio",
    ("percent", "ratio"): "ratio",
    ("", "ratio"): "ratio",
}

_ROUNDING = 0.1
"""The shares on a page are whole percents, so their sum may differ from 1."""

VdiskStats = Mapping[Series, float]
"""The numbers of one vdisk."""


@dataclass(frozen=True)
class VdiskPage:
    """The content of one page, by vdisk id."""

    vdisks: Mapping[str, VdiskStats]
    recognised: Mapping[str, tuple[str, ...]]
    unrecognised: tuple[Unrecognised, ...]

    def of(self, label: str) -> VdiskStats | None:
        """The numbers of the vdisk with this label on the main page; None if this page does not have them.

        If the main page shows no ids, the label is a name, which this page does not show: the only vdisk here is meant.
        """
        if not label.isdecimal() and len(self.vdisks) == 1:
            return next(iter(self.vdisks.values()))
        return self.vdisks.get(label)


def read_vdisk_page(html: bytes) -> VdiskPage:
    """Read the page. Never raises. `vdisks` is empty if it is not the page of a vdisk."""
    notes = Notes()
    vdisks: dict[str, dict[Series, float]] = {}
    seen: set[tuple[str, str]] = set()
    for table in read_tables(html, notes):
        vdisk, section = _heading(table)
        if not section:
            if table.columns or any(map(any, table.rows)):
                title = table.titles[-1] if table.titles else ""
                notes.refuse("", f"table {title!r} of {len(table.rows)} rows")
        elif (vdisk, section) in seen:
            notes.refuse(section, f"section: a second one of vdisk {vdisk}")
        else:
            seen.add((vdisk, section))
            notes.found(section)
            vdisks.setdefault(vdisk, {}).update(_SECTIONS[section](table, section, notes))
    return VdiskPage(vdisks, notes.recognised, tuple(notes.unrecognised))


def _heading(table: PageTable) -> tuple[str, str]:
    """The vdisk id and section in the nearest title that names a section; empty texts if none does."""
    for title in reversed(table.titles):
        match = _TITLE.fullmatch(title.lower().rstrip(" :"))
        if match and identifier(match[2]) in _SECTIONS:
            return match[1], identifier(match[2])
    return "", ""


def _rows(table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    found: dict[Series, float] = {}
    labels = [collapse(f"{group} {own}").lower() for group, own in table.columns]
    columns: Fields[str] = {**_OPERATIONS, **{(label, ""): span for label in labels if (span := _span(label))}}
    for text, cells in labelled_rows(table, section, (), columns, notes):
        label = read_label(text)
        key = label.words, label.unit.dimension if label.unit and not label.unknown else ""
        if key not in _ROWS:
            notes.refuse(section, f"row {text!r}")
        elif (series := _ROWS[key]) is not None:
            numbers = _numbers(cells, section, text, notes, label.unit or PLAIN)
            new = {(series[0], (*series[1], column)): value for column, value in numbers.items() if column != "total"}
            if new.keys() & found.keys():
                notes.refuse(section, f"row {text!r}: a second row with this name")
            else:
                found.update(new)
    for op in ("read", "write"):
        shares = [(family, labels) for family, labels in found if labels == (op,)]
        total = sum(found[series] for series in shares)
        found = _whole(found, shares, total if len(shares) > 1 or not total else 1, section, notes)
    return found


def _whole(
    found: dict[Series, float], shares: Sequence[Series], total: float, section: str, notes: Notes
) -> dict[Series, float]:
    """What was found, without the shares if they are parts of nothing, or of something else than a whole."""
    if 1 - _ROUNDING <= total <= 1 + _ROUNDING:
        return found
    if any(found[series] for series in shares):
        notes.refuse(section, f"shares of {100 * total:g} % together: expected 100 %")
    return {series: value for series, value in found.items() if series not in shares}


def _histogram(kind: HistogramKind, op: str) -> "_Reader":
    return lambda table, section, notes: read_histogram(table, section, kind, op, notes)


def _shares(ratio: Family, rate: Family) -> "_Reader":
    families = {"ratio": ratio, "rate": rate}

    def read(table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
        found: dict[Series, float] = {}
        for text, cells in labelled_rows(table, section, ("source", "destination"), _SHARES, notes):
            numbers = _numbers(cells, section, text, notes, PERCENT)
            new: dict[Series, float] = {
                (family, (identifier(text),)): numbers[field] for field, family in families.items() if field in numbers
            }
            found |= new
        total = found.pop((ratio, ("total",)), 1.0)
        found.pop((rate, ("total",)), None)
        return _whole(found, [series for series in found if series[0] is ratio], total, section, notes)

    return read


def _up_migrations(table: PageTable, section: str, notes: Notes) -> dict[Series, float]:
    found: dict[Series, float] = {}
    for cells in table.rows:
        series = f.UP_MIGRATIONS, (_span(cells[0].lower().removeprefix("last ")) if len(cells) == 2 else "",)
        try:
            value = number(cells[1]) if any(series[1]) and series not in found else None
        except QuantityUnreadable:
            value = None
        if value is not None:
            found[series] = value
        elif any(cells) and not (any(series[1]) and cells[1] in NO_VALUE):
            notes.refuse(section, f"row {excerpt(cells)}")
    return found


def _numbers(cells: Mapping[str, Cell], section: str, label: str, notes: Notes, unit: PrintedUnit) -> dict[str, float]:
    """The numbers of one row by field; `unit` applies to columns that name none."""
    values: dict[str, float] = {}
    for name, cell in cells.items():
        try:
            value = cell.value(unit)
        except QuantityUnreadable:
            notes.refuse(section, f"cell {cell.text!r} of row {label!r}")
            continue
        if value is not None:
            values[name] = value
    return values


def _span(text: str) -> str:
    """`2 min` as `120s`; empty if the text is not a span of time."""
    match = _SPAN.fullmatch(collapse(text).lower())
    return f"{int(match[1]) * _SPAN_SECONDS[match[2]]}s" if match else ""


_Reader = Callable[[PageTable, str, Notes], Mapping[Series, float]]
_SECTIONS: Mapping[str, _Reader] = {
    "ops_and_randomness": _rows,
    "frontend_read_latency": _histogram(LATENCY, "read"),
    "frontend_write_latency": _histogram(LATENCY, "write"),
    "read_size_distribution": _histogram(SIZE, "read"),
    "write_size_distribution": _histogram(SIZE, "write"),
    "working_set_sizes": _rows,
    "read_source": _shares(f.READ_SOURCE_RATIO, f.READ_SOURCE_BYTES),
    "write_destination": _shares(f.WRITE_DESTINATION_RATIO, f.WRITE_DESTINATION_BYTES),
    "extent_group_up_migration": _up_migrations,
}
SECTION_NAMES = tuple(_SECTIONS)
"""All known sections, in the page's order."""
