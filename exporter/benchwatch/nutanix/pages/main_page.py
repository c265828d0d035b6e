"""The main page of port 2009: overview, cluster state, and the front-end and back-end views of the vdisks.

Public screenshots (a build of 2015) and public programs that read the page show:

overview          label | value, no header: start time, build version, SVM id, incarnation, caches, queues
Cluster State     SVM Id | IP:port | Incarnation | one group of columns a tier, cells `disk id (available/total)` in GB
NFS Slave         (later NFS Worker) a row a vdisk: what the virtual machine sees
Hosted VDisks     (2014: Hosted Active VDisks) a row a vdisk: what reaches the store behind the oplog

`Ops/s Write` of Hosted VDisks excludes writes that the oplog absorbed, and the latency there is not what the virtual
machine sees. An idle vdisk shows a latency of 0; nothing was measured, so the value is absent. Only Hosted VDisks has
the vdisk's id, and the two tables may show different forms of its name (`NFS:40043 (uuid)`, `NFS:4:0:40043 (uuid)`).
Rows are joined by the whole name if exactly one hosted vdisk has it, else by the uuid if each table has it once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...values.printable import printable
from .columns import Fields, excerpt, printed, read_columns, read_numbers
from .notes import Notes, Unrecognised
from .overview import Overview, is_overview, read_overview
from .quantities import MAX_NAME, NO_VALUE, UNITS, QuantityUnreadable, label_value, read_label
from .tables import PageTable, read_tables

HOSTED, FRONTEND, CLUSTER, OVERVIEW = "hosted_vdisks", "nfs", "cluster_state", "overview"

_TITLES = {
    HOSTED: re.compile(r"hosted (active )?v-?disks?"),
    FRONTEND: re.compile(r"nfs (slave|worker)s?"),
    CLUSTER: re.compile(r"cluster state"),
}

_SHARED_FIELDS: Fields = {
    ("outstanding ops read", ""): "outstanding_read",
    ("outstanding ops write", ""): "outstanding_write",
    ("read", "ops/s"): "read_ops_per_second",
    ("write", "ops/s"): "write_ops_per_second",
    ("error", "ops/s"): "errors_per_second",
    ("read", "bytes/s"): "read_bytes_per_second",
    ("write", "bytes/s"): "write_bytes_per_second",
    ("avg op size", ""): "operation_size_bytes",
    ("avg op size", "bytes"): "operation_size_bytes",
    ("busy", "ratio"): "busy_ratio",
}
HOSTED_FIELDS: Fields = {
    **_SHARED_FIELDS,
    ("usage", "bytes"): "usage_bytes",
    ("dedup", "bytes"): "dedup_bytes",
    ("oplog", "bytes"): "oplog_bytes",
    ("oplog fragments", ""): "oplog_fragments",
    ("oplog", "ops/s"): "oplog_ops_per_second",
    ("oplog", "bytes/s"): "oplog_bytes_per_second",
    ("outstanding ops estore", ""): "outstanding_estore",
    ("random", "ops/s"): "random_ops_per_second",
    ("avg latency", "seconds"): "latency_seconds",
    ("avg qlen", ""): "queue_length",
}
FRONTEND_FIELDS: Fields = {
    **_SHARED_FIELDS,
    ("unstable data", "bytes"): "unstable_bytes",
    ("unstable data", "ops/s"): "unstable_ops_per_second",
    ("unstable data", "bytes/s"): "unstable_bytes_per_second",
    ("avg latency read", "seconds"): "read_latency_seconds",
    ("avg latency write", "seconds"): "write_latency_seconds",
    ("avg outstanding", ""): "queue_length",
}

_IDENTITY = {"vdisk id": "id", "vdisk name": "name"}
_ONLY_HOSTED = frozenset(("usage", "dedup", "oplog", "oplog fragments", "random", "avg qlen"))
_ONLY_FRONTEND = frozenset(("unstable data", "avg outstanding", "avg latency read", "avg latency write"))

_RATES_BEHIND: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    HOSTED: {
        "latency_seconds": ("read_ops_per_second", "write_ops_per_second"),
        "operation_size_bytes": ("read_ops_per_second", "write_ops_per_second"),
    },
    FRONTEND: {
        "read_latency_seconds": ("read_ops_per_second",),
        "write_latency_seconds": ("write_ops_per_second",),
        "operation_size_bytes": ("read_ops_per_second", "write_ops_per_second"),
    },
}
"""An average of 0 is no measurement unless one of these rates is above 0."""

_GIGABYTES = UNITS["gb"]
_DISK = re.compile(r"(\d{1,18})\s*\((\d{1,15})\s*/\s*(\d{1,15})\)", re.ASCII)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
MAX_VDISKS = 10_000
MAX_DISKS = 5_000
_SVM_COLUMNS = frozenset(("svm id", "ip:port", "incarnation"))


class VdiskRow(NamedTuple):
    """The identity of a row in a table of vdisks, and the hrefs in it. `id` is empty in the front-end view."""

    id: str
    name: str
    links: tuple[str, ...]

    @property
    def label(self) -> str:
        """The vdisk's label in metrics: its id, or its whole name if the page shows no id."""
        return self.id or self.name


