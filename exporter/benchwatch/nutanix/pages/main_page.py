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
from .. import families as f
from ..families import Series
from .columns import Fields, VdiskColumn, excerpt, read_columns, read_numbers
from .overview import Overview, is_overview, read_overview
from .quantities import GIGABYTES, MAX_NAME, NO_VALUE, QuantityUnreadable, label_value, read_label
from .tables import Notes, PageTable, read_tables

HOSTED, FRONTEND, CLUSTER, OVERVIEW = "hosted_vdisks", "nfs", "cluster_state", "overview"
MAX_VDISKS = 10_000
MAX_CVMS = 200

_TITLES = {
    HOSTED: re.compile(r"hosted (active )?v-?disks?"),
    FRONTEND: re.compile(r"nfs (slave|worker)s?"),
    CLUSTER: re.compile(r"cluster state"),
}
HOSTED_COLUMNS: Fields[VdiskColumn] = {
    ("usage", "bytes"): VdiskColumn(f.USAGE),
    ("dedup", "bytes"): VdiskColumn(f.DEDUP),
    ("oplog", "bytes"): VdiskColumn(f.OPLOG_BYTES),
    ("oplog fragments", ""): VdiskColumn(f.OPLOG_FRAGMENTS),
    ("oplog", "ops/s"): VdiskColumn(f.OPLOG_OPS),
    ("oplog", "bytes/s"): VdiskColumn(f.OPLOG_RATE),
    ("outstanding ops read", ""): VdiskColumn(f.OUTSTANDING, ("read",), f.OUTSTANDING_BYTES),
    ("outstanding ops write", ""): VdiskColumn(f.OUTSTANDING, ("write",), f.OUTSTANDING_BYTES),
    ("outstanding ops estore", ""): VdiskColumn(f.OUTSTANDING, ("estore",), f.OUTSTANDING_BYTES),
    ("read", "ops/s"): VdiskColumn(f.BACKEND_OPS, ("read",)),
    ("write", "ops/s"): VdiskColumn(f.BACKEND_OPS, ("write",)),
    ("error", "ops/s"): VdiskColumn(f.BACKEND_ERRORS),
    ("random", "ops/s"): VdiskColumn(f.BACKEND_RANDOM),
    ("read", "bytes/s"): VdiskColumn(f.BACKEND_BYTES, ("read",)),
    ("write", "bytes/s"): VdiskColumn(f.BACKEND_BYTES, ("write",)),
    ("avg latency", "seconds"): VdiskColumn(f.BACKEND_LATENCY, average_of=f.BACKEND_OPS),
    ("avg op size", ""): VdiskColumn(f.BACKEND_SIZE, average_of=f.BACKEND_OPS),
    ("avg op size", "bytes"): VdiskColumn(f.BACKEND_SIZE, average_of=f.BACKEND_OPS),
    ("avg qlen", ""): VdiskColumn(f.QUEUE_LENGTH),
    ("busy", "ratio"): VdiskColumn(f.BUSY),
}
FRONTEND_COLUMNS: Fields[VdiskColumn] = {
    ("unstable data", "bytes"): VdiskColumn(f.UNSTABLE_BYTES),
    ("unstable data", "ops/s"): VdiskColumn(f.UNSTABLE_OPS),
    ("unstable data", "bytes/s"): VdiskColumn(f.UNSTABLE_RATE),
    ("outstanding ops read", ""): VdiskColumn(f.FRONTEND_OUTSTANDING, ("read",), f.FRONTEND_OUTSTANDING_BYTES),
    ("outstanding ops write", ""): VdiskColumn(f.FRONTEND_OUTSTANDING, ("write",), f.FRONTEND_OUTSTANDING_BYTES),
    ("read", "ops/s"): VdiskColumn(f.FRONTEND_OPS, ("read",)),
    ("write", "ops/s"): VdiskColumn(f.FRONTEND_OPS, ("write",)),
    ("error", "ops/s"): VdiskColumn(f.FRONTEND_ERRORS),
    ("read", "bytes/s"): VdiskColumn(f.FRONTEND_BYTES, ("read",)),
    ("write", "bytes/s"): VdiskColumn(f.FRONTEND_BYTES, ("write",)),
    ("avg latency read", "seconds"): VdiskColumn(f.FRONTEND_LATENCY, ("read",), average_of=f.FRONTEND_OPS),
    ("avg latency write", "seconds"): VdiskColumn(f.FRONTEND_LATENCY, ("write",), average_of=f.FRONTEND_OPS),
    ("avg op size", ""): VdiskColumn(f.FRONTEND_SIZE, average_of=f.FRONTEND_OPS),
    ("avg op size", "bytes"): VdiskColumn(f.FRONTEND_SIZE, average_of=f.FRONTEND_OPS),
    ("avg outstanding", ""): VdiskColumn(f.FRONTEND_QUEUE),
    ("busy", "ratio"): VdiskColumn(f.FRONTEND_BUSY),
}
_COLUMNS: Mapping[str, Fields[VdiskColumn | str]] = {
    section: {("vdisk id", "any"): "id", ("vdisk name", "any"): "name", **columns}
    for section, columns in ((HOSTED, HOSTED_COLUMNS), (FRONTEND, FRONTEND_COLUMNS))
}
_ONLY = {
    HOSTED: {"usage", "dedup", "oplog", "oplog fragments", "random", "avg qlen"},
    FRONTEND: {"unstable data", "avg outstanding", "avg latency read", "avg latency write"},
}
"""Words of labels that only this table of vdisks has."""

