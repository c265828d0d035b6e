"""One worker of a run and its numbers: reports, final report, latencies, by group.

A report's interval begins at the worker's previous report, of whatever group: a job of fio that waited for others
(stonewall) has its first report when it runs. The interval of the worker's first report begins with the run, but is no
longer than reports are usually apart: before that, files were laid out, tables vacuumed, programs loaded.

With a warm-up, all figures of a group cover one time, which begins

- when the warm-up is over, where a transaction log dates every transaction: figures are then counted in the log;
- else with the first report that begins after it, and ends with the last one: throughput and mean latency come from
  these reports, percentiles from the bins of the log (where transactions are sampled) or of the documents.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..history.series import Series
from ..history.timeline import Timeline
from ..metrics.latencies import LOST, Group, Latencies, is_cut_off
from ..metrics.samples import Family
from ..tools.roles import Roles
from .course import Course, course
from .measures import roles_for
from .statistics import Floats

Finals = Mapping[str, Mapping[Group, float]]
"""A worker's final numbers by name and values of the further labels."""


def finals_of(timeline: Timeline) -> Finals:
    """A worker's final plain numbers."""
    found: dict[str, dict[Group, float]] = defaultdict(dict)
    for sample in timeline.final:
        if isinstance(sample.value, int | float):
            found[sample.family.name][sample.labels] = float(sample.value)
    return found


_ROUNDED = 0.001
"""Seconds by which the time of a report may be rounded."""


class Done(NamedTuple):
    """What a group of a worker did: operations a second, operations with a latency, sum of these latencies (seconds).

    None: not measured.
    """

    rate: float
    timed: float | None
    latency: float | None


