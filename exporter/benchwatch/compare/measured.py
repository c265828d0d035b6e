"""One run, measured: its figures after the warm-up, all its workers together.

- Throughput and bandwidth are sums over the workers, the mean latency is weighted by operations, percentiles come from
  summed bins, the connection time is the slowest worker's, `failed` is failed transactions of all.
- Without a warm-up the figures are those of the tool's own final report, otherwise they are of the time after it (see
  workers), but for what only the final report tells (`Measure.of_all`).
- A group is one set of values of the tool's labels (a job and its operation), or all of a tool without. A job with
  several operations has a group more, `all`, without those that count apart; not where a warning says that one of them
  holds what is none of the workload, of which no verdict speaks then.
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
"""The operation of a group that holds all reads, writes and trims of a job."""
LABEL = "label "
"""Before the name of a label of the run, among its parameters."""


def is_sum(group: Group) -> bool:
    """Whether a group is the sum of all operations of a job, which may itself be named `all`."""
    return group[-1:] == (ALL,)


class MeasuredRun(NamedTuple):
    """One run, measured. Times in seconds."""

    name: str
    tool: str
    roles: Roles
    timelines: Sequence[Timeline]
    """Its workers, but for those that only see what others count."""
    warmup: float
    left_out: float
    """From the start on: the warm-up, and what its last report has of the time after it."""
    seconds: float | None
    """Length, warm-up included; None if it has not ended, or if it ended before it started, by a clock that was set."""
    figures: Mapping[tuple[Group, Measure], Figure]
    whole: Mapping[tuple[Group, Measure], float]
    """Those that the final reports tell of the whole run, where the figures leave out a part of it."""
    courses: Mapping[Group, Course]
    """After the warm-up; without reports."""
    fixed_rate: frozenset[Group]
    doubtful: frozenset[Group]
    """Whose operations are not those of the workload alone."""
    parameters: Mapping[str, str]
    finals: Sequence[Finals]
    """Of each worker."""
    cut_off: Sequence[tuple[int, float]]
    """Of logs that lack a part of the run: how many operations they have, and how many there were."""

    @property
    def last_report(self) -> float | None:
        """When the last of its workers reported, Unix seconds; None without reports."""
        moments = (series.times[-1] for one in self.timelines for series in one.get(self.roles.rate))
        return max(map(float, moments), default=None)

    def main(self) -> Iterator[tuple[Group, Measure]]:
        """What a verdict is about: the throughput of each job, or its mean latency where the rate is given."""
        groups = dict.fromkeys(group for group, measure in self.figures if measure is THROUGHPUT)
        for group in groups:
            if group and (group[-1] in self.roles.apart or (not is_sum(group) and (*group[:-1], ALL) in groups)):
                continue
            if group in self.doubtful:
                continue
            if group not in self.fixed_rate:
                yield group, THROUGHPUT
            elif (group, self.latency_of(group)) in self.figures:
                yield group, self.latency_of(group)

    def latency_of(self, group: Group) -> Measure:
        """What its latency is judged by: the mean, where the tool reports one while it runs."""
        course = self.courses.get(group)
        tail = of_reports(course.quantile) if course is not None and course.quantile else LATENCY_MEAN
        known = (one for one in (tail, LATENCY_MEAN, *reversed(LATENCY_QUANTILES)) if (group, one) in self.figures)
        return next(known, LATENCY_MEAN)


def place_of(run: MeasuredRun) -> SweepPoint | None:
    """The point of a sweep that a run is; None if it is none."""
    return next((one.runfile.sweep for one in run.timelines if one.runfile.sweep is not None), None)


def end_of(timelines: Sequence[Timeline]) -> float | None:
    """When the last of a run's workers ended, Unix seconds; None if one is still active."""
    ends = [one.end for one in timelines if one.end is not None]
    return max(ends) if len(ends) == len(timelines) else None


def known_end(timelines: Sequence[Timeline]) -> float | None:
    """The same, but None for an abandoned run, too: when its silence ended is not known."""
    return None if any(one.phase == "abandoned" for one in timelines) else end_of(timelines)


def measure(timelines: Sequence[Timeline], warmup: float | None) -> MeasuredRun:
    """The figures of one run. `timelines` are its workers with their latencies, all of one tool and unit.

    `warmup`, seconds, overrides the records; if the workers' records disagree, the longest applies.
    """
    warmup = float(max(one.runfile.warmup for one in timelines) if warmup is None else warmup)
    everyone = [WorkerFigures(timeline, warmup) for timeline in timelines]
    workers = [worker for worker in everyone if not worker.roles.observer] or everyone
    roles = workers[0].roles
    workers = [worker for worker in workers if worker.roles is roles]
    finals = [worker.final for worker in workers]
    by_result = not warmup or not any(worker.reported for worker in workers)
    if by_result and warmup:  # then no figure leaves it out: percentiles of a sampled log neither
        workers = [WorkerFigures(worker.timeline, 0.0) for worker in workers]
    groups: dict[Group, list[Group]] = {group: [group] for worker in workers for group in worker.groups()}
    doubtful = _doubtful(roles, finals)
    for job in dict.fromkeys(group[:-1] for group in groups if group):
        counted = [group for group in groups if group[:-1] == job and group[-1] not in roles.apart]
        if len(counted) > 1 and doubtful.isdisjoint(counted):
            groups[*job, ALL] = counted
    figures: dict[tuple[Group, Measure], Figure] = {}
    told: dict[tuple[Group, Measure], float] = {}
    courses = {}
    for group, parts in groups.items():
        members = [(worker, part) for worker in workers for part in parts if part in worker.groups()]
        each = [worker.course(part) for worker, part in members]
        known = [one for one in each if one is not None]
        whole = together(known) if len(known) == len(each) else None
        if whole is not None and len(whole.ends):
            courses[group] = whole
        for one, figure in rates(members, whole, roles, by_result):
            figures[group, one] = figure
        for one, value in () if by_result else results(members, roles):
            told[group, one] = value
        for one, figure in distribution(members, whole, roles) if len(parts) == 1 else ():
            figures[group, one] = figure
    own = [worker.timeline for worker in workers]
    starts = [timeline.start for timeline in own if timeline.start is not None]
    end = end_of(own)
    seconds = end - min(starts) if starts and end is not None and end >= min(starts) else None
    for one, figure in of_summary(finals, roles, seconds):
        figures[(), one] = figure
    return MeasuredRun(
        timelines[0].run,
        timelines[0].tool,
        roles,
        own,
        warmup,
        0.0 if by_result else max(worker.left_out for worker in workers),
        seconds,
        figures,
        told,
        courses,
        frozenset(_fixed(groups, workers)),
        doubtful,
        _parameters(timelines),
        finals,
        [found for worker in workers for group in worker.groups() if (found := worker.cut_off(group))],
    )


def _doubtful(roles: Roles, finals: Iterable[Finals]) -> frozenset[Group]:
    """Groups whose operations are not those of the workload alone, by the tool's warnings."""
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
    """Names and values; where workers differ, their values side by side."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for timeline in timelines:
        labels = {f"{LABEL}{name}": value for name, value in sorted(timeline.runfile.labels.items())}
        for name, value in {"tool_version": timeline.tool_version, **labels}.items():
            if value or name != "tool_version":  # a server may not say
                found[name][value] = None
        for name, value in timeline.parameters.items():
            found[name][value] = None
    return {name: ", ".join(sorted(values)) for name, values in found.items()}
