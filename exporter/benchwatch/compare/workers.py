"""One worker of a run and its numbers: reports, final report, latencies, by group.

The interval of a report begins with the worker's report before it, whatever group that is of: a job of fio that waited
for others (stonewall) has its first report when it runs. That of the worker's first report begins with the run or,
where this is longer ago than reports usually are apart, that much before it: until then files were laid out, tables
vacuumed, programs loaded.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ..timeline import Timeline
from .course import Course, course
from .latencies import Group, Latencies
from .measures import Names
from .statistics import Floats

Finals = Mapping[str, Mapping[Group, float]]
"""Numbers at the end of a worker by name and values of the further labels."""


def finals_of(timeline: Timeline) -> Finals:
    """The plain numbers at the end of a worker."""
    found: dict[str, dict[Group, float]] = defaultdict(dict)
    for sample in timeline.final:
        if isinstance(sample.value, int | float):
            found[sample.family.name][sample.labels] = float(sample.value)
    return found


class Worker:
    """One worker of a run; `begin` is when its warm-up is over, Unix seconds, or minus infinity."""

    def __init__(
        self,
        timeline: Timeline,
        names: Names,
        final: Finals,
        latencies: Mapping[Group, Latencies],
        warmup: float,
    ) -> None:
        self.final = final
        self.latencies = latencies
        self.begin = timeline.start + warmup if warmup and timeline.start is not None else -math.inf
        self._names = names
        self._series = {
            name: {tuple(dict(series.labels)[label] for label in names.labels): series for series in timeline.get(name)}
            for name in (names.rate, names.latency, names.bandwidth)
            if name
        }
        self._moments = _moments(timeline.start, [series.times for series in self._series[names.rate].values()])

    def groups(self) -> list[Group]:
        """What it did, in the order in which its tool reports it."""
        return list({**self._series[self._names.rate], **self.final.get(self._names.result_rate, {})})

    @property
    def reported(self) -> bool:
        """Whether its tool reported while it ran."""
        return bool(self._series[self._names.rate])

    def course(self, group: Group) -> Course | None:
        """After the warm-up; None without reports."""
        rate = self._series[self._names.rate].get(group)
        if rate is None:
            return None
        others = (self._series.get(name, {}).get(group) for name in (self._names.latency, self._names.bandwidth))
        pairs = [None if series is None else (series.times, series.values) for series in others]
        return course(self._moments, rate.times, rate.values, *pairs).after(self.begin)

    def result(self, name: str, group: Group) -> float | None:
        """Of the tool's final report."""
        return self.final.get(name, {}).get(group)

    def result_quantile(self, group: Group, quantile: str) -> float | None:
        """A percentile that the tool's final report has."""
        return self.final.get(self._names.result_quantile, {}).get((*group, quantile))


def _moments(start: float | None, times: Sequence[Floats]) -> Floats:
    """When the worker reported, and before that when the interval of its first report began, Unix seconds."""
    reports = np.unique(np.concatenate([np.zeros(0), *times]))
    if not len(reports):
        return reports
    begin = reports[0] - np.median(np.diff(reports)) if len(reports) > 1 else -math.inf
    if start is not None and start < reports[0]:
        begin = max(begin, start)
    return np.append(begin, reports) if begin > -math.inf else reports
