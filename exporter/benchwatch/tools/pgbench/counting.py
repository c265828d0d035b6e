"""The counters of a run: the largest from any source, until the final report replaces them.

The sources are the progress lines, the transaction log (unless sampled) and the aggregated log. None of them is ever
ahead of the truth, so the largest is nearest to it and never goes back.

A progress line gives a rate over the time since the previous line, so its count is rate x that time; but it prints the
rate to 0.1/s and the time to 0.1 s (Unix time: 1 ms). Two rules make this a counter that never has to go back when the
final report gives the exact number:

- If only one whole number is possible within both roundings, it is the count (at -P 1 up to 4 transactions/s).
- A margin of the other counts is held back until the final report. With q, half the step of the printed time:

      2 q x highest rate                    for the last line's time
    + 2 sqrt(sum of (q x change of rate)^2  a line that ends e late lacks e x its rate, and the next has e x its rate
                                            too much: the remaining error is random
           + sum of (0.05 x time)^2)        the rounding of the rates, random too
    + sum of 0.05 x time                    instead, if the interval does not divide 10 s: a constant whole number of
                                            transactions is then always rounded in the same direction

  With 0.1 s that is at first a tenth of a second's transactions and, after an hour at rates that vary by 5 %, half a
  second's; at rates that vary as much as they can, 0.3 % of all.

With --progress-timestamp the first line does not say when its interval began. It counts for one second, the least that
-P accepts, until three lines have shown the interval.
"""

import math
from collections import deque
from statistics import median_low

from .progress import Progress

_RATE_ERROR = 0.05
_DELTAS = 15


class ProgressCount:
    """Counts from the progress lines of one run, in their order."""

    def __init__(self) -> None:
        self.transactions = 0
        """Transactions so far: never above the true number, and never less than before."""
        self._undated: Progress | None = None  # the first line of --progress-timestamp
        self._time: float | None = None
        self._quantum = 0.0
        self._deltas: deque[int] = deque(maxlen=_DELTAS)
        self.interval: float | None = None
        """The N of -P: the median of the last times between lines, in whole seconds; a late line does not change it."""
        self._certain = 0
        self._estimate = 0.0
        self._rate: float | None = None
        self._highest = 0.0
        self._variance = 0.0
        self._constant = 0.0

    @property
    def start(self) -> float | None:
        """When the run began, or up to an interval later, Unix seconds; None if the lines have elapsed seconds."""
        return self._undated.time - self._first_interval if self._undated else None

    def add(self, line: Progress) -> float:
        """Add the next line; returns the time that it covers, seconds (for the first line perhaps too little)."""
        covered = 1.0
        if self._time is None:
            self._quantum = 0.0005 if line.epoch else 0.05
        if self._time is None and line.epoch:
            self._undated = line
            self._highest = line.tps
        else:
            covered = max(0.0, line.time - (self._time or 0.0))  # the clock may have been set back
            self._deltas.append(round(covered))
            self.interval = float(max(1, median_low(self._deltas)))
            self._count(line, covered)
        self._time = line.time
        self._show()
        return covered

    @property
    def _first_interval(self) -> float:
        return self.interval if self.interval and len(self._deltas) > 1 else 1.0

    def _count(self, line: Progress, covered: float) -> None:
        rate = 0.0
        if line.tps == 0:
            self._certain += int(not line.idle)  # at least one, if the rate only rounds to zero
        elif _RATE_ERROR * covered + 2 * self._quantum * line.tps < 0.5:
            self._certain += round(line.tps * covered)
        else:
            rate = line.tps
            self._estimate += rate * covered
            self._highest = max(self._highest, rate)
            if self._deltas[-1] and 10 % self._deltas[-1] == 0:
                self._variance += (_RATE_ERROR * covered) ** 2
            else:
                self._constant += _RATE_ERROR * covered
        if self._rate is not None:
            self._variance += (self._quantum * (rate - self._rate)) ** 2
        self._rate = rate

    def _show(self) -> None:
        estimate, constant = self._estimate, self._constant
        if self._undated:
            estimate += self._undated.tps * self._first_interval
            constant += _RATE_ERROR * self._first_interval
        margin = 2 * self._quantum * self._highest + 2 * math.sqrt(self._variance) + constant
        self.transactions = max(self.transactions, self._certain + max(0, math.floor(estimate - margin)))
