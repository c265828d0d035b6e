"""The metrics of a fio run: their names, and how the numbers of a state become samples.

Labels: `job` as in `benchwatch.tools.fio.jobs`; `op` is read, write, trim, sync, verify (the reads with which a job
that only writes verifies) or, if unified_rw_reporting hides them, mixed.
"""

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from ...metrics.buckets import Buckets, quantiles
from ...metrics.samples import Family, Kind, Sample, SummaryValue
from .counters import (
    BYTES,
    DROPPED,
    ISSUED,
    LATENCY,
    SHORT,
    SUBMISSION,
    SUBMITTED,
    TIMED,
    Counters,
    JobSeries,
    Member,
    verified_among_reads,
)
from .document import MOST, Job, Latency
from .jobs import OTHER_JOBS, adds_up_jobs, number_of_clones, operations, target, warnings
from .windows import QUANTILES, Window

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
COMPLETION_LATENCY = _live("completion_latency_seconds", "Completion latency, from json+ bins.", kind="histogram")
SUBMISSION_LATENCY = _live(
    "submission_latency_seconds",
    "Submission latency; absent for engines that complete an I/O as they submit it.",
    kind="summary",
)
TARGET_IOPS = _live(
    "target_iops", "I/Os a second that rate_iops= allows, times numjobs; of a reported group, its first job's."
)
TARGET_BANDWIDTH = _live(
    "target_bandwidth_bytes_per_second",
    "Bytes a second that rate= allows, times numjobs; of a reported group, its first job's.",
)
JOB_ERROR = _run("job_error", "errno of an ended job, 0 for none.", "job")
JOB_CPU = _live("job_cpu_ratio", "CPUs used by a job's processes, in user and system mode, last window.", "job", "mode")
DISK_UTIL = _live("disk_util_ratio", "Share of the time since fio started that a disk was busy, with any I/O.", "disk")
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
    "result_bandwidth_bytes_per_second", "Bytes a second over the whole run, as in fio_result_iops."
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
_INFO_OPTIONS = JOB_INFO.labels[2:]


def live(windows: Mapping[JobSeries, Window]) -> Iterator[Sample]:
    """What happened in the last window."""
    for series, window in windows.items():
        values = ((IOPS, window.iops), (BANDWIDTH, window.bandwidth))
        latencies = ((LATENCY_AVERAGE, window.latency), (LATENCY_MAX, window.maximum))
        for family, value in (*values, *latencies):
            if value is not None:
                yield Sample(family, series, value)
        for quantile, seconds in zip(_QUANTILE_TEXTS, window.quantiles, strict=False):
            yield Sample(LATENCY_WINDOW, (*series, quantile), seconds)


def machine(counters: Counters, cpu: Mapping[str, tuple[float, float]]) -> Iterator[Sample]:
    """How busy the CPUs are with the jobs, and the disks with anything."""
    for label, (user, system) in cpu.items():
        yield Sample(JOB_CPU, (label, "usr"), user)
        yield Sample(JOB_CPU, (label, "sys"), system)
    for name, util in {disk.name: disk.util for disk in counters.document.disk_util}.items():
        if util is not None:
            yield Sample(DISK_UTIL, (name,), util / 100)


def totals(counters: Counters, buckets: Buckets) -> Iterator[Sample]:
    """What has been counted so far."""
    columns = (counters.series, counters.totals.tolist(), counters.binned, counters.counts)
    for series, numbers, binned, counts in zip(*columns, strict=True):
        for family, column in _COUNTERS:
            if family is IOS or series.operation != "sync":
                yield Sample(family, series, int(numbers[column]))
        if binned:
            yield Sample(COMPLETION_LATENCY, series, buckets.value(counts, numbers[LATENCY]))
        if submitted := int(numbers[SUBMITTED]):
            yield Sample(SUBMISSION_LATENCY, series, SummaryValue(submitted, numbers[SUBMISSION]))


def jobs(counters: Counters, depth_note: bool) -> Iterator[Sample]:
    """The options of the jobs, their target rates, errors and warnings."""
    first: dict[str, Job] = {}
    errors: dict[str, int] = {}
    for job in counters.jobs:
        first.setdefault(job.label, job)
        errors[job.label] = errors.get(job.label) or job.error
    for label in sorted(verified_among_reads(counters)):
        yield Sample(JOB_WARNING, (label, VERIFIED_AMONG_READS), 1)
    for label, job in first.items():
        if label != OTHER_JOBS:
            shown = (job.options.get(name, "") for name in _INFO_OPTIONS)
            yield Sample(JOB_INFO, (label, str(job.groupid), *shown), 1)
            known = depth_note or not job.pid  # a report does not say direct=
            for warning in warnings(job.options, depth_note) if known else ():
                yield Sample(JOB_WARNING, (label, warning), 1)
        yield Sample(JOB_ERROR, (label,), errors[label])
    reported = np.bincount(counters.rows, minlength=len(counters.series)).tolist()
    for row, series in enumerate(counters.series):
        options = first[series.job].options
        if adds_up_jobs(first[series.job]):
            continue
        planned = series.operation == "mixed" or series.operation in operations(options)
        if series.job == OTHER_JOBS or not planned:
            continue
        clones = reported[row] if reported[row] > 1 else number_of_clones(options)
        for family, name in ((TARGET_IOPS, "rate_iops"), (TARGET_BANDWIDTH, "rate")):
            rate = target(options, name, series.operation)
            if rate is not None:
                yield Sample(family, series, rate * clones)


def results(counters: Counters) -> Iterator[Sample]:
    """The results of the whole run, from its final document."""
    members: dict[JobSeries, list[Member]] = {}
    for member, row in zip(counters.members, counters.rows, strict=True):
        members.setdefault(counters.series[row], []).append(member)
    numbers, highest = counters.totals.tolist(), (counters.highest / 1e9).tolist()
    for row, series in enumerate(counters.series):
        issued, sent, timed, latency = (numbers[row][column] for column in (ISSUED, BYTES, TIMED, LATENCY))
        # fio's runtime leaves out the time in which most of the reads of verify_backlog= were done.
        is_verify = series.operation == "verify"
        timely = [one for one in members[series] if not (is_verify and "verify_backlog" in one.job.options)]
        if runtime := max((one.direction.runtime for one in timely), default=0):
            yield Sample(RESULT_IOPS, series, issued * 1000 / runtime)
            yield Sample(RESULT_BANDWIDTH, series, sent * 1000 / runtime)
        if not timed:
            continue
        yield Sample(RESULT_LATENCY_AVERAGE, series, latency / timed)
        found: Mapping[str, float] = {}
        if counters.counts[row].any():
            found = dict(zip(_QUANTILE_TEXTS, quantiles(counters.counts[row], QUANTILES), strict=False))
        elif len(members[series]) == 1:
            found = _percentiles(members[series][0].latency)
        for quantile, seconds in {**found, _QUANTILE_TEXTS[-1]: highest[row]}.items():
            yield Sample(RESULT_LATENCY, (*series, quantile), min(seconds, highest[row]))  # a bin may end above it


def _percentiles(latency: Latency) -> dict[str, float]:
    """fio's own percentiles, seconds, if it printed these quantiles."""
    try:
        printed = msgspec.json.decode(latency.percentile or b"{}", type=dict[str, float])
    except msgspec.MsgspecError:
        return {}
    known = {
        text: printed.get(f"{quantile * 100:.6f}", -1.0)
        for quantile, text in zip(QUANTILES, _QUANTILE_TEXTS, strict=True)
    }
    return {text: value / 1e9 for text, value in known.items() if 0 <= value <= MOST}
