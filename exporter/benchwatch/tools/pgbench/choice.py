"""Which logs are those of a run.

A log that was last written before the run began is that of an earlier run, left in the folder (or, in a text of several
runs, of one before), and counts for nothing. When a run without transactions in a log began, its text tells; of a
copied log nothing is known of when it was written. A log with just the transactions of the final report is that of its
run in any case.
"""

import math
from collections.abc import Collection

from ...metrics.buckets import Buckets
from ..beginning import PUNCTUAL, SLOW
from .log import TransactionLog


class LogChoice:
    """The logs in a folder, as far as they were read."""

    def __init__(self, buckets: Buckets, scripts: int) -> None:
        self.every = TransactionLog(buckets, scripts)
        """Whichever run's they are."""
        self.none = TransactionLog(buckets, scripts)
        self.behind = math.inf
        """Seconds from the end of a piece of the log to its arrival, the least."""
        self._files: set[str] = set()
        self._written = -math.inf  # when one was last written, Unix seconds
        self._begun: dict[str, float] = {}  # by stream: when its text was last written, less the seconds in it

    def add(self, stream: str, arrived: float, time: float | None) -> None:
        """A piece of a log came, which ends (if it says so) at that time; Unix seconds."""
        self._files.add(stream)
        self._written = max(arrived, self._written)
        if time is not None:
            self.behind = min(arrived - time, self.behind)

    def begun(self, stream: str, time: float) -> None:
        """The run began at that time, Unix seconds, by a text of it."""
        self._begun[stream] = time

    def left_behind(self, lines: float | None, executed: float | None) -> Collection[str]:
        """Those of an earlier run.

        `lines`: when the run began by its lines, Unix seconds, too late by up to the interval while that is not known;
        `executed`: the transactions of its report.
        """
        begun = min(self._begun.values(), default=-math.inf) if lines is None else lines - SLOW
        counted = self.every.transactions
        if executed in (counted, counted + self.every.skipped):  # a text may be edited later
            return ()
        return self._files if self._written < begun - PUNCTUAL and self.behind < SLOW else ()
