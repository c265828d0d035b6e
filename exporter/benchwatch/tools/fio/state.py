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
from ..api import HISTORY, Figures, Outcome, Report, Written
from . import main_figures, metrics
from .document import FioDocument, Job
from .ending import Judgement, because, failure, judge, judge_jobs
from .jobs import parameters, reported_jobs
from .snapshot import ISSUED, FioSnapshot, JobSeries, take
from .text import DepthNote, Fatal, Interrupted, TextResults
from .windows import CpuUse, Window, cpu_use, difference, reset_between

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


class FioState:
    """See tools.State. All samples come from the last document; there are none before the first."""

    def __init__(self, buckets: Buckets) -> None:
        self.version = 0
        self.tool_version = ""
        self.start: float | None = None
        self.end: float | None = None
        self.last_report: float | None = None
        self.outcome: Outcome = ""
        self.reason = ""
        self.idle_reports = 0
        self.reporting: set[str] = set()
        self.left_behind = ()
        self.history: deque[Report] = deque(maxlen=HISTORY)
        self._buckets = buckets
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        """Seconds between the last documents."""
        self._document: FioDocument | None = None
        self._snapshot: FioSnapshot | None = None
        self._base: FioSnapshot | None = None
        """Where the current window begins."""
        self._windows: Mapping[JobSeries, Window] = {}
        self._cpu: Mapping[str, CpuUse] = {}
        self._signal: int | None = None
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

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        if isinstance(record, FioDocument):
            self.reporting.add(stream)
            self._take(record, arrived)
        elif isinstance(record, Interrupted):
            self._interrupted(record.signal, arrived)
        elif isinstance(record, Fatal):
            self._gave_up(record.text, arrived)
        elif isinstance(record, DepthNote):
            self._depth_note = True
        elif isinstance(record, TextResults) and self._snapshot is None:
            self._take_results(record, arrived)
        self.version += 1

    def written(self, stream: str, times: Written) -> None:
        """See tools.State: documents say when they were written."""

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
        if self._silent_after is None:
            return
        if self._snapshot is not None:
            self._over(self._snapshot)
        else:
            self._over_without_documents(self._silent_after)
        self._silent_after = None
        self.version += 1

    def parameters(self) -> Mapping[str, str]:
        """See tools.State."""
        if self._snapshot is None or self._document is None:
            return {}
        return parameters(self._document, self._snapshot.jobs, self._snapshot.labels)

    def figures(self) -> Figures:
        """See tools.State."""
        if self._snapshot is None:
            return Figures(None, None, None, None)
        return (
            main_figures.of_run(self._snapshot)
            if self.outcome
            else main_figures.of_window(self._windows, self._snapshot)
        )

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        if self._snapshot is None or self._document is None:
            return
        if current:
            yield from metrics.live(self._windows)
            yield from metrics.machine(self._document, self._cpu)
        yield from metrics.counters(self._snapshot, self._buckets)
        yield from metrics.jobs(self._snapshot, self._depth_note)
        if self._final:
            yield from metrics.results(self._snapshot)

    def _take(self, document: FioDocument, arrived: float) -> None:
        built = document.built
        time = _arrived(document, arrived) if built is None else built
        snapshot = take(document, time)
        before, laid_out = self._snapshot, self._document is not None and not self._document.has_begun
        gap = None if before is None else time - before.time
        self._document, self._snapshot, self._final = document, snapshot, False
        self.tool_version = document.version
        self.last_report = time
        if self.start is None or built is None or laid_out:
            self.start = _start(document, snapshot)
        self._go_on(before, snapshot, gap)
        over = self._judge(document, snapshot, gap)
        if gap is not None and over != "over":
            self._note_gap(gap)
        if built is not None:
            self._measure(snapshot)
        self._silent_after = None
        if over == "over":
            self._over(snapshot)
        elif over == "perhaps":
            self._silent_after = arrived

    def _note_gap(self, seconds: float) -> None:
        if seconds >= _TINY:
            self._gaps.append(seconds)

    def _judge(self, document: FioDocument, snapshot: FioSnapshot, gap: float | None) -> Judgement:
        if document.of_clients or self._signal is not None:
            return "over"
        if document.of_report:  # with --status-interval, another one may follow
            return "perhaps"
        judgement = judge(snapshot, gap, self.report_interval)
        return "perhaps" if judgement == "over" and self._doubtful else judgement

    def _go_on(self, before: FioSnapshot | None, snapshot: FioSnapshot, gap: float | None) -> None:
        """After a further document, what seemed to have ended the run did not end it."""
        if before is not None and self.outcome and self._signal is None and gap is not None:
            went_on = snapshot.integers[:, ISSUED].sum() != before.integers[:, ISSUED].sum()
            self._doubtful |= bool(went_on and gap >= (self.report_interval or 0.0) / 2)
        if self._signal is None:
            self.outcome, self.reason, self.end = "", "", None

    def _over(self, snapshot: FioSnapshot) -> None:
        self._final, self.end = True, snapshot.time
        if self._signal is None:
            self.reason = failure(snapshot)
            self.outcome = "failed" if self.reason else "finished"

    def _take_results(self, results: TextResults, arrived: float) -> None:
        """fio prints no documents, but has printed a job's results: they are the end if nothing follows."""
        if self._signal is None:
            self.outcome, self.reason, self.end = "", "", None
        if results.job in self._errors and self.last_report is not None:  # --status-interval
            self._note_gap(arrived - self.last_report)
        self._errors[results.job] = self._errors.get(results.job) or results.error
        self.last_report = self._silent_after = arrived

    def _over_without_documents(self, end: float) -> None:
        if self._signal is None:
            failed = [(job, error) for job, error in self._errors.items() if error]
            self.outcome, self.reason = ("failed", because(*failed[0])) if failed else ("finished", "")
            self.end = end

    def _interrupted(self, signal: int, arrived: float) -> None:
        if self.outcome == "finished":
            return
        self._signal = signal
        self.outcome, self.reason = "interrupted", f"interrupted by signal {signal}"
        self.end = arrived if self.last_report is None else self.last_report

    def _gave_up(self, text: str, arrived: float) -> None:
        # A plain sentence is preferred to `file:..., func=...`, in whichever order the two streams are read.
        if self._snapshot is None and (not self.outcome or ", func=" in self.reason):
            self.outcome, self.reason, self.end = "failed", text, arrived

    def _measure(self, snapshot: FioSnapshot) -> None:
        """Close the window that ends with this document, if it is long enough."""
        base = self._base
        if base is not None:
            length = snapshot.time - base.time
            if length <= 0 or length < (self.report_interval or 0.0) / 2:
                if length < 0 or reset_between(base, snapshot):
                    self._base = snapshot
                return
        windows = difference(base, snapshot)
        issued = snapshot.totals[:, ISSUED].tolist()
        begun = {series for series, count in zip(snapshot.series, issued, strict=True) if count}
        stalled = _stalled(snapshot, windows, begun)
        self._windows = {series: one for series, one in windows.items() if one.iops or series in stalled}
        active = {series.job for series in self._windows}
        used = cpu_use(base, snapshot) if base is not None else {}
        self._cpu = {label: use for label, use in used.items() if label in active}
        self._base = snapshot
        self._report(snapshot.time, windows, begun)

    def _report(self, time: float, windows: Mapping[JobSeries, Window], begun: Set[JobSeries]) -> None:
        """Add the windows to the history if every series that has begun has one."""
        if not begun <= windows.keys() or not windows:
            self.idle_reports = 0
            return
        rate, latency = main_figures.of_windows(windows)
        if rate is not None:
            self.history.append(Report(time, rate, latency))
        idle = bool(self._windows) and not any(window.iops for window in self._windows.values())
        self.idle_reports = self.idle_reports + 1 if idle else 0


