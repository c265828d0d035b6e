"""The result of the workers that ran at the same time (see `concurrent`), and how it is measured.

- A group is one set of values of the tool's labels (a job and its operation); a tool without labels has one group. A
  job with several operations has the further group `all`, without the operations that count apart. It has none if a
  warning says that one of them holds more than the workload; no verdict is about that operation.
- Throughputs and bandwidths of the workers are added, mean latencies are weighted by operations, percentiles come from
  summed bins, the connection time is that of the slowest worker, failures are added.
- Without a warm-up, the figures are those of the tool's own final report. With one, they cover the time after it (see
  workers), except those that only the final report has (`Measure.of_all`).
- A process that only sees what another one counts is in no figure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec import Struct

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..settings.record import SweepPoint
from ..tools.registry import named
from ..tools.roles import Roles
from . import concurrent
from .course import Course
from .figures import Figure, GroupFigures, lost_operations, of_summary
from .measures import LATENCY_MEAN, LATENCY_P99, LATENCY_QUANTILES, THROUGHPUT, Measure, of_reports
from .workers import Finals, WorkerFigures

ALL = "all"
"""The operation of a group that holds all operations of a job, such as reads, writes and trims."""
WORST_FIRST = ("failed", "stalled", "abandoned", "interrupted", "running", "finished")
LABEL = "label "
"""Prefix of the run's labels among its parameters."""
_Figures = Mapping[tuple[Group, Measure], Figure]
_Overall = tuple[float | None, float | None, float | None]


def is_sum(group: Group) -> bool:
    """Whether a group is the sum of all operations of a job, which may itself be named `all`."""
    return group[-1:] == (ALL,)


class Outcome(Struct, frozen=True, kw_only=True, eq=False):
    """What a run came to: plain data, which is remembered. Times are Unix seconds, lengths seconds."""

    name: str
    run: str
    """The name of the folder of its run."""
    tool: str
    unit: str
    """Of its throughput."""
    version: str
    """The tool's version as it prints it; empty if it prints none."""
    counted: tuple[str, ...]
    """The names of its workers, without those that only see what others count."""
    number: int
    """How many workers it has with those."""
    state: str
    """That of its worst worker; see phase.PHASES."""
    reason: str
    """The reason for that state, one clause; empty if there is none."""
    start: float | None
    """When the first of its workers began; None if nothing says when."""
    end: float | None
    """When the last of them ended; None while one is active."""
    length: float | None
    """That of an active run reaches to its last report."""
    labels: Mapping[str, str]
    """The labels of its run."""
    parameters: Mapping[str, str]
    """Those of all workers by name; if they differ, their values side by side."""
    experiment: str
    """The experiment that its run repeats; empty if it repeats none."""
    figures: Mapping[tuple[Group, Measure], Figure]
    watched: tuple[tuple[Group, Measure], ...]
    """The main measures: the throughput of each job or, if its rate is fixed, its latency, if that was measured."""
    overall: tuple[float | None, float | None, float | None]
    """Throughput, mean latency and p99 of everything together; None if one was not measured."""

    @property
    def roles(self) -> Roles:
        """Those of the tool with its unit: what figures are called, not which families have them."""
        tool = named(self.tool)
        assert tool is not None
        return next(each for each in tool.roles if each.unit.name == self.unit)

    @property
    def measured(self) -> bool:
        """Whether there is any figure."""
        return any(one == THROUGHPUT for _, one in self.figures)


