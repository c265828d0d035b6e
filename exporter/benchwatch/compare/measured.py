"""The figures of one result, after the warm-up of the workers that ran at the same time (see `concurrent`).

- Throughputs and bandwidths of the workers are added, mean latencies are weighted by operations, percentiles come from
  summed bins, the connection time is that of the slowest worker, failures are added.
- Without a warm-up, the figures are those of the tool's own final report. With one, they cover the time after it (see
  workers), except those that only the final report has (`Measure.of_all`).
- A process that only sees what another one counts is in no figure.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..tools.roles import Roles
from . import concurrent
from .course import Course, together
from .figures import Figure, distribution, of_summary, rates, results
from .measures import LATENCY_MEAN, LATENCY_P99, LATENCY_QUANTILES, THROUGHPUT, Measure, of_reports
from .result import ALL, LABEL, WORST_FIRST, Result, is_sum
from .workers import Finals, WorkerFigures


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
        added = [group for group in groups if group[:-1] == job and group[-1] not in roles.apart]
        if len(added) > 1 and doubtful.isdisjoint(added):
            groups[*job, ALL] = added
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
    counted = [worker.timeline for worker in workers]
    start, end = _earliest(counted), end_of(counted)
    seconds = end - start if start is not None and end is not None and end >= start else None
    figures |= {((), one): figure for one, figure in of_summary(finals, roles, seconds)}
    given = {group for worker in workers for family in roles.fixed_rate for group in worker.known(family)}
    fixed_rate = frozenset(group for group, parts in groups.items() if given.issuperset(parts))
    latencies = {group: _latency(group, figures, courses.get(group)) for group in groups}
    watched = []
    for group, latency in latencies.items():
        summed = not is_sum(group) and ((*group[:-1], ALL), THROUGHPUT) in figures
        if (group, THROUGHPUT) not in figures or group in doubtful:
            continue
        if not group or (group[-1] not in roles.apart and not summed):
            by_latency = group in fixed_rate and (group, latency) in figures
            watched.append((group, latency if by_latency else THROUGHPUT))
    left_out = 0.0 if by_result else max(worker.left_out for worker in workers)
    worst = min(timelines, key=lambda one: WORST_FIRST.index(one.state))
    start = _earliest(timelines)
    reports = [float(series.times[-1]) for one in counted for series in one.get(roles.rate)]
    last = max(reports, default=None)
    so_far = last - start if last is not None and start is not None and last >= start else None
    overall: tuple[float | None, float | None, float | None] = (None, None, None)
    only = counted[0] if len(counted) == 1 else None
    reported = only is not None and (only.throughput is not None or len(groups) > 1)
    if only and reported and not left_out and worst.state == "finished":
        overall = only.throughput, only.latency, only.p99
    elif len(watched) == 1:
        of = (figures.get((watched[0][0], one)) for one in (THROUGHPUT, LATENCY_MEAN, LATENCY_P99))
        rate, mean, p99 = (one and one.value for one in of)
        overall = rate, mean, p99
    parameters = _parameters(timelines)
    objectives = [one.runfile.latency_objective for one in counted if one.runfile.latency_objective is not None]
    tool = timelines[0].tool
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
        watched=tuple(watched),
        latencies=latencies,
        overall=overall,
        courses=courses,
        fixed_rate=fixed_rate,
        finals=finals,
        cut_off=[found for worker in workers for group in worker.groups if (found := worker.cut_off(group))],
    )


def _earliest(workers: Iterable[Timeline]) -> float | None:
    return min((one.start for one in workers if one.start is not None), default=None)


def _latency(group: Group, figures: Mapping[tuple[Group, Measure], Figure], course: Course | None) -> Measure:
    tail = of_reports(course.quantile) if course is not None and course.quantile else LATENCY_MEAN
    known = (one for one in (tail, LATENCY_MEAN, *reversed(LATENCY_QUANTILES)) if (group, one) in figures)
    return next(known, LATENCY_MEAN)


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
