"""The lines that sysbench prints while it runs (`--report-interval=N`; on stdout, flushed one by one; 1.0 - 1.0.20).

They are those of FORMS, after the elapsed seconds, rounded: `[ 3s ] `. Every figure is of the interval since the line
before. A second line of the same time tells the queue of `--rate`. The percentile is a whole number, 0 where it is
switched off (SQL then prints 0.00, fileio 0.001). The latency is of the events that ended in the interval, in bins
1.8 % wide, and 0.00 where none did. There is no mean, no maximum and no count.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

MIB = 1024 * 1024
FORMS = (
    "thds: <threads> tps: <transactions> qps: <_> (r/w/o: <queries_read>/<queries_write>/<queries_other>) "
    "lat (ms,<percentile>%): <latency> err/s: <errors> reconn/s: <reconnects>",
    "thds: <threads> eps: <events> lat (ms,<percentile>%): <latency>",
    "reads: <bytes_read> MiB/s writes: <bytes_write> MiB/s fsyncs: <fsyncs>/s latency (ms,<percentile>%): <latency_>",
    "<bytes_> MiB/sec",
    "queue length: <queue>",
)
_NUMBERS = {"latency_": r"\d{1,12}\.\d{3}"} | dict.fromkeys(("threads", "percentile", "queue"), r"\d{1,12}")
_RATES = ("transactions", "queries", "errors", "reconnects", "events", "fsyncs", "bytes")


def _pattern(form: str) -> re.Pattern[str]:
    def number(field: re.Match[str]) -> str:
        digits = _NUMBERS.get(field[1], r"\d{1,15}\.\d\d")
        return digits if field[1] == "_" else f"(?P<{field[1]}>{digits})"

    return re.compile(r"\[ (?P<time>\d{1,9})s \] " + re.sub(r"<(\w+)>", number, re.escape(form)))


LINES = tuple(map(_pattern, FORMS))


class Interval(NamedTuple):
    """One interval. `rates`: what was done, a second, by the names in FORMS; bytes as such."""

    time: float
    """Seconds since the start, rounded to whole ones."""
    rates: Mapping[str, float]
    threads: int | None = None
    quantile: str = ""
    """Which one `latency` is, "0.99"; empty where it is switched off."""
    latency: float | None = None
    """Seconds; None where nothing was measured."""


class Queue(NamedTuple):
    """With --rate: how many events wait for a thread, at the same time as the interval before it."""

    length: int


def report(line: str) -> Interval | Queue | None:
    """What a line says; None if it is none of these."""
    found = next((match for pattern in LINES if (match := pattern.match(line))), None)
    if found is None:
        return None
    fields = found.groupdict()
    if "queue" in fields:
        return Queue(int(fields["queue"]))
    quantile = quantile_label(int(fields.get("percentile", 0)))
    latency = float(fields.get("latency") or fields.get("latency_") or 0) / 1000 if quantile else 0.0
    rates = {name: float(number) * factor(name) for name, number in fields.items() if name.startswith(_RATES)}
    threads = int(fields["threads"]) if "threads" in fields else None
    return Interval(float(fields["time"]), rates, threads, quantile, latency or None)


def factor(name: str) -> int:
    """Units of the number of that name in one that is printed."""
    return MIB if name.startswith("bytes") else 1


def quantile_label(percentile: int) -> str:
    """A percentile as the label `quantile`; empty for 0, which switches it off."""
    return f"{percentile / 100:g}" if percentile else ""
