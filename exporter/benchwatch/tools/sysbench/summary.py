"""The report that sysbench prints at the end (and, of what was done so far, at each --report-checkpoints).

    SQL statistics:                                     General statistics:
        queries performed:                                  total time:                          5.0453s
            read:                            34090          total number of events:              2434
            write:                           9734       Latency (ms):
            other:                           4874                min:                                    1.17
            total:                           48698               avg:                                   16.49
        transactions:        2434   (482.40 per sec.)            max:                                   57.92
        queries:             48698  (9651.55 per sec.)           99th percentile:                       43.39
        ignored errors:      1      (0.20 per sec.)              sum:                                40147.10
        reconnects:          0      (0.00 per sec.)     Threads fairness:
    File operations:                                        events (avg/stddev):           304.2500/13.49
        reads/s:                      41149.41              execution time (avg/stddev):   5.0184/0.01
    Throughput:
        read, MiB/s:                  642.96

The last line is that of the threads' execution time. `--histogram=on` prints, before all that, the bins that are not
empty, `value |**** count`; the value, milliseconds, is the middle of a bin whose edges are value / 1.00904 and value *
1.00904. Instead of the percentile stands `percentile stats: disabled` with --percentile=0.

The main branch ("1.1") prints `Throughput:` with `events/s (eps):` and `time elapsed:` in place of General statistics.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from .reports import MIB, quantile_label

_EDGE = 1.00904

_BIN = re.compile(r" *(\d{1,9}\.\d{3}) \|\**\s+(\d{1,18})")
_FIGURE = re.compile(
    r" +(?P<name>[a-zA-Z0-9][a-zA-Z0-9/, ()]*?):\s+(?P<value>\d{1,18}(?:\.\d{1,9})?)s?(?:\s+\((?P<rate>\d{1,15}\.\d\d) per sec\.\))?"
)
_PERCENTILE = re.compile(r"(\d{1,3})(?:st|nd|rd|th) percentile")
_MEMORY = re.compile(r"Total operations: (\d{1,18}) \((\d{1,15}\.\d\d) per second\)")
_TRANSFERRED = re.compile(r"(\d{1,15}\.\d\d) MiB transferred \((\d{1,15}\.\d\d) MiB/sec\)")
_UNFINISHED = re.compile(r"Number of unfinished transactions on forced shutdown: (\d{1,12})")

HEADINGS = frozenset(
    {
        "SQL statistics:",
        "queries performed:",
        "General statistics:",
        "Latency (ms):",
        "Threads fairness:",
        "File operations:",
        "Throughput:",
        "Latency histogram (values are in milliseconds)",
    }
)
_SECONDS = frozenset({"total time", "time elapsed"})
_MILLISECONDS: Mapping[str, str] = {
    "min": "latency_min",
    "avg": "latency_average",
    "max": "latency_max",
    "sum": "latency_sum",
}
_COUNTS: Mapping[str, str] = {
    "read": "queries_read",
    "write": "queries_write",
    "other": "queries_other",
    "transactions": "transactions",
    "ignored errors": "errors",
    "reconnects": "reconnects",
    "total number of events": "events",
    "reads/s": "iops_read",
    "writes/s": "iops_write",
    "fsyncs/s": "iops_sync",
    "events/s (eps)": "eps",
}
_MIB: Mapping[str, str] = {"read, MiB/s": "bandwidth_read", "written, MiB/s": "bandwidth_write"}
_KNOWN = frozenset({"total", "queries", "events (avg/stddev)"})
_LAST = "execution time (avg/stddev)"


class Figure(NamedTuple):
    """One number of the report, in base units; a percentile is `latency_quantile` with its label."""

    name: str
    value: float
    quantile: str = ""


class Bin(NamedTuple):
    """One bin of the histogram."""

    upper: float
    """Its upper edge, seconds."""
    count: int


class Complete(NamedTuple):
    """The report's last line."""


Entry = Figure | Bin | Complete


def entries(line: str) -> list[Entry] | None:
    """What a line of the report says, nothing if it only belongs to it; None if it is no such line."""
    if line.strip() in HEADINGS or line.strip().startswith(("value  ---", "percentile stats:")):
        return []
    if match := _BIN.fullmatch(line):
        return [Bin(float(match[1]) * _EDGE / 1000, int(match[2]))]
    if match := _MEMORY.match(line):
        return [Figure("eps", float(match[2]))]
    if match := _TRANSFERRED.match(line):
        return [Figure("bandwidth", float(match[2]) * MIB)]
    if match := _UNFINISHED.match(line):
        return [Figure("unfinished", float(match[1]))]
    match = _FIGURE.match(line)
    return None if match is None else _entry(match["name"], float(match["value"]), match["rate"])


def _entry(name: str, value: float, rate: str | None) -> list[Entry] | None:
    if name in _SECONDS:
        return [Figure("length", value)]
    if name in _MILLISECONDS:
        return [Figure(_MILLISECONDS[name], value / 1000)]
    if percentile := _PERCENTILE.fullmatch(name):
        return [Figure("latency_quantile", value / 1000, quantile_label(int(percentile[1])))]
    if name in _MIB:
        return [Figure(_MIB[name], value * MIB)]
    if name in _COUNTS:
        found: list[Entry] = [Figure(_COUNTS[name], value)]
        return [*found, Figure("tps", float(rate))] if name == "transactions" and rate else found
    if name == _LAST:
        return [Complete()]
    return [] if name in _KNOWN else None