def _stalled(snapshot: FioSnapshot, windows: Mapping[JobSeries, Window], begun: Set[JobSeries]) -> Set[JobSeries]:
    """The series that have begun, whose jobs are not over, and in which nothing completed."""
    silent = {series for series, window in windows.items() if not window.iops and series.operation != "verify"} & begun
    if not silent:
        return silent
    going_on = {label for label, over in zip(snapshot.labels, judge_jobs(snapshot), strict=True) if not over}
    # While a job verifies, its writes are over and do not stall.
    verifying = {series.job for series, window in windows.items() if series.operation == "verify" and window.iops}
    return {series for series in silent if series.job in going_on - verifying}


def _arrived(document: FioDocument, arrived: float) -> float:
    """When a document without a time was built: on arrival, or for a copy from much later, when its jobs ended."""
    if document.of_report:
        behind = arrived - document.timestamp
        in_a_zone = abs(behind) <= _ZONES and abs(behind - 900 * round(behind / 900)) < 60
        return arrived if in_a_zone or not document.timestamp else float(document.timestamp)
    jobs = reported_jobs(document)
    start = min((job.job_start / 1e3 for job in jobs if job.job_start), default=document.timestamp)
    known = float(start or 0) + _length(jobs)
    return known if start and arrived - known > _COPIED else arrived


def _length(jobs: Sequence[Job]) -> float:
    """How long these jobs ran, seconds, if groups followed each other."""
    groups: dict[int, float] = {}
    for job in jobs:
        groups[job.groupid] = max(job.runtime / 1e3, groups.get(job.groupid, 0.0))
    return sum(groups.values())


def _start(document: FioDocument, snapshot: FioSnapshot) -> float | None:
    """When the first job started or, if that is unknown, fio itself."""
    starts = [job.job_start for job in snapshot.jobs if job.job_start]
    if starts:
        return min(starts) / 1e3
    if document.of_clients:
        return float(document.timestamp) if document.timestamp else None
    if document.of_report:
        return snapshot.time - _length(snapshot.jobs)
    return snapshot.time - snapshot.jobs[0].elapsed if snapshot.jobs else None
