"""What happened between two documents.

All of fio's statistics are cumulative, so the current values are differences of two documents, over the time between
their `timestamp_ms` (never `runtime`, which stands still or jumps). Counters that went backwards were reset: at the
end of ramp_time and at each probe of latency_target. They have counted since `job_start`, if fio prints that (3.36+);
if it does not, or if only some clones of a job were reset, there is no window rather than a wrong one.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import MIDPOINT_SECONDS, UPPER_NS
from ...metrics.latencies import Group, Latencies, Piece, narrow
from ..api import Begin, Content
from .counters import BYTES, COMPLETED, ISSUED, LATENCY, START, TIMED, Counters, Floats, Integers, JobSeries, aligned

QUANTILES = (0.5, 0.95, 0.99, 0.999, 1.0)
_SLACK = 0.01
"""Seconds by which job_start may precede the last document before the reset."""
_CPU_ROUNDING = 0.002
"""Seconds by which CPU time may seem to go back, because fio rounds it."""

Rows = NDArray[np.bool_]
"""Some of the series."""


class Window(NamedTuple):
    """One series between two documents.

    Rates are per second, latencies in seconds; None: not measured. `quantiles` has the values of QUANTILES; it is
    empty without bins.
    """

    seconds: float
    iops: float
    bandwidth: float | None
    latency: float | None
    maximum: float | None
    quantiles: tuple[float, ...]
    timed: int
    """How many latencies were measured."""


class Growth(NamedTuple):
    """The bins whose numbers grew between two documents: those of one series after the other, ascending."""

    bins: NDArray[np.uint16]
    numbers: Integers
    borders: Integers
    """Where the bins of each series begin, and where those of the last series end."""
    fallen: Rows
    """The series with a number that is lower than before."""


def difference(before: Counters | None, after: Counters) -> Mapping[JobSeries, Window]:
    """The windows of the series that have one; without `before`, they begin with the jobs."""
    anew = np.ones(len(after.series), dtype=np.bool_) if before is None else restarted(before, after)
    seconds = _lengths(before, after, anew)
    before = before or after
    moved = after.totals - np.where(anew[:, None], 0.0, aligned(before.totals, before.series, after.series))
    rose = after.highest > np.where(anew, 0.0, aligned(before.highest, before.series, after.series))
    grown = growth(before, after, anew)
    known = (seconds > 0) & (moved[:, [BYTES, TIMED, COMPLETED]].min(axis=1, initial=math.inf) >= 0) & ~grown.fallen
    bins, counted = _quantile_bins(grown)
    edges = np.where(counted > 0, np.minimum(UPPER_NS[bins[:, -1]], after.highest), 0.0)
    columns = (known, seconds, moved, np.where(rose, after.highest, edges) / 1e9, counted, MIDPOINT_SECONDS[bins])
    found = {}
    for series, *values in zip(after.series, *(column.tolist() for column in columns), strict=True):
        is_known, length, numbers, highest, binned, quantiles = values
        if is_known:
            timed, latency = int(numbers[TIMED]), numbers[LATENCY]
            found[series] = Window(
                length,
                numbers[COMPLETED] / length,
                numbers[BYTES] / length if series.operation != "sync" else None,
                latency / timed if timed and latency > 0 else None,
                highest if timed and highest else None,
                tuple(quantiles) if timed and binned else (),
                timed,
            )
    return found


def restarted(before: Counters, after: Counters) -> Rows:
    """The series with a job that counts from zero again since the document `before`."""
    now, earlier = after.numbers, aligned(before.numbers, before.keys, after.keys)
    gone_back = (now < earlier)[:, [ISSUED, BYTES, TIMED]].any(axis=1)
    # While ramp_time lasts, fio counts I/Os but no latencies.
    ramp_ended = (earlier[:, TIMED] == 0) & (earlier[:, BYTES] > 0) & (now[:, TIMED] > 0)
    started = (earlier[:, START] != now[:, START]) & (earlier[:, START] > 0) & (now[:, START] > 0)
    return np.bincount(after.rows[gone_back | ramp_ended | started], minlength=len(after.series)) > 0


def cpu_use(before: Counters, after: Counters) -> Mapping[str, tuple[float, float]]:
    """CPU seconds a second of all processes of each job, in user and system mode, by label.

    Without jobs whose CPU time is missing (before 3.8) or was reset.
    """
    length = after.time - before.time
    uses, earlier = {}, _cpu_time(before)
    for label, (user, system) in _cpu_time(after).items():
        if label in earlier:
            user, system = user - earlier[label][0], system - earlier[label][1]
            if min(user, system) > -_CPU_ROUNDING:
                uses[label] = max(user, 0.0) / length, max(system, 0.0) / length
    return uses


def _cpu_time(counters: Counters) -> Mapping[str, tuple[float, float]]:
    """CPU seconds in user and system mode since the start, by label."""
    spent: dict[str, tuple[float, float]] = {}
    unknown = set()
    for job in counters.jobs:
        if job.job_runtime < 0 or job.usr_cpu is None or job.sys_cpu is None:
            unknown.add(job.label)
            continue
        seconds = job.job_runtime / 1e5
        user, system = spent.get(job.label, (0.0, 0.0))
        spent[job.label] = user + job.usr_cpu * seconds, system + job.sys_cpu * seconds
    return {label: times for label, times in spent.items() if label not in unknown}


def growth(before: Counters, after: Counters, anew: Rows) -> Growth:
    """The growth of each series of `after`; the series `anew` grew from zero."""
    begin = min(before.used.start, after.used.start)
    width = max(before.used.stop, after.used.stop, begin + 1) - begin
    counts = after.counts[:, begin : begin + width]
    grown = counts - aligned(before.counts[:, begin : begin + width], before.series, after.series)
    grown[anew] = counts[anew]
    fallen = grown.min(axis=1, initial=0) < 0
    flat = grown.ravel()
    changed = np.flatnonzero(flat > 0)
    borders = np.searchsorted(changed, np.arange(len(after.series) + 1) * grown.shape[1])
    return Growth((begin + changed % width).astype(np.uint16), flat[changed], borders, fallen)


def _lengths(before: Counters | None, after: Counters, anew: Rows) -> Floats:
    """The length of each series' window, seconds; 0 if it is not known."""
    since_before = 0.0 if before is None else after.time - before.time
    if not anew.any():
        return np.full(len(anew), since_before)
    first = np.full(len(anew), math.inf)
    np.minimum.at(first, after.rows, after.numbers[:, START])
    since_start = after.time - first / 1e3
    known = first > 0
    if before is not None:
        known &= since_start <= since_before + _SLACK  # so all jobs of the series started within the window
    return np.where(anew, np.where(known, since_start, 0.0), since_before)


