"""What is known of one iperf3 process in one test.

JSON says when the test began. Text has only seconds since then, so the start follows from when the lines were written
(`beginning`). Omitted intervals (-O) are shown while they last, but neither counted nor part of a result.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ...metrics.samples import Sample
from ..api import Figures, Outcome, Report
from ..beginning import ElapsedState
from ..declarations import samples
from . import metrics
from .records import BOTH, KNOWN, Beginning, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result


class Iperf3State(ElapsedState):
    """See tools.State. Its throughput is bytes a second; it has no latency."""

    def __init__(self) -> None:
        super().__init__()
        self._idle_before = 0  # idle reports before the last one
        self._settings: dict[str, float] = {}  # see Beginning
        # By direction: times of the last interval, figures of the last report, counters, results.
        self._last: dict[str, tuple[object, ...]] = {}
        self._flows: dict[str, Mapping[str, float]] = {}
        self._counters: dict[str, Counter[str]] = defaultdict(Counter)
        self._results: dict[str, dict[str, float]] = defaultdict(dict)
        self._lost = 0  # datagrams: the most so far, as those that arrive late are not lost after all
        self._load: Mapping[str, float] = {}

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case Beginning():
                self.tool_version = record.version or self.tool_version
                self._begun = record.begun or self._begun
                self._settings |= record.figures
                self._interval = self._settings.get("interval", self._interval)
                self._parameters |= record.parameters
            case Iperf3Interval():
                self._report(record, stream)
            case Iperf3Result(time, direction, end, figures):
                known = (*KNOWN[end], *(() if time is None else BOTH))
                self._results[direction] |= {name: figures[name] for name in known if figures.get(name, -1) >= 0}
                self._complete = True
                self._elapsed[stream] = max(time or 0.0, self._elapsed.get(stream, 0.0))
            case Iperf3Done(load):
                self._load = load or self._load
                self._failure = self._failure or ("" if self._complete else "it ended without results")
            case Iperf3Failure(message):
                self._failure = self._failure or message

    def _report(self, record: Iperf3Interval, stream: str) -> None:
        """Apply an interval, unless iperf3 prints the last one again because the connection is lost."""
        time, length, omitted, direction, figures = record
        if self._last.get(direction) == record[:3]:
            return
        if direction in self._flows:
            self._flows, self._idle_before = {}, self.idle_reports
        elif self._flows:
            self._reports.pop()  # the other direction of the same report
        self._flows[direction], self._last[direction] = figures, record[:3]
        if not omitted:
            self._counters[direction].update(figures)
            self._lost = max(self._lost, self._counters[direction]["lost"])
        self._interval = self._interval or round(length, 1) or None
        rate = sum(each["rate"] for each in self._flows.values())
        self.reporting.add(stream)
        self._elapsed[stream] = time
        self._reports.append(Report(time, rate, None))
        if length >= (self._interval or 0.0) / 2:
            self.idle_reports = 0 if rate else self._idle_before + 1

    @property
    def outcome(self) -> Outcome:
        """See tools.State: `interrupt - ` is what iperf3 says if a signal told it to stop; there may be results."""
        return "interrupted" if self._failure.startswith("interrupt - ") else super().outcome

    def figures(self) -> Figures:
        """See tools.State: operations are bytes."""
        flows = self._results if self.outcome else self._flows
        rates = [figures["rate"] for figures in flows.values() if "rate" in figures]
        sizes = [int(totals["bytes"]) for totals in self._totals().values() if "bytes" in totals]
        return Figures(sum(rates) if rates else None, None, None, sum(sizes) if sizes else None)

    def _totals(self) -> Mapping[str, Mapping[str, float]]:
        """The counters by direction, settled to the results."""
        totals: dict[str, dict[str, float]] = {way: dict(counters) for way, counters in self._counters.items()}
        if "lost" in totals.get("receive", ()):
            totals["receive"]["lost"] = self._lost
        for way, result in self._results.items():
            counters = totals.setdefault(way, {})
            counters |= {name: result[name] for name in result if name in counters or name in BOTH}
        return totals

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        own = metrics.SERVER if self._parameters.get("role") == "server" else metrics.CLIENT
        for way, figures in self._flows.items() if current else ():
            yield from samples({"rate": own.rate, **(metrics.LIVE[way] if figures["rate"] else {})}, figures, way)
        for way, totals in self._totals().items():
            yield from samples({"bytes": own.total, **metrics.TOTALS[way]}, totals, way)
        yield from samples({"num_streams": metrics.STREAMS}, self._settings)
        if target := self._settings.get("target_bitrate", 0) / 8 * self._settings.get("num_streams", 1):
            yield from (Sample(metrics.TARGET, (way,), target) for way in dict.fromkeys((*self._flows, *self._results)))
        results = {**metrics.RESULTS, "rate": own.result_rate, "bytes": own.result_operations}
        for way, result in self._results.items():
            yield from samples(results, result, way)
            if "lost" in result and result.get("packets"):
                yield Sample(metrics.RESULT_LOST, (way,), result["lost"] / result["packets"])
        yield from (Sample(metrics.RESULT_CPU, (host,), value) for host, value in self._load.items())
