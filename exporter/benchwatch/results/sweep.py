"""A sweep: the same benchmark at several values of one parameter, or two; its capacity curve, point by point.

- The runs of a point are its repeats: figures are their means, with Student's interval from three runs on.
- A curve is of one group (job and operation) and one value of the second parameter, over the first one.
- The knee is the point with the most throughput for its mean latency ("power": L. Kleinrock, "Power and deterministic
  rules of thumb for probabilistic problems in computer communications", ICC 1979): beyond it latency grows faster than
  throughput. There is none where power at the last point is within 5 % of the highest: the curve has not bent yet.
- The most that keeps the objective is the largest value which keeps it, with all that are smaller.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from ..compare.changes import STEADY
from ..compare.measured import MeasuredRun, place_of
from ..compare.measures import LATENCY_MEAN, LATENCY_QUANTILES, QUANTILES, THROUGHPUT, Measure, rounded
from ..metrics.latencies import Group
from ..tools.roles import Roles
from .repeats import CONFIDENCE, interval_of
from .scalability import Scalability, fit

P99 = LATENCY_QUANTILES[QUANTILES.index(0.99)]


class Mean(NamedTuple):
    """A figure of a point: the mean of its runs, and the interval of that; None for fewer than three runs."""

    value: float
    interval: tuple[float, float] | None


class CurvePoint(NamedTuple):
    """One value of the parameter."""

    value: str
    number: float | None
    """None where it is none."""
    runs: Sequence[MeasuredRun]
    figures: Mapping[Measure, Mean]


class CapacityCurve(NamedTuple):
    """One group of figures over the first parameter."""

    group: Group
    roles: Roles
    parameter: str
    second: tuple[str, str] | None
    """The second parameter and its value, the same at all points."""
    points: Sequence[CurvePoint]
    """In the order of their values."""
    tail: Measure | None
    """By which the latency is judged: p99, else what the tool tells of its reports."""

    @property
    def numeric(self) -> bool:
        """Whether there is an axis for the values."""
        return all(point.number is not None for point in self.points)

    @property
    def powers(self) -> list[float]:
        """Throughput over mean latency of each point; empty where they tell of no knee, or are not all known."""
        if not self.numeric or len(self.points) < 3 or not self.free:
            return []
        found = [(point.figures.get(THROUGHPUT), point.figures.get(LATENCY_MEAN)) for point in self.points]
        known = [rate.value / latency.value for rate, latency in found if rate and latency and latency.value]
        return known if len(known) == len(found) else []

    @property
    def knee(self) -> CurvePoint | None:
        """The point with the highest power; None if it is not passed, or cannot be known."""
        power = self.powers
        place = power.index(max(power)) if power else 0
        return self.points[place] if power and power[-1] < (1 - STEADY) * power[place] else None

    @property
    def free(self) -> bool:
        """Whether the throughput is what the machine gives, and not what was asked of it."""
        return not any(self.group in run.fixed_rate for point in self.points for run in point.runs)

    @property
    def observations(self) -> list[tuple[float, float]]:
        """N and throughput of each run."""
        key = (self.group, THROUGHPUT)
        return [(point.number or 0.0, run.figures[key].value) for point in self.points for run in point.runs]

    @property
    def law(self) -> Scalability | None:
        """The universal scalability law of its runs."""
        if not self.numeric or not self.free:
            return None
        numbers, rates = zip(*self.observations, strict=True)
        return fit(numbers, rates, CONFIDENCE)

    @property
    def objective(self) -> float | None:
        """The latency objective of its runs, seconds."""
        every = (one.runfile.latency_objective for point in self.points for run in point.runs for one in run.timelines)
        return min((one for one in every if one is not None), default=None)

    @property
    def judged(self) -> Measure:
        """What the objective is compared with."""
        return self.tail or LATENCY_MEAN

    @property
    def most_within(self) -> CurvePoint | None:
        """The largest value that keeps the objective, with all that are smaller; None if none does."""
        found = None
        if self.objective is None or not self.numeric:
            return None
        for point in self.points:
            latency = point.figures.get(self.judged)
            if latency is None or rounded(latency.value) > self.objective:
                break
            found = point
        return found


def curves(runs: Sequence[MeasuredRun]) -> list[CapacityCurve]:
    """The curves of the runs of one sweep; of one tool, finished ones."""
    swept = [(run, place.values) for run in runs if (place := place_of(run)) is not None]
    groups = dict.fromkeys(group for run, _ in swept for group, one in run.figures if one is THROUGHPUT)
    found = []
    for group in groups:
        lines: dict[tuple[str, str] | None, list[tuple[str, str, MeasuredRun]]] = {}
        for run, values in swept:
            if (group, THROUGHPUT) in run.figures:
                (name, value), *others = values.items()
                lines.setdefault(others[0] if others else None, []).append((name, value, run))
        seconds = sorted(lines, key=lambda pair: order(pair[1] if pair else ""))
        found += [_curve(group, second, lines[second]) for second in seconds]
    return found


def _curve(
    group: Group, second: tuple[str, str] | None, members: Sequence[tuple[str, str, MeasuredRun]]
) -> CapacityCurve:
    points: dict[str, list[MeasuredRun]] = {}
    for _, value, run in members:
        points.setdefault(value, []).append(run)
    name, _, first = members[0]
    reports = first.latency_of(group)
    tails = [P99] if all((group, P99) in run.figures for _, _, run in members) else []
    tails += [reports] if reports is not LATENCY_MEAN and (group, reports) in first.figures else []
    tail = next(iter(tails), None)
    return CapacityCurve(
        group,
        first.roles,
        name,
        second,
        [
            CurvePoint(value, number(value), runs, dict(_means(group, runs, (THROUGHPUT, LATENCY_MEAN, tail))))
            for value, runs in sorted(points.items(), key=lambda point: order(point[0]))
        ],
        tail,
    )


def _means(
    group: Group, runs: Sequence[MeasuredRun], measures: Sequence[Measure | None]
) -> Iterator[tuple[Measure, Mean]]:
    for one in measures:
        values = [run.figures[group, one].value for run in runs if one and (group, one) in run.figures]
        if one and len(values) == len(runs):
            yield one, Mean(statistics.fmean(values), interval_of(values))


def number(value: str) -> float | None:
    """The value of a parameter, if it is a number."""
    try:
        read = Decimal(value)
    except InvalidOperation:
        return None
    return float(read) if read.is_finite() else None


def order(value: str) -> tuple[float, str]:
    """By number, words last."""
    read = number(value)
    return (float("inf"), value) if read is None else (read, value)


def geometric(numbers: Sequence[float]) -> bool:
    """Whether values are spread evenly on a logarithmic axis rather than on a plain one: three or more, above 0."""
    if len(numbers) < 3 or min(numbers) <= 0:
        return False
    low, *_, high = sorted(numbers)
    return statistics.median(numbers) < (low + high) / 2 * 0.8 and high / low >= 4
