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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from ...metrics.buckets import FIO_BINS, bins
from .document import MOST, Direction, FioDocument, Job, Latency
from .jobs import adds_up_jobs, operations, reported_jobs, verifies

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_Array = TypeVar("_Array", Integers, Floats)

ISSUED, BYTES, TIMED, COMPLETED, SHORT, DROPPED, LATENCY, SUBMITTED, SUBMISSION, START, HIGHEST = range(11)
"""Columns of `Counters.numbers`: I/Os issued, bytes completed, latencies measured, I/Os completed, short and dropped
I/Os, the sum of latencies (seconds), submission latencies measured and their sum (seconds); then, not in `totals`, when
the job started (epoch milliseconds; 0 if not printed or not started) and the highest latency (nanoseconds)."""
_SUMMED = START
APART = frozenset({"sync", "verify"})
"""Operations that are not part of the workload: they are not added to its I/Os, rates and latencies."""
_LAST_BIN = 17_112_760_320
"""The key of fio's last bin (see benchwatch.metrics.buckets)."""
_SPACES = bytes.maketrans(b":,", b"  ")
_ROUNDING = 1
"""Milliseconds by which fio's runtimes of two directions may differ although they ran in the same loop."""


class JobSeries(NamedTuple):
    """A label and an operation."""

    job: str
    operation: str


class Member(NamedTuple):
    """One job in one operation, and what fio prints about that."""

    job: Job
    operation: str
    direction: Direction
    latency: Latency


@dataclass(frozen=True, slots=True, eq=False)
class Counters:
    """Cumulative counters at one time.

    Shapes: `numbers` has a row per member, whose series is in `rows`; `totals`, `highest` and `counts` have a row per
    series. A float64 holds whole numbers up to 2^53 exactly.
    """

    document: FioDocument
    time: float
    """When the document was built, Unix seconds, if it says so."""
    jobs: Sequence[Job]
    members: Sequence[Member]
    keys: Sequence[tuple[int, str]]
    """Of each member, the place of its job in the document, and its operation."""
    series: Sequence[JobSeries]
    rows: Integers
    numbers: Floats
    totals: Floats
    """`numbers` by series."""
    highest: Floats
    """Highest latency, nanoseconds."""
    counts: Integers
    """Latencies by bin of fio (see benchwatch.metrics.buckets)."""
    used: slice
    """The bins from the first to the last that is not empty in any series."""

    @property
    def binned(self) -> NDArray[np.bool_]:
        """Which series have bins."""
        binned: NDArray[np.bool_] = self.counts.max(axis=1, initial=0) > 0
        return binned


def count(document: FioDocument) -> Counters:
    """The counters of a document. Raises ValueError with one sentence if its bins are not those of fio."""
    jobs = reported_jobs(document)
    members, keys = [], []
    for place, job in enumerate(jobs):
        for operation, direction in _directions(job):
            members.append(Member(job, operation, direction, _latency(direction, operation)))
            keys.append((place, operation))
    series: dict[JobSeries, int] = {}
    rows = np.array(
        [series.setdefault(JobSeries(one.job.label, one.operation), len(series)) for one in members], dtype=np.int64
    )
    numbers = np.array([_numbers(one) for one in members], dtype=np.float64).reshape(-1, HIGHEST + 1)
    totals, highest = numbers[:, :_SUMMED], numbers[:, HIGHEST]
    if len(series) < len(members):
        totals, highest = np.zeros((len(series), _SUMMED)), np.zeros(len(series))
        np.add.at(totals, rows, numbers[:, :_SUMMED])
        np.maximum.at(highest, rows, numbers[:, HIGHEST])
    counts, used = _counts([one.latency.bins for one in members], rows, len(series))
    return Counters(
        document,
        document.built or float(document.timestamp),
        jobs,
        members,
        keys,
        tuple(series),
        rows,
        numbers,
        totals,
        highest,
        counts,
        used,
    )


