"""When a run began whose output says only how long it had been running: from the times of its files.

A line that says `5.0 s` is written when the run is 5 s old. So the run began

- at the last write of the file less those seconds, if that line is the last thing in it. It is exact to the rounding of
  the line; but text that follows later, an error say, moves it.
- about when the file was created: the shell creates it and starts the benchmark, which connects and perhaps vacuums
  before it counts. Nothing moves that time; but a file rewritten in place, or copied, was created at another time.

Readers share no state, so every reader must choose the same way from the file as it is: the creation if the two agree
to within PUNCTUAL seconds (but not for the report, after which nothing moves), else the last write less the seconds. If
text of unknown time follows, the creation counts if it is up to SILENT seconds (or as many report intervals, if that is
longer) earlier.

A `start` in the run's record replaces the creation of the file, and is believed if the other time is impossible: after
text, or more than SLOW seconds later, as in a copy.
"""

from collections.abc import Collection
from typing import Any

from .api import Written

PUNCTUAL = 1.0
SILENT = 10.0
SLOW = 60.0
ENDED_WITHIN = 300.0
"""Seconds after the last report within which a message counts as the end of the run."""
ROUNDING = 0.1
"""Seconds: twice the rounding of the seconds in a line of pgbench."""


def beginning(elapsed: float, times: Written, tolerance: float, interval: float, rounding: float = ROUNDING) -> float:
    """When the run began, Unix seconds: `elapsed` seconds before a line, in a stream that was last written like that.

    `tolerance`: by how much the two may differ, seconds; `interval`: the time between the run's reports, seconds;
    `rounding`: twice that of `elapsed`, seconds.
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
    """The common part of states of runs whose lines say only how long they had been running."""

    _ROUNDING = ROUNDING

    def __init__(self) -> None:
        self.version = 0
        self._written: dict[str, Written] = {}  # by stream
        self.reporting: set[str] = set()
        self._elapsed: dict[str, float] = {}  # by stream, at its last such line, seconds

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """Note that something came; a subclass reads the record."""
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

    def tick(self, time: float) -> None:
        """See tools.State: nothing closes by time alone."""

    reached = tick

    def over(self) -> None:
        """See tools.State: a silence has no consequences."""

    def _beginning(self, tolerance: float, interval: float | None) -> float | None:
        """See `beginning`; None without such a line."""
        lines = ((seconds, self._written[stream]) for stream, seconds in self._elapsed.items())
        return min((beginning(*line, tolerance, interval or 0.0, self._ROUNDING) for line in lines), default=None)

    def _heard(self, reported: float | None, streams: Collection[str] | None = None) -> float | None:
        """When these streams (None: all) were last written to, the end of a run that stopped without saying when.

        The last report counts if that is long after it, as in a copy.
        """
        streams = self._written if streams is None else streams
        heard = max((self._written[stream].last for stream in streams), default=None)
        if heard is None or reported is None:
            return heard if reported is None else reported
        return heard if 0 <= heard - reported <= ENDED_WITHIN else reported
