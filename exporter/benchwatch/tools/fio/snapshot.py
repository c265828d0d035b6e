"""The counters of one document, as arrays: by member (one job in one operation) and summed into series.

Jobs with the same label (clones of one job that fio reports one by one) are members of one series: their counters and
bins are added, which is exact.

The source of each number, with the versions of fio:
- completed I/Os: `N` of the latency (3.18+), else the sum of its bins (json+), else `total_ios`, which counts I/Os as
  they are issued; also `total_ios` if no latency is measured (gtod_reduce, disable_*, ramp time) and bytes show that
  I/O completes.
- the latency: the completion latency `clat_ns`; or `lat_ns`, from submission, if only that has bins or percentiles
  (lat_percentiles=1 with clat_percentiles=0) or was measured (disable_clat).
- a sum of latencies: mean x N.
- `verify`: the reads of a job whose rw= does not include reads, as it has verify=. fio prints them under `read`, with
  their own runtime (that of the phase after the writes; earlier reads of verify_backlog= have none).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import FIO_BINS, bins
from .document import Direction, FioDocument, Job, Latency
from .jobs import labels, reported_jobs
from .options import Options, job_options, operations, verifies

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_Array = TypeVar("_Array", Integers, Floats)

ISSUED, BYTES, SHORT, DROPPED, COMPLETED, TIMED, SUBMITTED = range(7)
"""Columns of `Snapshot.integers`: I/Os issued, bytes completed, short and dropped I/Os, I/Os completed, latencies and
submission latencies measured."""
LATENCY, SUBMISSION = range(2)
"""Columns of `Snapshot.seconds`: sums of latencies and of submission latencies, seconds."""
_COLUMNS = 7
_OPERATIONS = ("read", "write", "trim")
APART = frozenset({"sync", "verify"})
"""Operations that are not part of the workload: they are not added to its I/Os, rates and latencies."""
_ROUNDING = 1
"""Milliseconds by which fio's runtimes of two directions may differ although they ran in the same loop."""


class JobSeries(NamedTuple):
    """A label and an operation."""

    job: str
    operation: str


class Member(NamedTuple):
    """One job, by its place in the document, in one operation."""

    place: int
    operation: str


@dataclass(frozen=True, slots=True, eq=False)
class FioSnapshot:
    """Cumulative counters at one time.

    Shapes: `integers` and `maxima` have a row per member, whose series is in `rows`; `totals`, `seconds` and `counts`
    have a row per series.
    """

    time: float
    jobs: Sequence[Job]
    labels: Sequence[str]
    options: Sequence[Options]
    members: tuple[Member, ...]
    series: tuple[JobSeries, ...]
    rows: Integers
    integers: Integers
    totals: Integers
    """`integers` by series."""
    starts: Integers
    """When each member's job started, epoch milliseconds; 0 if not printed or not started."""
    maxima: Integers
    """Highest latency of each member, nanoseconds."""
    seconds: Floats
    counts: Integers
    """Latencies by bin of fio (see benchwatch.metrics.buckets)."""
    used: slice
    """The bins from the first to the last that is not empty in any series."""
    binned: NDArray[np.bool_]
    """Which series have bins."""
    spent: Mapping[str, tuple[float, float]]
    """CPU seconds in user and system mode since the start, by label; without jobs for which fio does not print them."""

    def by_series(self, values: Integers) -> Integers:
        """Values of members (or rows of values), summed by series."""
        return _summed(values, self.rows, len(self.series))

    def highest(self, values: Integers) -> Integers:
        """The highest value of each series' members, at least 0."""
        if len(values) == len(self.series):
            return np.maximum(values, 0)
        maxima = np.zeros(len(self.series), dtype=np.int64)
        np.maximum.at(maxima, self.rows, values)
        return maxima


def take(document: FioDocument, time: float) -> FioSnapshot:
    """The counters of a document that was built at `time` (Unix seconds); they are kept with the document."""
    known: FioSnapshot | None = vars(document).get("snapshot")
    if known is None or known.time != time:
        known = vars(document)["snapshot"] = _counters(document, time)
    return known


def _counters(document: FioDocument, time: float) -> FioSnapshot:
    jobs = reported_jobs(document)
    names = labels(jobs)
    options = [job_options(document.global_options, job.options) for job in jobs]
    members: list[Member] = []
    series: dict[JobSeries, int] = {}
    rows: list[int] = []
    integers: list[tuple[int, ...]] = []
    sums: list[tuple[float, float]] = []
    starts: list[int] = []
    maxima: list[int] = []
    found: list[dict[int, int]] = []
    for place, job in enumerate(jobs):
        for operation, direction in _directions(job, options[place]):
            latency = _latency(direction, operation)
            timed = _observations(latency, direction.total_ios)
            submission = direction.slat_ns
            submitted = _observations(submission, direction.total_ios)
            sent = direction.completed_bytes
            completed = direction.total_ios if not timed and sent else timed
            issued = timed if operation == "sync" else direction.total_ios
            members.append(Member(place, operation))
            rows.append(series.setdefault(JobSeries(names[place], operation), len(series)))
            integers.append((issued, sent, direction.short_ios, direction.drop_ios, completed, timed, submitted))
            sums.append(((latency.mean or 0.0) * timed / 1e9, (submission.mean or 0.0) * submitted / 1e9))
            starts.append(job.job_start)
            maxima.append(latency.max if timed else 0)
            found.append(latency.bins or {})
    row_array = np.array(rows, dtype=np.int64)
    integer_array = np.array(integers, dtype=np.int64).reshape(-1, _COLUMNS)
    seconds = np.zeros((len(series), 2))
    np.add.at(seconds, row_array, np.array(sums, dtype=np.float64).reshape(-1, 2))
    binned = np.zeros(len(series), dtype=np.bool_)
    binned[[row for row, each in zip(rows, found, strict=True) if each]] = True
    return FioSnapshot(
        time,
        jobs,
        names,
        options,
        tuple(members),
        tuple(series),
        row_array,
        integer_array,
        _summed(integer_array, row_array, len(series)),
        np.array(starts, dtype=np.int64),
        np.array(maxima, dtype=np.int64),
        seconds,
        *_counts(found, row_array, len(series)),
        binned,
        _spent(jobs, names),
    )


