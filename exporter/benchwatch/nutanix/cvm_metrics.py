"""The samples of one CVM, from the last snapshot of its pages. Numbers that the pages lack are absent."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence

from ..metrics.samples import Family, Sample, SampleColumn
from . import families as f
from .cvm_settings import Mapped, VdiskDisk
from .cvm_snapshot import Detail, Snapshot, Status
from .pages.histogram_table import Histogram
from .pages.main_page import Disk, MainPage, VdiskTable, file_name, is_uuid
from .pages.overview import Overview
from .pages.vdisk_page import Share

_OVERVIEW: Mapping[str, Family] = {
    "content_cache_hit_ratio": f.CACHE_HITS,
    "content_cache_flash_pagein_ratio": f.CACHE_PAGEIN,
    "content_cache_bytes": f.CACHE_BYTES,
    "nfs_cache_bytes": f.NFS_CACHE_BYTES,
    "queue_operations": f.STARGATE_QUEUE,
}

FAMILIES = f.FAMILIES

_Samples = Mapping[str, tuple[Family, tuple[str, ...]]]
_HOSTED: _Samples = {
    "usage_bytes": (f.USAGE, ()),
    "dedup_bytes": (f.DEDUP, ()),
    "oplog_bytes": (f.OPLOG_BYTES, ()),
    "oplog_fragments": (f.OPLOG_FRAGMENTS, ()),
    "oplog_ops_per_second": (f.OPLOG_OPS, ()),
    "oplog_bytes_per_second": (f.OPLOG_RATE, ()),
    "outstanding_read": (f.OUTSTANDING, ("read",)),
    "outstanding_write": (f.OUTSTANDING, ("write",)),
    "outstanding_estore": (f.OUTSTANDING, ("estore",)),
    "outstanding_read_bytes": (f.OUTSTANDING_BYTES, ("read",)),
    "outstanding_write_bytes": (f.OUTSTANDING_BYTES, ("write",)),
    "outstanding_estore_bytes": (f.OUTSTANDING_BYTES, ("estore",)),
    "read_ops_per_second": (f.BACKEND_OPS, ("read",)),
    "write_ops_per_second": (f.BACKEND_OPS, ("write",)),
    "errors_per_second": (f.BACKEND_ERRORS, ()),
    "random_ops_per_second": (f.BACKEND_RANDOM, ()),
    "read_bytes_per_second": (f.BACKEND_BYTES, ("read",)),
    "write_bytes_per_second": (f.BACKEND_BYTES, ("write",)),
    "latency_seconds": (f.BACKEND_LATENCY, ()),
    "operation_size_bytes": (f.BACKEND_SIZE, ()),
    "queue_length": (f.QUEUE_LENGTH, ()),
    "busy_ratio": (f.BUSY, ()),
}
_FRONTEND: _Samples = {
    "unstable_bytes": (f.UNSTABLE_BYTES, ()),
    "unstable_ops_per_second": (f.UNSTABLE_OPS, ()),
    "unstable_bytes_per_second": (f.UNSTABLE_RATE, ()),
    "outstanding_read": (f.FRONTEND_OUTSTANDING, ("read",)),
    "outstanding_write": (f.FRONTEND_OUTSTANDING, ("write",)),
    "outstanding_read_bytes": (f.FRONTEND_OUTSTANDING_BYTES, ("read",)),
    "outstanding_write_bytes": (f.FRONTEND_OUTSTANDING_BYTES, ("write",)),
    "read_ops_per_second": (f.FRONTEND_OPS, ("read",)),
    "write_ops_per_second": (f.FRONTEND_OPS, ("write",)),
    "errors_per_second": (f.FRONTEND_ERRORS, ()),
    "read_bytes_per_second": (f.FRONTEND_BYTES, ("read",)),
    "write_bytes_per_second": (f.FRONTEND_BYTES, ("write",)),
    "read_latency_seconds": (f.FRONTEND_LATENCY, ("read",)),
    "write_latency_seconds": (f.FRONTEND_LATENCY, ("write",)),
    "operation_size_bytes": (f.FRONTEND_SIZE, ()),
    "queue_length": (f.FRONTEND_QUEUE, ()),
    "busy_ratio": (f.FRONTEND_BUSY, ()),
}
_HISTOGRAMS = {
    "latency": (f.FRONTEND_LATENCY_WINDOW, f.FRONTEND_LATENCY_RANGE),
    "size": (f.SIZE_WINDOW, f.SIZE_RANGE),
}
_NO_DISK = VdiskDisk()
_CATEGORIES = {"random_ratio": f.RANDOM, "sequential_ratio": f.SEQUENTIAL}


class CvmSource:
    """The samples of one CVM as a source (see samples.Source).

    `status` is replaced as a whole by the reader of the pages, while others take samples at any time.
    """

    def __init__(self, name: str, mapping: Mapped) -> None:
        self.labels: tuple[tuple[str, str], ...] = (("cvm", name),)
        self.status = Status()
        self._mapping = mapping

    @property
    def version(self) -> Hashable:
        """See samples.Source."""
        return self.status

    def samples(self) -> Iterator[Sample | SampleColumn]:
        """See samples.Source."""
        status = self.status
        if status.up is not None:
            yield Sample(f.CVM_UP, (), int(status.up))
        if status.polls:
            yield Sample(f.CVM_POLL_DURATION, (), status.duration)
            yield Sample(f.CVM_UNMATCHED_ROWS, (), status.unmatched)
        if status.last_success is not None:
            yield Sample(f.CVM_LAST_SUCCESS, (), status.last_success)
        for key, count in status.errors.items():
            yield Sample(f.CVM_PAGE_ERRORS, key, count)
        for section, count in status.unrecognised.items():
            yield Sample(f.CVM_UNRECOGNISED_ROWS, (section,), count)
        if status.snapshot is not None:
            yield from snapshot_samples(status.snapshot, self._mapping)


def snapshot_samples(snapshot: Snapshot, mapping: Mapped) -> Iterator[Sample | SampleColumn]:
    """The samples of all pages of a snapshot."""
    main = snapshot.main
    yield from _overview(main.overview)
    for disk in _own_disks(main):
        yield Sample(f.DISK_AVAILABLE, (disk.disk, disk.tier), disk.available)
        yield Sample(f.DISK_SIZE, (disk.disk, disk.tier), disk.size)
    if snapshot.oplog is not None:
        for store, ratio in snapshot.oplog.utilisation.items():
            yield Sample(f.OPLOG_UTILISATION, (store,), ratio)
    hosted = [row.label for row in main.hosted.rows]
    frontend = main.frontend_labels
    names = dict(zip(frontend, main.frontend.rows, strict=True)) | dict(zip(hosted, main.hosted.rows, strict=True))
    for vdisk, row in names.items():
        yield _info(vdisk, row.name, mapping)
    yield from _table(main.frontend, frontend, _FRONTEND)
    yield from _table(main.hosted, hosted, _HOSTED)
    in_frontend = frozenset(frontend)
    for vdisk, detail in snapshot.details.items():
        yield from _details(vdisk, detail, vdisk not in in_frontend)


def _overview(overview: Overview) -> Iterator[Sample]:
    identity = (overview.version, overview.svm_id, overview.incarnation)
    if any(identity):
        yield Sample(f.STARGATE_INFO, identity, 1)
    if overview.start is not None:
        yield Sample(f.STARGATE_START, (), overview.start)
    for (field, kind, state), value in overview.values.items():
        family = _OVERVIEW[field]
        yield Sample(family, (kind, state)[: len(family.labels)], value)


def _own_disks(main: MainPage) -> Iterator[Disk]:
    """The disks of this CVM: the page lists those of the whole cluster."""
    owners = {disk.svm_id for disk in main.disks}
    own = main.overview.svm_id or (owners.pop() if len(owners) == 1 else None)
    return (disk for disk in main.disks if disk.svm_id == own)


def _info(vdisk: str, name: str, mapping: Mapped) -> Sample:
    file = file_name(name)
    disk = mapping.get(file.lower(), _NO_DISK)
    uuid = file if is_uuid(file) else ""
    return Sample(f.VDISK_INFO, (vdisk, uuid, name, disk.vm, disk.disk, disk.role), 1)


def _table(table: VdiskTable, vdisks: Sequence[str], samples: _Samples) -> Iterator[SampleColumn]:
    """The samples of a table, column by column, because this is most of the work on a large page."""
    labels = {rest: [(vdisk, *rest) for vdisk in vdisks] for rest in {rest for _, rest in samples.values()}}
    for field, numbers in table.numbers.items():
        family, rest = samples[field]
        present = [number for number in numbers if number is not None]
        rows = labels[rest]
        if len(present) < len(rows):
            rows = [row for row, number in zip(rows, numbers, strict=True) if number is not None]
        yield SampleColumn(family, rows, present)


def _details(vdisk: str, detail: Detail, is_latency_source: bool) -> Iterator[Sample]:
    """The samples of one vdisk's page. `is_latency_source`: the front-end view does not have the vdisk."""
    stats = detail.stats
    yield Sample(f.VDISK_DETAILS_TIME, (vdisk,), detail.time)
    for (name, op), value in stats.operations.items():
        if name in _CATEGORIES and op != "total":
            yield Sample(_CATEGORIES[name], (vdisk, op), value)
    for (kind, op), histogram in stats.histograms.items():
        yield from _histogram(*_HISTOGRAMS[kind], (vdisk, op), histogram)
        if kind == "latency" and is_latency_source and histogram.average is not None:
            yield Sample(f.FRONTEND_LATENCY, (vdisk, op), histogram.average)
    for labels, value in stats.working_set.items():
        yield Sample(f.WORKING_SET, (vdisk, *labels), value)
    yield from _shares(f.READ_SOURCE_RATIO, f.READ_SOURCE_BYTES, vdisk, stats.read_source)
    yield from _shares(f.WRITE_DESTINATION_RATIO, f.WRITE_DESTINATION_BYTES, vdisk, stats.write_destination)
    for span, count in stats.up_migrations.items():
        yield Sample(f.UP_MIGRATIONS, (vdisk, span), count)


def _histogram(counts: Family, averages: Family, labels: tuple[str, ...], histogram: Histogram) -> Iterator[Sample]:
    for edge, ios in zip(histogram.edges, histogram.cumulative, strict=True):
        yield Sample(counts, (*labels, _edge(edge)), ios)
    for edge, average in zip(histogram.edges, histogram.averages, strict=False):
        if average is not None:
            yield Sample(averages, (*labels, _edge(edge)), average)


def _edge(edge: float) -> str:
    """An edge as the value of `le`: 0.001, 4096, +Inf."""
    if edge == math.inf:
        return "+Inf"
    return str(int(edge)) if edge == int(edge) else repr(edge)


def _shares(ratios: Family, rates: Family, vdisk: str, shares: Mapping[str, Share]) -> Iterator[Sample]:
    for name, share in shares.items():
        if share.ratio is not None:
            yield Sample(ratios, (vdisk, name), share.ratio)
        if share.bytes_per_second is not None:
            yield Sample(rates, (vdisk, name), share.bytes_per_second)
