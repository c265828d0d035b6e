"""The few figures of a run of fio that a person looks at first: all jobs and operations but syncs, taken together."""

from collections.abc import Mapping

import numpy as np

from ...histogram import quantiles
from .. import Figures
from .metrics import RESULT_IOPS, results
from .snapshot import ISSUED, LATENCY, TIMED, Series, Snapshot
from .windows import QUANTILES, Window

_P99 = QUANTILES.index(0.99)


def of_window(windows: Mapping[Series, Window], snapshot: Snapshot) -> Figures:
    """Of the last window; its 99th percentile is that of the slowest job and operation."""
    counted = [window for series, window in windows.items() if series.operation != "sync"]
    timed = sum(window.timed for window in counted if window.latency is not None)
    return Figures(
        throughput=sum(window.iops for window in counted) if counted else None,
        latency=sum((window.latency or 0.0) * window.timed for window in counted) / timed if timed else None,
        p99=max((window.quantiles[_P99] for window in counted if window.quantiles), default=None),
        operations=_operations(snapshot),
    )


def of_run(snapshot: Snapshot) -> Figures:
    """Of the whole run; groups of jobs that ran one after the other have no throughput in common."""
    rates = [
        sample.value
        for sample in results(snapshot)
        if sample.family is RESULT_IOPS and sample.labels[1] != "sync" and isinstance(sample.value, float)
    ]
    rows = _rows(snapshot)
    timed = int(snapshot.total(TIMED)[rows].sum())
    found = quantiles(snapshot.counts[rows].sum(axis=0), [0.99]) if snapshot.binned[rows].all() else []
    return Figures(
        throughput=sum(rates) if rates and len({job.groupid for job in snapshot.jobs}) == 1 else None,
        latency=float(snapshot.seconds[rows, LATENCY].sum()) / timed if timed else None,
        p99=found[0] if found else None,
        operations=_operations(snapshot),
    )


def _operations(snapshot: Snapshot) -> int:
    return int(snapshot.total(ISSUED)[_rows(snapshot)].sum())


def _rows(snapshot: Snapshot) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.array([series.operation != "sync" for series in snapshot.series], dtype=bool)
