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

With --report-checkpoints there is a report at each checkpoint and at the end. Its `total time` counts from the start of
the run; everything else covers the time since the previous report. The line of an interval may interrupt it.

`--histogram=on` prints the bins that are not empty before the report, `value |**** count`. The value of bin i, 0.001 ms
x 10^(8 i / 1023), is its middle; the three printed decimals are the same for several small bins. With --percentile=0
the percentile is `disabled`. The main branch ("1.1") prints `events/s (eps):` and `time elapsed:` under Throughput.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from ...metrics.samples import HistogramValue, Sample
from .metrics import LATENCY, RESULT_LATENCY, RESULTS, sample

_WIDTH = math.log(1e8) / 1023
_MIB = 1024 * 1024
_LATENCIES = frozenset({"latency", "min", "max", "sum"})
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
_RATES = ("tps", "eps", "iops", "bytes")
_OF_ALL: Mapping[str, Callable[[Iterable[float]], float]] = {"min": min, "max": max, "time": max}


def base(name: str, number: str) -> float:
    """The number of this name, printed in milliseconds, MiB or one, in base units."""
    return float(f"{number}e-3") if name in _LATENCIES else float(number) * (_MIB if "bytes" in name else 1)


def quantile_label(percentile: str) -> str:
    """The value of the label `quantile` for a percentile; empty for 0, which means that it is off."""
    return f"{int(percentile) / 100:g}" if int(percentile) else ""


class SysbenchFigure(NamedTuple):
    """One number of the report in base units: a count, a latency, or (iops, bytes, tps) a rate per second."""

    name: str
    value: float
    quantile: str = ""


class Bin(NamedTuple):
    """One bin of the histogram: its upper edge, seconds, and the number of events."""

    upper: float
    number: int


Entry = SysbenchFigure | Bin


def entries(line: str) -> list[Entry] | None:
    """The entries of a line of the report, which may be none; None if it is not a line of the report."""
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


class SysbenchResults:
    """Collects reports, each of which covers the time since the previous one."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        """For the whole run, by the names of `metrics.RESULTS`; empty before the last line of the final report."""
        self.quantiles: dict[str, float] = {}
        self._parts: list[dict[str, float]] = [{}]
        self._bins: Counter[float] = Counter()

    def add(self, entry: Entry) -> None:
        """Apply one entry of a report; a latency of 0.00 means none."""
        if isinstance(entry, Bin):
            self._bins[entry.upper] += entry.number
        elif entry.quantile and entry.value:
            self.quantiles[entry.quantile] = entry.value
        elif entry.value or entry.name not in ("latency", "min", "max"):
            self._parts[-1][entry.name] = entry.value

    def complete(self, checkpoint: bool) -> None:
        """Note the last line of a report; after that of a checkpoint, the run continues."""
        if checkpoint:
            self._parts.append({})
            return
        found = self.figures = _joined(self._parts) if self._parts[1:] else self._parts[0]
        if self._parts[1:]:  # the percentile of the whole does not follow from those of the parts
            self.quantiles.clear()
        most = found.get("max", math.inf)  # the middle of a bin may be above it
        self.quantiles = {quantile: min(seconds, most) for quantile, seconds in self.quantiles.items()}
        events = found["operations"] = found.get("events", 0.0)
        if "bytes_read" in found:
            found["bytes"] = found["bytes_read"] + found.get("bytes_write", 0.0)
        if not {"transactions", "bytes"}.isdisjoint(found):  # their events have names of their own
            found.pop("events", None)
        elif found.get("time"):
            found.setdefault("eps", events / found["time"])
        if events:
            found["mean"] = found.get("sum", 0.0) / events

    def samples(self) -> Iterator[Sample]:
        """The results, if there are any."""
        for name, value in self.figures.items():
            yield from sample(RESULTS, name, value)
        for quantile, seconds in self.quantiles.items() if self.figures else ():
            yield Sample(RESULT_LATENCY, (quantile,), seconds)
        if self._bins and self.figures:
            bounds = sorted(self._bins)
            counts = list(accumulate(self._bins[bound] for bound in bounds))
            texts = [*(f"{bound:.7g}" for bound in bounds), "+Inf"]
            yield Sample(LATENCY, (), HistogramValue(texts, [*counts, counts[-1]], self.figures.get("sum", 0.0)))


def _joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One report for several: the sum of counts, the mean of rates, weighted by time."""
    ends = [part.get("time", 0.0) for part in parts]
    lengths = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    whole: dict[str, float] = {}
    for name in dict.fromkeys(chain(*parts)):
        if name in _OF_ALL:
            whole[name] = _OF_ALL[name](part[name] for part in parts if name in part)
        elif name.startswith(_RATES) and ends[-1]:
            values = (part.get(name, 0.0) * length for part, length in zip(parts, lengths, strict=True))
            whole[name] = sum(values) / ends[-1]
        else:
            whole[name] = sum(part.get(name, 0.0) for part in parts)
    for rate, count in (("tps", "transactions"), ("eps", "events")):  # the parts are not exactly as long as they say
        if rate in whole and count in whole and ends[-1]:
            whole[rate] = whole[count] / ends[-1]
    return whole
