"""One result, measured: the figures after the warm-up of the workers that ran at the same time (see `concurrent`).

- Throughputs and bandwidths of the workers are added, mean latencies are weighted by operations, percentiles come from
  summed bins, the connection time is that of the slowest worker, failures are added.
- Without a warm-up, the figures are those of the tool's own final report. With one, they cover the time after it (see
  workers), except those that only the final report has (`Measure.of_all`).
- A group is one set of values of the tool's labels (a job and its operation); a tool without labels has one group. A
  job with several operations has the further group `all`, without the operations that count apart. It has none if a
  warning says that one of them holds more than the workload; no verdict is about that operation.
- A process that only sees what another one counts is in no figure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..settings.record import SweepPoint
from ..tools.roles import Roles
from . import concurrent
from .course import Course, together
from .figures import Figure, distribution, of_summary, rates, results
from .measures import LATENCY_MEAN, LATENCY_P99, LATENCY_QUANTILES, THROUGHPUT, Measure, of_reports
from .workers import Finals, WorkerFigures

ALL = "all"
"""The operation of a group that holds all operations of a job, such as reads, writes and trims."""
WORST_FIRST = ("failed", "stalled", "abandoned", "interrupted", "running", "finished")
LABEL = "label "
"""Prefix of the run's labels among its parameters."""


def is_sum(group: Group) -> bool:
    """Whether a group is the sum of all operations of a job, which may itself be named `all`."""
    return group[-1:] == (ALL,)


class Setup(NamedTuple):
    """How a result was made."""

    run: str
    """The name of the folder of its run."""
    workers: tuple[str, ...]
    parameters: Mapping[str, str]
    """Those of all workers by name; if they differ, their values side by side."""


