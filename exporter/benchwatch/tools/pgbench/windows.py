"""The seconds of a transaction log: what completed in each whole second of Unix time, in the files of all threads.

A thread's file grows by 4096 bytes (about 130 transactions), so the files of one process reach different seconds. A
second is closed, that is, ready to be shown, when

- every file has moved past it, or
- a file has moved more than WAIT seconds past it, or
- it ended more than WAIT seconds ago by the clock, or
- the run is complete.

A second in which nothing completed is closed like any other, so the percentiles of the last closed second disappear
at the latest WAIT + 2 seconds after the last transaction, with or without progress lines.

Transactions of a closed second that arrive late are added to it if it is among the last KEPT seconds. So the files may
also be read one after the other, with the same result. Percentiles are shown only for the last closed second; earlier
ones keep the number of transactions and their mean latency.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Counts, quantiles
from ..api import HISTORY

WAIT = 10
"""How long a second waits for slower files, seconds."""

KEPT = HISTORY
"""How many seconds are kept, up to the newest."""

QUANTILES = (0.5, 0.95, 0.99, 0.999)
QUANTILE_LABELS = (*map(repr, QUANTILES), "1")
"""The labels of QUANTILES and of the maximum."""

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
    """The values of QUANTILES, and the exact maximum."""


class _Second:
    """What else is known of the transactions of one second: latencies in microseconds, and the bin of each."""

    def __init__(self) -> None:
        self.squares = 0
        self.maximum = 0
        self.bins: list[NDArray[np.uint16]] = []

    def add(self, latency: NDArray[np.int64], filled: Counts) -> None:
        longest = int(latency.max())
        self.maximum = max(self.maximum, longest)
        # In whole numbers the order of additions does not matter.
        self.squares += (
            int(np.dot(latency, latency)) if longest < _SHORT else sum(one * one for one in latency.tolist())
        )
        self.bins.append(filled.astype(np.uint16))


class Windows:
    """The last seconds in the transaction log of one process."""

    def __init__(self) -> None:
        self._totals: dict[int, tuple[int, int]] = {}  # the last KEPT: transactions, and the sum of their latencies
        self._seconds: dict[int, _Second] = {}  # those that are the last closed one, or may become it
        self._newest: dict[str, int] = {}  # by stream
        self._first: int | None = None
        self._ticked: int | None = None
        self._complete = False
        self._shown: SecondWindow | None = None  # the last result of `last`

    def add(self, stream: str, second: int, latency: NDArray[np.int64], filled: Counts) -> None:
        """Transactions of `stream` that completed in `second`: at least one latency (microseconds), their bins."""
        newest = max(second, self._newest.get(stream, second))
        self._newest[stream] = newest
        self._first = second if self._first is None else min(self._first, second)
        latest = max(self._newest.values())
        if second <= latest - KEPT:
            return
        count, total = self._totals.get(second, (0, 0))
        self._totals[second] = count + len(latency), total + int(latency.sum())
        while (oldest := next(iter(self._totals))) <= latest - KEPT:
            del self._totals[oldest]
        if second <= latest - WAIT - 2:
            return
        if second not in self._seconds:
            for old in [kept for kept in self._seconds if kept <= latest - WAIT - 2]:
                del self._seconds[old]
            self._seconds[second] = _Second()
        self._seconds[second].add(latency, filled)

    def tick(self, now: float) -> bool:
        """Closes the seconds that ended WAIT seconds before `now` (Unix time); whether there were any."""
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
        """The last closed second, even if nothing completed in it; None if no second is closed."""
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
        if shown is None or (shown.second, shown.transactions) != (closed, self._totals[closed][0]):
            shown = self._shown = self._window(closed)
        return shown

    @property
    def measured(self) -> bool:
        """Whether the run covers all of the last closed second, and the log reaches it."""
        closed = self.closed
        return closed is not None and closed <= max(self._newest.values()) and self.whole(closed)

    def whole(self, second: int) -> bool:
        """Whether the run covers all of a second: not its first, nor its last if the run is complete."""
        return second != self._first and not (self._complete and second == max(self._newest.values()))

    def counts(self) -> Iterator[tuple[int, int, float | None]]:
        """Second, transactions and mean latency (seconds) of each closed whole second, up to the newest transaction."""
        closed = self.closed
        if closed is None:
            return
        newest = max(self._newest.values())
        for second in range(max(min(self._totals, default=closed), newest - KEPT + 1), min(closed, newest) + 1):
            if self.whole(second):
                count, total = self._totals.get(second, (0, 0))
                yield second, count, total / count / 1e6 if count else None

    def _window(self, second: int) -> SecondWindow:
        (count, total), found = self._totals[second], self._seconds[second]
        mean = total / count
        variance = max(0.0, found.squares / count - mean * mean)
        maximum = found.maximum / 1e6
        counts = np.bincount(np.concatenate(found.bins), minlength=BINS)
        middle = [min(quantile, maximum) for quantile in quantiles(counts, QUANTILES)]
        return SecondWindow(second, count, mean / 1e6, math.sqrt(variance) / 1e6, (*middle, maximum))
