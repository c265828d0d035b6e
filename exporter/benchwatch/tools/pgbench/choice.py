"""Which logs belong to a run.

A log whose end precedes the start of the run belongs to an earlier run, which left it in the folder (or, if a text has
several runs, to a previous one), and is ignored. Two clocks can show that:

- the benchmark's, if the progress lines have Unix times: the log dates its transactions by the same clock;
- else that of the files: when the log and the text were last written. It shows nothing of a copied log.

A log with exactly the transactions of the final report belongs to its run in any case.
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
        """All of them, whichever run they belong to."""
        self.none = TransactionLog(buckets, scripts)
        self.behind = math.inf
        """The least time from the end of a piece of the log to its arrival, seconds."""
        self._files: set[str] = set()
        self._written = -math.inf  # when one was last written, Unix seconds
        self._end = math.inf  # the latest time in any of them, Unix seconds
        self._begun: dict[str, float] = {}  # by stream: when its text was last written, less the seconds in it

    def add(self, stream: str, arrived: float, time: float | None) -> None:
        """Note that a piece of a log arrived, which ends at `time` if that is known; Unix seconds."""
        self._files.add(stream)
        self._written = max(arrived, self._written)
        if time is not None:
            self._end = time if self._end == math.inf else max(time, self._end)
            self.behind = min(arrived - time, self.behind)

    def begun(self, stream: str, time: float) -> None:
        """Note that the run began at that time, Unix seconds, according to one of its texts."""
        self._begun[stream] = time

    def left_behind(self, lines: float | None, executed: float | None) -> Collection[str]:
        """The logs that an earlier run left behind.

        `lines`: when the run began according to its lines, Unix seconds, up to an interval too late while the interval
        is not known; `executed`: the number of transactions in its report.
        """
        counted = self.every.transactions
        if executed in (counted, counted + self.every.skipped):  # a text may be edited later
            return ()
        if lines is not None:
            precedes = self._end < lines - SLOW - PUNCTUAL
        else:
            begun = min(self._begun.values(), default=-math.inf)
            precedes = self._written < begun - PUNCTUAL and self.behind < SLOW
        return self._files if precedes else ()
