"""One run, measured: its figures after the warm-up, all its workers together.

- Throughput and bandwidth are sums over the workers, the mean latency is weighted by operations, percentiles come from
  summed bins, the connection time is the slowest worker's, `failed` is failed transactions of all.
- Without a warm-up the figures are those of the tool's own final report, otherwise they are of the time after it (see
  workers), but for what only the final report tells (`measures.WHOLE_RUN`).
- A group is one job and operation of fio, or all of pgbench (no labels). A job that reads and writes has a third
  group, `all`, in which syncs do not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..tools.fio.snapshot import APART
from .course import Course, together
from .figures import Figure, distribution, of_summary, rates, results
from .measures import LATENCY_MEAN, THROUGHPUT, TOOLS, Measure, Names
from .workers import Finals, Worker

ALL = "all"
"""The operation of a group that holds all reads, writes and trims of a job."""
LABEL = "label "
"""Before the name of a label of the run, among its parameters."""


class Run(NamedTuple):
    """One run, measured. Times in seconds."""

    name: str
    tool: str
    timelines: Sequence[Timeline]
    """Its workers."""
    warmup: float
    left_out: float
    """From the start on: the warm-up, and what its last report has of the time after it."""
    seconds: float | None
    """Length, warm-up included."""
    figures: Mapping[tuple[Group, Measure], Figure]
    whole: Mapping[tuple[Group, Measure], float]
    """Those that the final reports tell of the whole run, where the figures leave out a part of it."""
    courses: Mapping[Group, Course]
    """After the warm-up; without reports."""
    fixed_rate: frozenset[Group]
    parameters: Mapping[str, str]
    finals: Sequence[Finals]
    """Of each worker."""

    def main(self) -> Iterator[tuple[Group, Measure]]:
        """What a verdict is about: the throughput of each job, or its mean latency where the rate is given."""
        groups = dict.fromkeys(group for group, measure in self.figures if measure is THROUGHPUT)
        for group in groups:
            if group and (group[1] in APART or (group[1] != ALL and (group[0], ALL) in groups)):
                continue
            fixed = group in self.fixed_rate
            if not fixed or (group, LATENCY_MEAN) in self.figures:
                yield group, LATENCY_MEAN if fixed else THROUGHPUT


def measure(timelines: Sequence[Timeline], warmup: float) -> Run:
    """The figures of one run, whose workers are given, with their latencies."""
    tool = timelines[0].tool
    names = TOOLS[tool]
    workers = [Worker(timeline, names, warmup) for timeline in timelines]
    finals = [worker.final for worker in workers]
    by_result = not warmup or not any(worker.reported for worker in workers)
    groups: dict[Group, list[Group]] = {group: [group] for worker in workers for group in worker.groups()}
    for job in dict.fromkeys(group[0] for group in groups if group):
        counted = [group for group in groups if group[0] == job and group[1] not in APART]
        if len(counted) > 1:
            groups[job, ALL] = counted
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
        for one, figure in rates(members, whole, names, by_result):
            figures[group, one] = figure
        for one, value in () if by_result else results(members, names):
            told[group, one] = value
        for one, figure in distribution(members, whole, names) if len(parts) == 1 else ():
            figures[group, one] = figure
    for one, figure in of_summary(finals):
        figures[(), one] = figure
    starts = [timeline.start for timeline in timelines if timeline.start is not None]
    ends = [timeline.end for timeline in timelines if timeline.end is not None]
    return Run(
        timelines[0].run,
        tool,
        timelines,
        warmup,
        0.0 if by_result else max(worker.left_out for worker in workers),
        max(ends) - min(starts) if starts and ends else None,
        figures,
        told,
        courses,
        frozenset(_fixed(groups, finals, names)),
        _parameters(timelines),
        finals,
    )


def _fixed(groups: Mapping[Group, Sequence[Group]], finals: Iterable[Finals], names: Names) -> Iterator[Group]:
    given = {group for final in finals for name in names.fixed_rate for group in final.get(name, {})}
    for group, parts in groups.items():
        if all(part in given for part in parts):
            yield group


def _parameters(timelines: Sequence[Timeline]) -> Mapping[str, str]:
    """Names and values; where workers differ, their values side by side."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for timeline in timelines:
        labels = {f"{LABEL}{name}": value for name, value in sorted(timeline.runfile.labels.items())}
        for name, value in {"tool_version": timeline.tool_version, **labels}.items():
            found[name][value] = None
        for name, value in timeline.parameters.items():
            found[name][value] = None
    return {name: ", ".join(sorted(values)) for name, values in found.items()}