class Result(NamedTuple):
    """The result of the workers of one tool in a run. Times are Unix seconds, lengths seconds."""

    name: str
    part: str
    """What distinguishes it from the others of its run and tool; empty if it is the only one."""
    workers: Sequence[Timeline]
    """All its workers."""
    timelines: Sequence[Timeline]
    """Those that count, without those that only see what others count."""
    warmup: float
    left_out: float
    """From the start on: the warm-up, up to the end of the report in which it ends."""
    seconds: float | None
    """Length, warm-up included; None while it is active, or if its clock was set back to before its start."""
    figures: Mapping[tuple[Group, Measure], Figure]
    whole: Mapping[tuple[Group, Measure], float]
    """Figures of the whole run from the final reports; empty if `figures` cover the whole run, too."""
    courses: Mapping[Group, Course]
    """Reports after the warm-up, by group; a group without any is absent."""
    fixed_rate: frozenset[Group]
    """Groups whose rate the command sets."""
    doubtful: frozenset[Group]
    """Groups that hold more than the operations of the workload."""
    parameters: Mapping[str, str]
    """See Setup."""
    finals: Sequence[Finals]
    """The final numbers of each worker."""
    cut_off: Sequence[tuple[int, float]]
    """For each log that lacks a part of the run: the operations in it, and those of the run."""

    @property
    def tool(self) -> str:
        """Its tool."""
        return self.timelines[0].tool

    @property
    def roles(self) -> Roles:
        """The roles of its tool's families."""
        return self.timelines[0].roles

    @property
    def state(self) -> str:
        """See phase.PHASES: that of its worst worker."""
        return min((one.state for one in self.workers), key=WORST_FIRST.index)

    @property
    def reason(self) -> str:
        """The reason for that state, one clause; empty if there is none."""
        return next(one.reason for one in self.workers if one.state == self.state)

    @property
    def start(self) -> float | None:
        """When the first of its workers began; None if nothing says when."""
        return min((worker.start for worker in self.workers if worker.start is not None), default=None)

    @property
    def end(self) -> float | None:
        """When the last of them ended; None while one is active."""
        return end_of(self.workers)

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its run."""
        return {name: value for worker in self.workers for name, value in worker.runfile.labels.items()}

    @property
    def point(self) -> SweepPoint | None:
        """The point of a sweep that it measures; None without a sweep."""
        return next((one.runfile.sweep for one in self.timelines if one.runfile.sweep is not None), None)

    @property
    def objective(self) -> float | None:
        """The latency that it should stay below, seconds."""
        each = (one.runfile.latency_objective for one in self.timelines)
        return min((one for one in each if one is not None), default=None)

    @property
    def setup(self) -> Setup:
        """How it was made."""
        return Setup(self.timelines[0].run, tuple(one.name for one in self.timelines), self.parameters)

    @property
    def measured(self) -> bool:
        """Whether there is any figure."""
        return any(one is THROUGHPUT for _, one in self.figures)

    @property
    def version(self) -> str:
        """The tool's version as it prints it; empty if it prints none."""
        return self.parameters.get("tool_version", "").removeprefix(f"{self.tool}-")

    @property
    def length(self) -> float | None:
        """Its length; that of an active run reaches to its last report."""
        last = self.last_report
        if self.seconds is not None or self.start is None or last is None or last < self.start:
            return self.seconds
        return last - self.start

    @property
    def overall(self) -> tuple[float | None, float | None, float | None]:
        """Throughput, mean latency and p99 of everything together; None if one was not measured."""
        each = self.timelines
        if not self.left_out and self.state == "finished" and len(each) == 1:
            return each[0].throughput, each[0].latency, each[0].p99
        groups = [group for group, _ in self.watched()]
        if len(groups) != 1:
            return None, None, None
        found = (self.figures.get((groups[0], one)) for one in (THROUGHPUT, LATENCY_MEAN, LATENCY_P99))
        rate, mean, p99 = (one and one.value for one in found)
        return rate, mean, p99

    @property
    def groups(self) -> list[Group]:
        """Groups with figures of their own, in the tool's order; () stands for the whole run."""
        return list(dict.fromkeys(group for group, one in self.figures if not one.of_all))

    @property
    def further(self) -> list[str]:
        """Lines on what else the final reports have; empty before the last of them."""
        describe = self.roles.further
        if describe is None or not all(self.roles.result_rate.name in final for final in self.finals):
            return []
        whole = " (whole run)" if self.left_out else ""
        return [f"{line}{whole}" for line in describe(self.finals, self.parameters)]

    @property
    def operations(self) -> float | None:
        """How many operations of the workload completed, from the final report; None without one."""
        family, apart = self.roles.result_operations, self.roles.apart
        each = [final[family.name] for final in self.finals if family and family.name in final]
        found = [value for one in each for group, value in one.items() if apart.isdisjoint(group[-1:])]
        return math.fsum(found) if each and len(each) == len(self.finals) else None

    @property
    def lost(self) -> dict[str, tuple[float, float]]:
        """By word (failed, skipped ...): how many operations, and of how many (0 if they are no share of anything)."""
        found = {}
        for word, lost in self.roles.lost.items():
            known = [one for final in self.finals if (one := lost.told(final))]
            if known and len(known) == len(self.finals):
                found[word] = math.fsum(counted for counted, _ in known), math.fsum(of for _, of in known)
        return found

    @property
    def last_report(self) -> float | None:
        """When the last of its workers reported, Unix seconds; None without reports."""
        moments = (series.times[-1] for one in self.timelines for series in one.get(self.roles.rate))
        return max(map(float, moments), default=None)

    def main(self) -> Iterator[tuple[Group, Measure]]:
        """The measures that get a verdict: those of `watched`, but no throughput at a fixed rate."""
        return ((group, one) for group, one in self.watched() if one is not THROUGHPUT or group not in self.fixed_rate)

    def watched(self) -> Iterator[tuple[Group, Measure]]:
        """The main measures: the throughput of each job or, if its rate is fixed, its latency, if that was measured."""
        groups = [group for group, measure in self.figures if measure is THROUGHPUT]
        for group in groups:
            if group and (group[-1] in self.roles.apart or (not is_sum(group) and (*group[:-1], ALL) in groups)):
                continue
            if group in self.doubtful:
                continue
            latency = self.latency_of(group)
            by_latency = group in self.fixed_rate and (group, latency) in self.figures
            yield group, latency if by_latency else THROUGHPUT

    def latency_of(self, group: Group) -> Measure:
        """The measure that judges its latency: the mean, if the tool reports one while it runs."""
        course = self.courses.get(group)
        tail = of_reports(course.quantile) if course is not None and course.quantile else LATENCY_MEAN
        known = (one for one in (tail, LATENCY_MEAN, *reversed(LATENCY_QUANTILES)) if (group, one) in self.figures)
        return next(known, LATENCY_MEAN)


def end_of(timelines: Sequence[Timeline]) -> float | None:
    """When the last of a run's workers ended, Unix seconds; None if one is still active."""
    ends = [one.end for one in timelines if one.end is not None]
    return max(ends) if len(ends) == len(timelines) else None


