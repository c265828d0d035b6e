"""The repeats of an experiment taken together: mean, interval, spread and outliers.

The interval is Student's for the mean of at least three runs. An outlier is found by Grubbs' test (F. E. Grubbs,
"Sample criteria for testing outlying observations", 1950) at a significance of 1 % and is more than 5 % from the mean,
so that runs which hardly differ have none. The highest latency is never one: a single operation says nothing about its
run.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..compare.measures import CONNECTION, LATENCY_MAX, Measure, rank
from ..compare.result import Result
from ..compare.statistics import student
from ..compare.steadiness import STEADY
from ..metrics.latencies import Group

CONFIDENCE = 0.95
FEWEST = 3
_SIGNIFICANCE = 0.01


class Mean(NamedTuple):
    """A figure over runs that repeat each other."""

    values: Sequence[float]
    """One for each run, at least one."""

    @property
    def value(self) -> float:
        """The mean."""
        return statistics.fmean(self.values)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the mean; None for fewer than three runs."""
        number = len(self.values)
        if number < FEWEST:
            return None
        width = student((1 + CONFIDENCE) / 2, number - 1) * statistics.stdev(self.values) / math.sqrt(number)
        return self.value - width, self.value + width

    @property
    def half_width(self) -> float | None:
        """Of the interval, relative to the mean; None without one."""
        return (self.interval[1] - self.value) / self.value if self.interval and self.value else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over the mean; None if the mean is 0."""
        return statistics.stdev(self.values) / self.value if self.value else None


class Repeated(NamedTuple):
    """One measure of one group over the repeats."""

    group: Group
    measure: Measure
    mean: Mean
    outliers: Sequence[str]
    """Names of runs that are far from the others."""


def kinds(results: Sequence[Result]) -> Mapping[str, list[Result]]:
    """The results of each tool and unit, by a name for the kind: empty if there is only one."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.tool, result.roles.unit.name), []).append(result)
    return {", ".join(kind) if len(found) > 1 else "": own for kind, own in found.items()}


def finished(results: Sequence[Result]) -> list[Result]:
    """The results of runs that finished and measured something."""
    return [result for result in results if result.measured and result.state == "finished"]


def repeated(results: Sequence[Result]) -> Iterator[Repeated]:
    """Each measure that all of these runs have, in the order of a table."""
    if len(results) < 2:
        return
    first = results[0].figures
    keys = [key for key in first if all(key in one.figures for one in results) and key[1] is not CONNECTION]
    groups = list(dict.fromkeys(group for group, _ in first))
    for group, measure in sorted(keys, key=lambda key: (groups.index(key[0]), rank(key[1]))):
        mean = Mean([one.figures[group, measure].value for one in results])
        far = []
        if len(results) >= FEWEST and measure is not LATENCY_MAX:
            limit = max(_grubbs(len(results)) * statistics.stdev(mean.values), STEADY * mean.value)
            each = zip(results, mean.values, strict=True)
            far = [one.name for one, value in each if abs(value - mean.value) > limit]
        yield Repeated(group, measure, mean, far)


def _grubbs(number: int) -> float:
    """The distance from the mean, in standard deviations, beyond which one of so many values is an outlier."""
    squared = student(1 - _SIGNIFICANCE / (2 * number), number - 2) ** 2
    return (number - 1) / math.sqrt(number) * math.sqrt(squared / (number - 2 + squared))
