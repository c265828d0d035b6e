"""What is known of one sysbench process, from its text.

- gauges of the last interval and `history`: the last line;
- counters: summed up from the lines (`tally`), settled by the final report;
- start: a line's arrival less its elapsed seconds, the earliest; end: start + the report's total time.

A report after `FATAL` (--forced-shutdown) is that of a run that failed, and is kept. A test whose events are longer than
an interval has lines without a transaction; as long as its statements go on it is not idle.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from statistics import median_low

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family, Sample
from ..api import HISTORY, Figures, Outcome, Report
from . import metrics
from .parser import Banner, Fatal, Option, Record, Started
from .reports import Interval, Queue
from .results import Results
from .summary import Bin, Complete, Figure
from .tally import Tally

_QUERIES = ("read", "write", "other")
_Key = tuple[Family, tuple[str, ...]]


class SysbenchState:
    """One run of sysbench."""

    def __init__(self, buckets: Buckets) -> None:
        self.version = 0
        self.tool_version = ""
        self.start: float | None = None
        self.last_report: float | None = None
        self.idle_reports = 0
        self._parameters: dict[str, str] = {}
        self._interval: Interval | None = None
        self._queue: int | None = None
        self._reports: deque[Interval] = deque(maxlen=HISTORY)
        self._gaps: deque[float] = deque(maxlen=HISTORY)
        self._tallies: dict[_Key, Tally] = defaultdict(Tally)
        self._results = Results()
        self._complete = False
        self._fatal = ""

    def apply(self, record: Record, stream: str, arrived: float) -> None:
        """Take in one record of the stream, whose bytes arrived at that Unix time."""
        self.version += 1
        match record:
            case Banner():
                self.tool_version = record.version
            case Option():
                self._parameters[record.name] = record.value
            case Started():
                self._began(arrived)
            case Interval():
                self._apply_interval(record)
                self._began(arrived - record.time)
            case Queue():
                self._queue = record.length
            case Figure() | Bin():
                self._results.add(record)
            case Complete():
                self._complete = True
                self._settle()
                if self._results.length is not None:
                    self._began(arrived - self._results.length)
            case Fatal():
                self._fatal = self._fatal or record.message

    def tick(self, now: float) -> None:
        """Nothing closes by time alone."""

    def reached(self, time: float) -> None:
        """Nothing closes by time alone."""

    @property
    def end(self) -> float | None:
        """When it ended, Unix seconds."""
        length = self._results.length
        if self._complete and self.start is not None and length is not None:
            return self.start + length
        return self.last_report if self.outcome else None

    @property
    def report_interval(self) -> float | None:
        """The N of --report-interval, seconds; 0 switches the lines off."""
        told = self._parameters.get("report_interval")
        if told is not None:
            return float(told) or None
        return median_low(self._gaps) if self._gaps else None

    @property
    def outcome(self) -> Outcome:
        """A fatal message ends the run, whether a report follows or not."""
        if self._fatal:
            return "failed"
        return "finished" if self._complete else ""

    @property
    def reason(self) -> str:
        """The first fatal message."""
        return self._fatal

    @property
    def history(self) -> deque[Report]:
        """The last lines."""
        start = self.start or 0.0
        return deque((Report(start + line.time, _throughput(line), None) for line in self._reports), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """What sysbench prints of its own options."""
        return self._parameters

    def figures(self) -> Figures:
        """Of the last line, or of the whole run once it has ended."""
        line, found = self._interval, self._results
        operations = self._results.figures.get("events")
        if self._complete:
            figures = found.figures
            moved = [figures[name] for name in ("bandwidth", "bandwidth_read", "bandwidth_write") if name in figures]
            throughput = figures.get("tps", found.events_rate if not moved else sum(moved))
            latency = figures.get("latency_average")
            return Figures(
                throughput, latency, found.quantiles.get("0.99"), None if operations is None else int(operations)
            )
        done = self._tallies.get((metrics.TRANSACTIONS_TOTAL, ())) or self._tallies.get((metrics.EVENTS_TOTAL, ()))
        if line is None:
            return Figures(None, None, None, None)
        p99 = line.latency if line.quantile == "0.99" else None
        return Figures(_throughput(line), None, p99, done.total if done else None)

    def samples(self, current: bool) -> Iterator[Sample]:
        """All metrics; with `current` false without the gauges of the last interval."""
        if current and self._interval is not None:
            yield from self._gauges(self._interval)
        for (family, labels), tally in self._tallies.items():
            yield Sample(family, labels, tally.total)
        if self._complete:
            yield from self._results.samples()

    def _gauges(self, line: Interval) -> Iterator[Sample]:
        for family, value in (
            (metrics.TPS, line.tps),
            (metrics.EVENTS, line.eps),
            (metrics.FSYNCS, line.fsyncs),
            (metrics.THREADS, line.threads),
            (metrics.QUEUE, self._queue),
        ):
            if value is not None:
                yield Sample(family, (), value)
        for op, rate in zip(_QUERIES, line.queries or (), strict=False):
            yield Sample(metrics.QUERIES, (op,), rate)
        for op, rate in line.bandwidth:
            yield Sample(metrics.BANDWIDTH, (op,), rate)
        if line.latency is not None:
            yield Sample(metrics.LATENCY_WINDOW, (line.quantile,), line.latency)

    def _apply_interval(self, line: Interval) -> None:
        before = self._interval.time if self._interval else 0.0
        seconds = max(0.0, line.time - before)
        if seconds:
            self._gaps.append(seconds)
        self._interval = line
        self._reports.append(line)
        self.idle_reports = self.idle_reports + 1 if line.idle else 0
        for family, labels, rate in _rates(line):
            self._tallies[family, labels].add(rate, seconds)

    def _settle(self) -> None:
        figures = self._results.figures
        totals: list[tuple[Family, tuple[str, ...], str]] = [
            (metrics.TRANSACTIONS_TOTAL, (), "transactions"),
            (metrics.ERRORS_TOTAL, (), "errors"),
            (metrics.RECONNECTS_TOTAL, (), "reconnects"),
            *((metrics.QUERIES_TOTAL, (op,), f"queries_{op}") for op in _QUERIES),
        ]
        if self._results.events_rate is not None:
            totals.append((metrics.EVENTS_TOTAL, (), "events"))
        for family, labels, name in totals:
            if name in figures:
                self._tallies[family, labels].settle(int(figures[name]))
        # Bytes are not printed, only their rate: to the nearest 0.01 MiB/s, so that what was counted may be more.
        for name, op in (("bandwidth", ""), ("bandwidth_read", "read"), ("bandwidth_write", "write")):
            if name in figures and self._results.length is not None:
                tally = self._tallies[metrics.BYTES_TOTAL, (op,)]
                tally.settle(max(tally.total, int(figures[name] * self._results.length)))

    def _began(self, start: float) -> None:
        self.start = start if self.start is None else min(self.start, start)
        if self._interval is not None:
            self.last_report = self.start + self._interval.time
        if self._complete and self._results.length is not None:
            self.last_report = self.start + self._results.length


def _rates(line: Interval) -> Iterator[tuple[Family, tuple[str, ...], float]]:
    for family, rate in (
        (metrics.TRANSACTIONS_TOTAL, line.tps),
        (metrics.EVENTS_TOTAL, line.eps),
        (metrics.ERRORS_TOTAL, line.errors),
        (metrics.RECONNECTS_TOTAL, line.reconnects),
    ):
        if rate is not None:
            yield family, (), rate
    for op, rate in zip(_QUERIES, line.queries or (), strict=False):
        yield metrics.QUERIES_TOTAL, (op,), rate
    for op, rate in line.bandwidth:
        yield metrics.BYTES_TOTAL, (op,), rate


def _throughput(line: Interval) -> float:
    if line.tps is not None:
        return line.tps
    return line.eps if line.eps is not None else sum(rate for _, rate in line.bandwidth)
