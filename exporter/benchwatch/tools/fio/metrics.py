"""The metrics of a fio run: their names, and how the numbers of a state become samples.

Labels: `job` as in `benchwatch.tools.fio.jobs`; `op` is read, write, trim, sync, verify (the reads with which a job
that only writes verifies) or, if unified_rw_reporting hides them, mixed.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from ...metrics.buckets import Buckets, quantiles
from ...metrics.samples import Family, Kind, Sample, SummaryValue
from .document import FioDocument, Latency, loads
from .jobs import OTHER_JOBS
from .options import number_of_clones, operations, target, warnings
from .snapshot import (
    BYTES,
    DROPPED,
    ISSUED,
    LATENCY,
    SHORT,
    SUBMISSION,
    SUBMITTED,
    TIMED,
    FioSnapshot,
    JobSeries,
    direction_of,
    latency_of,
    verified_among_reads,
)
from .windows import QUANTILES, CpuUse, Window

_JOB_OP = ("job", "op")


def _live(name: str, text: str, *labels: str, kind: Kind = "gauge") -> Family:
    return Family(f"fio_{name}", kind, text, labels or _JOB_OP)


def _run(name: str, text: str, *labels: str) -> Family:
    return Family(f"fio_{name}", "gauge", text, labels or _JOB_OP, "runs")


IOPS = _live("iops", "I/Os completed a second, last window; op=verify is not part of the workload.")
BANDWIDTH = _live("bandwidth_bytes_per_second", "Bytes completed a second, last window.")
LATENCY_AVERAGE = _live("latency_average_seconds", "Mean completion latency, last window.")
LATENCY_MAX = _live(
    "latency_max_seconds",
    "Highest completion latency, last window: clat_ns.max if it rose, otherwise the edge of a json+ "
    "bin (at most 1.6 % above).",
)
LATENCY_WINDOW = _live(
    "latency_window_seconds",
    "Quantiles of the completion latency, last window, from json+ bins, within 0.8 %; 17.1 s is 17 s or more.",
    *_JOB_OP,
    "quantile",
)
IOS = _live("ios_total", "I/Os issued; for sync, syncs completed.", kind="counter")
BYTES_TOTAL = _live("bytes_total", "Bytes completed.", kind="counter")
SHORT_IOS = _live("short_ios_total", "I/Os that transferred less than requested.", kind="counter")
DROPPED_IOS = _live("dropped_ios_total", "I/Os dropped.", kind="counter")
COMPLETION_LATENCY = _live(
    "completion_latency_seconds",
    "Completion latency, from json+ bins.",
    kind="histogram",
)
SUBMISSION_LATENCY = _live(
    "submission_latency_seconds",
    "Submission latency; absent for engines that complete an I/O as they submit it.",
    kind="summary",
)
TARGET_IOPS = _live(
    "target_iops",
    "I/Os a second that rate_iops= allows, times numjobs; of a reported group, its first job's.",
)
TARGET_BANDWIDTH = _live(
    "target_bandwidth_bytes_per_second",
    "Bytes a second that rate= allows, times numjobs; of a reported group, its first job's.",
)
JOB_ERROR = _run("job_error", "errno of an ended job, 0 for none.", "job")
JOB_CPU = _live(
    "job_cpu_ratio",
    "CPUs used by a job's processes, in user and system mode, last window.",
    "job",
    "mode",
)
DISK_UTIL = _live(
    "disk_util_ratio",
    "Share of the time since fio started that a disk was busy, with any I/O.",
    "disk",
)
JOB_INFO = _run(
    "job_info",
    "1; options of a job as fio prints them, empty if not given; of a reported group, one job's.",
    *("job", "group", "rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "filename"),
)
JOB_WARNING = _run("job_warning", "1 for options that make the job's numbers misleading.", "job", "warning")
VERIFIED_AMONG_READS = "verify_reads_among_reads"
"""A warning: fio counts the reads that verify with those of the workload, and nothing separates them."""
RESULT_IOPS = _run(
    "result_iops",
    "I/Os a second over the whole run: all I/Os by the longest runtime. Absent for op=verify with verify_backlog=.",
)
RESULT_BANDWIDTH = _run(
    "result_bandwidth_bytes_per_second",
    "Bytes a second over the whole run, as in fio_result_iops.",
)
RESULT_LATENCY_AVERAGE = _run("result_latency_average_seconds", "Mean completion latency.")
RESULT_LATENCY = _run(
    "result_latency_seconds",
    "Quantiles of the completion latency, from json+ bins or fio's own (within 0.8 %); 1 is the maximum.",
    *_JOB_OP,
    "quantile",
)
FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""

_COUNTERS = ((IOS, ISSUED), (BYTES_TOTAL, BYTES), (SHORT_IOS, SHORT), (DROPPED_IOS, DROPPED))
_QUANTILE_TEXTS = tuple(f"{quantile:g}" for quantile in QUANTILES)
_MOST = 2**53
"""Nanoseconds; fio prints no higher percentile."""
_INFO_OPTIONS = JOB_INFO.labels[2:]


def live(windows: Mapping[JobSeries, Window]) -> Iterator[Sample]:
    """What happened in the last window."""
    for series, window in windows.items():
        values = (
            (IOPS, window.iops),
            (BANDWIDTH, window.bandwidth),
            (LATENCY_AVERAGE, window.latency),
            (LATENCY_MAX, window.maximum),
        )
        for family, value in values:
            if value is not None:
                yield Sample(family, series, value)
        for quantile, seconds in zip(_QUANTILE_TEXTS, window.quantiles, strict=False):
            yield Sample(LATENCY_WINDOW, (*series, quantile), seconds)


def machine(document: FioDocument, cpu: Mapping[str, CpuUse]) -> Iterator[Sample]:
    """How busy the CPUs are with the jobs, and the disks with anything."""
    for label, use in cpu.items():
        yield Sample(JOB_CPU, (label, "usr"), use.user)
        yield Sample(JOB_CPU, (label, "sys"), use.system)
    for name, util in {disk.name: disk.util for disk in document.disk_util}.items():
        if util is not None:
            yield Sample(DISK_UTIL, (name,), util / 100)


def counters(snapshot: FioSnapshot, buckets: Buckets) -> Iterator[Sample]:
    """What has been counted so far."""
    numbers = (snapshot.totals.tolist(), snapshot.seconds.tolist(), snapshot.binned.tolist())
    for row, (series, totals, seconds, binned) in enumerate(zip(snapshot.series, *numbers, strict=True)):
        for family, column in _COUNTERS:
            if family is IOS or series.operation != "sync":
                yield Sample(family, series, totals[column])
        if binned:
            yield Sample(COMPLETION_LATENCY, series, buckets.value(snapshot.counts[row], seconds[LATENCY]))
        if totals[SUBMITTED]:
            yield Sample(SUBMISSION_LATENCY, series, SummaryValue(totals[SUBMITTED], seconds[SUBMISSION]))


def jobs(snapshot: FioSnapshot, depth_note: bool) -> Iterator[Sample]:
    """The options of the jobs, their target rates, errors and warnings."""
    first: dict[str, int] = {}
    errors: dict[str, int] = {}
    for place, (job, label) in enumerate(zip(snapshot.jobs, snapshot.labels, strict=True)):
        first.setdefault(label, place)
        errors[label] = errors.get(label) or job.error
    for label in sorted(verified_among_reads(snapshot)):
        yield Sample(JOB_WARNING, (label, VERIFIED_AMONG_READS), 1)
    for label, place in first.items():
        if label != OTHER_JOBS:
            options = snapshot.options[place]
            group = str(snapshot.jobs[place].groupid)
            yield Sample(JOB_INFO, (label, group, *(options.get(name, "") for name in _INFO_OPTIONS)), 1)
            known = depth_note or not snapshot.jobs[place].pid  # a report does not say direct=
            for warning in warnings(options, depth_note) if known else ():
                yield Sample(JOB_WARNING, (label, warning), 1)
        yield Sample(JOB_ERROR, (label,), errors[label])
    reported = np.bincount(snapshot.rows, minlength=len(snapshot.series)).tolist()
    for row, series in enumerate(snapshot.series):
        options = snapshot.options[first[series.job]]
        planned = series.operation == "mixed" or series.operation in operations(options)
        if series.job == OTHER_JOBS or not planned:
            continue
        clones = reported[row] if reported[row] > 1 else number_of_clones(options)
        for family, name in ((TARGET_IOPS, "rate_iops"), (TARGET_BANDWIDTH, "rate")):
            rate = target(options, name, series.operation)
            if rate is not None:
                yield Sample(family, series, rate * clones)


def results(snapshot: FioSnapshot) -> Iterator[Sample]:
    """The results of the whole run, from its final document."""
    issued, sent, timed = (snapshot.totals[:, column].tolist() for column in (ISSUED, BYTES, TIMED))
    highest = snapshot.highest(snapshot.maxima).tolist()
    for row, series in enumerate(snapshot.series):
        members = [member for member, owner in zip(snapshot.members, snapshot.rows, strict=True) if owner == row]
        runtime = max(_runtime(snapshot, place, operation) for place, operation in members)
        if runtime:
            yield Sample(RESULT_IOPS, series, issued[row] * 1000 / runtime)
            yield Sample(RESULT_BANDWIDTH, series, sent[row] * 1000 / runtime)
        if not timed[row]:
            continue
        yield Sample(RESULT_LATENCY_AVERAGE, series, float(snapshot.seconds[row, LATENCY]) / timed[row])
        if snapshot.binned[row]:
            found = dict(zip(_QUANTILE_TEXTS, quantiles(snapshot.counts[row], QUANTILES), strict=False))
        elif len(members) == 1:
            found = _percentiles(latency_of(snapshot.jobs[members[0].place], series.operation))
        else:
            found = {}
        top = highest[row] / 1e9
        for quantile, seconds in {**found, _QUANTILE_TEXTS[-1]: top}.items():
            yield Sample(RESULT_LATENCY, (*series, quantile), min(seconds, top))  # a bin may end above it


def _runtime(snapshot: FioSnapshot, place: int, operation: str) -> int:
    direction = direction_of(snapshot.jobs[place], operation)
    if operation == "verify" and "verify_backlog" in snapshot.options[place]:
        return 0  # fio's runtime leaves out the time in which most of them were read
    return direction.runtime if direction else 0


def _percentiles(latency: Latency) -> dict[str, float]:
    """fio's own percentiles, seconds, if it printed these quantiles."""
    try:
        printed = loads(bytes(latency.percentile)) if latency.percentile else {}
    except ValueError:
        return {}
    found = {}
    for quantile, text in zip(QUANTILES, _QUANTILE_TEXTS, strict=True):
        value = printed.get(f"{quantile * 100:.6f}") if isinstance(printed, dict) else None
        if isinstance(value, int | float) and 0 <= value <= _MOST:
            found[text] = value / 1e9
    return found