def _quantile_bins(grown: Growth) -> tuple[NDArray[np.uint16], Integers]:
    """For each series the bins of its quantiles by nearest rank, and how many latencies were counted.

    The bins mean nothing where none was counted.
    """
    cumulative = np.zeros(len(grown.numbers) + 1, dtype=np.int64)
    grown.numbers.cumsum(out=cumulative[1:])
    sums = cumulative[grown.borders]
    totals = sums[1:] - sums[:-1]
    if not len(grown.numbers):
        return np.zeros((len(totals), len(QUANTILES)), np.uint16), totals
    ranks = np.maximum(np.ceil((totals[:, None] * QUANTILES).round(6)).astype(np.int64), 1)
    # All series in one array, so that one search finds all ranks.
    found = np.searchsorted(cumulative[1:], ranks + sums[:-1, None])
    return grown.bins[np.minimum(found, len(grown.bins) - 1)], totals


class DocumentBins:
    """See tools.Bins: the differences of consecutive json+ documents."""

    def __init__(self, _: Content) -> None:
        self._found: dict[Group, Latencies] = defaultdict(Latencies)
        self._before: Counters | None = None

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        for record in records:
            if isinstance(record, Begin):  # of several runs in a file, the last one counts
                self._found.clear()
                self._before = None
            elif isinstance(record, Counters):
                self._add(record)
                self._before = record

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return self._found

    def _add(self, after: Counters) -> None:
        before, begun = self._before or after, self._before.time if self._before else -math.inf
        anew = restarted(before, after) if self._before else np.ones(len(after.series), dtype=np.bool_)
        grown = growth(before, after, anew)
        if grown.fallen.any():
            anew |= grown.fallen
            grown = growth(before, after, anew)
        numbers, highest = narrow(grown.numbers), after.highest.tolist()
        columns = zip(after.series, anew.tolist(), highest, pairwise(grown.borders.tolist()), strict=True)
        for series, is_new, longest, (begin, end) in columns:
            if is_new:  # fio counts from zero again, as at the end of ramp_time
                self._found.pop(tuple(series), None)
            if begin < end:
                edge = min(int(UPPER_NS[grown.bins[end - 1]]), longest or math.inf) / 1e9
                piece = Piece(begun, edge, grown.bins[begin:end], numbers[begin:end], 0.0)
                self._found[tuple(series)].add(piece)
