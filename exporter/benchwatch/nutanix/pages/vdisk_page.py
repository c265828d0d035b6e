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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .columns import Cell, Fields, excerpt, labelled_rows
from .histogram_table import Histogram, read_histogram
from .notes import Notes, Unrecognised
from .overview import identifier
from .quantities import PERCENT, PLAIN, Dimension, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import PageTable, collapse, read_tables

_TITLE = re.compile(r"v-?disk (\S+) (.+)")
_SPAN = re.compile(r"(\d{1,9}) ?(s|sec|second|min|minute|h|hr|hour|d|day)s?")
_SPAN_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600}
_SPAN_SECONDS |= {"d": 86400, "day": 86400}

_OPERATION_FIELDS: Fields = {(op, ""): op for op in ("read", "write", "total")}
_OPERATION_ROWS: Fields = {
    ("iops", "ops/s"): "ops_per_second",
    ("", "ops/s"): "ops_per_second",
    ("io rate", "bytes/s"): "bytes_per_second",
    ("random", "ratio"): "random_ratio",
    ("sequential", "ratio"): "sequential_ratio",
}
_SHARE_FIELDS: Fields = {
    ("data", "bytes/s"): "bytes_per_second",
    ("percent", ""): "ratio",
    ("percent", "ratio"): "ratio",
    ("", "ratio"): "ratio",
}


class Share(NamedTuple):
    """The share of one source of reads or destination of writes; None where the page has an empty cell."""

    bytes_per_second: float | None
    ratio: float | None


@dataclass
class VdiskStats:
    """The numbers of one vdisk. An op is read or write (or total, union); a span is a text such as `300s`."""

    operations: dict[tuple[str, str], float] = field(default_factory=dict)
    """By (ops_per_second | bytes_per_second | random_ratio | sequential_ratio, op)."""
    histograms: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    """By (latency | size, op); seconds or bytes."""
    working_set: dict[tuple[str, str], float] = field(default_factory=dict)
    """Bytes by (op, span)."""
    read_source: dict[str, Share] = field(default_factory=dict)
    write_destination: dict[str, Share] = field(default_factory=dict)
    up_migrations: dict[str, float] = field(default_factory=dict)
    """Extent groups by span."""


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
    vdisks: dict[str, VdiskStats] = {}
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
            _SECTIONS[section](table, section, vdisks.setdefault(vdisk, VdiskStats()), notes)
    return VdiskPage(vdisks, notes.recognised, tuple(notes.unrecognised))


def _heading(table: PageTable) -> tuple[str, str]:
    """The vdisk id and section in the nearest title that names a section; empty texts if none does."""
    for title in reversed(table.titles):
        match = _TITLE.fullmatch(title.lower().rstrip(" :"))
        if match and identifier(match[2]) in _SECTIONS:
            return match[1], identifier(match[2])
    return "", ""


def _operations(table: PageTable, section: str, stats: VdiskStats, notes: Notes) -> None:
    for text, cells in labelled_rows(table, section, (), _OPERATION_FIELDS, notes):
        label = read_label(text)
        name = _OPERATION_ROWS.get((label.words, label.unit.dimension)) if label.unit and not label.unknown else None
        if name is None:
            notes.refuse(section, f"row {text!r}")
            continue
        for op, value in _numbers(cells, section, text, notes, label.unit or PLAIN).items():
            stats.operations[name, op] = value
    for op in ("read", "write", "total"):  # neither random nor sequential: there was no IO
        if not any(stats.operations.get((name, op)) for name in ("random_ratio", "sequential_ratio")):
            for name in ("random_ratio", "sequential_ratio"):
                stats.operations.pop((name, op), None)


def _histogram(kind: str, dimension: Dimension, op: str) -> "_Reader":
    def read(table: PageTable, section: str, stats: VdiskStats, notes: Notes) -> None:
        histogram = read_histogram(table, section, dimension, notes)
        if histogram is not None:
            stats.histograms[kind, op] = histogram

    return read


def _working_set(table: PageTable, section: str, stats: VdiskStats, notes: Notes) -> None:
    spans = {collapse(f"{group} {own}").lower(): _span(f"{group} {own}") for group, own in table.columns}
    fields: Fields = {(label, ""): span for label, span in spans.items() if span}
    for text, cells in labelled_rows(table, section, (), fields, notes):
        label = read_label(text)
        op = label.words.removesuffix(" wss")
        if op not in ("read", "write", "union") or not label.unit or label.unit.dimension != "bytes" or label.unknown:
            notes.refuse(section, f"row {text!r}")
            continue
        for span, value in _numbers(cells, section, text, notes, label.unit).items():
            stats.working_set[op, span] = value


def _shares(table: PageTable, section: str, stats: VdiskStats, notes: Notes) -> None:
    shares = stats.read_source if section == "read_source" else stats.write_destination
    for text, cells in labelled_rows(table, section, ("source", "destination"), _SHARE_FIELDS, notes):
        name = identifier(text)
        if name == "total":
            continue
        numbers = _numbers(cells, section, text, notes, PERCENT)
        if name in shares:
            notes.refuse(section, f"row {text!r}: a second row with this name")
        elif numbers:
            shares[name] = Share(numbers.get("bytes_per_second"), numbers.get("ratio"))


def _up_migrations(table: PageTable, section: str, stats: VdiskStats, notes: Notes) -> None:
    for cells in table.rows:
        span = _span(cells[0].lower().removeprefix("last ")) if len(cells) == 2 else ""
        try:
            value = number(cells[1]) if span else None
        except QuantityUnreadable:
            span = ""
            value = None
        if value is not None:
            stats.up_migrations[span] = value
        elif not span and any(cells):
            notes.refuse(section, f"row {excerpt(cells)}")


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


_Reader = Callable[[PageTable, str, VdiskStats, Notes], None]
_SECTIONS: Mapping[str, _Reader] = {
    "ops_and_randomness": _operations,
    "frontend_read_latency": _histogram("latency", "seconds", "read"),
    "frontend_write_latency": _histogram("latency", "seconds", "write"),
    "read_size_distribution": _histogram("size", "bytes", "read"),
    "write_size_distribution": _histogram("size", "bytes", "write"),
    "working_set_sizes": _working_set,
    "read_source": _shares,
    "write_destination": _shares,
    "extent_group_up_migration": _up_migrations,
}
SECTION_NAMES = tuple(_SECTIONS)
"""All known sections, in the page's order."""
