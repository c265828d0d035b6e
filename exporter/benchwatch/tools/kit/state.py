"""What is known of one run of a text tool, from its records.

- Counters are what reports count, or their rates x the time since the previous report. A tool divides by the true
  length of an interval but may round the time that it prints, so what it may have rounded up is held back. The final
  report settles the counters. They never go back.
- The start is estimated from the time of the last report and when that was written, unless the tool says it.
- A run with a final report after an error has failed, with results.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ...metrics.samples import HistogramValue, Sample
from ..beginning import ROUNDING
from ..roles import Roles, roles_of
from ..states import Figures, Outcome, State
from ..states import Report as Shown
from .records import MOST, Failed, Said, ToolReport, ToolResult
from .tool_figures import Families, Key, Slot

_MOST_SHAPES = 100


class _Shape(NamedTuple):
    """Which figures of a report play which part."""

    throughput: Sequence[Key]
    latency: Sequence[Key]
    rates: Sequence[Key]
    counted: Sequence[tuple[Key, bool]]
    """With `added`."""


class _Counter:
    """A figure since the start."""

    __slots__ = ("highest", "is_settled", "shown", "sum")

    def __init__(self) -> None:
        self.sum = 0.0
        self.highest = 0.0
        """The highest rate so far."""
        self.shown: float = 0
        self.is_settled = False
        """Whether the final report has said the exact number, whichever stream was read first."""

    def add(self, number: float, held_back: float = 0.0) -> None:
        """Count so many, of which some may have been rounded up."""
        self.sum += number
        whole = int(self.sum - held_back)
        if whole > self.shown and not self.is_settled:
            self.shown = whole

    def settle(self, number: float, is_exact: bool) -> None:
        """Note what the final report says."""
        whole = int(number)
        if is_exact:
            self.shown, self.is_settled = whole if whole == number else number, True
        elif whole > self.shown:
            self.shown = whole


class KitState(State):
    """See tools.State."""

    def __init__(self, families: Families, roles: Sequence[Roles], rounding: float) -> None:
        super().__init__()
        self._families = families
        self._roles = roles
        self._ROUNDING = max(rounding, ROUNDING)
        self._slack = rounding / 2  # seconds that a time may be ahead of the truth
        self._moment: dict[Key, float] = {}  # figures of the last moment
        self._time: float | None = None  # of the last moment
        self._before = 0.0  # the time of the moment before
        self._idle_before = 0
        self._is_interrupted = False
        self._counters: dict[Key, _Counter] = {}
        self._settings: dict[Key, float] = {}
        self._results: dict[Key, float] = {}
        self._bins: dict[Key, float] = defaultdict(float)
        self._shapes: dict[tuple[Key, ...], _Shape] = {}
        self._ended: dict[str, float] = {}  # by stream, the time of its final report

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case ToolReport():
                self._elapsed[stream] = record.time
                if record.figures:
                    self.reporting.add(stream)
                    self._report(record)
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
            case ToolResult():
                self._result(record, stream)

    def _report(self, record: ToolReport) -> None:
        figures = record.figures
        together = record.time - (self._time or 0.0) < (self._interval or 0.0) / 2
        if self._time is not None and together and figures.keys().isdisjoint(self._moment):
            moment = {**self._moment, **figures} if len(self._moment) < MOST else self._moment
            if self._shape(tuple(self._moment)).throughput:
                self._reports.pop()
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
        shape = self._shape(tuple(moment))
        if record.counted:
            self._count(figures, seconds, shape if len(figures) == len(moment) else self._shape(tuple(figures)))
        if shape.throughput:
            latency = _mean(moment, shape.latency, shape.throughput)
            self._reports.append(Shown(record.time, sum(moment[key] for key in shape.throughput), latency))
        if shape.rates and seconds >= (self._interval or 0.0) / 2:
            self.idle_reports = 0 if any(moment[key] for key in shape.rates) else self._idle_before + 1

    def _shape(self, keys: tuple[Key, ...]) -> "_Shape":
        if (known := self._shapes.get(keys)) is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            figures = {key: self._families.figures[key[0]] for key in keys}
            roles = self._roles_of(keys)
            known = self._shapes[keys] = _Shape(
                self._playing("rate", keys, roles),
                self._playing("latency", keys, roles),
                [key for key, figure in figures.items() if figure.rate],
                [(key, figure.added) for key, figure in figures.items() if figure.total],
            )
        return known

    def _count(self, figures: Mapping[Key, float], seconds: float, shape: _Shape) -> None:
        for key, is_added in shape.counted:
            counter = self._counters.get(key)
            if counter is None:
                if len(self._counters) >= MOST:
                    continue
                counter = self._counters[key] = _Counter()
            value = figures[key]
            if is_added:
                counter.add(value)
                continue
            if value > counter.highest:
                counter.highest = value
            counter.add(value * seconds, self._slack * counter.highest)

    def _result(self, record: ToolResult, stream: str) -> None:
        if record.time is not None:
            if record.final:
                self._ended[stream] = max(record.time, self._ended.get(stream, 0.0))
            self._elapsed[stream] = self._ended.get(stream, record.time)
        known = self._results.keys() | self._settings.keys() | self._bins.keys()
        for key, value in record.figures.items():
            figure = self._families.figures[key[0]]
            if key not in known and len(known) >= MOST + len(self._bins):
                continue
            if figure.bins:
                self._bins[key] += value
            elif figure.setting:
                self._settings[key] = value
            elif record.final:
                self._results[key] = value
                if settled := figure.settles or (key[0] if figure.total and not figure.result else ""):
                    counted = self._families.figures[settled]
                    total, is_exact = (settled, *key[1 : 1 + len(counted.labels)]), counted.added
                    self._counters.setdefault(total, _Counter()).settle(value, is_exact)
        self._complete |= record.final

    @property
    def outcome(self) -> Outcome:
        """See tools.State."""
        return "interrupted" if self._is_interrupted else super().outcome

    def _playing(self, role: str, keys: Collection[Key], roles: Roles) -> list[Key]:
        """Those of the figures that play a role."""
        slot: Slot = "result" if role.startswith("result_") else "total" if role == "total" else "live"
        wanted, place = getattr(roles, role), len(roles.labels)
        playing = [key for key in keys if wanted and self._families.get(slot, key[0]) is wanted]
        return [key for key in playing if not place or key[place] not in roles.apart] if roles.apart else playing

    def _roles_of(self, live: Collection[Key], results: Collection[Key] = ()) -> Roles:
        """The roles that apply to a run with these figures in its reports and in its final report."""
        families = [self._families.get("live", key[0]) for key in live]
        families += [self._families.get("result", key[0]) for key in results]
        return roles_of(self._roles, {family.name for family in families if family})

    def figures(self) -> Figures:
        """See tools.State."""
        found: Mapping[Key, float] = {} if self.outcome else self._moment
        start, window = "", "window"
        if self._results:
            start, window, found = "result_", "result_quantile", self._results
        roles = self._roles_of(self._moment, self._results)
        names = (f"{start}rate", f"{start}latency", window)
        rates, means, quantiles = (self._playing(role, found, roles) for role in names)
        done = [self._results[key] for key in self._playing("result_operations", self._results, roles)]
        if not done and roles.unit.in_bytes == (roles.operations == "bytes"):  # else the counter has another unit
            done = [self._counters[key].shown for key in self._playing("total", self._counters, roles)]
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
            bins = sorted((float(edge), count) for (_, edge), count in self._bins.items())
            ((name, *_), *_) = self._bins
            family = self._families.get("bins", name)
            counts = list(accumulate(int(count) for _, count in bins))
            edges = [f"{edge:.7g}" for edge, _ in bins if edge < math.inf]
            total = self._results.get(("sum",), math.nan)
            assert family is not None
            yield Sample(family, (), HistogramValue([*edges, "+Inf"], [*counts[: len(edges)], counts[-1]], total))


def _mean(figures: Mapping[Key, float], latencies: Sequence[Key], rates: Sequence[Key]) -> float | None:
    """The mean latency of all operations, weighted by their rates; None if one of these is unknown."""
    if len(latencies) < 2:
        return figures[latencies[0]] if latencies else None
    weights = {key[1:]: figures[key] for key in rates}
    total = sum(weights.get(key[1:], 0.0) for key in latencies)
    if not total or any(key[1:] not in weights for key in latencies):
        return None
    return sum(figures[key] * weights[key[1:]] for key in latencies) / total
