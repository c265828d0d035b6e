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
"""

import re
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