def aligned(values: _Array, before: Sequence[object], after: Sequence[object]) -> _Array:
    """Rows that belong to the series or members `before`, in the order of `after`; zeros for new ones."""
    if before == after:
        return values
    places = {key: place for place, key in enumerate(before)}
    order = np.array([places.get(key, len(places)) for key in after], dtype=np.int64)
    return np.concatenate([values, np.zeros_like(values, shape=(1, *values.shape[1:]))])[order]


def verified_among_reads(counters: Counters) -> frozenset[str]:
    """The jobs whose reads include verification reads, so that they took longer than the writes.

    fio does not verify a run that ends by runtime=.
    """
    return frozenset(
        job.label
        for job in counters.jobs
        if job.read and job.write and "read" in operations(job.options) and verifies(job.options)
        if "verify_backlog" in job.options or job.read.runtime > job.write.runtime + _ROUNDING
    )


def _directions(job: Job) -> Iterator[tuple[str, Direction]]:
    """The operations that a job has done, or will do according to its rw=."""
    if job.mixed and not job.read:
        yield "mixed", job.mixed
    planned = operations(job.options)
    for operation, direction in (("read", job.read), ("write", job.write), ("trim", job.trim)):
        if direction and (direction.total_ios or direction.completed_bytes or operation in planned):
            verified = operation == "read" and planned and "read" not in planned and not adds_up_jobs(job)
            yield "verify" if verified else operation, direction
    if job.sync and (job.sync.total_ios or job.sync.lat_ns.N > 0):
        yield "sync", job.sync


def _latency(direction: Direction, operation: str) -> Latency:
    completion, total = direction.clat_ns, direction.lat_ns
    printed = completion.bins or completion.percentile
    if operation == "sync" or ((total.bins or total.percentile) and not printed):
        return total
    return total if total.N > 0 and completion.N == 0 else completion


def _numbers(member: Member) -> tuple[float, ...]:
    """The columns of a member."""
    job, operation, direction, latency = member
    issued, sent, submission = direction.total_ios, direction.completed_bytes, direction.slat_ns
    timed, submitted = _observations(latency, issued), _observations(submission, issued)
    return (
        timed if operation == "sync" else issued,
        sent,
        timed,
        issued if not timed and sent else timed,
        direction.short_ios,
        direction.drop_ios,
        (latency.mean or 0.0) * timed / 1e9,
        submitted,
        (submission.mean or 0.0) * submitted / 1e9,
        job.job_start,
        latency.max if timed else 0,
    )


def _observations(latency: Latency, issued: int) -> int:
    """How many observations a latency has."""
    if latency.mean is None:
        return 0
    if latency.N >= 0:
        return latency.N
    if latency.bins:
        return int(_bins([latency.bins])[1].sum())
    return issued if latency.mean > 0 else 0


def _counts(texts: Sequence[Raw], rows: Integers, height: int) -> tuple[Integers, slice]:
    """The bins of all members, by series."""
    counts = np.zeros(height * FIO_BINS, dtype=np.int64)
    used = slice(FIO_BINS, 0)
    keys, values = _bins(texts)
    if len(keys):
        owners = rows.repeat([bytes(text).count(b":") for text in texts])
        columns = bins(keys)
        used = slice(int(columns.min()), int(columns.max()) + 1)
        np.add.at(counts, owners * FIO_BINS + columns, values)
    return counts.reshape(height, FIO_BINS), used


def _bins(texts: Sequence[Raw]) -> tuple[Integers, Integers]:
    """Keys and counts in JSON objects of bins, one after the other; in half of the time that a decoder takes."""
    text = b",".join(filter(None, texts)).translate(_SPACES, b' \t\r\n"{}')
    numbers = np.fromstring(text, np.int64, sep=" ") if not text.translate(None, b"0123456789 ") else np.array([-1])
    keys, counts = numbers[::2], numbers[1::2]
    if len(keys) != len(counts) or keys.max(initial=0) > _LAST_BIN or counts.max(initial=0) > MOST:
        raise ValueError("its bins are not bins of fio: expected midpoints in nanoseconds and counts")
    return keys, counts
