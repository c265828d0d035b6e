"""The seconds of a transaction log: what completed in each whole second of Unix time, over all threads' files.

A thread's file grows by 4096 bytes (about 130 transactions), so the files of one process reach different seconds. A
second is closed, that is shown, when

- every file has moved past it, or
- a file has moved more than WAIT seconds past it, or
- it is over for more than WAIT seconds by the clock, or
- the run is complete.

A second in which nothing completed is closed as any other, so the percentiles of the last closed second are gone at
the latest WAIT + 2 seconds after the last transaction, progress lines or not.

What arrives for a second that is closed already is added to it, as long as it is among the last KEPT: so all
files may also be read one after the other, and the end is the same. Only the last closed second is shown with its
percentiles: of those that cannot be that any more, what remains is how many transactions there were and their mean.
"""

import math
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Counts, quantiles
from ..api import HISTORY

WAIT = 10
"""How long a closing second is waited for, seconds."""

KEPT = HISTORY
"""How many seconds up to the newest are kept."""

QUANTILES = (0.5, 0.95, 0.99, 0.999)
QUANTILE_LABELS = (*map(repr, QUANTILES), "1")
"""Of these and the maximum."""

_PARTS = 16
_FEW = 256
"""Up to so many latencies, their bins are kept one by one."""
# Microseconds. The squares of 2^14 shorter latencies, more than a block of a log has, do not overflow.
_SHORT = 1 << 24


class SecondWindow(NamedTuple):
    """One whole second in which something completed. Latencies in seconds."""

    second: int
    """Unix time at which it began."""
    transactions: int
    latency_average: float
    latency_stddev: float
    quantiles: tuple[float, ...]
    """Of QUANTILES, and the exact maximum."""


class _Second:
    """The transactions of one second; counts by bin are kept as the bins that are not empty."""

    __slots__ = ("count", "maximum", "parts", "squares", "sum")

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0
        self.squares = 0
        self.maximum = 0
        self.parts: list[tuple[NDArray[np.uint16], NDArray[np.uint32] | int]] = []

    def add(self, latency: NDArray[np.int64], total: int, filled: Counts) -> None:
        longest = int(latency.max())
        self.count += len(latency)
        self.sum += total
        self.maximum = max(self.maximum, longest)
        # Whole numbers, so that the order of additions is of no consequence.
        self.squares += (
            int(np.dot(latency, latency)) if longest < _SHORT else sum(one * one for one in latency.tolist())
        )
        if len(filled) <= _FEW:
            self.parts.append((filled.astype(np.uint16), 1))
        else:
            self._keep(np.bincount(filled, minlength=BINS))
        if len(self.parts) > _PARTS:
            counts = self.counts()
            self.parts.clear()
            self._keep(counts)

    def _keep(self, counts: Counts) -> None:
        filled = np.flatnonzero(counts)
        self.parts.append((filled.astype(np.uint16), counts[filled].astype(np.uint32)))

    def counts(self) -> Counts:
        total = np.zeros(BINS, np.int64)
        for filled, counts in self.parts:
            np.add.at(total, filled, counts)
        return total


class Windows:
    """The last seconds of one process' transaction log."""

    def __init__(self) -> None:
        self._totals: dict[int, tuple[int, int]] = {}  # of the last KEPT: transactions, and the sum of their latencies
        self._seconds: dict[int, _Second] = {}  # those that may be the last closed one now or later
        self._newest: dict[str, int] = {}  # by stream
        self._first: int | None = None
        self._ticked: int | None = None
        self._complete = False
        self._shown: SecondWindow | None = None  # the last one that was asked for

    def add(self, stream: str, second: int, latency: NDArray[np.int64], filled: Counts) -> None:
        """Transactions of `stream` that completed in `second`: at least one latency (microseconds), their bins."""
        newest = max(second, self._newest.get(stream, second))
        self._newest[stream] = newest
        self._first = second if self._first is None else min(self._first, second)
        latest = max(self._newest.values())
        if second <= latest - KEPT:
            return
        count, total = self._totals.get(second, (0, 0))
        added = int(latency.sum())
        self._totals[second] = count + len(latency), total + added
        while (oldest := next(iter(self._totals))) <= latest - KEPT:
            del self._totals[oldest]
        if second <= latest - WAIT - 2:
            return
        if second not in self._seconds:
            for old in [kept for kept in self._seconds if kept <= latest - WAIT - 2]:
                del self._seconds[old]
            self._seconds[second] = _Second()
        self._seconds[second].add(latency, added, filled)

    def tick(self, now: float) -> bool:
        """Closes the seconds that have been over for WAIT seconds at Unix time `now`; whether there was one."""
        ticked = math.floor(now) - WAIT
        if ticked == self._ticked:
            return False
        before, self._ticked = self.closed, ticked
        return self.closed != before

    def complete(self) -> None:
        """Closes all seconds: the run is over."""
        self._complete = True

    @property
    def closed(self) -> int | None:
        """The last closed second, whether anything completed in it or not; None if none is."""
        if not self._newest:
            return None
        newest = max(self._newest.values())
        bounds = [min(self._newest.values()), newest - WAIT]
        if self._ticked is not None:
            bounds.append(min(self._ticked, newest + 2))  # one empty second is enough
        if self._complete:
            bounds.append(newest + 1)
        last = max(bounds) - 1
        return last if self._first is not None and last >= self._first else None

    @property
    def last(self) -> SecondWindow | None:
        """The last closed second, if anything completed in it."""
        closed, shown = self.closed, self._shown
        if closed is None or closed not in self._seconds:
            return None
        if shown is None or (shown.second, shown.transactions) != (closed, self._seconds[closed].count):
            shown = self._shown = self._window(closed)
        return shown

    @property
    def measured(self) -> bool:
        """Whether the last closed second is a whole one of the run, and the log reaches it."""
        closed = self.closed
        return closed is not None and closed <= max(self._newest.values()) and self.whole(closed)

    def whole(self, second: int) -> bool:
        """Whether the run covers all of a second: it is not its first, nor its last when the run is over."""
        return second != self._first and not (self._complete and second == max(self._newest.values()))

    def counts(self) -> Iterator[tuple[int, int, float | None]]:
        """Second, transactions and mean latency (seconds) of the closed whole seconds, up to the newest transaction."""
        closed = self.closed
        if closed is None:
            return
        newest = max(self._newest.values())
        for second in range(max(min(self._totals, default=closed), newest - KEPT + 1), min(closed, newest) + 1):
            if self.whole(second):
                count, total = self._totals.get(second, (0, 0))
                yield second, count, total / count / 1e6 if count else None

    @property
    def windows(self) -> deque[SecondWindow]:
        """The closed seconds of which the percentiles are kept, without those in which nothing completed."""
        closed = self.closed
        seconds = sorted(second for second in self._seconds if closed is not None and second <= closed)
        return deque((self._window(second) for second in seconds), KEPT)

    def _window(self, second: int) -> SecondWindow:
        found = self._seconds[second]
        mean = found.sum / found.count
        variance = max(0.0, found.squares / found.count - mean * mean)
        maximum = found.maximum / 1e6
        middle = [min(quantile, maximum) for quantile in quantiles(found.counts(), QUANTILES)]
        return SecondWindow(second, found.count, mean / 1e6, math.sqrt(variance) / 1e6, (*middle, maximum))
