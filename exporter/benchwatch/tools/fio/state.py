"""What is known of one fio process, from its documents and messages.

A window is the time between two documents. If it is shorter than half the status interval, it extends to the next
document, since after a freeze fio prints two documents about 2 ms apart, and its last document often follows 10 ms
after the previous one.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from statistics import median
from typing import Any

from ...metrics.buckets import Buckets
from ...metrics.samples import Sample
from ..states import Figures, Outcome, Report, State
from . import main_figures, metrics
from .counters import ISSUED, Counters, JobSeries
from .document import Job
from .ending import because, failure, judge, judge_jobs
from .jobs import parameters
from .text import Message
from .windows import Window, cpu_use, difference, restarted

_GAPS = 31
_TINY = 0.05
_SILENCE_INTERVALS = 3
_SILENCE = 5.0
_SILENCE_ALONE = 10.0
"""Seconds without another document after which one that may be the last counts as final; _SILENCE_ALONE for an only
document."""
_ZONES = 14 * 3600
"""Seconds by which local times may differ from UTC, by quarters of an hour."""
_COPIED = 3600.0
"""A document that arrives that many seconds after its jobs, which may first lay out files, comes from a copy."""


class FioState(State):
    """See tools.State. All samples come from the last document; there are none before the first."""

    start: float | None = None
    end: float | None = None
    last_report: float | None = None
    outcome: Outcome = ""
    reason = ""

    def __init__(self, buckets: Buckets) -> None:
        super().__init__()
        self._buckets = buckets
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        """Seconds between the last documents."""
        self._counters: Counters | None = None
        self._base: Counters | None = None
        """Where the current window begins."""
        self._windows: Mapping[JobSeries, Window] = {}
        self._cpu: Mapping[str, tuple[float, float]] = {}
        self._depth_note = False
        self._doubtful = False
        """Whether a document was wrongly taken for the last one."""
        self._final = False
        """Whether the last document is fio's final one."""
        self._silent_after: float | None = None
        """When the document arrived that is the last one if nothing follows."""
        self._errors: dict[str, int] = {}
        """The error of each job in results outside documents."""

    @property
    def report_interval(self) -> float | None:
        """See tools.State.

        fio does not print --status-interval. A document is late when a job is slow to answer, and the next one follows
        about 2 ms later, or early by as much: so it is the median of the last gaps that are not tiny.
        """
        return round(median(self._gaps), 3) if self._gaps else None

    @property
    def history(self) -> deque[Report]:
        """See tools.State; reports have Unix times."""
        return self._reports

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        self.version += 1
        if isinstance(record, Counters):
            self.reporting.add(stream)
            self._take(record, arrived)
        else:
            self._hear(record, arrived)

    def tick(self, now: float, *, is_read: bool = False) -> None:
        """See tools.State: only the wait for another document takes time."""
        if self._silent_after is None:
            return
        interval = self.report_interval
        silence = _SILENCE_ALONE if interval is None else max(_SILENCE, _SILENCE_INTERVALS * interval)
        self._silent_after = min(self._silent_after, now)  # the clock may have been set back
        if now - self._silent_after >= silence:
            self.over()

    def over(self) -> None:
        """See tools.State."""
        if self._silent_after is not None:
            self._end()
            self._silent_after = None
            self.version += 1

    def parameters(self) -> Mapping[str, str]:
        """See tools.State."""
        return parameters(self._counters.document, self._counters.jobs) if self._counters else {}

    def figures(self) -> Figures:
        """See tools.State."""
        if self._counters is None:
            return Figures(None, None, None, None)
        if self.outcome:
            return main_figures.of_run(self._counters)
        return main_figures.of_window(self._windows, self._counters)

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        if self._counters is None:
            return
        if current:
            yield from metrics.live(self._windows)
            yield from metrics.machine(self._counters, self._cpu)
        yield from metrics.totals(self._counters, self._buckets)
        yield from metrics.jobs(self._counters, self._depth_note)
        if self._final:
            yield from metrics.results(self._counters)

    def _hear(self, message: Message, arrived: float) -> None:
        """Note what is outside the documents."""
        meaning, text, number = message
        if meaning == "depth_note":
            self._depth_note = True
        elif meaning == "interrupted" and self.outcome != "finished":
            self.outcome, self.reason = "interrupted", f"interrupted by signal {number}"
            self.end = arrived if self.last_report is None else self.last_report
        elif self._counters is None and meaning == "fatal" and (not self.outcome or ", func=" in self.reason):
            # A plain sentence is preferred to `file:..., func=...`, in whichever order the two streams are read.
            self.outcome, self.reason, self.end = "failed", text, arrived
        elif self._counters is None and meaning == "terse":
            # fio prints no documents, but has printed a job's results: they are the end if nothing follows.
            self._go_on()
            if text in self._errors and self.last_report is not None:  # --status-interval
                self._note_gap(arrived - self.last_report)
            self._errors[text] = self._errors.get(text) or number or 0
            self.last_report = self._silent_after = arrived

    def _take(self, counters: Counters, arrived: float) -> None:
        document, before = counters.document, self._counters
        time = _arrived(counters, arrived) if document.built is None else document.built
        gap = None if before is None or self.last_report is None else time - self.last_report
        if self.start is None or document.built is None or (before and not before.document.has_begun):
            self.start = _start(counters, time)
        if before is not None and gap is not None and self.outcome and self.outcome != "interrupted":
            went_on = counters.totals[:, ISSUED].sum() != before.totals[:, ISSUED].sum()
            self._doubtful |= bool(went_on) and not self._is_short(gap)
        self._go_on()
        self._counters, self._final, self._silent_after = counters, False, None
        self.tool_version, self.last_report = document.version, time
        over = judge(counters, gap, self.report_interval)
        if self.outcome == "interrupted":
            over = "over"
        elif over == "over" and self._doubtful:
            over = "perhaps"
        if gap is not None and over != "over":
            self._note_gap(gap)
        if document.built is not None:
            self._measure(counters)
        if over == "over":
            self._end()
        elif over == "perhaps":
            self._silent_after = arrived

    def _is_short(self, seconds: float) -> bool:
        """Whether it is less than half the status interval."""
        return seconds < (self.report_interval or 0.0) / 2

    def _note_gap(self, seconds: float) -> None:
        if seconds >= _TINY:
            self._gaps.append(seconds)

    def _go_on(self) -> None:
        """After further output, what seemed to have ended the run did not end it."""
        if self.outcome != "interrupted":
            self.outcome, self.reason, self.end = "", "", None

    def _end(self) -> None:
        """What was read last ended the run."""
        self._final = self._counters is not None
        if self._final or self.outcome != "interrupted":
            self.end = self.last_report
        if self.outcome != "interrupted":
            failed = (because(job, error) for job, error in self._errors.items() if error)
            self.reason = failure(self._counters) if self._counters else next(failed, "")
            self.outcome = "failed" if self.reason else "finished"

    def _measure(self, counters: Counters) -> None:
        """Close the window that ends with this document, if it is long enough."""
        base = self._base
        if base is not None:
            length = counters.time - base.time
            if length <= 0 or self._is_short(length):
                if length < 0 or restarted(base, counters).any():
                    self._base = counters
                return
        windows = difference(base, counters)
        issued = counters.totals[:, ISSUED].tolist()
        begun = {series for series, count in zip(counters.series, issued, strict=True) if count}
        stalled = _stalled(counters, windows, begun)
        self._windows = {series: one for series, one in windows.items() if one.iops or series in stalled}
        active = {series.job for series in self._windows}
        used = cpu_use(base, counters) if base is not None else {}
        self._cpu = {label: use for label, use in used.items() if label in active}
        self._base = counters
        is_idle = bool(self._windows) and not any(window.iops for window in self._windows.values())
        is_whole = bool(windows) and begun <= windows.keys()
        self.idle_reports = self.idle_reports + 1 if is_idle and is_whole else 0
        if is_whole:
            rate, latency = main_figures.of_windows(windows)
            if rate is not None:
                self._reports.append(Report(counters.time, rate, latency))