_DISK = re.compile(r"(\d{1,18})\s*\((\d{1,15})\s*/\s*(\d{1,15})\)", re.ASCII)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)


class VdiskRow(NamedTuple):
    """The identity of a row in a table of vdisks, and the hrefs in it. `id` is empty in the front-end view."""

    id: str
    name: str
    links: tuple[str, ...]

    @property
    def label(self) -> str:
        """The vdisk's label in metrics: its id, or its whole name if the page shows no id."""
        return self.id or self.name

    @property
    def file(self) -> str:
        """The text in the outermost parentheses of the name: a VM disk's uuid (AHV) or a file name (ESXi)."""
        start, end = self.name.find("("), self.name.rfind(")")
        return self.name[start + 1 : end].strip() if 0 <= start < end else ""

    @property
    def uuid(self) -> str:
        """The uuid in the name, in lower case: the file name, or the only uuid in the name; else empty."""
        uuids = [self.file] if _UUID.fullmatch(self.file) else _UUID.findall(self.name)
        return uuids[0].lower() if len(uuids) == 1 else ""


@dataclass
class VdiskTable:
    """The rows, one per vdisk, and the numbers of all rows by what they become, None for no value."""

    rows: Sequence[VdiskRow] = ()
    numbers: Mapping[Series, Sequence[float | None]] = field(default_factory=dict)


class Disk(NamedTuple):
    """A disk in Cluster State; sizes in bytes. `svm_id` is the id of the disk's CVM."""

    svm_id: str
    disk: str
    tier: str
    available: float
    size: float


@dataclass
class MainPage(Notes):
    """The content of one main page. `recognised` is empty if the page does not come from a CVM."""

    overview: Overview = field(default_factory=Overview)
    disks: dict[str, Disk] = field(default_factory=dict)
    frontend: VdiskTable = field(default_factory=VdiskTable)
    hosted: VdiskTable = field(default_factory=VdiskTable)
    frontend_labels: Sequence[str] = ()
    """The label in metrics of each front-end row's vdisk; no two are the same."""
    unmatched: Sequence[VdiskRow] = ()
    """Front-end rows that match no row of Hosted VDisks, if the page has that table; their labels are their names."""


