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

from ..compare.measured import Result
from ..compare.measures import CONNECTION, LATENCY_MAX, Measure, rank
from ..compare.statistics import student
from ..compare.steadiness import STEADY
from ..metrics.latencies import Group

CONFIDENCE = 0.95
FEWEST = 3
_SIGNIFICANCE = 0.01


class Repeated(NamedTuple):
    """One measure of one group over the repeats."""

    group: Group
    measure: Measure
    values: Sequence[float]
    mean: float
    interval: tuple[float, float] | None
    """Of the mean; None for fewer than three runs."""
    spread: float | None
    """Standard deviation over the mean; None if the mean is 0."""
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
        values = [one.figures[group, measure].value for one in results]
        mean, deviation = statistics.fmean(values), statistics.stdev(values)
        interval = interval_of(values)
        far = []
        if len(values) >= FEWEST and measure is not LATENCY_MAX:
            limit = max(_grubbs(len(values)) * deviation, STEADY * mean)
            far = [one.name for one, value in zip(results, values, strict=True) if abs(value - mean) > limit]
        yield Repeated(group, measure, values, mean, interval, deviation / mean if mean else None, far)


def interval_of(values: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the mean of repeated runs; None for fewer than three."""
    if len(values) < FEWEST:
        return None
    mean = statistics.fmean(values)
    width = student((1 + CONFIDENCE) / 2, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean - width, mean + width


def _grubbs(number: int) -> float:
    """The distance from the mean, in standard deviations, beyond which one of so many values is an outlier."""
    squared = student(1 - _SIGNIFICANCE / (2 * number), number - 2) ** 2
    return (number - 1) / math.sqrt(number) * math.sqrt(squared / (number - 2 + squared))
