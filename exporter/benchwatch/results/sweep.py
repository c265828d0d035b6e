"""A sweep: the same benchmark at several values of one or two parameters, and its capacity curve.

- The runs of a point are its repeats: its figures are their means, with Student's interval from three runs on.
- A curve covers one group (job and operation) and one value of the second parameter, over the first one.
- The knee is the point with the most throughput for its mean latency ("power": L. Kleinrock, "Power and deterministic
  rules of thumb for probabilistic problems in computer communications", ICC 1979): beyond it, latency grows faster than
  throughput. There is none if the power at the last point is within 5 % of the highest: the curve has not bent yet.
- The largest value that meets the objective is the last one before the first that misses it.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import NamedTuple

from ..compare.measures import LATENCY_MEAN, LATENCY_P99, THROUGHPUT, Measure, rounded
from ..compare.result import Result
from ..compare.steadiness import STEADY
from ..metrics.latencies import Group
from ..tools.roles import Roles
from .repeats import CONFIDENCE, Mean
from .scalability import Scalability, fit


class CurvePoint(NamedTuple):
    """One value of the parameter."""

    value: str
    runs: Sequence[Result]
    figures: Mapping[Measure, Mean]

    @property
    def number(self) -> float | None:
        """The value as a number; None if it is a word."""
        return number(self.value)


@dataclass(frozen=True)
class CapacityCurve:
    """One group of figures over the first parameter."""

    group: Group
    roles: Roles
    parameter: str
    second: tuple[str, str] | None
    """The second parameter and its value, the same at all points."""
    points: Sequence[CurvePoint]
    """In the order of their values."""
    tail: Measure | None
    """The percentile that judges the latency: p99, otherwise the one that the tool's reports have."""

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers, or sizes such as 64k."""
        return all(point.number is not None for point in self.points)

    @property
    def counts(self) -> bool:
        """Whether all values are plain numbers, which may count things that work at the same time."""
        return self.numeric and not any(point.value[-1:].isalpha() for point in self.points)

    @property
    def powers(self) -> list[float]:
        """Throughput over mean latency of each point; empty if they cannot show a knee."""
        if not self.counts or len(self.points) < 3 or not self.free:
            return []
        found = [(point.figures.get(THROUGHPUT), point.figures.get(LATENCY_MEAN)) for point in self.points]
        known = [rate.value / latency.value for rate, latency in found if rate and latency and latency.value]
        return known if len(known) == len(found) else []

    @property
    def knee(self) -> CurvePoint | None:
        """The point with the highest power; None if the curve does not bend after it, or if that is not known."""
        power = self.powers
        place = power.index(max(power)) if power else 0
        return self.points[place] if power and power[-1] < (1 - STEADY) * power[place] else None

    @property
    def free(self) -> bool:
        """Whether the machine determines the throughput, not the command."""
        return not any(self.group in run.fixed_rate for point in self.points for run in point.runs)

    @cached_property
    def law(self) -> Scalability | None:
        """The universal scalability law, fitted to all runs; None if it cannot be."""
        if not self.counts or not self.free:
            return None
        runs = [(point.number or 0.0, run) for point in self.points for run in point.runs]
        rates = [run.figures[self.group, THROUGHPUT].value for _, run in runs]
        return fit([number for number, _ in runs], rates, CONFIDENCE)

    @property
    def objective(self) -> float | None:
        """The latency objective of its runs, seconds."""
        every = (run.objective for point in self.points for run in point.runs)
        return min((one for one in every if one is not None), default=None)

    @property
    def judged(self) -> Measure:
        """What the objective is compared with."""
        return self.tail or LATENCY_MEAN

    @property
    def most_within(self) -> CurvePoint | None:
        """The largest value up to which every point meets the objective; None if the smallest misses it."""
        found = None
        if self.objective is None or not self.numeric:
            return None
        for point in self.points:
            latency = point.figures.get(self.judged)
            if latency is None or rounded(latency.value) > self.objective:
                break
            found = point
        return found


class Matrix(NamedTuple):
    """The mean throughput of one group by both parameters."""

    group: Group
    roles: Roles
    names: tuple[str, str]
    """Of the first and the second parameter."""
    values: Mapping[tuple[str, str], float]
    """By the values of both."""

    @property
    def rows(self) -> list[str]:
        """The values of the first parameter."""
        return sorted({row for row, _ in self.values}, key=order)

    @property
    def columns(self) -> list[str]:
        """The values of the second one."""
        return sorted({column for _, column in self.values}, key=order)

    @property
    def best(self) -> tuple[str, str]:
        """Where the throughput is the highest."""
        return max(self.values, key=lambda place: self.values[place])


def matrices(found: Sequence[CapacityCurve]) -> Iterator[Matrix]:
    """One for each group whose second parameter has several values."""
    for group in dict.fromkeys(one.group for one in found):
        own = [one for one in found if one.group == group]
        values = {
            (point.value, one.second[1]): point.figures[THROUGHPUT].value
            for one in own
            if one.second
            for point in one.points
        }
        if len({column for _, column in values}) > 1:
            second = next(one.second[0] for one in own if one.second)
            yield Matrix(group, own[0].roles, (own[0].parameter, second), values)


def curves(runs: Sequence[Result]) -> list[CapacityCurve]:
    """The curves of one sweep. `runs` are its finished runs of one tool."""
    swept = [(run, run.point.values) for run in runs if run.point is not None]
    groups = dict.fromkeys(group for run, _ in swept for group, one in run.figures if one is THROUGHPUT)
    found = []
    for group in groups:
        lines: dict[tuple[str, str] | None, dict[str, list[Result]]] = {}
        for run, values in swept:
            if (group, THROUGHPUT) in run.figures:
                (parameter, value), *others = values.items()
                lines.setdefault(others[0] if others else None, {}).setdefault(value, []).append(run)
        seconds = sorted(lines, key=lambda pair: order(pair[1] if pair else ""))
        found += [_curve(group, parameter, second, lines[second]) for second in seconds]
    return found


def _curve(
    group: Group, parameter: str, second: tuple[str, str] | None, points: Mapping[str, list[Result]]
) -> CapacityCurve:
    first = next(iter(points.values()))[0]
    reports = first.latencies[group]
    tail = reports if reports is not LATENCY_MEAN and (group, reports) in first.figures else None
    if all((group, LATENCY_P99) in run.figures for runs in points.values() for run in runs):
        tail = LATENCY_P99
    each = []
    for value in sorted(points, key=order):
        runs = points[value]
        means = {
            one: Mean([run.figures[group, one].value for run in runs])
            for one in (THROUGHPUT, LATENCY_MEAN, tail)
            if one is not None and all((group, one) in run.figures for run in runs)
        }
        each.append(CurvePoint(value, runs, means))
    return CapacityCurve(group, first.roles, parameter, second, each, tail)


def number(value: str) -> float | None:
    """The value of a parameter, if it is a number or a size (64k is 65,536)."""
    plain = value.rstrip("kKmMgG")
    try:
        read = Decimal(plain)
    except InvalidOperation:
        return None
    if not read.is_finite() or len(value) - len(plain) > 1:
        return None
    return float(read) * 1024.0 ** " kmg".index(value[len(plain) :].lower() or " ")


def order(value: str) -> tuple[float, str]:
    """The sort key of a value: numbers first, in their order."""
    read = number(value)
    return (float("inf"), value) if read is None else (read, value)


def geometric(numbers: Sequence[float]) -> bool:
    """Whether three or more values above 0 are spaced more evenly on a logarithmic axis than on a linear one."""
    if len(numbers) < 3 or min(numbers) <= 0:
        return False
    low, *_, high = sorted(numbers)
    return statistics.median(numbers) < (low + high) / 2 * 0.8 and high / low >= 4
