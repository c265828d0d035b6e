"""The lines that sysbench prints while it runs (`--report-interval=N`; on stdout, flushed one by one; 1.0 - 1.0.20).

They have the forms in FORMS, after the rounded elapsed seconds: `[ 3s ] `. Every figure covers the interval since the
previous line. With `--rate`, a second line with the same time has the length of the queue. The percentile is a whole
number; 0 means that it is off (SQL then prints 0.00, fileio 0.001). The latency is that of the events that ended in the
interval, in bins 1.8 % wide; 0.00 means that none did. There is no mean, no maximum and no count.
"""

import re
from typing import NamedTuple

_MIB = 1024 * 1024
FORMS = (
    "thds: <threads> tps: <transactions> qps: <_> (r/w/o: <queries_read>/<queries_write>/<queries_other>) "
    "lat (ms,<percentile>%): <latency> err/s: <errors> reconn/s: <reconnects>",
    "thds: <threads> eps: <events> lat (ms,<percentile>%): <latency>",
    "reads: <bytes_read> MiB/s writes: <bytes_write> MiB/s fsyncs: <fsyncs>/s latency (ms,<percentile>%): <latency_>",
    "<bytes> MiB/sec",
    "queue length: <queue>",
)
_NUMBERS = {"latency_": r"\d{1,12}\.\d{3}"} | dict.fromkeys(("threads", "percentile", "queue"), r"\d{1,12}")
_RATE = r"\d{1,15}\.\d\d"
_LATENCIES = frozenset({"latency", "min", "max", "sum"})
_RATES = ("transactions", "queries", "errors", "reconnects", "events", "fsyncs", "bytes")


def _pattern(form: str) -> re.Pattern[str]:
    def number(field: re.Match[str]) -> str:
        return f"({'' if field[1] == '_' else f'?P<{field[1]}>'}{_NUMBERS.get(field[1], _RATE)})"

    return re.compile(r"\[ (?P<time>\d{1,9})s \] " + re.sub(r"<(\w+)>", number, re.escape(form)))


LINES = tuple(map(_pattern, FORMS))


class Said(NamedTuple):
    """Its `version`, an option, or a `fatal` message."""

    name: str
    value: str


class Queue(NamedTuple):
    """How many events wait for a thread."""

    length: int


class SysbenchInterval(NamedTuple):
    """The end of an interval (seconds since the start, rounded), and rates per second by the names in FORMS.

    `bytes` includes reads and writes. The latency is in seconds, None if none was measured; `quantile` is like "0.99".
    """

    time: float
    rates: dict[str, float]
    threads: float | None
    quantile: str
    latency: float | None


def report(line: str) -> SysbenchInterval | Queue | None:
    """The content of a line; None if it has none of the forms."""
    found = next((match for pattern in LINES if (match := pattern.match(line))), None)
    if found is None:
        return None
    fields = found.groupdict()
    if "queue" in fields:
        return Queue(int(fields["queue"]))
    rates = {name: base(name, number) for name, number in fields.items() if name.startswith(_RATES)}
    if "bytes_read" in rates:
        rates["bytes"] = rates["bytes_read"] + rates["bytes_write"]
    quantile = quantile_label(fields.get("percentile", "0"))
    latency = base("latency", fields.get("latency") or fields.get("latency_") or "0") if quantile else 0.0
    threads = float(fields["threads"]) if "threads" in fields else None
    return SysbenchInterval(float(fields["time"]), rates, threads, quantile, latency or None)


def base(name: str, number: str) -> float:
    """The number of this name, printed in milliseconds, MiB or one, in base units."""
    return float(f"{number}e-3") if name in _LATENCIES else float(number) * (_MIB if "bytes" in name else 1)


def quantile_label(percentile: str) -> str:
    """The value of the label `quantile` for a percentile; empty for 0, which means that it is off."""
    return f"{int(percentile) / 100:g}" if int(percentile) else ""
