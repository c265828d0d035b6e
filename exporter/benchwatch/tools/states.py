"""What the streams of one process of a benchmark show: the base class of each tool's state.

The start of a run whose output says only how long it has been running is estimated from the times of its files. A tool
writes the line `5.0 s` when the run is 5 s old, so it began

- 5 s before the last write to the file, if that line is the last thing in it. This is exact to the rounding of the
  line, but later text, such as an error, moves the time of the last write.
- about when the file was created: the shell creates it and starts the benchmark, which connects and perhaps vacuums
  before it counts. Nothing moves that time; but if a file was copied, or rewritten in place, it was created at another
  time.

Readers share no state, so each of them must make the same choice from the file as it is: the creation if the two
estimates agree within PUNCTUAL seconds (this does not apply to a final report, which nothing follows), otherwise the
last write. If text of unknown time follows the line, the creation may be up to SILENT seconds earlier (or as many
report intervals, if that is longer).

A `start` in the run's record replaces the creation of the file, and counts unless it is impossible: the last write
is more than SLOW seconds later, as in a copy, or text follows the line.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ..metrics.samples import Sample
from ..model.run import Report as Report

Outcome = Literal["", "finished", "failed", "interrupted"]

HISTORY = 300
"""Reports of a run that its state keeps for the small chart on the landing page."""
ENDED_WITHIN = 300.0
"""Seconds after the last report within which a message counts as the end of the run."""

PUNCTUAL = 1.0
SILENT = 10.0
SLOW = 60.0
ROUNDING = 0.1
"""Seconds: twice the rounding error of the times that pgbench prints."""


class Written(NamedTuple):
    """When a stream was written, as far as it was read, according to the file system and the run's record."""

    last: float
    """Time of the last write, Unix seconds."""
    begun: float | None = None
    """When the benchmark's output began, Unix seconds; None if unknown."""
    recorded: bool = False
    """Whether `begun` comes from the record, not from the creation of the file."""
    undated: bool = False
    """Whether anything follows the last record that says how long the benchmark has been running."""


def beginning(elapsed: float, times: Written, tolerance: float, interval: float, rounding: float = ROUNDING) -> float:
    """When the run began, Unix seconds, if its stream was written at these times and a line in it is `elapsed` s old.

    `tolerance`: by how many seconds the two estimates may differ; `interval`: seconds between the run's reports;
    `rounding`: twice the rounding error of `elapsed`, seconds.
    """
    latest = times.last - elapsed
    if times.begun is None:
        return latest
    late = latest - times.begun
    if times.recorded:
        return latest if tolerance < late <= SLOW and not times.undated else times.begun
    longest = SILENT * max(1.0, interval) if times.undated else tolerance
    return times.begun if -rounding <= late <= longest else latest


class Figures(NamedTuple):
    """The main figures: from the last report while the benchmark runs, for the whole run once it has ended.

    None: not measured.
    """

    throughput: float | None
    """Operations per second."""
    latency: float | None
    """Mean latency, seconds."""
    p99: float | None
    """99th percentile of the latency, seconds."""
    operations: int | None
    """Operations completed since the start."""
    time: float | None = None
    """When the interval of throughput and mean latency ended, Unix seconds; None also for the whole run."""
    p99_time: float | None = None
    """The same for the percentile, if it has an interval of its own."""


