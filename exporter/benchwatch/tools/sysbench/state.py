"""What is known of one sysbench process, from its text.

- gauges of the last interval and `history`: the last line;
- counters: summed up from the lines (`tally`), settled by the final report;
- start: from what the last line says of how long the run has taken, and when that was written (`tools.beginning`);
  end: start + the report's total time; of a run that failed without a report, the last write.

A report after `FATAL` (--forced-shutdown) is that of a run that failed, and is kept. A line without a transaction is
idle only if no statement was done either: events may be longer than an interval.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from statistics import median_low

from ...metrics.exposition import Sample
from ..api import HISTORY, Figures, Outcome, Report, Times, Written
from ..beginning import PUNCTUAL, beginning
from . import metrics
from .metrics import NUMBERS
from .parser import Complete, Fatal, Setting, Started
from .reports import Interval, Queue
from .results import Results
from .summary import Bin, Entry, Figure
from .tally import Tally

_ROUNDING = 1.0
"""Seconds: twice the rounding of a line's time."""
_ENDED_WITHIN = 300.0
"""Seconds after the last line within which the last write is the end of a run that failed, as it is not of a copy."""

Record = Setting | Started | Interval | Queue | Entry | Complete | Fatal


class SysbenchState:
    """One run of sysbench."""

    def __init__(self) -> None:
        self.version = 0
        self.tool_version = ""
        self.reason = ""
        """The first fatal message."""
        self.idle_reports = 0
        self._parameters: dict[str, str] = {}
        self._line: Interval | None = None
        self._queue: int | None = None
        self._lines: deque[Interval] = deque(maxlen=HISTORY)
        self._gaps: deque[float] = deque(maxlen=HISTORY)
        self._tallies: dict[str, Tally] = defaultdict(Tally)
        self._results = Results()
        self._written: dict[str, Written] = {}  # by stream
        self._elapsed: dict[str, float] = {}  # by stream: how long the run had taken by its last line

    def apply(self, record: Record, stream: str, arrived: float) -> None:
        """See tools.State."""
        self.version += 1
        self._written[stream] = Written(arrived)
        match record:
            case Setting("version"):
                self.tool_version = record.value
            case Setting():
                self._parameters[record.name] = record.value
            case Interval():
                self._apply_interval(record)
            case Queue():
                self._queue = record.length
            case Figure() | Bin():
                self._results.add(record)
            case Complete():
                self._results.complete(record.checkpoint)
                self._settle()
            case Fatal():
                self.reason = self.reason or record.message
        if isinstance(record, Started | Interval | Complete):
            self._elapsed[stream] = record.time

    def written(self, stream: str, times: Written) -> None:
        """See tools.State."""
        if self._written.get(stream) != times:
            self._written[stream] = times
            self.version += 1

    def tick(self, now: float) -> None:
        """See tools.State: nothing closes by time alone."""

    reached = tick

    @property
    def start(self) -> float | None:
        """See tools.State."""
        tolerance = 0.0 if self._results.figures else PUNCTUAL
        lines = ((elapsed, self._written[stream]) for stream, elapsed in self._elapsed.items())
        interval = self.report_interval or 0.0
        return min((beginning(*line, tolerance, interval, _ROUNDING) for line in lines), default=None)

    @property
    def last_report(self) -> float | None:
        """The last line, or the end of the final report."""
        length = self._results.figures["time"] if self._results.figures else self._line.time if self._line else None
        return None if self.start is None or length is None else self.start + length

    @property
    def end(self) -> float | None:
        """See tools.State."""
        if self._results.figures or not self.outcome:
            return self.last_report if self._results.figures else None
        reported, heard = self.last_report, max(times.last for times in self._written.values())
        return heard if reported is None or 0 <= heard - reported <= _ENDED_WITHIN else reported

    @property
    def report_interval(self) -> float | None:
        """The N of --report-interval, seconds; None if it is 0, which switches the lines off."""
        if "report_interval" in self._parameters:
            return float(self._parameters["report_interval"]) or None
        return median_low(self._gaps) if self._gaps else None

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
            return Figures(_throughput(found), found.get("latency_average"), p99 or None, int(found["operations"]))
        if self.outcome or self._line is None:
            return Figures(None, None, None, None)
        done = next((self._tallies[name].total for name in ("transactions", "events") if name in self._tallies), None)
        p99 = self._line.latency if self._line.quantile == "0.99" else None
        return Figures(_throughput(self._line.rates), None, p99, done)

    def times(self) -> Times:
        """See tools.State."""
        return Times() if self.outcome else Times(self.last_report)

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        if current and (line := self._line):
            for name, rate in line.rates.items():
                if family := NUMBERS[name].live:
                    yield Sample(family, NUMBERS[name].labels, rate)
            for family, value in ((metrics.THREADS, line.threads), (metrics.QUEUE, self._queue)):
                if value is not None:
                    yield Sample(family, (), value)
            if line.latency is not None:
                yield Sample(metrics.LATENCY_WINDOW, (line.quantile,), line.latency)
        for name, tally in self._tallies.items():
            if family := NUMBERS[name].total:
                yield Sample(family, NUMBERS[name].labels, tally.total)
        yield from self._results.samples()

    def _apply_interval(self, line: Interval) -> None:
        seconds = max(0.0, line.time - (self._line.time if self._line else 0.0))
        if seconds:
            self._gaps.append(seconds)
        self._line = line
        self._lines.append(line)
        self.idle_reports = 0 if any(line.rates.values()) else self.idle_reports + 1
        for name, rate in line.rates.items():
            if NUMBERS[name].total:
                self._tallies[name].add(rate, seconds)

    def _settle(self) -> None:
        figures = self._results.figures
        for name, shown in NUMBERS.items():
            if shown.total and name in figures:
                # Of bytes only the rate is printed.
                self._tallies[name].settle(figures[name] * (figures["time"] if shown.result else 1))


def _throughput(found: Mapping[str, float]) -> float | None:
    """Transactions or events a second, of the whole run or of an interval; of a test that has none, bytes."""
    for name in ("tps", "eps", "transactions", "events"):
        if name in found:
            return found[name]
    moved = [rate for name, rate in found.items() if name.startswith("bytes")]
    return sum(moved) if moved else None