class Result(Outcome, frozen=True, kw_only=True, eq=False):
    """An outcome with what it was measured from."""

    workers: Sequence[Timeline]
    """All its workers."""
    timelines: Sequence[Timeline]
    """Those that count."""
    warmup: float
    left_out: float
    """From the start on: the warm-up, up to the end of the report in which it ends."""
    seconds: float | None
    """Length, warm-up included; None while it is active, or if its clock was set back to before its start."""
    whole: Mapping[tuple[Group, Measure], float]
    """Figures of the whole run from the final reports; empty if `figures` cover the whole run, too."""
    courses: Mapping[Group, Course]
    """Reports after the warm-up, by group; a group without any is absent."""
    latencies: Mapping[Group, Measure]
    """What judges the latency of each group: the mean, if the tool reports one while it runs."""
    fixed_rate: frozenset[Group]
    """Groups whose rate the command sets."""
    finals: Sequence[Finals]
    """The final numbers of each worker."""
    cut_off: Sequence[tuple[int, float]]
    """For each log that lacks a part of the run: the operations in it, and those of the run."""
    last_report: float | None
    """When the last of its workers reported; None without reports."""
    point: SweepPoint | None
    """The point of a sweep that it measures; None without a sweep."""
    objective: float | None
    """The latency that it should stay below, seconds."""

    @property
    def roles(self) -> Roles:
        """The roles of its workers' families; a tool can have several with one unit."""
        return self.timelines[0].roles

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
        return lost_operations(self.finals, self.roles)

    def main(self) -> Iterator[tuple[Group, Measure]]:
        """The measures that get a verdict: those of `watched`, but no throughput at a fixed rate."""
        return ((group, one) for group, one in self.watched if one is not THROUGHPUT or group not in self.fixed_rate)


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
    for name, workers in concurrent.results(timelines):
        yield measure(workers, warmup, name)


def measure(timelines: Sequence[Timeline], warmup: float | None, name: str) -> Result:
    """The figures of the workers of one result; see results_of."""
    warmup = float(max(one.runfile.warmup for one in timelines) if warmup is None else warmup)
    workers, is_whole = _counted(timelines, warmup)
    counted, finals, roles = [one.timeline for one in workers], [one.final for one in workers], workers[0].roles
    doubtful = _doubtful(roles, finals)
    parts = _groups(workers, doubtful)
    groups = {group: GroupFigures(workers, own) for group, own in parts.items()}
    figures: dict[tuple[Group, Measure], Figure] = {}
    whole: dict[tuple[Group, Measure], float] = {}
    for group, one in groups.items():
        final = one.final()
        if not is_whole:
            whole |= {(group, measure): value for measure, value in final.items()}
        figures |= {(group, measure): figure for measure, figure in one.figures(final if is_whole else {})}
    begun, ended = _earliest(counted), end_of(counted)
    seconds = None if begun is None or ended is None or ended < begun else ended - begun
    figures |= {((), one): figure for one, figure in of_summary(finals, roles, seconds)}
    given = {group for worker in workers for group in worker.fixed_rate()}
    fixed_rate = frozenset(group for group, own in parts.items() if given.issuperset(own))
    latencies = {group: _latency(group, one, figures) for group, one in groups.items()}
    watched = tuple(_watched(latencies, figures, fixed_rate, doubtful, roles))
    left_out = 0.0 if is_whole else max(worker.left_out for worker in workers)
    worst = min(timelines, key=lambda one: WORST_FIRST.index(one.state))
    start = _earliest(timelines)
    last = max((float(series.times[-1]) for one in counted for series in one.get(roles.rate)), default=None)
    so_far = None if last is None or start is None or last < start else last - start
    only = counted[0] if len(counted) == 1 and worst.state == "finished" and not left_out else None
    parameters, tool = _parameters(timelines), timelines[0].tool
    objectives = [one.runfile.latency_objective for one in counted if one.runfile.latency_objective is not None]
    return Result(
        name=name,
        run=counted[0].run,
        tool=tool,
        unit=roles.unit.name,
        version=parameters.get("tool_version", "").removeprefix(f"{tool}-"),
        counted=tuple(one.name for one in counted),
        number=len(timelines),
        workers=timelines,
        timelines=counted,
        state=worst.state,
        reason=worst.reason,
        start=start,
        end=end_of(timelines),
        seconds=seconds,
        length=so_far if seconds is None else seconds,
        warmup=warmup,
        left_out=left_out,
        last_report=last,
        labels={name: value for one in timelines for name, value in one.runfile.labels.items()},
        parameters=parameters,
        experiment=next((one.runfile.repeat_of for one in timelines if one.runfile.repeat_of), ""),
        point=next((one.runfile.sweep for one in counted if one.runfile.sweep is not None), None),
        objective=min(objectives, default=None),
        figures=figures,
        whole=whole,
        watched=watched,
        latencies=latencies,
        overall=_overall(only, watched, figures, alone=len(groups) == 1),
        courses={group: one.course for group, one in groups.items() if one.course is not None},
        fixed_rate=fixed_rate,
        finals=finals,
        cut_off=[found for worker in workers for group in worker.groups if (found := worker.cut_off(group))],
    )