def aligned(values: _Array, before: Sequence[object], after: Sequence[object]) -> _Array:
    """Rows that belong to the series or members `before`, in the order of `after`; zeros for new ones."""
    if before == after:
        return values
    places = {key: place for place, key in enumerate(before)}
    order = np.array([places.get(key, len(places)) for key in after], dtype=np.int64)
    return np.concatenate([values, np.zeros_like(values, shape=(1, *values.shape[1:]))])[order]


def direction_of(job: Job, operation: str) -> Direction | None:
    """What fio prints about the job in that operation."""
    direction: Direction | None = getattr(job, "read" if operation == "verify" else operation)
    return direction


def latency_of(job: Job, operation: str) -> Latency:
    """The latency of the job in that operation."""
    direction = direction_of(job, operation)
    return _latency(direction, operation) if direction else Latency()


def verified_among_reads(snapshot: FioSnapshot) -> frozenset[str]:
    """The jobs whose reads include verification reads, so that they took longer than the writes.

    fio does not verify a run that ends by runtime=.
    """
    return frozenset(
        label
        for label, job, options in zip(snapshot.labels, snapshot.jobs, snapshot.options, strict=True)
        if job.read and job.write and "read" in operations(options) and verifies(options)
        if "verify_backlog" in options or job.read.runtime > job.write.runtime + _ROUNDING
    )


def _directions(job: Job, options: Options) -> Iterator[tuple[str, Direction]]:
    """The operations that a job has done, or will do according to its rw=."""
    if job.mixed and not job.read:
        yield "mixed", job.mixed
    planned = operations(options)
    verified = bool(planned) and "read" not in planned
    for operation, direction in zip(_OPERATIONS, (job.read, job.write, job.trim), strict=True):
        if direction and (direction.total_ios or direction.completed_bytes or operation in planned):
            yield "verify" if operation == "read" and verified else operation, direction
    if job.sync and (job.sync.total_ios or job.sync.lat_ns.N > 0):
        yield "sync", job.sync


def _latency(direction: Direction, operation: str) -> Latency:
    completion, total = direction.clat_ns, direction.lat_ns
    printed = completion.bins or completion.percentile
    if operation == "sync" or ((total.bins or total.percentile) and not printed):
        return total
    return total if total.N > 0 and completion.N == 0 else completion


def _observations(latency: Latency, issued: int) -> int:
    """How many observations a latency has."""
    if latency.mean is None:
        return 0
    if latency.N >= 0:
        return latency.N
    if latency.bins:
        return sum(latency.bins.values())
    return issued if latency.mean > 0 else 0


def _summed(values: Integers, rows: Integers, height: int) -> Integers:
    if len(values) == height:  # one member per series, in the same order
        return values
    sums = np.zeros((height, *values.shape[1:]), dtype=np.int64)
    np.add.at(sums, rows, values)
    return sums


def _spent(jobs: Sequence[Job], names: Sequence[str]) -> Mapping[str, tuple[float, float]]:
    spent: dict[str, tuple[float, float]] = {}
    unknown = set()
    for job, label in zip(jobs, names, strict=True):
        if job.job_runtime < 0 or job.usr_cpu is None or job.sys_cpu is None:
            unknown.add(label)
            continue
        seconds = job.job_runtime / 1e5
        user, system = spent.get(label, (0.0, 0.0))
        spent[label] = user + job.usr_cpu * seconds, system + job.sys_cpu * seconds
    return {label: times for label, times in spent.items() if label not in unknown} if unknown else spent


def _counts(found: list[dict[int, int]], rows: Integers, height: int) -> tuple[Integers, slice]:
    lengths = np.array([len(each) for each in found], dtype=np.int64)
    total = int(lengths.sum())
    counts = np.zeros(height * FIO_BINS, dtype=np.int64)
    used = slice(FIO_BINS, 0)
    if total:
        keys = np.fromiter(chain.from_iterable(found), np.int64, total)
        values = np.fromiter(chain.from_iterable(each.values() for each in found), np.int64, total)
        columns = bins(keys)
        used = slice(int(columns.min()), int(columns.max()) + 1)
        np.add.at(counts, np.repeat(rows, lengths) * FIO_BINS + columns, values)
    return counts.reshape(height, FIO_BINS), used
