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
ones forget their bins.
"""

import math
from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Counts, quantiles
from ..states import HISTORY, Report
from .progress import Progress

WAIT = 10
"""How long a second waits for slower files, seconds."""

KEPT = HISTORY
"""How many seconds are kept, up to the newest."""

QUANTILES = (0.5, 0.95, 0.99, 0.999)
QUANTILE_LABELS = (*map(repr, QUANTILES), "1")
"""The labels of QUANTILES and of the maximum."""

# Microseconds. The squares of 2^14 shorter latencies, more than a block of a log has, do not overflow.
_SHORT = 1 << 24


class Second:
    """The transactions that completed in one whole second, at least one."""

    def __init__(self, second: int) -> None:
        self.second = second
        """Unix time at which it began."""
        self.transactions = 0
        self._total = self._squares = self._maximum = 0  # microseconds
        self.bins: list[NDArray[np.uint16]] = []
        """Of the latencies; only quantiles need them."""
        self._quantiles: tuple[float, ...] = ()

    def add(self, latency: NDArray[np.int64]) -> None:
        """Add latencies, microseconds; their bins are for the caller to add."""
        longest = int(latency.max())
        self.transactions += len(latency)
        self._maximum = max(self._maximum, longest)
        # In whole numbers the order of additions does not matter.
        self._total += int(latency.sum())
        self._squares += (
            int(np.dot(latency, latency)) if longest < _SHORT else sum(one * one for one in latency.tolist())
        )
        self._quantiles = ()

    @property
    def latency_average(self) -> float:
        """Seconds."""
        return self._total / self.transactions / 1e6

    @property
    def latency_stddev(self) -> float:
        """Seconds."""
        mean = self._total / self.transactions
        return math.sqrt(max(0.0, self._squares / self.transactions - mean * mean)) / 1e6

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The values of QUANTILES, and the exact maximum, seconds."""
        if not self._quantiles:
            maximum = self._maximum / 1e6
            counts = np.bincount(np.concatenate(self.bins), minlength=BINS)
            self._quantiles = (*(min(quantile, maximum) for quantile in quantiles(counts, QUANTILES)), maximum)
        return self._quantiles


class Windows:
    """The last seconds in the transaction log of one process."""

    def __init__(self) -> None:
        self._seconds: dict[int, Second] = {}  # those in which something completed
        self._with_bins: deque[Second] = deque()
        self._newest: dict[str, int] = {}  # by stream
        self._first = math.inf
        self._ticked: int | None = None
        self._complete = False

    def add(self, stream: str, second: int, latency: NDArray[np.int64], filled: Counts) -> None:
        """Transactions of `stream` that completed in `second`: at least one latency (microseconds), their bins."""
        self._newest[stream] = max(second, self._newest.get(stream, second))
        self._first = min(second, self._first)
        latest = max(self._newest.values())
        if second <= latest - KEPT:
            return
        found = self._seconds.get(second)
        if found is None:
            while self._seconds and (oldest := next(iter(self._seconds))) <= latest - KEPT:
                del self._seconds[oldest]
            found = self._seconds[second] = Second(second)
        found.add(latency)
        if second > latest - WAIT - 2:  # it may become the last closed one
            if not found.bins:
                self._with_bins.append(found)
            found.bins.append(filled.astype(np.uint16))
            while self._with_bins[0].second <= latest - WAIT - 2:
                self._with_bins.popleft().bins.clear()

    def tick(self, now: float) -> bool:
        """Closes the seconds that ended WAIT seconds before `now` (Unix time); whether there were any."""
        before, self._ticked = self.closed, math.floor(now) - WAIT
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
        return last if last >= self._first else None

    @property
    def last(self) -> Second | None:
        """The last closed second, if anything completed in it."""
        closed = self.closed
        return None if closed is None else self._seconds.get(closed)

    @property
    def line(self) -> Progress | None:
        """The last closed second as a progress line, if the run covers all of it and the log reaches it."""
        closed = self.closed
        if closed is None or closed > max(self._newest.values()) or not self._covers(closed):
            return None
        if (found := self._seconds.get(closed)) is None:
            return Progress(closed + 1, True, 0.0, None, None)
        count = float(found.transactions)
        return Progress(closed + 1, True, count, found.latency_average, found.latency_stddev)

    def reports(self) -> Iterator[Report]:
        """The closed whole seconds, up to the newest transaction."""
        closed = self.closed
        if closed is None:
            return
        newest = max(self._newest.values())
        for second in range(max(min(self._seconds), newest - KEPT + 1), min(closed, newest) + 1):
            if self._covers(second):
                found = self._seconds.get(second)
                count, latency = (found.transactions, found.latency_average) if found else (0, None)
                yield Report(second + 1, count, latency)

    def _covers(self, second: int) -> bool:
        """Whether the run covers all of a second: not its first, nor its last if the run is complete."""
        return second != self._first and not (self._complete and second == max(self._newest.values()))