def _counted(timelines: Sequence[Timeline], warmup: float) -> tuple[list[WorkerFigures], bool]:
    """The workers that count, and whether their figures are those of the whole run."""
    everyone = [WorkerFigures(timeline, warmup) for timeline in timelines]
    workers = [worker for worker in everyone if not worker.roles.observer] or everyone
    workers = [worker for worker in workers if worker.roles is workers[0].roles]
    if not warmup or any(worker.reported for worker in workers):
        return workers, not warmup
    # No figure can leave the warm-up out, so percentiles of a sampled log must not either.
    return [WorkerFigures(worker.timeline, 0.0) for worker in workers], True


def _groups(workers: Sequence[WorkerFigures], doubtful: Set[Group]) -> dict[Group, list[Group]]:
    """Each group with its parts: itself or, of the sum of a job, the operations that are added."""
    found: dict[Group, list[Group]] = {group: [group] for worker in workers for group in worker.groups}
    apart = workers[0].roles.apart
    for job in dict.fromkeys(group[:-1] for group in found if group):
        added = [group for group in found if group[:-1] == job and group[-1] not in apart]
        if len(added) > 1 and doubtful.isdisjoint(added):
            found[*job, ALL] = added
    return found


def _latency(group: Group, of: GroupFigures, figures: _Figures) -> Measure:
    """What judges the latency of a group."""
    tail = of_reports(of.course.quantile) if of.course and of.course.quantile else LATENCY_MEAN
    known = (one for one in (tail, LATENCY_MEAN, *reversed(LATENCY_QUANTILES)) if (group, one) in figures)
    return next(known, LATENCY_MEAN)


def _watched(
    latencies: Mapping[Group, Measure], figures: _Figures, fixed_rate: Set[Group], doubtful: Set[Group], roles: Roles
) -> Iterator[tuple[Group, Measure]]:
    """The main measures: of each job, or of each operation of a job without a sum."""
    for group, latency in latencies.items():
        summed = not is_sum(group) and ((*group[:-1], ALL), THROUGHPUT) in figures
        is_main = not group or (group[-1] not in roles.apart and not summed)
        if is_main and group not in doubtful and (group, THROUGHPUT) in figures:
            yield group, latency if group in fixed_rate and (group, latency) in figures else THROUGHPUT


def _overall(
    only: Timeline | None, watched: Sequence[tuple[Group, Measure]], figures: _Figures, *, alone: bool
) -> _Overall:
    """Throughput, mean latency and p99 of everything together.

    `only` is the only worker, if its figures are those of the whole run; `alone`: it has one group.
    """
    if only and (only.throughput is not None or not alone):
        return only.throughput, only.latency, only.p99
    if len(watched) != 1:
        return None, None, None
    rate, mean, p99 = (figures.get((watched[0][0], one)) for one in (THROUGHPUT, LATENCY_MEAN, LATENCY_P99))
    return rate and rate.value, mean and mean.value, p99 and p99.value


def _earliest(workers: Iterable[Timeline]) -> float | None:
    return min((one.start for one in workers if one.start is not None), default=None)


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
