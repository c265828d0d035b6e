"""The main figures of a run of fio: all jobs and operations of the workload together.

Syncs and verification reads are not part of the workload. Rates are added only if everything ran at the same time: fio
started all jobs together, and they ran equally long, to a tenth. If fio counts reads of the workload and verification
reads as one (rw=randrw with verify=), there are no figures of the whole run, since none is true of the workload alone.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import quantiles
from ..states import Figures
from .counters import APART, ISSUED, LATENCY, START, TIMED, Counters, JobSeries, verified_among_reads
from .jobs import seconds
from .metrics import RESULT_IOPS, RESULT_LATENCY, results
from .windows import QUANTILES, Window

_P99 = QUANTILES.index(0.99)
_TOGETHER = 0.9
"""The part of the time from the first start to the last end in which everything must have run."""


def of_windows(windows: Mapping[JobSeries, Window]) -> tuple[float | None, float | None]:
    """I/Os a second and mean latency (seconds) of the workload; None for a phase in which only verification runs."""
    counted = [window for series, window in windows.items() if series.operation not in APART]
    verifying = any(window.iops for series, window in windows.items() if series.operation == "verify")
    rate, timed = sum(window.iops for window in counted), [one for one in counted if one.latency is not None]
    number = sum(window.timed for window in timed)
    return (
        rate if counted and (rate or not verifying) else None,
        sum((window.latency or 0.0) * window.timed for window in timed) / number if number else None,
    )


def of_window(windows: Mapping[JobSeries, Window], counters: Counters) -> Figures:
    """Figures of the last window; the 99th percentile is that of the slowest job and operation."""
    quantiles_of = (one.quantiles for series, one in windows.items() if series.operation not in APART and one.quantiles)
    p99 = max((values[_P99] for values in quantiles_of), default=None)
    return Figures(*of_windows(windows), p99, int(counters.totals[_workload(counters), ISSUED].sum()))


def of_run(counters: Counters) -> Figures:
    """Figures of the whole run; jobs that did not run at the same time have no common throughput.

    The 99th percentile is that of all bins, or fio's own if there is one job and operation.
    """
    if verified_among_reads(counters):
        return Figures(None, None, None, None)
    found = [(one.family, one.labels, one.value) for one in results(counters) if isinstance(one.value, float)]
    rates = [rate for family, (_, op, *_), rate in found if family is RESULT_IOPS and op not in APART]
    printed = [
        p99
        for family, (_, op, *rest), p99 in found
        if family is RESULT_LATENCY and op not in APART and rest == ["0.99"]
    ]
    rows = _workload(counters)
    measured = counters.totals[rows, TIMED]
    timed = int(measured.sum())
    p99: float | None = None
    if counters.binned[rows][measured > 0].all():
        highest = float(counters.highest[rows].max(initial=0)) / 1e9
        p99 = next((min(one, highest) for one in quantiles(counters.counts[rows].sum(axis=0), [0.99])), None)
    elif (measured > 0).sum() == len(printed) == 1:
        p99 = printed[0]
    return Figures(
        throughput=sum(rates) if rates and _ran_together(counters) else None,
        latency=float(counters.totals[rows, LATENCY].sum()) / timed if timed else None,
        p99=p99,
        operations=int(counters.totals[rows, ISSUED].sum()),
    )


def _workload(counters: Counters) -> NDArray[np.bool_]:
    """The series of the workload."""
    return np.array([series.operation not in APART for series in counters.series], dtype=bool)


def _ran_together(counters: Counters) -> bool:
    """Whether all series of the workload ran at the same time, for most of it, as far as fio reports.

    Since 3.36 `job_start` says when each job started. Before, groups may have run one after the other (unless
    new_group= made them), and the jobs of a group started together except for startdelay= and wait_for=.
    """
    starts = counters.numbers[:, START]
    known = bool(starts.all())
    groups = {job.groupid for job in counters.jobs}
    if not known and (len(groups) > 1 or any("wait_for" in job.options for job in counters.jobs)):
        return False
    spans: dict[JobSeries, tuple[float, float]] = {}
    for (job, operation, direction, _), row, start in zip(counters.members, counters.rows, starts, strict=True):
        if operation in APART or not direction.runtime:
            continue
        delay = seconds(job.options.get("startdelay", "0"))
        if delay is None and not known:  # a range, in which fio chose a value
            return False
        begin = start / 1e3 if known else delay or 0.0
        first, last = spans.get(counters.series[row], (begin, begin))
        spans[counters.series[row]] = min(first, begin), max(last, begin + direction.runtime / 1e3)
    if not spans:
        return True
    begins, ends = zip(*spans.values(), strict=True)
    return bool(min(ends) - max(begins) >= _TOGETHER * (max(ends) - min(begins)))
