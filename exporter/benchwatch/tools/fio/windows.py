"""What happened between two documents.

All of fio's statistics are cumulative, so the current values are differences of two documents, over the time between
their `timestamp_ms` (never `runtime`, which stands still or jumps). Counters that went backwards were reset: at the
end of ramp_time and at each probe of latency_target. They have counted since `job_start`, if fio prints that (3.36+);
if it does not, or if only some clones of a job were reset, there is no window rather than a wrong one.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import MIDPOINT_SECONDS, UPPER_NS
from .bins import Growth, growth
from .snapshot import BYTES, COMPLETED, ISSUED, LATENCY, TIMED, FioSnapshot, Floats, Integers, JobSeries, aligned

QUANTILES = (0.5, 0.95, 0.99, 0.999, 1.0)
_QUANTILES = np.array(QUANTILES)
_SLACK = 0.01
"""Seconds by which job_start may precede the last document before the reset."""
_CPU_ROUNDING = 0.002
"""Seconds by which CPU time may seem to go back, because fio rounds it."""


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


class CpuUse(NamedTuple):
    """CPU seconds a second of all processes of a job."""

    user: float
    system: float


def difference(before: FioSnapshot | None, after: FioSnapshot) -> Mapping[JobSeries, Window]:
    """The windows of the series that have one; without `before`, they begin with the jobs."""
    earlier, maxima, begun = _earlier(before, after)
    moved = after.integers - np.where(begun[:, None], 0, earlier)
    completed, timed, sent = after.by_series(moved)[:, [COMPLETED, TIMED, BYTES]].T
    restarted = np.bincount(after.rows[begun], minlength=len(after.series)) > 0
    grown = growth(before, after, () if before is None else tuple(np.flatnonzero(restarted).tolist()))
    highest = after.highest(after.maxima)
    rose = highest > after.highest(np.where(begun, 0, maxima))
    lengths = _lengths(before, after, begun)
    known = (lengths > 0) & (np.minimum(np.minimum(completed, timed), sent) >= 0)
    known[list(grown.fallen)] = False
    bins, counted = _quantile_bins(grown, known)
    maximum = np.where(rose, highest, np.where(counted > 0, np.minimum(UPPER_NS[bins[:, -1]], highest), 0)) / 1e9
    earlier_sums = 0.0 if before is None else aligned(before.seconds[:, LATENCY], before.series, after.series)
    columns = (
        known,
        lengths,
        completed,
        sent,
        timed,
        after.seconds[:, LATENCY] - np.where(restarted, 0.0, earlier_sums),
        maximum,
        counted,
        MIDPOINT_SECONDS[bins],
    )
    found = {}
    for series, *values in zip(after.series, *(column.tolist() for column in columns), strict=True):
        is_known, length, ios, amount, number, latency, top, binned, quantiles = values
        if is_known:
            found[series] = Window(
                length,
                ios / length,
                amount / length if series.operation != "sync" else None,
                latency / number if number and latency > 0 else None,
                top if number and top else None,
                tuple(quantiles) if number and binned else (),
                number,
            )
    return found


def reset_between(before: FioSnapshot, after: FioSnapshot) -> bool:
    """Whether counters of any job went back to zero."""
    return bool(_earlier(before, after)[2].any())


def cpu_use(before: FioSnapshot, after: FioSnapshot) -> Mapping[str, CpuUse]:
    """The CPU use of each job, by label; without jobs whose CPU time is missing (before 3.8) or was reset."""
    length = after.time - before.time
    uses = {}
    for label, spent in after.spent.items():
        if earlier := before.spent.get(label):
            user, system = spent[0] - earlier[0], spent[1] - earlier[1]
            if min(user, system) > -_CPU_ROUNDING:
                uses[label] = CpuUse(max(user, 0.0) / length, max(system, 0.0) / length)
    return uses


def _earlier(before: FioSnapshot | None, after: FioSnapshot) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """For the members of `after`: their earlier integers and maxima, and which of them count from zero since then."""
    if before is None:
        return np.zeros_like(after.integers), np.zeros_like(after.maxima), np.ones(len(after.members), dtype=np.bool_)
    integers, maxima, starts = (
        aligned(each, before.members, after.members) for each in (before.integers, before.maxima, before.starts)
    )
    gone_back = (after.integers < integers)[:, [ISSUED, BYTES, TIMED]].any(axis=1)
    # While ramp_time lasts, fio counts I/Os but no latencies.
    ramp_ended = (integers[:, TIMED] == 0) & (integers[:, BYTES] > 0) & (after.integers[:, TIMED] > 0)
    restarted = (starts != after.starts) & (starts > 0) & (after.starts > 0)
    return integers, maxima, gone_back | ramp_ended | restarted


def _lengths(before: FioSnapshot | None, after: FioSnapshot, begun: NDArray[np.bool_]) -> Floats:
    """The length of each series' window, seconds; 0 if it is not known."""
    number = len(after.series)
    if before is not None and not begun.any():
        return np.full(number, after.time - before.time)
    restarted = np.bincount(after.rows[begun], minlength=number)
    first = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(first, after.rows, after.starts)
    since_start = after.time - first / 1e3
    known = first > 0
    if before is None:
        return np.where(known, since_start, 0.0)
    since_before = after.time - before.time
    known &= since_start <= since_before + _SLACK  # so all jobs of the series started within the window
    return np.where(restarted == 0, since_before, np.where(known, since_start, 0.0))


def _quantile_bins(grown: Growth, known: NDArray[np.bool_]) -> tuple[NDArray[np.uint16], Integers]:
    """For each series the bins of its quantiles by nearest rank, and how many latencies were counted.

    The number is 0, and the bins mean nothing, for series that are not `known`.
    """
    numbers = grown.numbers if known.all() else np.where(known[grown.rows], grown.numbers, 0)
    cumulative = np.zeros(len(numbers) + 1, dtype=np.int64)
    numbers.cumsum(out=cumulative[1:])
    sums = cumulative[grown.borders]
    totals = sums[1:] - sums[:-1]
    if not len(numbers):
        return np.zeros((len(totals), len(QUANTILES)), np.uint16), totals
    ranks = np.maximum(np.ceil((totals[:, None] * _QUANTILES).round(6)).astype(np.int64), 1)
    # All series in one array, so that one search finds all ranks.
    found = np.searchsorted(cumulative[1:], ranks + sums[:-1, None])
    return grown.bins[np.minimum(found, len(numbers) - 1)], totals
