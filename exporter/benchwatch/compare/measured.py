"""The figures of one result, after the warm-up of the workers that ran at the same time (see `concurrent`).

- Throughputs and bandwidths of the workers are added, mean latencies are weighted by operations, percentiles come from
  summed bins, the connection time is that of the slowest worker, failures are added.
- Without a warm-up, the figures are those of the tool's own final report. With one, they cover the time after it (see
  workers), except those that only the final report has (`Measure.of_all`).
- A process that only sees what another one counts is in no figure.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..tools.roles import Roles
from . import concurrent
from .figures import Figure, GroupFigures, of_summary
from .measures import LATENCY_MEAN, LATENCY_P99, LATENCY_QUANTILES, THROUGHPUT, Measure, of_reports
from .result import ALL, LABEL, WORST_FIRST, Result, is_sum
from .workers import Finals, WorkerFigures

_Figures = Mapping[tuple[Group, Measure], Figure]
_Overall = tuple[float | None, float | None, float | None]


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
