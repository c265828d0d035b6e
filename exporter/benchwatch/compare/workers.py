"""One worker of a run and its numbers: reports, final report, latencies, by group.

A report's interval begins at the worker's previous report, of any group: a fio job that waited for others (stonewall)
has its first report when it runs. The interval of the worker's first report begins with the run, but is no longer than
reports are usually apart: the time before it went into laying out files, vacuuming tables or loading programs.

With a warm-up, all figures of a group cover the same time:

- With a log that dates every transaction, it begins when the warm-up is over. The figures are counted in the log.
- Otherwise it begins with the first report that begins after the warm-up, and ends with the last report. Throughput and
  mean latency come from these reports, percentiles from the bins of the log (of sampled transactions) or of the
  documents.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..history.timeline import Series, Timeline
from ..metrics.latencies import LOST, Group, Latencies, is_cut_off
from ..metrics.samples import Family
from ..tools.registry import named
from .course import Course, course
from .statistics import Floats

Finals = Mapping[str, Mapping[Group, float]]
"""A worker's final numbers by name and values of the further labels."""
_ROUNDED = 0.001
"""Seconds by which the time of a report may be off through rounding."""


class Done(NamedTuple):
    """What a group of a worker did after the warm-up. None: not measured."""

    rate: float
    """Operations per second."""
    timed: float | None
    """Number of operations with a latency."""
    latency: float | None
    """Sum of these latencies, seconds."""


