"""The figures of one group of a result from all its workers: sums, weighted means, percentiles of summed bins."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.buckets import LOWER_NS, UPPER_NS, bins, quantiles
from ..metrics.latencies import Group, Latencies
from ..tools.roles import Roles
from .course import together
from .measures import (
    BANDWIDTH,
    CONNECTION,
    LATENCY_MAX,
    LATENCY_MEAN,
    LATENCY_QUANTILES,
    QUANTILES,
    THROUGHPUT,
    Measure,
    of_lost,
    of_reports,
)
from .statistics import Estimate, batches, of_sections, student, within_run
from .workers import Finals, WorkerFigures

_SLACK = 0.05
"""Seconds by which the times of reports and of latencies may disagree."""


class Figure(NamedTuple):
    """A figure of a run."""

    value: float
    estimate: Estimate | None = None
    """Its error, from the reports of this run alone; None if unknown."""
    step: float = 0.0
    """Its resolution, such as the width of a histogram's bin; 0 if exact."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval, from the reports of this run alone; None with too few of them."""
        one = self.estimate
        if one is None or not math.isfinite(one.relative_error):
            return None
        width = student(0.975, one.degrees) * one.relative_error * self.value
        return max(self.value - width, 0.0), self.value + width


class GroupFigures:
    """One group: the same part of each worker, or several that are added."""

    def __init__(self, workers: Sequence[WorkerFigures], parts: Sequence[Group]) -> None:
        self._members = [(worker, part) for worker in workers for part in parts if part in worker.groups]
        self._added = len(parts) > 1
        self._roles = workers[0].roles
        courses = [worker.courses[part] for worker, part in self._members if part in worker.courses]
        course = together(courses) if len(courses) == len(self._members) else None
        self.course = course if course is not None and len(course.ends) else None
        """What all its workers did, report by report; None without reports."""

    def final(self) -> dict[Measure, float]:
        """Throughput, bandwidth and mean latency of the whole run, from the final reports."""
        roles = self._roles
        rate, bandwidth, operations, latencies = (
            [worker.result(family, part) for worker, part in self._members]
            for family in (roles.result_rate, roles.result_bandwidth, roles.result_operations, roles.result_latency)
        )
        found = {THROUGHPUT: _sum(rate), BANDWIDTH: _sum(bandwidth), LATENCY_MEAN: _weighted(latencies, operations)}
        return {measure: value for measure, value in found.items() if value is not None}

    def figures(self, final: Mapping[Measure, float]) -> Iterator[tuple[Measure, Figure]]:
        """All figures: from `final`, otherwise of the time after the warm-up."""
        done = [worker.done(part) for worker, part in self._members]
        courses = [worker.courses.get(part) for worker, part in self._members]
        rate = final.get(THROUGHPUT, _sum([one and one.rate for one in done]))
        if rate is not None:
            yield THROUGHPUT, self._figure(rate, "operations")
        bandwidth = final.get(BANDWIDTH, _sum([one and one.ratio("bytes") for one in courses]))
        if bandwidth is not None:
            yield BANDWIDTH, self._figure(bandwidth, "bytes")
        timed, latency = _sum([one and one.timed for one in done]), _sum([one and one.latency for one in done])
        mean = final.get(LATENCY_MEAN, latency / timed if timed and latency is not None else None)
        if mean is not None:
            figure = self._figure(mean, "latency", "timed") if self._roles.latency else Figure(mean)
            yield LATENCY_MEAN, figure._replace(step=self._roles.latency_step)
        course = self.course
        if course and course.quantile and (value := course.ratio("latency", "timed")) is not None:
            yield of_reports(course.quantile), self._figure(value, "latency", "timed")
        if not self._added:
            yield from self._distribution()

    def _figure(self, value: float, total: str, weight: str = "") -> Figure:
        """A figure with its error, estimated from the reports."""
        if self.course is None or self.course.ratio(total, weight) is None:
            return Figure(value)
        estimate = within_run(self.course.values(total, weight))
        return Figure(value, estimate._replace(value=value) if estimate and value > 0 else None)

    def _distribution(self) -> Iterator[tuple[Measure, Figure]]:
        """Percentiles and the highest latency, if every worker has bins or the only one printed them."""
        merged = Latencies()
        for worker, part in self._members:
            latencies = worker.latencies(part)
            if latencies is None:
                if len(self._members) == 1 and worker.begin == -math.inf:
                    yield from _printed(worker, part)
                return
            merged.extend(latencies)
        values = quantiles(merged.between(), QUANTILES)
        if not values:
            return
        course, sections = self.course, []
        if course and course.ratio("latency", "timed") is not None:
            for batch in batches(course.values("latency", "timed")):
                begin, end = course.ends[batch.start] - course.seconds[batch.start], course.ends[batch.stop - 1]
                sections.append(quantiles(merged.between(float(begin) - _SLACK, float(end) - _SLACK), QUANTILES))
        step = self._roles.latency_step
        for place, (measure, value) in enumerate(zip(LATENCY_QUANTILES, values, strict=True)):
            estimate = of_sections(value, [section[place] for section in sections if section])
            yield measure, Figure(min(value, merged.highest), estimate, max(_bin_width(value), step))
        yield LATENCY_MAX, Figure(merged.highest, step=step)


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None if a value is unknown, or there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _weighted(means: Sequence[float | None], weights: Sequence[float | None]) -> float | None:
    """The mean of all, weighted by operations; None if one that did something has none."""
    if len(means) == 1 and weights[0] is None:  # no other from which to weight it
        return means[0]
    known = [(mean, weight) for mean, weight in zip(means, weights, strict=True) if mean is not None and weight]
    if not known or len(known) < sum(weight != 0 for weight in weights):
        return None
    return math.fsum(mean * weight for mean, weight in known) / math.fsum(weight for _, weight in known)


