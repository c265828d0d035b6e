"""pgbench's progress line (-P N; on stderr, since 9.4).

From `printProgressReport()` of pgbench.c (before 12 a part of `threadRun()`):

    progress: T s, %.1f tps, lat %.3f ms stddev %.3f[, %d failed][, lag %.3f ms[, %d skipped]][, %d retried, %d retries]

    T                    seconds since the start, %.1f; with --progress-timestamp (9.6+) Unix time, %.3f
    failed               15+: serialization and deadlock failures left after all tries
    lag                  with -R: mean of (begin - scheduled begin)
    skipped              with -R and -L: transactions that were too late to be begun
    retried, retries     15+, unless --max-tries=1: transactions tried more than once, and further tries in total

Every figure covers the time since the previous line. There is no count of transactions: it is tps x the true interval.
Rates and latencies are those of successful transactions (up to 10 of skipped ones too). With -R the latency counts from
the scheduled start. If nothing completed, versions up to 10 print `-nan` or `nan`, later ones `0.000`; with one
transaction, or equal latencies, stddev may be `nan` in every version. pgbench never sets a locale: decimals have a
point.

pgbench writes the line in two to five pieces, so another thread's message may come before, after or inside it. On
platforms without threads (not Linux) 9.4 and 9.5 print `progress THREAD: ...` for each process, which is not the rate
of the run and is not read.

Lines with impossible numbers are not read either: 10^8 seconds (three years) since the start, a Unix time before 2001
or after 2096, 10^9 transactions a second, a latency of 10^7 seconds, 10^12 failures in one interval.

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
import re
from collections import deque
from statistics import median_low
from typing import NamedTuple

_NUMBER = r"\d{1,10}\.\d{3}|-?nan|-?NaN|-?inf"

PROGRESS = re.compile(
    r"progress: (?P<time>\d{1,8}\.\d|[1-3]\d{9}\.\d{1,3}) s, (?P<tps>\d{1,9}\.\d) tps, "
    rf"lat (?P<latency>{_NUMBER}) ms stddev (?P<stddev>{_NUMBER})"
    r"(?:, (?P<failed>\d{1,12}) failed)?"
    rf"(?:, lag (?P<lag>{_NUMBER}) ms)?"
    r"(?:, (?P<skipped>\d{1,12}) skipped)?"
    r"(?:, (?P<retried>\d{1,12}) retried, (?P<retries>\d{1,12}) retries)?"
)
"""One progress line, anywhere in a line of text."""

PROGRESS_START = "progress: "
_RATE_ERROR = 0.05
_DELTAS = 15


class Progress(NamedTuple):
    """One progress line. Times in seconds; None if the line has no such field or nothing was measured."""

    time: float
    """Seconds since the start, or Unix time if `epoch`."""
    epoch: bool
    tps: float
    latency: float | None
    stddev: float | None
    failed: int | None = None
    lag: float | None = None
    skipped: int | None = None
    retried: int | None = None
    retries: int | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing completed; a rate that merely rounds to zero comes with a latency."""
        return self.tps == 0 and self.latency is None


def progress(match: re.Match[str]) -> Progress:
    """The content of a match of PROGRESS."""
    time, tps = float(match["time"]), float(match["tps"])
    latency, stddev, lag = _seconds(match["latency"]), _seconds(match["stddev"]), _seconds(match["lag"])
    if not (tps or latency):
        latency = stddev = lag = None
    failed, skipped = _count(match["failed"]), _count(match["skipped"])
    retried, retries = _count(match["retried"]), _count(match["retries"])
    return Progress(time, time >= 1e9, tps, latency, stddev, failed, lag, skipped, retried, retries)


def _seconds(milliseconds: str | None) -> float | None:
    return float(f"{milliseconds}e-3") if milliseconds and milliseconds[-1].isdigit() else None


def _count(text: str | None) -> int | None:
    return None if text is None else int(text)


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