class WorkerFigures:
    """One worker of a run, without the first `warmup` seconds."""

    def __init__(self, timeline: Timeline, warmup: float) -> None:
        self.timeline = timeline
        self.roles = roles = timeline.roles
        self.final = _finals(timeline)
        self.begin = timeline.start + warmup if warmup and timeline.start is not None else -math.inf
        """The end of the warm-up in Unix seconds; minus infinity without one."""
        rates = self._by_group(roles.rate)
        self.groups = list({**rates, **self.final.get(roles.result_rate.name, {})})
        """In its tool's order."""
        self.courses = self._courses(rates)
        """The reports after the warm-up."""
        cuts = [self.begin, *(moment for group in self.groups for moment in self._reports(group))]
        self._latencies = {
            group: each if self.begin == -math.inf else each.divided(cuts) for group, each in timeline.latencies.items()
        }
        self._logged = frozenset(filter(self._is_logged, self._latencies))
        self.reported = bool(rates or self._logged)
        """Whether it has reports or a log."""

    def _courses(self, rates: Mapping[Group, Series]) -> Mapping[Group, Course]:
        roles = self.roles
        bandwidths = self._by_group(roles.bandwidth)
        quantile, means = "", self._by_group(roles.latency)
        if not roles.latency:  # the highest quantile in its reports, other than the maximum
            known = {dict(series.labels)["quantile"] for series in self.timeline.get(roles.window)} - {"1"}
            if quantile := max(known, key=float, default=""):
                means = self._by_group(roles.window, quantile=quantile)
        moments = _moments(self.timeline.start, [series.times for series in rates.values()])
        found = {}
        for group, rate in rates.items():
            beside = (means.get(group), bandwidths.get(group))
            latency, bandwidth = (one and (one.times, one.values) for one in beside)
            found[group] = course(moments, rate.times, rate.values, latency, bandwidth, quantile).after(self.begin)
        return found

    def _window(self, group: Group) -> tuple[float, float]:
        """Begin and end of the time that a group's figures cover, Unix seconds; infinite for those of the run."""
        if self.begin == -math.inf or group in self._logged:
            return self.begin, math.inf
        return self._reports(group)

    @property
    def left_out(self) -> float:
        """Seconds at the start that no figure covers."""
        if self.begin == -math.inf or self.timeline.start is None:
            return 0.0
        return min((self._window(group)[0] for group in self.groups), default=self.begin) - self.timeline.start

    def _reports(self, group: Group) -> tuple[float, float]:
        found = self.courses.get(group)
        if found is None or not len(found.ends):
            return self.begin, math.inf
        return found.begin - _ROUNDED, float(found.ends[-1]) - _ROUNDED

    def latencies(self, group: Group) -> Latencies | None:
        """Latencies after the warm-up; None without bins, or if the bins lack a part of the run."""
        known = group in self._latencies and not self.cut_off(group)
        return self._latencies[group].within(*self._window(group)) if known else None

    def cut_off(self, group: Group) -> tuple[int, float] | None:
        """The operations in a log and those of the run, if the log lacks a part of the run; otherwise None."""
        total, found = self.result(self.roles.result_operations, group), self._latencies.get(group)
        if total is None or found is None or not found.whole:
            return None
        lost = {one: one.told(self.final) for one in self.roles.lost.values() if self.roles.total in one.of}
        if not any(one.bad and counted for one, counted in lost.items()):
            # pgbench 9.6 and 10 count skipped transactions; 15 and later, which report failed ones, count neither.
            total -= math.fsum(counted for counted, _ in filter(None, lost.values()))
        return (found.count, total) if is_cut_off(found.count, total) else None

    def _is_logged(self, group: Group) -> bool:
        """Whether the log is complete."""
        total = self.result(self.roles.result_operations, group)
        latencies = self._latencies[group]
        return latencies.whole and (total is None or abs(latencies.count - total) <= LOST * total)

    def done(self, group: Group) -> Done | None:
        """What a group did after the warm-up, from the log, otherwise from reports; None without either."""
        if group in self._logged and self.begin > -math.inf:
            logged = self._latencies[group].within(self.begin)
            end = max(self._latencies[group].end or self.begin, self.timeline.end or self.begin)
            if end > self.begin and logged.count:
                return Done(logged.count / (end - self.begin), logged.count, logged.total)
        course = self.courses.get(group)
        rate = course and course.ratio("operations")
        if course is None or rate is None:
            return None
        timed = float(course.totals["timed"].sum()) if "timed" in course.totals and not course.quantile else None
        return Done(rate, timed, None if timed is None else float(course.totals["latency"].sum()))

    def known(self, family: Family) -> set[Group]:
        """The groups for which a family has a value; all groups if the family does not distinguish them."""
        if family.labels == self.roles.labels:
            return {*self.final.get(family.name, {}), *self._by_group(family)}
        return set(self.groups) if family.name in self.final or self.timeline.get(family) else set()

    def fixed_rate(self) -> set[Group]:
        """The groups whose rate the command sets."""
        tool = named(self.timeline.tool)
        if tool and tool.sets_rate(self.timeline.parameters):
            return set(self.groups)
        return {group for family in self.roles.fixed_rate for group in self.known(family)}

    def result(self, family: Family | None, group: Group) -> float | None:
        """A number from the tool's final report; None if it is not there."""
        return self.final.get(family.name, {}).get(group) if family else None

    def _by_group(self, family: Family | None, **labels: str) -> dict[Group, Series]:
        found = self.timeline.get(family, **labels)
        return {tuple(dict(series.labels)[label] for label in self.roles.labels): series for series in found}


def _finals(timeline: Timeline) -> Finals:
    """A worker's final plain numbers."""
    found: dict[str, dict[Group, float]] = defaultdict(dict)
    for sample in timeline.final:
        if isinstance(sample.value, int | float):
            found[sample.family.name][sample.labels] = float(sample.value)
    return found


def _moments(start: float | None, times: Sequence[Floats]) -> Floats:
    """When the interval of its first report began, then when it reported, Unix seconds."""
    reports = np.unique(np.concatenate([np.zeros(0), *times]))
    if not len(reports):
        return reports
    begin = reports[0] - np.median(np.diff(reports)) if len(reports) > 1 else -math.inf
    if start is not None and start < reports[0]:
        begin = max(begin, start)
    return np.append(begin, reports) if begin > -math.inf else reports
