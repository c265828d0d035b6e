"""What is known of one sysbench process, from its text.

- counters: the sum of each rate x the time since the previous line. sysbench divides by the true length of an interval
  but rounds the elapsed time to a second, so the sum is wrong by up to half a second's work, which is held back. The
  final report settles the counters. They never go back;
- start: estimated from the elapsed time in the last line and when that was written (`beginning`);
  end: start + the report's total time; for a run that failed without a report, the last write;
- a run with a report after `FATAL` (--forced-shutdown) has failed, with results;
- idle: no statement was done either, as events may take longer than an interval.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ...metrics.samples import Sample
from ..api import Figures, Report
from ..beginning import ElapsedState
from .metrics import LATENCY_WINDOW, LIVE, TOTALS, sample
from .parser import Queue, Said, Started, SysbenchComplete, SysbenchInterval
from .summary import Bin, SysbenchFigure, SysbenchResults


class SysbenchState(ElapsedState):
    """One run of sysbench."""

    _ROUNDING = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._line: SysbenchInterval | None = None
        self._queue: int | None = None
        self._totals: dict[str, int] = {}
        self._sums: dict[str, float] = defaultdict(float)
        self._highest: dict[str, float] = defaultdict(float)
        self._results = SysbenchResults()

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case Said("version", version):
                self.tool_version = version
            case Said("fatal", message):
                self._failure = self._failure or message
            case Said(name, value):
                self._parameters[name] = value
                if name == "report_interval":
                    self._interval = float(value) or None
            case Started():
                self._elapsed[stream] = 0.0
            case Queue(length):
                self._queue = length
            case SysbenchInterval():
                self._elapsed[stream] = record.time
                self.reporting.add(stream)
                self._apply_interval(record)
            case SysbenchFigure() | Bin():
                self._results.add(record)
            case SysbenchComplete(time, checkpoint):
                self._elapsed[stream] = time or self._elapsed.get(stream, 0.0)
                self._results.complete(checkpoint)
                self._complete = bool(self._results.figures)
                for name, number in self._results.figures.items():
                    self._count(name, number * (time if name == "bytes" else 1))

    def figures(self) -> Figures:
        """See tools.State: those of the last line, or of the final report."""
        if found := self._results.figures:
            p99 = self._results.quantiles.get("0.99")
            return Figures(_throughput(found), found.get("mean"), p99, int(found["operations"]))
        if self.outcome or self._line is None:
            return Figures(None, None, None, None)
        done = next((self._totals[name] for name in ("transactions", "events") if name in self._totals), None)
        p99 = self._line.latency if self._line.quantile == "0.99" else None
        return Figures(_throughput(self._line.rates), None, p99, done)

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        if current and (line := self._line):
            for name, rate in line.rates.items():
                yield from sample(LIVE, name, rate)
            yield from (*sample(LIVE, "threads", line.threads), *sample(LIVE, "queue", self._queue))
            if line.latency is not None:
                yield Sample(LATENCY_WINDOW, (line.quantile,), line.latency)
        for name, total in self._totals.items():
            yield from sample(TOTALS, name, total)
        yield from self._results.samples()

    def _apply_interval(self, line: SysbenchInterval) -> None:
        seconds = max(0.0, line.time - (self._line.time if self._line else 0.0))
        if "report_interval" not in self._parameters:
            self._interval = min(seconds, self._interval or seconds) or None
        self._line = line
        self._reports.append(Report(line.time, _throughput(line.rates) or 0.0, None))
        self.idle_reports = 0 if any(line.rates.values()) else self.idle_reports + 1
        for name, rate in line.rates.items():
            self._sums[name] += rate * seconds
            self._highest[name] = max(rate, self._highest[name])
            self._count(name, self._sums[name] - self._ROUNDING / 2 * self._highest[name])

    def _count(self, name: str, total: float) -> None:
        self._totals[name] = max(int(total), self._totals.get(name, 0))


def _throughput(found: Mapping[str, float]) -> float | None:
    """The throughput of a run or an interval, in the unit of its test."""
    return next((found[name] for name in ("tps", "eps", "transactions", "events", "bytes") if name in found), None)
