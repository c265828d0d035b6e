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

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..settings.record import SweepPoint
from ..tools.roles import Roles
from .course import Course, together
from .figures import Figure, distribution, of_summary, rates, results
from .measures import LATENCY_MEAN, LATENCY_QUANTILES, THROUGHPUT, Measure, of_reports
from .workers import Finals, WorkerFigures

ALL = "all"
"""The operation of a group that holds all operations of a job, such as reads, writes and trims."""
LABEL = "label "
"""Prefix of the run's labels among its parameters."""


def is_sum(group: Group) -> bool:
    """Whether a group is the sum of all operations of a job, which may itself be named `all`."""
    return group[-1:] == (ALL,)


class MeasuredRun(NamedTuple):
    """One run, measured. Times in seconds."""

    name: str
    tool: str
    roles: Roles
    timelines: Sequence[Timeline]
    """Its workers, without those that only see what others count."""
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
    finals: Sequence[Finals]
    """The final numbers of each worker."""
    cut_off: Sequence[tuple[int, float]]
    """For each log that lacks a part of the run: the operations in it, and those of the run."""

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
        groups = dict.fromkeys(group for group, measure in self.figures if measure is THROUGHPUT)
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


def place_of(run: MeasuredRun) -> SweepPoint | None:
    """The point of a sweep that this run measures; None without a sweep."""
    return next((one.runfile.sweep for one in run.timelines if one.runfile.sweep is not None), None)


def end_of(timelines: Sequence[Timeline]) -> float | None:
    """When the last of a run's workers ended, Unix seconds; None if one is still active."""
    ends = [one.end for one in timelines if one.end is not None]
    return max(ends) if len(ends) == len(timelines) else None


def known_end(timelines: Sequence[Timeline]) -> float | None:
    """When the last worker ended; None also for an abandoned run, because nobody knows how long its silence lasted."""
    return None if any(one.phase == "abandoned" for one in timelines) else end_of(timelines)


def measure(timelines: Sequence[Timeline], warmup: float | None, name: str = "") -> MeasuredRun:
    """The figures of one result. `timelines` are its workers (see `concurrent`) with their latencies.

    `warmup`, seconds, overrides the records; if the workers' records disagree, the longest applies.
    """
    warmup = float(max(one.runfile.warmup for one in timelines) if warmup is None else warmup)
    everyone = [WorkerFigures(timeline, warmup) for timeline in timelines]
    workers = [worker for worker in everyone if not worker.roles.observer] or everyone
    roles = workers[0].roles
    workers = [worker for worker in workers if worker.roles is roles]
    finals = [worker.final for worker in workers]
    by_result = not warmup or not any(worker.reported for worker in workers)
    if by_result and warmup:  # no figure can leave it out, so percentiles of a sampled log must not either
        workers = [WorkerFigures(worker.timeline, 0.0) for worker in workers]
    groups: dict[Group, list[Group]] = {group: [group] for worker in workers for group in worker.groups()}
    doubtful = _doubtful(roles, finals)
    for job in dict.fromkeys(group[:-1] for group in groups if group):
        counted = [group for group in groups if group[:-1] == job and group[-1] not in roles.apart]
        if len(counted) > 1 and doubtful.isdisjoint(counted):
            groups[*job, ALL] = counted
    figures: dict[tuple[Group, Measure], Figure] = {}
    whole: dict[tuple[Group, Measure], float] = {}
    courses = {}
    for group, parts in groups.items():
        members = [(worker, part) for worker in workers for part in parts if part in worker.groups()]
        each = [worker.course(part) for worker, part in members]
        known = [one for one in each if one is not None]
        course = together(known) if len(known) == len(each) else None
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
    return MeasuredRun(
        name or timelines[0].run,
        timelines[0].tool,
        roles,
        counting,
        warmup,
        0.0 if by_result else max(worker.left_out for worker in workers),
        seconds,
        figures,
        whole,
        courses,
        frozenset(_fixed(groups, workers)),
        doubtful,
        _parameters(timelines),
        finals,
        [found for worker in workers for group in worker.groups() if (found := worker.cut_off(group))],
    )


def _doubtful(roles: Roles, finals: Iterable[Finals]) -> frozenset[Group]:
    """Groups that hold more than the operations of the workload, according to the tool's warnings."""
    warned = [final.get(roles.warnings.name, {}) for final in finals] if roles.warnings else []
    return frozenset(
        (*labels[:-1], roles.doubtful[labels[-1]]) for each in warned for labels in each if labels[-1] in roles.doubtful
    )


def _fixed(groups: Mapping[Group, Sequence[Group]], workers: Iterable[WorkerFigures]) -> Iterator[Group]:
    given = {group for worker in workers for family in worker.roles.fixed_rate for group in worker.known(family)}
    for group, parts in groups.items():
        if all(part in given for part in parts):
            yield group


def _parameters(timelines: Sequence[Timeline]) -> Mapping[str, str]:
    """Parameters by name; if the workers differ, their values side by side."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for timeline in timelines:
        labels = {f"{LABEL}{name}": value for name, value in sorted(timeline.runfile.labels.items())}
        for name, value in {"tool_version": timeline.tool_version, **labels}.items():
            if value or name != "tool_version":  # some processes print no version
                found[name][value] = None
        for name, value in timeline.parameters.items():
            found[name][value] = None
    return {name: ", ".join(sorted(values)) for name, values in found.items()}
