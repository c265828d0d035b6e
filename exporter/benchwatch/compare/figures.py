"""The figures of one group of a run from all its workers: sums, weighted means, percentiles of summed bins."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.buckets import LOWER_NS, UPPER_NS, bins, quantiles
from ..metrics.latencies import Group, Latencies
from ..tools.roles import Roles
from .course import Course
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

Members = Sequence[tuple[WorkerFigures, Group]]
"""Workers, each with one of its groups."""


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


def rates(
    members: Members, whole: Course | None, roles: Roles, final: Mapping[Measure, float]
) -> Iterator[tuple[Measure, Figure]]:
    """Throughput, bandwidth and mean latency: from `final`, otherwise of the time after the warm-up."""
    done = [worker.done(group) for worker, group in members]
    courses = [worker.courses.get(group) for worker, group in members]
    rate = final.get(THROUGHPUT, _sum([one and one.rate for one in done]))
    if rate is not None:
        yield THROUGHPUT, _figure(rate, whole, "operations")
    bandwidth = final.get(BANDWIDTH, _sum([one and one.ratio("bytes") for one in courses]))
    if bandwidth is not None:
        yield BANDWIDTH, _figure(bandwidth, whole, "bytes")
    timed, latency = _sum([one and one.timed for one in done]), _sum([one and one.latency for one in done])
    mean = final.get(LATENCY_MEAN, latency / timed if timed and latency is not None else None)
    if mean is not None:
        figure = _figure(mean, whole, "latency", "timed") if roles.latency else Figure(mean)
        yield LATENCY_MEAN, figure._replace(step=roles.latency_step)
    if whole is not None and whole.quantile and (value := whole.ratio("latency", "timed")) is not None:
        yield of_reports(whole.quantile), _figure(value, whole, "latency", "timed")


def results(members: Members, roles: Roles) -> Iterator[tuple[Measure, float]]:
    """The same of the whole run, from the final reports."""
    rate, bandwidth, operations, latencies = (
        [worker.result(family, group) for worker, group in members]
        for family in (roles.result_rate, roles.result_bandwidth, roles.result_operations, roles.result_latency)
    )
    mean = _weighted(latencies, operations)
    for one, value in ((THROUGHPUT, _sum(rate)), (BANDWIDTH, _sum(bandwidth)), (LATENCY_MEAN, mean)):
        if value is not None:
            yield one, value


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None if a value is unknown, or there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _figure(value: float, whole: Course | None, total: str, weight: str = "") -> Figure:
    """A figure with its error, estimated from the reports."""
    if whole is None or whole.ratio(total, weight) is None:
        return Figure(value)
    estimate = within_run(whole.values(total, weight))
    return Figure(value, estimate._replace(value=value) if estimate and value > 0 else None)


def _weighted(means: Sequence[float | None], weights: Sequence[float | None]) -> float | None:
    """The mean of all, weighted by operations; None if one that did something has none."""
    if len(means) == 1 and weights[0] is None:  # no other from which to weight it
        return means[0]
    known = [(mean, weight) for mean, weight in zip(means, weights, strict=True) if mean is not None and weight]
    if not known or len(known) < sum(weight != 0 for weight in weights):
        return None
    return math.fsum(mean * weight for mean, weight in known) / math.fsum(weight for _, weight in known)


def distribution(members: Members, whole: Course | None, roles: Roles) -> Iterator[tuple[Measure, Figure]]:
    """Percentiles and the highest latency, if every worker has bins or the only one printed them."""
    merged = Latencies()
    for worker, group in members:
        latencies = worker.latencies(group)
        if latencies is None:
            if len(members) == 1 and worker.begin == -math.inf:
                yield from _printed(worker, group)
            return
        merged.extend(latencies)
    values = quantiles(merged.between(), QUANTILES)
    if not values:
        return
    parts = []
    if whole is not None and whole.ratio("latency", "timed") is not None:
        for batch in batches(whole.values("latency", "timed")):
            begin, end = whole.ends[batch.start] - whole.seconds[batch.start], whole.ends[batch.stop - 1]
            parts.append(quantiles(merged.between(float(begin) - _SLACK, float(end) - _SLACK), QUANTILES))
    for place, (one, value) in enumerate(zip(LATENCY_QUANTILES, values, strict=True)):
        estimate = of_sections(value, [part[place] for part in parts if part])
        yield one, Figure(min(value, merged.highest), estimate, max(_bin_width(value), roles.latency_step))
    yield LATENCY_MAX, Figure(merged.highest, step=roles.latency_step)


def _printed(worker: WorkerFigures, group: Group) -> Iterator[tuple[Measure, Figure]]:
    """The tool's own percentiles of the whole run."""
    printed = worker.roles.result_quantile
    for one, quantile in zip(LATENCY_QUANTILES, QUANTILES, strict=True):
        if (value := worker.result(printed, (*group, f"{quantile:g}"))) is not None:
            yield one, Figure(value, step=_bin_width(value))
    highest = worker.result(worker.roles.result_latency_max, group)
    highest = worker.result(printed, (*group, "1")) if highest is None else highest
    if highest is not None:
        yield LATENCY_MAX, Figure(highest)


def _bin_width(value: float) -> float:
    """The width of the bin that holds a latency, seconds."""
    (place,) = bins(np.array([1e9 * value]))
    return float(UPPER_NS[place] + 1 - LOWER_NS[place]) / 1e9


def of_summary(finals: Sequence[Finals], roles: Roles, seconds: float | None) -> Iterator[tuple[Measure, Figure]]:
    """What only final reports have, of the whole run. It took `seconds` unless the tool's own clock says otherwise."""
    seconds = max((own for final in finals if (own := roles.measured(final)) is not None), default=seconds)
    for word, lost in roles.lost.items():
        known = [found for final in finals if (found := lost.told(final)) is not None]
        by = math.fsum(whole for _, whole in known) if lost.of else seconds
        if len(known) == len(finals) and by:
            yield of_lost(word, lost), Figure(math.fsum(counted for counted, _ in known) / by)
    name = roles.connection.name if roles.connection else ""
    connections = [math.fsum(final[name].values()) for final in finals if name in final]
    if len(connections) == len(finals):
        yield CONNECTION, Figure(max(connections))
