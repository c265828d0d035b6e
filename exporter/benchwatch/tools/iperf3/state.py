"""What is known of one iperf3 process in one test.

JSON dates itself by the timestamp of its start. Text has only seconds since then, so that the start follows from when
they were written (`beginning`). What iperf3 omits (-O) is shown while it lasts, but neither counted nor in a result.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ...metrics.samples import Sample
from ..api import HISTORY, Figures, Outcome, Report, Times
from ..beginning import PUNCTUAL, ElapsedState
from . import metrics
from .records import Beginning, Flow, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result
from .text import INTERRUPTED

_COUNTERS = {
    "bytes": metrics.CLIENT.bytes,
    "packets": metrics.PACKETS,
    "retransmits": metrics.RETRANSMITS,
    "lost": metrics.LOST,
}
_RESULTS = {"retransmits": metrics.RESULT_RETRANSMITS, "jitter": metrics.RESULT_JITTER}
_OWN = ("bytes", "packets")
"""Counters whose result is always what this end counted."""


class Iperf3State(ElapsedState):
    """See tools.State. Its throughput is bytes a second; it has no latency."""

    def __init__(self) -> None:
        super().__init__()
        self.idle_reports = self._idle_before = 0
        self.report_interval: float | None = None
        self.tool_version = ""
        self._begun: float | None = None  # as the output itself says
        self._told: dict[str, Any] = {}
        self._parameters: dict[str, str] = {}
        self._flows: dict[str, Flow] = {}  # of the last report, by direction
        self._last: dict[str, tuple[float, float, bool]] = {}  # by direction: times of the last interval
        self._reports: deque[Report] = deque(maxlen=HISTORY)  # by elapsed time
        self._sums: dict[tuple[str, str], int] = {}
        self._counters: dict[tuple[str, str], int] = {}  # the highest of these: datagrams that come late are not lost
        self._results: dict[str, dict[str, Any]] = {}  # by direction
        self._load: Mapping[str, float] = {}
        self._failures: list[str] = []
        self._done = False

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case Beginning():
                self.tool_version = record.version or self.tool_version
                self._begun = record.time or self._begun
                self.report_interval = record.interval or self.report_interval
                self._told |= {name: value for name, value in record._asdict().items() if value}
                self._parameters |= {**({"role": record.role} if record.role else {}), **record.parameters}
            case Iperf3Interval():
                self._report(record, stream)
            case Iperf3Result(end, flow):
                told = flow._asdict() | {
                    "lost": None if (flow.lost or 0) < 0 else flow.lost
                }  # nobody loses less than none
                known = {name: value for name, value in told.items() if value is not None}
                self._results.setdefault(flow.direction, {}).update(known)
                if end is not None:
                    self._elapsed[stream] = max(end, self._elapsed.get(stream, 0.0))
            case Iperf3Done(load):
                self._done, self._load = True, load or self._load
            case Iperf3Failure(message):
                self._failures.append(message)

    def _report(self, record: Iperf3Interval, stream: str) -> None:
        """Takes in an interval; when the connection is lost iperf3 prints the last one a second time."""
        self.reporting.add(stream)
        times = record[:3]
        flows: dict[str, Flow] = {f.direction: f for f in record.flows if self._last.get(f.direction) != times}
        if not flows:
            return
        if not flows.keys().isdisjoint(self._flows):
            self._flows, self._idle_before = {}, self.idle_reports
        elif self._flows:
            self._reports.pop()  # the other direction of the same report
        self._flows.update(flows)
        self._last.update(dict.fromkeys(flows, times))
        self._elapsed[stream] = record.end
        length = record.end - record.start
        self.report_interval = self.report_interval or round(length, 1) or None
        rate = sum(flow.rate or 0.0 for flow in self._flows.values())
        self._reports.append(Report(record.end, rate, None))
        if length >= (self.report_interval or 0.0) / 2:
            self.idle_reports = 0 if rate else self._idle_before + 1
        for flow in () if record.omitted else flows.values():
            for name in _COUNTERS:
                if (count := getattr(flow, name)) is not None:
                    key = (name, flow.direction)
                    self._sums[key] = self._sums.get(key, 0) + count
                    self._counters[key] = max(self._sums[key], self._counters.get(key, 0))

    @property
    def start(self) -> float | None:
        """See tools.State."""
        if self._begun is not None:
            return self._begun
        return self._beginning(0.0 if self._results else PUNCTUAL, self.report_interval)

    @property
    def last_report(self) -> float | None:
        """See tools.State."""
        if (start := self.start) is not None and self._elapsed:
            return start + max(self._elapsed.values())
        return self._heard(None)

    @property
    def end(self) -> float | None:
        """See tools.State."""
        return self.last_report if self.outcome else None

    @property
    def outcome(self) -> Outcome:
        """See tools.State: a test that ends without results has failed; one that was interrupted may have some."""
        if self._failures and self._failures[0].startswith(INTERRUPTED):
            return "interrupted"
        if self._failures or (self._done and not self._results):
            return "failed"
        return "finished" if self._results else ""

    @property
    def reason(self) -> str:
        """See tools.State."""
        return next(iter(self._failures), "it ended without results" if self.outcome == "failed" else "")

    @property
    def history(self) -> deque[Report]:
        """See tools.State."""
        start = self.start or 0.0
        return deque((report._replace(time=start + report.time) for report in self._reports), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """See tools.State."""
        return self._parameters

    def figures(self) -> Figures:
        """See tools.State: operations are bytes."""
        results = [result.get("rate") for result in self._results.values()]
        rates = results if self.outcome else [flow.rate for flow in self._flows.values()]
        found = [rate for rate in rates if rate is not None]
        sizes = [value for (name, _), value in self._totals().items() if name == "bytes"]
        return Figures(sum(found) if found else None, None, None, sum(sizes) if sizes else None)

    def times(self) -> Times:
        """See tools.State: all figures are of one interval."""
        return Times()

    def _totals(self) -> Mapping[tuple[str, str], int]:
        """The counters, settled to the results."""
        told = {(name, way): result.get(name) for way, result in self._results.items() for name in _COUNTERS}
        settled = {key: value for key, value in told.items() if value is not None}
        return self._counters | {key: settled[key] for key in settled if key in self._counters or key[0] in _OWN}

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        counted = metrics.SERVER if self._told.get("role") == "server" else metrics.CLIENT
        for flow in self._flows.values() if current else ():
            yield Sample(counted.rate, (flow.direction,), flow.rate or 0.0)
            sent, received = {metrics.RTT: flow.rtt, metrics.WINDOW: flow.window}, {metrics.JITTER: flow.jitter}
            gauges = sent if flow.direction == "send" else received
            yield from (
                Sample(family, (), value) for family, value in gauges.items() if flow.rate and value is not None
            )
        for (name, direction), total in self._totals().items():
            family = {**_COUNTERS, "bytes": counted.bytes}[name]
            # Who sends counts what it sent again, who receives what it misses.
            if name in _OWN or (name == "retransmits") == (direction == "send"):
                yield Sample(family, (direction,) if family.labels else (), total)
        streams, target = self._told.get("streams"), self._told.get("target")
        if streams:
            yield Sample(metrics.STREAMS, (), streams)
        if target:
            directions = dict.fromkeys((*self._flows, *self._results))
            yield from (Sample(metrics.TARGET, (way,), target * (streams or 1)) for way in directions)
        for direction, result in self._results.items():
            results = {**_RESULTS, "rate": counted.result_rate, "bytes": counted.result_bytes}
            yield from (Sample(family, (direction,), result[n]) for n, family in results.items() if n in result)
            if "lost" in result and result.get("packets"):
                yield Sample(metrics.RESULT_LOST, (direction,), result["lost"] / result["packets"])
        yield from (Sample(metrics.RESULT_CPU, (host,), value) for host, value in self._load.items())
