"""The samples of one CVM, from the last snapshot of its pages. Numbers that the pages lack are absent."""

from collections.abc import Hashable, Iterator, Sequence

from ..metrics.samples import Sample, SampleColumn
from . import families as f
from .cvm_settings import Mapped, VdiskDisk
from .cvm_snapshot import Snapshot, Status
from .pages.main_page import VdiskTable, file_name, is_uuid

_NO_DISK = VdiskDisk()


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
    main, overview = snapshot.main, snapshot.main.overview
    identity = (overview.version, overview.svm_id, overview.incarnation)
    if any(identity):
        yield Sample(f.STARGATE_INFO, identity, 1)
    for (family, labels), value in overview.values.items():
        yield Sample(family, labels, value)
    owners = {disk.svm_id for disk in main.disks}
    own = overview.svm_id or (owners.pop() if len(owners) == 1 else None)
    for disk in main.disks:  # those of the whole cluster
        if disk.svm_id == own:
            yield Sample(f.DISK_AVAILABLE, (disk.disk, disk.tier), disk.available)
            yield Sample(f.DISK_SIZE, (disk.disk, disk.tier), disk.size)
    for store, ratio in snapshot.oplog.utilisation.items() if snapshot.oplog is not None else ():
        yield Sample(f.OPLOG_UTILISATION, (store,), ratio)
    frontend, hosted = main.frontend_labels, [row.label for row in main.hosted.rows]
    rows = dict(zip(frontend, main.frontend.rows, strict=True)) | dict(zip(hosted, main.hosted.rows, strict=True))
    for vdisk, row in rows.items():
        file = file_name(row.name)
        mapped = mapping.get(file.lower(), _NO_DISK)
        uuid = file if is_uuid(file) else ""
        yield Sample(f.VDISK_INFO, (vdisk, uuid, row.name, mapped.vm, mapped.disk, mapped.role), 1)
    yield from _table(main.frontend, frontend)
    yield from _table(main.hosted, hosted)
    in_frontend = frozenset(frontend)
    for vdisk, detail in snapshot.details.items():
        yield Sample(f.VDISK_DETAILS_TIME, (vdisk,), detail.time)
        for (family, labels), value in detail.stats.items():
            if family is not f.FRONTEND_LATENCY or vdisk not in in_frontend:
                yield Sample(family, (vdisk, *labels), value)


def _table(table: VdiskTable, vdisks: Sequence[str]) -> Iterator[SampleColumn]:
    """The samples of a table, column by column, because this is most of the work on a large page."""
    labels = {rest: [(vdisk, *rest) for vdisk in vdisks] for rest in {rest for _, rest in table.numbers}}
    for (family, rest), numbers in table.numbers.items():
        present = [number for number in numbers if number is not None]
        rows = labels[rest]
        if len(present) < len(rows):
            rows = [row for row, number in zip(rows, numbers, strict=True) if number is not None]
        yield SampleColumn(family, rows, present)
