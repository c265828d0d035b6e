"""When a run began whose output says only how long it has been running: estimated from the times of its files.

A tool writes the line `5.0 s` when the run is 5 s old. So the run began

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
from collections.abc import Collection, Mapping
from typing import Any

from .api import HISTORY, Outcome, Report, Written

PUNCTUAL = 1.0
SILENT = 10.0
SLOW = 60.0
ENDED_WITHIN = 300.0
"""Seconds after the last report within which a message counts as the end of the run."""
ROUNDING = 0.1
"""Seconds: twice the rounding error of the times that pgbench prints."""


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


class ElapsedState:
    """The common part of states of runs whose reports say how long the run has taken. A subclass reads the records."""

    _ROUNDING = ROUNDING

    def __init__(self) -> None:
        self.version = 0
        self.tool_version = ""
        self.idle_reports = 0
        self.reporting: set[str] = set()
        self._parameters: dict[str, str] = {}
        self._interval: float | None = None  # between reports, seconds
        self._begun: float | None = None  # Unix seconds, if the output says so
        self._complete = False  # whether the final report was read
        self._failure = ""  # the first message that says why the run failed
        self._elapsed: dict[str, float] = {}  # by stream, seconds at its last report
        self._reports: deque[Report] = deque(maxlen=HISTORY)  # dated by elapsed seconds
        self._written: dict[str, Written] = {}  # by stream

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """Note that something arrived."""
        self.version += 1
        self._written[stream] = Written(arrived)

    def written(self, stream: str, times: Written) -> None:
        """See tools.State."""
        if self._written.get(stream) != times:
            self._written[stream] = times
            self.version += 1

    @property
    def left_behind(self) -> Collection[str]:
        """See tools.State."""
        return ()

    def tick(self, now: float, *, is_read: bool = False) -> None:
        """See tools.State: there are no windows."""

    def over(self) -> None:
        """See tools.State: silence means nothing."""

    @property
    def start(self) -> float | None:
        """See tools.State."""
        interval = self.report_interval or 0.0
        tolerance = 0.0 if self._complete else PUNCTUAL
        starts = (
            beginning(seconds, self._written[stream], tolerance, interval, self._ROUNDING)
            for stream, seconds in self._elapsed.items()
        )
        return min(starts, default=None) if self._begun is None else self._begun

    @property
    def last_report(self) -> float | None:
        """See tools.State."""
        start = self.start if self._reports or self._complete else None
        return None if start is None else start + max(self._elapsed.values(), default=0.0)

    @property
    def outcome(self) -> Outcome:
        """See tools.State."""
        return "failed" if self._failure else "finished" if self._complete else ""

    @property
    def reason(self) -> str:
        """See tools.State."""
        return self._failure

    @property
    def end(self) -> float | None:
        """See tools.State."""
        if not self.outcome:
            return None
        is_dated = self._complete or (self._begun is not None and self._reports)
        return self.last_report if is_dated else self._heard(self.last_report)

    @property
    def report_interval(self) -> float | None:
        """See tools.State."""
        return self._interval

    @property
    def history(self) -> deque[Report]:
        """See tools.State."""
        start = self.start or 0.0
        return deque((report._replace(time=start + report.time) for report in self._reports), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """See tools.State."""
        return self._parameters

    def _heard(self, reported: float | None, streams: Collection[str] | None = None) -> float | None:
        """When a run ended that stopped without saying when: at the last write to these streams (None: all).

        If that is long after the last report, as in a copy, the run ended with that report.
        """
        streams = self._written if streams is None else streams
        heard = max((self._written[stream].last for stream in streams), default=None)
        if heard is None or reported is None:
            return heard if reported is None else reported
        return heard if 0 <= heard - reported <= ENDED_WITHIN else reported
