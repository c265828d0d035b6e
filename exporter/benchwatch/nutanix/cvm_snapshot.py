"""What is known about one CVM at one time, and its samples. Numbers that the pages lack are absent.

All of it is written once, by the poller's thread, read by others, and never modified. A number is shown until it is too
old, by the monotonic clock at the time of the scrape, even while a poll is waiting.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from ..metrics.samples import Sample, SampleColumn
from ..settings.cvm_settings import Mapped, VdiskDisk
from . import families as f
from .families import Series
from .pages.main_page import MainPage, VdiskTable

Clock = Callable[[], float]

_NO_DISK = VdiskDisk()


@dataclass(frozen=True)
class Detail:
    """The numbers of a further page, read at `time` (Unix seconds), shown until `until` (monotonic seconds)."""

    time: float
    values: Mapping[Series, float]
    until: float = inf


@dataclass(frozen=True)
class Snapshot:
    """The last pages that were read; `time` and `until` are those of the main page, details are by vdisk id."""

    time: float
    main: MainPage
    details: Mapping[str, Detail] = field(default_factory=dict)
    oplog: Detail | None = None
    until: float = inf

    def at(self, moment: float) -> "Snapshot | None":
        """What may be shown at a moment (monotonic seconds): None if the main page is too old; itself if no page is."""
        if self.until <= moment:
            return None
        kept = {vdisk: detail for vdisk, detail in self.details.items() if detail.until > moment}
        oplog = self.oplog if self.oplog and self.oplog.until > moment else None
        if len(kept) == len(self.details) and oplog is self.oplog:
            return self
        return replace(self, details=kept, oplog=oplog)


@dataclass(frozen=True, eq=False)
class Status:
    """The state of polling one CVM; each state is a new object.

    `up`: whether the last poll read and understood the main page, and not too long ago; None before that is known.
    `last_success`: Unix seconds. `snapshot`: None before the first success and once its main page is too old to be
    shown. `error`: why the CVM is not up, one clause; else empty. `polled`: what the polls themselves measured and
    counted.
    """

    up: bool | None = None
    last_success: float | None = None
    snapshot: Snapshot | None = None
    error: str = ""
    polled: Mapping[Series, float] = field(default_factory=dict)


class CvmSource:
    """The samples of one CVM as a source (see samples.Source).

    `status` is replaced as a whole by the reader of the pages, while others take samples at any time. A CVM of which
    nothing was read for `keep` seconds of the clock (monotonic) is down.
    """

    def __init__(self, name: str, mapping: Mapped, keep: float = inf, clock: Clock = time.monotonic) -> None:
        self.labels: tuple[tuple[str, str], ...] = (("cvm", name),)
        self._mapping = mapping
        self._keep = keep
        self._clock = clock
        self._created = clock()
        self._status = Status()
        self._changing = threading.Lock()

    @property
    def status(self) -> Status:
        """The current state, without pages that are too old to be shown."""
        now = self._clock()
        with self._changing:
            status = self._status
            snapshot = status.snapshot.at(now) if status.snapshot else None
            if snapshot is None and status.up is not False and now - self._created >= self._keep:
                error = f"no page read for {self._keep:g} s or more"
                self._status = replace(status, snapshot=None, up=False, error=error)
            elif snapshot is not status.snapshot:
                self._status = replace(status, snapshot=snapshot)
            return self._status

    @status.setter
    def status(self, status: Status) -> None:
        with self._changing:
            self._status = status

    @property
    def version(self) -> Hashable:
        """See samples.Source."""
        return self.status

    def samples(self) -> Iterator[Sample | SampleColumn]:
        """See samples.Source."""
        status = self.status
        if status.up is not None:
            yield Sample(f.CVM_UP, (), int(status.up))
        if status.last_success is not None:
            yield Sample(f.CVM_LAST_SUCCESS, (), status.last_success)
        yield from (Sample(*series, number) for series, number in status.polled.items())
        if status.snapshot is not None:
            yield from snapshot_samples(status.snapshot, self._mapping)


def snapshot_samples(snapshot: Snapshot, mapping: Mapped) -> Iterator[Sample | SampleColumn]:
    """The samples of all pages of a snapshot."""
    main, overview = snapshot.main, snapshot.main.overview
    identity = (overview.version, overview.svm_id, overview.incarnation)
    if any(identity):
        yield Sample(f.STARGATE_INFO, identity, 1)
    yield from (Sample(*series, value) for series, value in overview.values.items())
    owners = {disk.svm_id for disk in main.disks.values()}
    own = overview.svm_id or (owners.pop() if len(owners) == 1 else None)
    for disk in main.disks.values():  # those of the whole cluster
        if disk.svm_id == own:
            yield Sample(f.DISK_AVAILABLE, (disk.disk, disk.tier), disk.available)
            yield Sample(f.DISK_SIZE, (disk.disk, disk.tier), disk.size)
    if snapshot.oplog:
        yield from (Sample(*series, value) for series, value in snapshot.oplog.values.items())
    hosted, frontend = [row.label for row in main.hosted.rows], main.frontend_labels
    rows = dict(zip(frontend, main.frontend.rows, strict=True)) | dict(zip(hosted, main.hosted.rows, strict=True))
    for vdisk, row in rows.items():
        file = row.file
        mapped = mapping.get(file.lower(), _NO_DISK)
        uuid = file if file.lower() == row.uuid else ""
        yield Sample(f.VDISK_INFO, (vdisk, uuid, row.name, mapped.vm, mapped.disk, mapped.role), 1)
    yield from _table(main.frontend, frontend)
    yield from _table(main.hosted, hosted)
    in_frontend = frozenset(frontend)
    for vdisk, detail in snapshot.details.items():
        yield Sample(f.VDISK_DETAILS_TIME, (vdisk,), detail.time)
        for (family, labels), value in detail.values.items():
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