def read_main_page(html: bytes, max_vdisks: int = MAX_VDISKS) -> MainPage:
    """Read the page, with up to `max_vdisks` rows of each table of vdisks. Never raises."""
    page = MainPage()
    vdisks: dict[str, VdiskTable] = {}
    for table in read_tables(html, page):
        section = _section(table)
        if section == OVERVIEW:
            read_overview(table, page.overview, page)
        elif section == CLUSTER:
            _read_disks(table, page)
        elif section in vdisks:
            page.refuse(section, f"table of {len(table.rows)} rows: a second table of this section")
        elif section:
            vdisks[section] = _vdisks(table, section, page, max_vdisks)
        elif table.columns or any(map(any, table.rows)):
            first = excerpt(list(table.columns) or table.rows[0])
            page.refuse("", f"table {table.titles[-1] if table.titles else ''!r} that begins with {first}")
    page.frontend, page.hosted = vdisks.get(FRONTEND, page.frontend), vdisks.get(HOSTED, page.hosted)
    pairs = list(zip(page.frontend.rows, _joined(page.frontend.rows, page.hosted.rows), strict=True))
    page.frontend_labels = [label or row.name for row, label in pairs]
    page.unmatched = [row for row, label in pairs if not label and HOSTED in vdisks]
    return page


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
        by_uuid = _once((row.uuid, row.label) for row in rest)
        own = _once((row.uuid, row.name) for row in frontend)
        uuids = (row.uuid if row.uuid in own else "" for row in frontend)
        joined = [label or by_uuid.get(uuid, "") for label, uuid in zip(joined, uuids, strict=True)]
    return joined


def _once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The pairs whose key is not empty and appears once."""
    known = list(pairs)
    counts = Counter(key for key, _ in known)
    return {key: value for key, value in known if key and counts[key] == 1}


def _section(table: PageTable) -> str:
    """The section of a table: the one that the nearest title names, else the only one that has such labels; or none."""
    if not table.columns:
        return OVERVIEW if is_overview(table) else ""
    for title in reversed(table.titles):
        for section, pattern in _TITLES.items():
            if pattern.fullmatch(title.lower().rstrip(" :")):
                return section
    words = {read_label(column).words for column in table.columns}
    if "svm id" in words:
        return CLUSTER
    if "vdisk id" in words:
        return HOSTED
    return next((section for section, only in _ONLY.items() if "vdisk name" in words and words & only), "")


def _vdisks(table: PageTable, section: str, notes: Notes, most: int) -> VdiskTable:
    columns = read_columns(table, section, _COLUMNS[section], notes)
    id_at, name_at = (columns[field].position if field in columns else None for field in ("id", "name"))
    width = len(table.columns)
    rows: dict[str, VdiskRow] = {}
    kept: list[int] = []
    for index, cells in enumerate(notes.first(table.rows, most, section)):
        if not any(cells):
            continue
        if len(cells) != width:
            notes.refuse(section, f"row {excerpt(cells)}: {len(cells)} cells under {width} columns")
            continue
        identity = "" if id_at is None else cells[id_at]
        try:
            name = "" if name_at is None else label_value(cells[name_at])
        except QuantityUnreadable as error:
            notes.refuse(section, f"row of vdisk {str(error)!r}: the name is too long")
            continue
        label = identity or name
        if not label or (id_at is not None and not identity.isdecimal()):
            notes.refuse(section, f"row {excerpt(cells)}")
        elif label in rows:
            notes.refuse(section, f"row {excerpt(cells)}: a second row of this vdisk")
        else:
            rows[label] = VdiskRow(identity, name, tuple(table.links.get(index, ())))
            kept.append(index)
    numeric = {column: place for column, place in columns.items() if isinstance(column, VdiskColumn)}
    return VdiskTable(list(rows.values()), read_numbers(table, kept, section, numeric, notes))


def _read_disks(table: PageTable, page: MainPage) -> None:
    columns = [(printable(name[:MAX_NAME]), read_label(name)) for name in table.columns]
    page.found(CLUSTER, *(name for name, _ in columns))
    for cells in page.first(table.rows, MAX_CVMS, CLUSTER):
        named = list(zip(columns, cells, strict=False))
        svm_id = next((cell for (_, label), cell in named if label.words == "svm id"), "")
        for (name, label), cell in named:
            if cell in NO_VALUE or label.words in ("svm id", "ip:port", "incarnation"):
                continue
            match = _DISK.fullmatch(cell)
            unit = label.unit if label.unit.dimension else GIGABYTES
            is_size = unit.dimension == "bytes" and not label.unknown
            if match is None or match[1] in page.disks or len(svm_id) > MAX_NAME or not is_size:
                page.refuse(CLUSTER, f"cell {cell[:MAX_NAME]!r} under {name!r}")
                continue
            available, size = (float(text) * unit.multiply for text in match.group(2, 3))
            page.disks[match[1]] = Disk(svm_id, match[1], name, available, size)