class State:
    """What all streams of one process of a benchmark show. Times are Unix seconds. Each run of the tool has its own.

    This is the state of a tool whose reports say how long the run has taken. A subclass reads the records.
    """

    _ROUNDING = ROUNDING

    def __init__(self) -> None:
        self.version = 0
        """Grows whenever a sample may have changed."""
        self.tool_version = ""
        """As the tool prints it; empty while unknown."""
        self.idle_reports = 0
        """Number of consecutive reports, up to the last one, of whole intervals in which nothing completed."""
        self.reporting: set[str] = set()
        """The streams that have reports; a process prints them to one stream."""
        self._parameters: dict[str, str] = {}
        self._interval: float | None = None  # between reports, seconds
        self._begun: float | None = None  # Unix seconds, if the output says so
        self._complete = False  # whether the final report was read
        self._failure = ""  # the first message that says why the run failed
        self._elapsed: dict[str, float] = {}  # by stream, seconds at its last report
        self._reports: deque[Report] = deque(maxlen=HISTORY)  # dated by elapsed seconds
        self._written: dict[str, Written] = {}  # by stream

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """Apply one record (neither Begin nor Misread) of a stream, whose bytes arrived at that time."""
        self.version += 1
        self._written[stream] = Written(arrived)

    def written(self, stream: str, times: Written) -> None:
        """Note when the stream was written; all its records so far have been applied."""
        if self._written.get(stream) != times:
            self._written[stream] = times
            self.version += 1

    def tick(self, now: float, *, is_read: bool = False) -> None:
        """Close windows that have waited long enough at this time, or all that end by then if `is_read`.

        Only a replay knows that all streams have been read up to a time.
        """

    def over(self) -> None:
        """Note that the output is complete; of a growing file, only silence shows that."""

    @property
    def left_behind(self) -> Collection[str]:
        """Logs that an earlier run left in its folder, which are ignored."""
        return ()

    @property
    def start(self) -> float | None:
        """When the benchmark began."""
        interval = self.report_interval or 0.0
        tolerance = 0.0 if self._complete else PUNCTUAL
        starts = (
            beginning(seconds, self._written[stream], tolerance, interval, self._ROUNDING)
            for stream, seconds in self._elapsed.items()
        )
        if self._begun is None:
            return min(starts, default=None)
        # A tool that prints whole seconds began up to one later, and never before its launcher.
        launched = (one.begun for one in self._written.values() if one.recorded and one.begun is not None)
        return max((self._begun, *(begun for begun in launched if begun < self._begun + 1)))

    @property
    def last_report(self) -> float | None:
        """When the tool last reported: by its own clock if it prints one, else when the bytes arrived."""
        start = self.start if self.reporting or self._complete else None
        return None if start is None else start + max(self._elapsed.values(), default=0.0)

    @property
    def outcome(self) -> Outcome:
        """Finished after a final summary or document, failed after an error that ended the run, interrupted if the tool
        says that a signal stopped it."""
        return "failed" if self._failure else "finished" if self._complete else ""

    @property
    def reason(self) -> str:
        """Why it failed or was interrupted, one clause; else empty."""
        return self._failure

    @property
    def end(self) -> float | None:
        """When it ended; None while it runs."""
        if not self.outcome:
            return None
        is_dated = self._complete or (self._begun is not None and self._reports)
        return self.last_report if is_dated else self._heard(self.last_report)

    @property
    def report_interval(self) -> float | None:
        """The tool's own reporting interval, seconds."""
        return self._interval

    @property
    def history(self) -> deque[Report]:
        """The last reports, at most HISTORY."""
        start = self.start or 0.0
        return deque((report._replace(time=start + report.time) for report in self._reports), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """The settings of the run that the tool prints: clients=10, bs=8k ..."""
        return self._parameters

    def figures(self) -> Figures:
        """The figures of the landing page."""
        raise NotImplementedError

    def samples(self, current: bool) -> Iterator[Sample]:
        """The tool's metrics; unless `current` (if it ended or stalled), without the gauges of the last interval."""
        raise NotImplementedError

    def _heard(self, reported: float | None, streams: Collection[str] | None = None) -> float | None:
        """When a run ended that stopped without saying when: at the last write to these streams (None: all).

        If that is long after the last report, as in a copy, the run ended with that report.
        """
        streams = self._written if streams is None else streams
        heard = max((self._written[stream].last for stream in streams), default=None)
        if heard is None or reported is None:
            return heard if reported is None else reported
        return heard if 0 <= heard - reported <= ENDED_WITHIN else reported