class WorkerFigures:
    """One worker of a run; `begin` is when its warm-up is over, Unix seconds, or minus infinity."""

    def __init__(self, timeline: Timeline, warmup: float) -> None:
        self.final = finals_of(timeline)
        self.begin = timeline.start + warmup if warmup and timeline.start is not None else -math.inf
        self.timeline = timeline
        self.roles = roles = roles_for(timeline)
        self._rates = _by_group(timeline, roles, roles.rate)
        self._bandwidths = _by_group(timeline, roles, roles.bandwidth)
        self._quantile = "" if roles.latency else _quantile(timeline, roles)
        self._means = (
            _by_group(timeline, roles, roles.window, quantile=self._quantile)
            if self._quantile
            else _by_group(timeline, roles, roles.latency)
        )
        self._moments = _moments(timeline.start, [series.times for series in self._rates.values()])
        self._start, self._end = timeline.start, timeline.end
        cuts = [] if self.begin == -math.inf else self._cuts()
        self._latencies = {group: each.divided(cuts) for group, each in timeline.latencies.items()}
        self._logged = frozenset(filter(self._is_logged, self._latencies))

    def _cuts(self) -> list[float]:
        return [self.begin, *(moment for group in self.groups() for moment in self._reports(group))]

    def groups(self) -> list[Group]:
        """What it did, in its tool's order."""
        return list({**self._rates, **self.final.get(self.roles.result_rate.name, {})})

    @property
    def reported(self) -> bool:
        """Whether it has reports or a log."""
        return bool(self._rates) or bool(self._logged)

    def _window(self, group: Group) -> tuple[float, float]:
        """Begin and end of the time that a group's figures cover, Unix seconds; infinite: those of the run."""
        if self.begin == -math.inf or group in self._logged:
            return self.begin, math.inf
        return self._reports(group)

    @property
    def left_out(self) -> float:
        """Seconds at the start that no figure covers."""
        if self.begin == -math.inf or self._start is None:
            return 0.0
        return min((self._window(group)[0] for group in self.groups()), default=self.begin) - self._start

    def _reports(self, group: Group) -> tuple[float, float]:
        found = self.course(group)
        if found is None or not len(found.ends):
            return self.begin, math.inf
        return found.begin - _ROUNDED, float(found.ends[-1]) - _ROUNDED

    def latencies(self, group: Group) -> Latencies | None:
        """After the warm-up; None without bins, or where a part of the run is missing in them."""
        known = group in self._latencies and not self.cut_off(group)
        return self._latencies[group].within(*self._window(group)) if known else None

    def cut_off(self, group: Group) -> tuple[int, float] | None:
        """How many operations a log has that lacks a part of the run, and how many there were; None for another."""
        told, found = self.result(self.roles.result_operations, group), self._latencies.get(group)
        if told is None or found is None or not found.whole:
            return None
        lost = {one: one.told(self.final) for one in self.roles.lost.values() if self.roles.total in one.of}
        if not any(one.bad and counted for one, counted in lost.items()):
            # pgbench 9.6 and 10 count skipped transactions; 15 and later, which report failed ones, count neither.
            told -= math.fsum(counted for counted, _ in filter(None, lost.values()))
        return (found.count, told) if is_cut_off(found.count, told) else None

    def _is_logged(self, group: Group) -> bool:
        """Whether the log is complete."""
        told = self.result(self.roles.result_operations, group)
        latencies = self._latencies[group]
        return latencies.whole and (told is None or abs(latencies.count - told) <= LOST * told)

    def done(self, group: Group) -> Done | None:
        """After the warm-up, from the log or else from reports; None without both."""
        if group in self._logged and self.begin > -math.inf:
            logged = self._latencies[group].within(self.begin)
            end = max(self._latencies[group].end or self.begin, self._end or self.begin)
            if end > self.begin and logged.count:
                return Done(logged.count / (end - self.begin), logged.count, logged.total)
        course = self.course(group)
        rate = None if course is None else course.ratio("operations")
        if course is None or rate is None:
            return None
        timed = float(course.totals["timed"].sum()) if "timed" in course.totals and not course.quantile else None
        return Done(rate, timed, None if timed is None else float(course.totals["latency"].sum()))

    def course(self, group: Group) -> Course | None:
        """After the warm-up; None without reports."""
        rate = self._rates.get(group)
        if rate is None:
            return None
        latency, bandwidth = (
            None if series is None else (series.times, series.values)
            for series in (self._means.get(group), self._bandwidths.get(group))
        )
        found = course(self._moments, rate.times, rate.values, latency, bandwidth, self._quantile)
        return found.after(self.begin)

    def known(self, family: Family) -> set[Group]:
        """The groups that a family has, in reports or at the end; all if it does not distinguish them."""
        if family.labels == self.roles.labels:
            return {*self.final.get(family.name, {}), *_by_group(self.timeline, self.roles, family)}
        return set(self.groups()) if family.name in self.final or self.timeline.get(family) else set()

    def result(self, family: Family | None, group: Group) -> float | None:
        """From the tool's final report."""
        return self.final.get(family.name, {}).get(group) if family else None

    def result_quantile(self, group: Group, quantile: str) -> float | None:
        """A percentile from the tool's final report."""
        return self.result(self.roles.result_quantile, (*group, quantile))


def _by_group(timeline: Timeline, roles: Roles, family: Family | None, **labels: str) -> dict[Group, Series]:
    found = timeline.get(family, **labels)
    return {tuple(dict(series.labels)[label] for label in roles.labels): series for series in found}


def _quantile(timeline: Timeline, roles: Roles) -> str:
    """The highest quantile of its reports below the maximum; empty if they have none."""
    known = {dict(series.labels)["quantile"] for series in timeline.get(roles.window)} - {"1"}
    return max(known, key=float, default="")


def _moments(start: float | None, times: Sequence[Floats]) -> Floats:
    """When the worker reported, and before that when the interval of its first report began, Unix seconds."""
    reports = np.unique(np.concatenate([np.zeros(0), *times]))
    if not len(reports):
        return reports
    begin = reports[0] - np.median(np.diff(reports)) if len(reports) > 1 else -math.inf
    if start is not None and start < reports[0]:
        begin = max(begin, start)
    return np.append(begin, reports) if begin > -math.inf else reports