@dataclass(frozen=True)
class VdiskTable:
    """The rows, one per vdisk, and by field the numbers of all rows, None for no value."""

    rows: tuple[VdiskRow, ...] = ()
    numbers: Mapping[str, Sequence[float | None]] = field(default_factory=dict)


class Disk(NamedTuple):
    """A disk in Cluster State; sizes in bytes. `svm_id` is the id of the disk's CVM."""

    svm_id: str
    disk: str
    tier: str
    available: float
    size: float


@dataclass(frozen=True)
class MainPage:
    """The content of one main page."""

    overview: Overview
    disks: tuple[Disk, ...]
    frontend: VdiskTable
    hosted: VdiskTable
    frontend_labels: tuple[str, ...]
    """The label in metrics of each front-end row's vdisk; no two are the same."""
    unmatched: tuple[VdiskRow, ...]
    """Front-end rows that match no row of Hosted VDisks, if the page has that table; their labels are their names."""
    recognised: Mapping[str, tuple[str, ...]]
    unrecognised: tuple[Unrecognised, ...]


def file_name(vdisk_name: str) -> str:
    """The text in the outermost parentheses of a vdisk's name: a VM disk's uuid (AHV) or a file name (ESXi)."""
    start, end = vdisk_name.find("("), vdisk_name.rfind(")")
    return vdisk_name[start + 1 : end].strip() if 0 <= start < end else ""


def read_main_page(html: bytes, max_vdisks: int = MAX_VDISKS) -> MainPage:
    """Read the page, with up to `max_vdisks` rows of each table of vdisks. Never raises.

    `recognised` is empty if the page does not come from a CVM.
    """
    notes = Notes()
    overview = Overview()
    disks: dict[str, Disk] = {}
    vdisks: dict[str, VdiskTable] = {}
    for table in read_tables(html, notes):
        section = _section(table)
        if section == OVERVIEW:
            overview = read_overview(table, overview, notes)
        elif section == CLUSTER:
            _read_disks(table, disks, notes)
        elif section in vdisks:
            notes.refuse(section, f"table of {len(table.rows)} rows: a second table of this section")
        elif section is not None:
            vdisks[section] = _vdisks(table, section, notes, max_vdisks)
        elif table.columns or any(map(any, table.rows)):
            first = excerpt([printed(column) for column in table.columns] or table.rows[0])
            notes.refuse("", f"table {table.titles[-1] if table.titles else ''!r} that begins with {first}")
    frontend, hosted = vdisks.get(FRONTEND, VdiskTable()), vdisks.get(HOSTED, VdiskTable())
    labels = _joined(frontend.rows, hosted.rows)
    pairs = list(zip(frontend.rows, labels, strict=True))
    return MainPage(
        overview,
        tuple(disks.values()),
        frontend,
        hosted,
        tuple(label or row.name for row, label in pairs),
        tuple(row for row, label in pairs if not label and HOSTED in vdisks),
        notes.recognised,
        tuple(notes.unrecognised),
    )


def is_uuid(text: str) -> bool:
    """Whether a text is a uuid and nothing else."""
    return _UUID.fullmatch(text) is not None


def vdisk_uuid(vdisk_name: str) -> str:
    """The uuid in a vdisk's name, in lower case: the file name, or the only uuid in the name; else empty."""
    file = file_name(vdisk_name)
    uuids = [file] if is_uuid(file) else _UUID.findall(vdisk_name)
    return uuids[0].lower() if len(uuids) == 1 else ""


