"""What is known of one sysbench process, from its text.

- counters: rates x the time since the line before. sysbench divides by the true length of an interval and prints
  elapsed time rounded to a second, so such a sum is off by what the last line's time is, and by less for each change of
  the rate: half a second at the highest rate is held back. The final report settles them. They never go back;
- start: from what the last line says of how long the run has taken and when that was written (`beginning`);
  end: start + the report's total time; of a run that failed without a report, the last write.
- a report after `FATAL` (--forced-shutdown) is that of a run that failed, and is kept;
- idle: no statement was done either, as events may be longer than an interval.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping

from ...metrics.samples import Sample
from ..api import HISTORY, Figures, Outcome, Report, Times
from ..beginning import PUNCTUAL, ElapsedState
from .metrics import LATENCY_WINDOW, LIVE, TOTALS, sample
from .parser import SysbenchComplete
from .reports import Said, SysbenchInterval
from .results import SysbenchResults
from .summary import Bin, Entry, SysbenchFigure

Record = Said | SysbenchInterval | Entry | SysbenchComplete


class SysbenchState(ElapsedState):
    """One run of sysbench."""

    _ROUNDING = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.tool_version = ""
        self.reason = ""  # the first fatal message
        self.idle_reports = 0
        self._parameters: dict[str, str] = {}
        self._line: SysbenchInterval | None = None
        self._queue: int | None = None
        self._lines: deque[SysbenchInterval] = deque(maxlen=HISTORY)
        self._gap: float | None = None
        self._totals: dict[str, int] = {}
        self._sums: dict[str, float] = defaultdict(float)
        self._highest: dict[str, float] = defaultdict(float)
        self._results = SysbenchResults()

    def apply(self, record: Record, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case Said("version"):
                self.tool_version = record.value
            case Said("fatal"):
                self.reason = self.reason or record.value
            case Said("started"):
                self._elapsed[stream] = 0.0
            case Said("queue"):
                self._queue = int(record.value)
            case Said():
                self._parameters[record.name] = record.value
            case SysbenchInterval():
                self._elapsed[stream] = record.time
                self.reporting.add(stream)
                self._apply_interval(record)
            case SysbenchFigure() | Bin():
                self._results.add(record)
            case SysbenchComplete():
                self._elapsed[stream] = record.time or self._elapsed.get(stream, 0.0)
                self._results.complete(record.checkpoint)
                for name, value in self._results.figures.items():
                    self._count(name, value * (record.time if name == "bytes" else 1))

    @property
    def start(self) -> float | None:
        """See tools.State."""
        return self._beginning(0.0 if self._results.figures else PUNCTUAL, self.report_interval)

    @property
    def last_report(self) -> float | None:
        """The last line, or the end of the final report."""
        length = self._results.figures.get("time", self._line.time if self._line else None)
        return None if self.start is None or length is None else self.start + length

    @property
    def end(self) -> float | None:
        """See tools.State."""
        if self._results.figures or not self.outcome:
            return self.last_report if self.outcome else None
        return self._heard(self.last_report)

    @property
    def report_interval(self) -> float | None:
        """The N of --report-interval, seconds; None if it is 0, which switches the lines off."""
        return float(self._parameters.get("report_interval", self._gap or 0)) or None

    @property
    def outcome(self) -> Outcome:
        """A fatal message ends the run, whether a report follows or not."""
        return "failed" if self.reason else "finished" if self._results.figures else ""

    @property
    def history(self) -> deque[Report]:
        """The last lines."""
        start = self.start or 0.0
        return deque((Report(start + line.time, _throughput(line.rates) or 0.0, None) for line in self._lines), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """What sysbench prints of its own options."""
        return self._parameters

    def figures(self) -> Figures:
        """Of the last line, or of the whole run once it has ended."""
        if found := self._results.figures:
            p99 = self._results.quantiles.get("0.99")
            return Figures(_throughput(found), found.get("mean"), p99, int(found["operations"]))
        if self.outcome or self._line is None:
            return Figures(None, None, None, None)
        done = next((self._totals[name] for name in ("transactions", "events") if name in self._totals), None)
        p99 = self._line.latency if self._line.quantile == "0.99" else None
        return Figures(_throughput(self._line.rates), None, p99, done)

    def times(self) -> Times:
        """See tools.State."""
        return Times() if self.outcome else Times(self.last_report)

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
        self._gap = min(seconds, self._gap or seconds) or None
        self._line = line
        self._lines.append(line)
        self.idle_reports = 0 if any(line.rates.values()) else self.idle_reports + 1
        for name, rate in line.rates.items():
            self._sums[name] += rate * seconds
            self._highest[name] = max(rate, self._highest[name])
            self._count(name, self._sums[name] - self._ROUNDING / 2 * self._highest[name])

    def _count(self, name: str, total: float) -> None:
        self._totals[name] = max(int(total), self._totals.get(name, 0))


def _throughput(found: Mapping[str, float]) -> float | None:
    """Of the whole run or of an interval, in the unit of its test."""
    return next((found[name] for name in ("tps", "eps", "transactions", "events", "bytes") if name in found), None)
