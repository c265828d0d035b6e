"""The result of the workers that ran at the same time (see `concurrent`), and what it was measured from.

A group is one set of values of the tool's labels (a job and its operation); a tool without labels has one group. A job
with several operations has the further group `all`, without the operations that count apart. It has none if a warning
says that one of them holds more than the workload; no verdict is about that operation.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..settings.record import SweepPoint
from ..tools.registry import named
from ..tools.roles import Roles
from .course import Course
from .figures import Figure
from .measures import THROUGHPUT, Measure
from .workers import Finals

ALL = "all"
"""The operation of a group that holds all operations of a job, such as reads, writes and trims."""
WORST_FIRST = ("failed", "stalled", "abandoned", "interrupted", "running", "finished")
LABEL = "label "
"""Prefix of the run's labels among its parameters."""


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
        found = {}
        for word, lost in self.roles.lost.items():
            known = [one for final in self.finals if (one := lost.told(final))]
            if known and len(known) == len(self.finals):
                found[word] = math.fsum(counted for counted, _ in known), math.fsum(of for _, of in known)
        return found

    def main(self) -> Iterator[tuple[Group, Measure]]:
        """The measures that get a verdict: those of `watched`, but no throughput at a fixed rate."""
        return ((group, one) for group, one in self.watched if one is not THROUGHPUT or group not in self.fixed_rate)