def _stalled(counters: Counters, windows: Mapping[JobSeries, Window], begun: Set[JobSeries]) -> Set[JobSeries]:
    """The series that have begun, whose jobs are not over, and in which nothing completed."""
    silent = {series for series, window in windows.items() if not window.iops and series.operation != "verify"} & begun
    if not silent:
        return silent
    going_on = {job.label for job, over in zip(counters.jobs, judge_jobs(counters), strict=True) if not over}
    # While a job verifies, its writes are over and do not stall.
    verifying = {series.job for series, window in windows.items() if series.operation == "verify" and window.iops}
    return {series for series in silent if series.job in going_on - verifying}


def _arrived(counters: Counters, arrived: float) -> float:
    """When a document without a time was built: on arrival, or for a copy from much later, when its jobs ended."""
    document = counters.document
    if document.of_report:
        behind = arrived - document.timestamp
        in_a_zone = abs(behind) <= _ZONES and abs(behind - 900 * round(behind / 900)) < 60
        return arrived if in_a_zone or not document.timestamp else float(document.timestamp)
    start = min((job.job_start / 1e3 for job in counters.jobs if job.job_start), default=float(document.timestamp))
    known = start + _length(counters.jobs)
    return known if start and arrived - known > _COPIED else arrived


def _length(jobs: Sequence[Job]) -> float:
    """How long these jobs ran, seconds, if groups followed each other."""
    groups: dict[int, float] = {}
    for job in jobs:
        groups[job.groupid] = max(job.runtime / 1e3, groups.get(job.groupid, 0.0))
    return sum(groups.values())


def _start(counters: Counters, time: float) -> float | None:
    """When the first job started or, if that is unknown, fio itself; the document is of that `time`."""
    document, starts = counters.document, [job.job_start for job in counters.jobs if job.job_start]
    if starts:
        return min(starts) / 1e3
    if document.of_clients:
        return float(document.timestamp) if document.timestamp else None
    if document.of_report:
        return time - _length(counters.jobs)
    return time - counters.jobs[0].elapsed if counters.jobs else None
