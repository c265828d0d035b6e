"""The lines that sysbench prints while it runs (`--report-interval=N`; on stdout, flushed one by one; 1.0 - 1.0.20).

From `report_intermediate()` of sysbench.c, db_driver.c, the tests in lua and tests/fileio, tests/memory:

    SQL      [ %.0fs ] thds: N tps: %.2f qps: %.2f (r/w/o: %.2f/%.2f/%.2f) lat (ms,P%): %.2f err/s: %.2f reconn/s: %.2f
    others   [ %.0fs ] thds: N eps: %.2f lat (ms,P%): %.2f
    fileio   [ %.0fs ] reads: %.2f MiB/s writes: %.2f MiB/s fsyncs: %.2f/s latency (ms,P%): %.3f
    memory   [ %.0fs ] %.2f MiB/sec
    --rate   [ %.0fs ] queue length: N, concurrency: N      a second line of the same time
    --report-checkpoints   [ %.0fs ] Checkpoint report:     and a whole final report in mid-run

Every figure is of the interval since the line before. The time is elapsed seconds, rounded. P is a whole percentile, 0
where it is switched off (SQL then prints 0.00, fileio 0.001); the latency is of the events that ended in the interval,
in bins 1.8 % wide, and 0.00 where none did. There is no mean, no maximum and no count.
"""

import re
from typing import NamedTuple

MIB = 1024 * 1024
_TIME = r"\[ (?P<time>\d{1,9})s \] "
_RATE = r"\d{1,15}\.\d\d"
_LATENCY = r"\(ms,(?P<percentile>\d{1,3})%\): (?P<latency>\d{1,12}\.\d{2,3})"

SQL = re.compile(
    rf"{_TIME}thds: (?P<threads>\d{{1,9}}) tps: (?P<tps>{_RATE}) qps: {_RATE} "
    rf"\(r/w/o: (?P<read>{_RATE})/(?P<write>{_RATE})/(?P<other>{_RATE})\) lat {_LATENCY} "
    rf"err/s: (?P<errors>{_RATE}) reconn/s: (?P<reconnects>{_RATE})"
)
EVENTS = re.compile(rf"{_TIME}thds: (?P<threads>\d{{1,9}}) eps: (?P<eps>{_RATE}) lat {_LATENCY}")
FILEIO = re.compile(
    rf"{_TIME}reads: (?P<read>{_RATE}) MiB/s writes: (?P<write>{_RATE}) MiB/s fsyncs: (?P<fsyncs>{_RATE})/s "
    rf"latency {_LATENCY}"
)
MEMORY = re.compile(rf"{_TIME}(?P<rate>{_RATE}) MiB/sec")
QUEUE = re.compile(rf"{_TIME}queue length: (?P<length>\d{{1,12}}),? concurrency: \d{{1,12}}")
CHECKPOINT = re.compile(rf"{_TIME}Checkpoint report:")
ANY = re.compile(r"\[ \d{1,9}s \] (?:thds: \d|reads: \d|\d+\.\d\d MiB/sec)")
"""How an interval's line begins, whatever the test."""


class Interval(NamedTuple):
    """One interval. Rates a second; None where the test has no such figure, or nothing was measured."""

    time: float
    """Seconds since the start, rounded to whole ones."""
    threads: int | None = None
    tps: float | None = None
    eps: float | None = None
    queries: tuple[float, float, float] | None = None
    """Read, write, other."""
    bandwidth: tuple[tuple[str, float], ...] = ()
    """Operation and bytes a second; the operation is empty for the memory test, which has only one."""
    fsyncs: float | None = None
    quantile: str = ""
    """Which one `latency` is, "0.99"; empty where it is switched off."""
    latency: float | None = None
    """Seconds."""
    errors: float | None = None
    reconnects: float | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing at all was done; statements of an event that goes on are something."""
        rates = (self.tps, self.eps, self.fsyncs, *(self.queries or ()), *(rate for _, rate in self.bandwidth))
        return not any(rates)


class Queue(NamedTuple):
    """With --rate: events that wait for a thread, at the same time as the interval before it."""

    length: int


class Checkpoint(NamedTuple):
    """A report of what was done so far follows; it is not the end."""


def report(line: str) -> Interval | Queue | Checkpoint | None:
    """What a line says; None if it is none of these."""
    if not line.startswith("[ "):
        return None
    if match := SQL.match(line):
        quantile, latency = _latency(match)
        return Interval(
            time=float(match["time"]),
            threads=int(match["threads"]),
            tps=float(match["tps"]),
            queries=(float(match["read"]), float(match["write"]), float(match["other"])),
            quantile=quantile,
            latency=latency,
            errors=float(match["errors"]),
            reconnects=float(match["reconnects"]),
        )
    if match := EVENTS.match(line):
        quantile, latency = _latency(match)
        return Interval(
            time=float(match["time"]),
            threads=int(match["threads"]),
            eps=float(match["eps"]),
            quantile=quantile,
            latency=latency,
        )
    if match := FILEIO.match(line):
        quantile, latency = _latency(match)
        return Interval(
            time=float(match["time"]),
            bandwidth=(("read", float(match["read"]) * MIB), ("write", float(match["write"]) * MIB)),
            fsyncs=float(match["fsyncs"]),
            quantile=quantile,
            latency=latency,
        )
    if match := MEMORY.match(line):
        return Interval(time=float(match["time"]), bandwidth=(("", float(match["rate"]) * MIB),))
    if match := QUEUE.match(line):
        return Queue(int(match["length"]))
    return Checkpoint() if CHECKPOINT.match(line) else None


def quantile_label(percentile: int) -> str:
    """A percentile as the label `quantile`; empty for 0, which switches it off."""
    return f"{percentile / 100:g}" if percentile else ""


def _latency(match: re.Match[str]) -> tuple[str, float | None]:
    quantile = quantile_label(int(match["percentile"]))
    seconds = float(f"{match['latency']}e-3")
    return quantile, seconds if quantile and seconds else None
