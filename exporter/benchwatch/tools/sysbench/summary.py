"""The report that sysbench prints at the end (1.0 - 1.0.20).

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

Only `total time` is of the whole run: with --report-checkpoints there is a report at each of them and at the end, and
all else in it is of what was done since the one before. An interval's line may stand in the middle of it.

`--histogram=on` prints, before all that, the bins that are not empty, `value |**** count`. The value of bin i, 0.001 ms
x 10^(8 i / 1023), is its middle; small ones are alike in the three decimals that are printed. With --percentile=0 the
percentile is `disabled`. The main branch ("1.1") prints `events/s (eps):` and `time elapsed:` among Throughput.
"""

import math
import re
from typing import NamedTuple

from .reports import base, quantile_label

_WIDTH = math.log(1e8) / 1023
_FIGURE = re.compile(
    r" +(?P<name>\w[\w/, ()]*?):\s+(?P<value>\d{1,18}(?:\.\d{1,9})?)"
    r"(?:/[\d.]+|s?(?:\s+\((?P<rate>\d{1,15}\.\d\d) per sec\.\))?)$"
)
_BIN = re.compile(r" *(\d{1,9}\.\d{3}) \|\**\s+(\d{1,18})$")
_PERCENTILE = re.compile(r"(\d{1,3})(?:st|nd|rd|th) percentile")
_TRANSFERRED = re.compile(r"\d+\.\d\d MiB transferred \((\d{1,15}\.\d\d) MiB/sec\)$")
_WORDS = re.compile(
    r"[A-Z]\w+ (?:statistics|speed|fairness|operations):$|Latency \(ms\):|Throughput:|queries performed:|"
    r"Latency histogram \(|value  ---|percentile stats:|Total operations: |Number of unfinished transactions "
)
LAST = re.compile(r" +execution time \(avg/stddev\):\s+\d+\.\d{4}/\d+\.\d\d")  # the report's last line
_NAMES = {
    **{"read": "queries_read", "write": "queries_write", "other": "queries_other", "transactions": "transactions"},
    **{"ignored errors": "errors", "reconnects": "reconnects", "total number of events": "events"},
    **{"min": "min", "max": "max", "sum": "sum", "events per second": "eps", "events/s (eps)": "eps"},
    **{"reads/s": "iops_read", "writes/s": "iops_write", "fsyncs/s": "iops_sync"},
    **{"read, MiB/s": "bytes_read", "written, MiB/s": "bytes_write", "total time": "time", "time elapsed": "time"},
    **dict.fromkeys(("avg", "total", "queries", "events (avg/stddev)"), ""),  # follow from the others
}


class SysbenchFigure(NamedTuple):
    """One number of the report, in base units, counted or (iops, bytes, tps) a second; `quantile` of a percentile."""

    name: str
    value: float
    quantile: str = ""


class Bin(NamedTuple):
    """One bin of the histogram: its upper edge, seconds, and what is in it."""

    upper: float
    number: int


Entry = SysbenchFigure | Bin


def entries(line: str) -> list[Entry] | None:
    """What a line of the report says, nothing if it only belongs to it; None if it is no such line."""
    if match := _BIN.match(line):
        place = math.floor(math.log((float(match[1]) + 0.0005) / 0.001) / _WIDTH)  # of those alike the last
        return [Bin(1e-6 * math.exp((place + 0.5) * _WIDTH), int(match[2]))]
    if match := _TRANSFERRED.match(line):
        return [SysbenchFigure("bytes", base("bytes", match[1]))]
    if match := _FIGURE.match(line):
        if percentile := _PERCENTILE.match(match["name"]):
            return [SysbenchFigure("latency", base("latency", match["value"]), quantile_label(percentile[1]))]
        if (name := _NAMES.get(match["name"])) is None:
            return None
        rate = [SysbenchFigure("tps", float(match["rate"]))] if name == "transactions" and match["rate"] else []
        return [SysbenchFigure(name, base(name, match["value"])), *rate] if name else []
    return [] if _WORDS.match(line.strip()) else None