def known_end(timelines: Sequence[Timeline]) -> float | None:
    """When the last worker ended; None also for an abandoned run, because nobody knows how long its silence lasted."""
    return None if any(one.state == "abandoned" for one in timelines) else end_of(timelines)


def results_of(timelines: Iterable[Timeline], warmup: float | None) -> Iterator[Result]:
    """The results of one run. `timelines` are its workers with their latencies.

    `warmup`, seconds, overrides the records; if the workers' records disagree, the longest applies.
    """
    for part, workers in concurrent.results(timelines):
        yield measure(workers, warmup, concurrent.name_of(part, workers), part)


def measure(timelines: Sequence[Timeline], warmup: float | None, name: str, part: str = "") -> Result:
    """The figures of the workers of one result; see results_of."""
    warmup = float(max(one.runfile.warmup for one in timelines) if warmup is None else warmup)
    everyone = [WorkerFigures(timeline, warmup) for timeline in timelines]
    workers = [worker for worker in everyone if not worker.roles.observer] or everyone
    roles = workers[0].roles
    workers = [worker for worker in workers if worker.roles is roles]
    finals = [worker.final for worker in workers]
    by_result = not warmup or not any(worker.reported for worker in workers)
    if by_result and warmup:  # no figure can leave it out, so percentiles of a sampled log must not either
        workers = [WorkerFigures(worker.timeline, 0.0) for worker in workers]
    groups: dict[Group, list[Group]] = {group: [group] for worker in workers for group in worker.groups}
    doubtful = _doubtful(roles, finals)
    for job in dict.fromkeys(group[:-1] for group in groups if group):
        counted = [group for group in groups if group[:-1] == job and group[-1] not in roles.apart]
        if len(counted) > 1 and doubtful.isdisjoint(counted):
            groups[*job, ALL] = counted
    figures: dict[tuple[Group, Measure], Figure] = {}
    whole: dict[tuple[Group, Measure], float] = {}
    courses = {}
    for group, parts in groups.items():
        members = [(worker, part) for worker in workers for part in parts if part in worker.groups]
        known = [worker.courses[part] for worker, part in members if part in worker.courses]
        course = together(known) if len(known) == len(members) else None
        if course is not None and len(course.ends):
            courses[group] = course
        final = dict(results(members, roles))
        if not by_result:
            whole |= {(group, one): value for one, value in final.items()}
            final = {}
        own = [*rates(members, course, roles, final)]
        own += distribution(members, course, roles) if len(parts) == 1 else ()
        figures |= {(group, one): figure for one, figure in own}
    counting = [worker.timeline for worker in workers]
    starts = [timeline.start for timeline in counting if timeline.start is not None]
    end = end_of(counting)
    seconds = end - min(starts) if starts and end is not None and end >= min(starts) else None
    figures |= {((), one): figure for one, figure in of_summary(finals, roles, seconds)}
    given = {group for worker in workers for family in roles.fixed_rate for group in worker.known(family)}
    return Result(
        name=name,
        part=part,
        workers=timelines,
        timelines=counting,
        warmup=warmup,
        left_out=0.0 if by_result else max(worker.left_out for worker in workers),
        seconds=seconds,
        figures=figures,
        whole=whole,
        courses=courses,
        fixed_rate=frozenset(group for group, parts in groups.items() if given.issuperset(parts)),
        doubtful=doubtful,
        parameters=_parameters(timelines),
        finals=finals,
        cut_off=[found for worker in workers for group in worker.groups if (found := worker.cut_off(group))],
    )


def _doubtful(roles: Roles, finals: Iterable[Finals]) -> frozenset[Group]:
    """Groups that hold more than the operations of the workload, according to the tool's warnings."""
    warned = [final.get(roles.warnings.name, {}) for final in finals] if roles.warnings else []
    return frozenset(
        (*labels[:-1], roles.doubtful[labels[-1]]) for each in warned for labels in each if labels[-1] in roles.doubtful
    )


def _parameters(timelines: Sequence[Timeline]) -> Mapping[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for timeline in timelines:
        labels = {f"{LABEL}{name}": value for name, value in sorted(timeline.runfile.labels.items())}
        version = {"tool_version": timeline.tool_version} if timeline.tool_version else {}
        for name, value in {**version, **labels, **timeline.parameters}.items():
            found[name].add(value)
    return {name: ", ".join(sorted(values)) for name, values in found.items()}
