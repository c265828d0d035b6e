"""What is known of one run of a text tool, from its records.

- Counters are what reports count, or their rates x the time since the previous report. A tool divides by the true
  length of an interval but may round the time that it prints, so what it may have rounded up is held back. The final
  report settles the counters. They never go back.
- The start is estimated from the time of the last report and when that was written, unless the tool says it.
- A run with a final report after an error has failed, with results.
- A run has at most MOST series; what a file has beyond that is left out.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from ...metrics.samples import HistogramValue, Sample
from ..roles import Roles, roles_of
from ..states import ROUNDING, Figures, Outcome, Report, State
from .tool_figures import Failed, Families, Key, Said, Slot, ToolReport, ToolResult

MOST = 2000


class _Counter:
    """A figure since the start."""

    __slots__ = ("highest", "is_settled", "shown", "sum")

    def __init__(self) -> None:
        self.sum = 0.0
        self.highest = 0.0  # the highest rate so far
        self.shown: float = 0
        self.is_settled = False  # whether the final report has said the exact number, whichever stream was read first

    def add(self, number: float, held_back: float = 0.0) -> None:
        """Count so many, of which some may have been rounded up."""
        self.sum += number
        whole = int(self.sum - held_back)
        if whole > self.shown and not self.is_settled:
            self.shown = whole

    def settle(self, number: float, is_exact: bool) -> None:
        """Note what the final report says."""
        if is_exact:
            self.shown, self.is_settled = int(number) if number == int(number) else number, True
        else:
            self.shown = max(self.shown, int(number))


class KitState(State):
    """See tools.State."""

    def __init__(self, families: Families, roles: Sequence[Roles], rounding: float) -> None:
        super().__init__()
        self._families = families
        self._roles = tuple(roles)
        self._ROUNDING = max(rounding, ROUNDING)
        self._slack = rounding / 2  # seconds that a time may be ahead of the truth
        self._known: set[Key] = set()
        self._moment: dict[Key, float] = {}  # figures of the last moment
        self._time: float | None = None  # of the last moment
        self._before = 0.0  # the time of the moment before
        self._idle_before = 0
        self._is_interrupted = False
        self._counters: dict[Key, _Counter] = defaultdict(_Counter)
        self._settings: dict[Key, float] = {}
        self._results: dict[Key, float] = {}
        self._bins: dict[Key, float] = defaultdict(float)
        self._ended: dict[str, float] = {}  # by stream, the time of its final report

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case ToolReport():
                self._elapsed[stream] = record.time
                if record.figures:
                    self.reporting.add(stream)
                    self._report(record, self._bounded(record.figures))
            case Said("version", version):
                self.tool_version = version
            case Said("begun", begun):
                self._begun = float(begun)
            case Said(name, value):
                self._parameters[name] = value
                if name == "report_interval":
                    self._interval = float(value) or None
            case Failed(message, interrupted):
                self._is_interrupted |= interrupted and not self._failure
                self._failure = self._failure or message
            case ToolResult(figures, time, is_final):
                if time is not None:
                    if is_final:
                        self._ended[stream] = max(time, self._ended.get(stream, 0.0))
                    self._elapsed[stream] = self._ended.get(stream, time)
                for key, number in self._bounded(figures).items():
                    self._result(key, number, time, is_final)
                self._complete |= is_final

    def _bounded(self, figures: Mapping[Key, float]) -> Mapping[Key, float]:
        """These figures; once there are too many, without those that are new."""
        if len(self._known) < MOST:
            self._known.update(figures)
            return figures
        return {key: value for key, value in figures.items() if key in self._known}

    def _report(self, record: ToolReport, figures: Mapping[Key, float]) -> None:
        together = record.time - (self._time or 0.0) < (self._interval or 0.0) / 2
        if self._time is not None and together and figures.keys().isdisjoint(self._moment):
            if _parts(self._families, self._roles, tuple(self._moment)).throughput:
                self._reports.pop()
            moment = {**self._moment, **figures}
            self.idle_reports = self._idle_before
        else:
            moment = dict(figures)
            self._before, self._idle_before = self._time or 0.0, self.idle_reports
        seconds = max(0.0, record.time - self._before) if record.length is None else record.length
        if "report_interval" not in self._parameters and seconds:
            if record.length is None:
                self._interval = min(seconds, self._interval or seconds)
            else:
                self._interval = self._interval or round(seconds, 1)
        self._moment, self._time = moment, record.time
        parts = _parts(self._families, self._roles, tuple(moment))
        if record.counted:
            own = parts if len(figures) == len(moment) else _parts(self._families, self._roles, tuple(figures))
            for key, is_added in own.counted:
                counter, value = self._counters[key], figures[key]
                if is_added:
                    counter.add(value)
                else:
                    if value > counter.highest:
                        counter.highest = value
                    counter.add(value * seconds, self._slack * counter.highest)
        if parts.throughput:
            latency = _mean(moment, parts.latency, parts.throughput)
            self._reports.append(Report(record.time, sum(moment[key] for key in parts.throughput), latency))
        if parts.rates and seconds >= (self._interval or 0.0) / 2:
            self.idle_reports = 0 if any(moment[key] for key in parts.rates) else self._idle_before + 1

    def _result(self, key: Key, value: float, seconds: float | None, is_final: bool) -> None:
        figure = self._families.figures[key[0]]
        if figure.bins:
            self._bins[key] += value
        elif figure.setting:
            self._settings[key] = value
        elif is_final:
            self._results[key] = value
            if settled := self._families.settled.get(key[0]):
                counted = self._families.figures[settled]
                whole = (settled, *key[1 : 1 + len(counted.labels)])
                if counted.total:
                    self._counters[whole].settle(value, counted.added)
                if counted.rate and counted.result and seconds:
                    self._results.setdefault(whole, value / seconds)

    @property
    def outcome(self) -> Outcome:
        """See tools.State."""
        return "interrupted" if self._is_interrupted else super().outcome

    def figures(self) -> Figures:
        """See tools.State."""
        found: Mapping[Key, float] = {} if self.outcome else self._moment
        start, window = "", "window"
        if self._results:
            start, window, found = "result_", "result_quantile", self._results
        roles = _roles_of(self._families, self._roles, self._moment, self._results)

        def playing(role: str, keys: Collection[Key]) -> list[Key]:
            return _playing(self._families, roles, role, keys)

        rates, means, quantiles = (playing(role, found) for role in (f"{start}rate", f"{start}latency", window))
        done = [self._results[key] for key in playing("result_operations", self._results)]
        if not done and roles.unit.in_bytes == (roles.operations == "bytes"):  # else the counter has another unit
            done = [self._counters[key].shown for key in playing("total", self._counters)]
        return Figures(
            sum(found[key] for key in rates) if rates else None,
            _mean(found, means, rates),
            next((found[key] for key in quantiles if key[1:] == ("0.99",)), None),
            int(sum(done)) if done else None,
            time=None if self.outcome else self.last_report,
        )

    def samples(self, current: bool) -> Iterator[Sample]:
        """See tools.State."""
        parts: Sequence[tuple[Slot, Mapping[Key, float]]] = (
            ("live", self._moment if current else {}),
            ("total", {key: counter.shown for key, counter in self._counters.items()}),
            ("setting", self._settings),
            ("result", self._results),
        )
        for slot, figures in parts:
            for key, value in figures.items():
                if family := self._families.get(slot, key[0]):
                    yield Sample(family, key[1:], value)
        if self._bins and self._results:
            bins = sorted((float(edge), int(count)) for (_, edge), count in self._bins.items())
            counts = list(accumulate(count for _, count in bins))
            edges = [f"{edge:.7g}" for edge, _ in bins if edge < math.inf]
            ((name, _), *_) = self._bins
            whole = self._results.get(("sum",), math.nan)
            histogram = HistogramValue([*edges, "+Inf"], [*counts[: len(edges)], counts[-1]], whole)
            yield Sample(self._families.family("bins", name), (), histogram)


class _Parts(NamedTuple):
    """Which figures of a report play which part."""

    throughput: Sequence[Key]
    latency: Sequence[Key]
    rates: Sequence[Key]
    counted: Sequence[tuple[Key, bool]]
    """With `added`."""


@lru_cache(maxsize=1000)
def _parts(families: Families, declared: tuple[Roles, ...], keys: tuple[Key, ...]) -> _Parts:
    figures = {key: families.figures[key[0]] for key in keys}
    roles = _roles_of(families, declared, keys)
    return _Parts(
        _playing(families, roles, "rate", keys),
        _playing(families, roles, "latency", keys),
        [key for key, figure in figures.items() if figure.rate],
        [(key, figure.added) for key, figure in figures.items() if figure.total],
    )


def _roles_of(
    families: Families, declared: Sequence[Roles], live: Collection[Key], results: Collection[Key] = ()
) -> Roles:
    """The roles that apply to a run with these figures in its reports and in its final report."""
    known = [families.get("live", key[0]) for key in live] + [families.get("result", key[0]) for key in results]
    return roles_of(declared, {family.name for family in known if family})


def _playing(families: Families, roles: Roles, role: str, keys: Collection[Key]) -> list[Key]:
    """Those of the figures that play a role."""
    slot: Slot = "result" if role.startswith("result_") else "total" if role == "total" else "live"
    wanted, place = getattr(roles, role), len(roles.labels)
    playing = [key for key in keys if wanted and families.get(slot, key[0]) is wanted]
    return [key for key in playing if not place or key[place] not in roles.apart] if roles.apart else playing


def _mean(figures: Mapping[Key, float], latencies: Sequence[Key], rates: Sequence[Key]) -> float | None:
    """The mean latency of all operations, weighted by their rates; None if one of these is unknown."""
    if len(latencies) < 2:
        return figures[latencies[0]] if latencies else None
    weights = {key[1:]: figures[key] for key in rates}
    total = sum(weights.get(key[1:], 0.0) for key in latencies)
    if not total or any(key[1:] not in weights for key in latencies):
        return None
    return sum(figures[key] * weights[key[1:]] for key in latencies) / total