def _joined(frontend: Sequence[VdiskRow], hosted: Sequence[VdiskRow]) -> list[str]:
    """The label of the hosted vdisk that each front-end row belongs to, or the row's own id; empty if there is neither.

    No two rows have the same label: a hosted vdisk whose label is the name of a row belongs to that row only.
    """
    labels = {row.label for row in hosted}
    direct = labels.intersection(row.name for row in frontend)
    rest = [row for row in hosted if row.label not in direct]
    by_name = _once((row.name, row.label) for row in rest)
    joined = [row.id or (row.name if row.name in direct else by_name.get(row.name, "")) for row in frontend]
    if not all(joined):  # on most pages the names are the same
        by_uuid = _once((vdisk_uuid(row.name), row.label) for row in rest)
        own = _once((vdisk_uuid(row.name), row.name) for row in frontend)
        for index, row in enumerate(frontend):
            uuid = vdisk_uuid(row.name)
            joined[index] = joined[index] or (by_uuid.get(uuid, "") if uuid in own else "")
    return joined


def _once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The pairs whose key is not empty and appears once."""
    known = list(pairs)
    counts = Counter(key for key, _ in known)
    return {key: value for key, value in known if key and counts[key] == 1}


def _section(table: PageTable) -> str | None:
    """The section of a table: the one that the nearest title names, else the only one that has such labels."""
    if not table.columns:
        return OVERVIEW if is_overview(table) else None
    for title in reversed(table.titles):
        for section, pattern in _TITLES.items():
            if pattern.fullmatch(title.lower().rstrip(" :")):
                return section
    words = {read_label(*column).words for column in table.columns}
    if "svm id" in words:
        return CLUSTER
    if "vdisk id" in words or ("vdisk name" in words and words & _ONLY_HOSTED):
        return HOSTED
    return FRONTEND if "vdisk name" in words and words & _ONLY_FRONTEND else None


def _vdisks(table: PageTable, section: str, notes: Notes, most: int) -> VdiskTable:
    fields = HOSTED_FIELDS if section == HOSTED else FRONTEND_FIELDS
    columns, texts = read_columns(table, section, fields, notes, _IDENTITY)
    id_at, name_at, width = texts.get("id"), texts.get("name"), len(table.columns)
    rows: dict[str, VdiskRow] = {}
    kept: list[int] = []
    for index, cells in enumerate(table.rows):
        if len(rows) >= most:
            left_out = len(table.rows) - index
            notes.refuse(section, f"{left_out} rows after the first {most} vdisks", left_out)
            break
        if len(cells) != width:
            if any(cells):
                notes.refuse(section, f"row {excerpt(cells)}: {len(cells)} cells under {width} columns")
            continue
        identity = cells[id_at] if id_at is not None else ""
        try:
            name = label_value(cells[name_at]) if name_at is not None else ""
        except QuantityUnreadable as error:
            notes.refuse(section, f"row of vdisk {str(error)!r}: the name is too long")
            continue
        label = identity or name
        if not label or (id_at is not None and not identity.isdecimal()):
            if any(cells):
                notes.refuse(section, f"row {excerpt(cells)}")
        elif label in rows:
            notes.refuse(section, f"row {excerpt(cells)}: a second row of this vdisk")
        else:
            rows[label] = VdiskRow(identity, name, tuple(table.links.get(index, ())))
            kept.append(index)
    numbers = read_numbers(table, kept, section, columns, notes)
    return VdiskTable(tuple(rows.values()), numbers | _averages(section, numbers))


def _averages(section: str, numbers: Mapping[str, Sequence[float | None]]) -> dict[str, Sequence[float | None]]:
    """The averages, None for rows in which nothing happened."""
    averages: dict[str, Sequence[float | None]] = {}
    for average, rates in _RATES_BEHIND[section].items():
        if 0 in numbers.get(average, ()):
            happened = zip(numbers[average], *(numbers[rate] for rate in rates if rate in numbers), strict=True)
            averages[average] = [None if row[0] == 0 and not any(row[1:]) else row[0] for row in happened]
    return averages


def _read_disks(table: PageTable, disks: dict[str, Disk], notes: Notes) -> None:
    labels = [printable(printed(column)[:MAX_NAME]) for column in table.columns]
    known = {label.lower(): index for index, label in enumerate(labels)}
    svm_column = known.get("svm id")
    notes.found(CLUSTER, *labels)
    for cells in table.rows:
        svm_id = cells[svm_column] if svm_column is not None and svm_column < len(cells) else ""
        for label, cell in zip(labels, cells, strict=False):
            if cell in NO_VALUE or label.lower() in _SVM_COLUMNS:
                continue
            match = _DISK.fullmatch(cell)
            if match is None or match[1] in disks or len(disks) >= MAX_DISKS or len(svm_id) > MAX_NAME:
                notes.refuse(CLUSTER, f"cell {cell[:MAX_NAME]!r} under {label!r}")
                continue
            available, size = (float(text) * _GIGABYTES.multiply for text in match.group(2, 3))
            disks[match[1]] = Disk(svm_id, match[1], label, available, size)