def _printed(worker: WorkerFigures, group: Group) -> Iterator[tuple[Measure, Figure]]:
    """The tool's own percentiles of the whole run."""
    printed = worker.roles.result_quantile
    for measure, quantile in zip(LATENCY_QUANTILES, QUANTILES, strict=True):
        if (value := worker.result(printed, (*group, f"{quantile:g}"))) is not None:
            yield measure, Figure(value, step=_bin_width(value))
    highest = worker.result(worker.roles.result_latency_max, group)
    highest = worker.result(printed, (*group, "1")) if highest is None else highest
    if highest is not None:
        yield LATENCY_MAX, Figure(highest)


def _bin_width(value: float) -> float:
    """The width of the bin that holds a latency, seconds."""
    (place,) = bins(np.array([1e9 * value]))
    return float(UPPER_NS[place] + 1 - LOWER_NS[place]) / 1e9


def lost_operations(finals: Sequence[Finals], roles: Roles) -> dict[str, tuple[float, float]]:
    """By word (failed, skipped ...): how many operations, and of how many (0 if they are no share of anything)."""
    found = {}
    for word, lost in roles.lost.items():
        known = [one for final in finals if (one := lost.told(final)) is not None]
        if len(known) == len(finals):
            counted, whole = zip(*known, strict=True)
            found[word] = math.fsum(counted), math.fsum(whole)
    return found


def of_summary(finals: Sequence[Finals], roles: Roles, seconds: float | None) -> Iterator[tuple[Measure, Figure]]:
    """What only final reports have, of the whole run. It took `seconds` unless the tool's own clock says otherwise."""
    seconds = max((own for final in finals if (own := roles.measured(final)) is not None), default=seconds)
    for word, (counted, whole) in lost_operations(finals, roles).items():
        lost = roles.lost[word]
        if by := whole if lost.of else seconds:
            yield of_lost(word, lost), Figure(counted / by)
    name = roles.connection.name if roles.connection else ""
    connections = [math.fsum(final[name].values()) for final in finals if name in final]
    if len(connections) == len(finals):
        yield CONNECTION, Figure(max(connections))
