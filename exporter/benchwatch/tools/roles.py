"""The roles of a tool's families, by which every view finds them without knowing the tool.

A tool whose unit depends on its test (transactions of a database, bytes of a disk) declares several `Roles`. The first
`Roles` whose `rate` or `result_rate` a run exports apply to that run.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..metrics.samples import Family

Numbers = Mapping[str, Mapping[tuple[str, ...], float]]
"""A worker's numbers, by family and by the values of its labels."""


class Unit(NamedTuple):
    """What a throughput counts."""

    name: str
    """For people: TPS, IOPS."""
    in_bytes: bool = False
    """Whether it is bytes per second, which views show as `name` says: B/s as MiB/s, bit/s as Gbit/s."""


class Lost(NamedTuple):
    """Operations that did not go as they should, such as those that failed."""

    counter: Family
    """How many since the start."""
    of: tuple[Family, ...] = ()
    """Counters whose sum includes them, group by group; empty: views show them per second."""
    result: Family | None = None
    """The figure of the final report: their part if there is `of`, otherwise their number."""
    remark: str = ""
    """What a comparison says if there were any: a sentence with {} for the part or the number per second."""
    bad: bool = False
    """Whether a single one deserves a warning."""

    def told(self, values: Numbers) -> tuple[float, float] | None:
        """How many there were, and of how many (0 without `of`); None if unknown."""
        result = values.get(self.result.name) if self.result else None
        found = result or values.get(self.counter.name)
        if not found:
            return None
        whole = {group: sum(values.get(one.name, {}).get(group, 0.0) for one in self.of) for group in found}
        parts = (value * whole[group] if result and self.of else value for group, value in found.items())
        return math.fsum(parts), math.fsum(whole.values())


@dataclass(frozen=True, eq=False)
class Roles:
    """Families by role; None: the tool has no such family.

    `labels` are those of a group: each set of their values is one line in plots and one row in tables. The last one is
    the operation (read, write; send, receive), the others say whose (a job). The families of rates, latencies,
    operations and targets have these labels, in this order, before any others.
    """

    unit: Unit
    operations: str
    """What is counted, in the plural: transactions, I/Os."""
    rate: Family
    """The throughput of the last interval."""
    result_rate: Family
    """The throughput of the whole run, from the tool's final report."""
    labels: tuple[str, ...] = ()
    apart: frozenset[str] = frozenset()
    """Operations that no total includes: fio's syncs, and reads that only verify."""
    idle: frozenset[str] = frozenset()
    """Operations that are not work: a run that does nothing else is stalled."""
    database: bool = False
    """Whether the operations are transactions of a database, which can wait for its locks and checkpoints."""
    observer: bool = False
    """Whether another process counts the same (a server what its client counts), so that no sum includes this one."""
    whole_server: bool = False
    """Whether the rate is that of all clients of the server, so that the rates of two workers do not add."""
    latency: Family | None = None
    """Mean of the last interval, seconds."""
    lag: Family | None = None
    """The part of that mean that operations waited for their turn at a fixed rate, seconds."""
    latency_max: Family | None = None
    window: Family | None = None
    """Quantiles of the last interval, by the further label `quantile`."""
    histogram: Family | None = None
    histogram_interval: float = math.inf
    """How many seconds before a report its new content covers; infinite: all since the previous report."""
    bandwidth: Family | None = None
    total: Family | None = None
    """Operations since the start."""
    target_rate: Family | None = None
    target_bandwidth: Family | None = None
    result_latency: Family | None = None
    result_deviation: Family | None = None
    """Standard deviation of the latencies of the whole run."""
    result_quantile: Family | None = None
    """Quantiles of the whole run, by the further label `quantile`."""
    result_latency_max: Family | None = None
    """The highest latency of the whole run, unless `result_quantile` has it as quantile 1."""
    result_bandwidth: Family | None = None
    result_operations: Family | None = None
    """Total number of operations."""
    result_duration: Family | None = None
    """How long the tool measured, by its own clock, seconds; rates of lost operations are by this time."""
    fixed_rate: tuple[Family, ...] = ()
    """Families that exist only if the user fixed the rate, so that it is not a result."""
    objective: float | None = None
    """Mean latency, seconds, above which an alert fires for runs without an objective of their own."""
    lost: Mapping[str, Lost] = field(default_factory=dict)
    """Operations that did not go as they should, by a word: failed, skipped, retries."""
    interval_time: Family | None = None
    """When the interval of rate and mean latency ended, Unix seconds, if the window has a different one."""
    window_time: Family | None = None
    """When the interval of the window ended, Unix seconds."""
    connection: Family | None = None
    """Seconds that connecting took."""
    duration: Family | None = None
    """Requested duration of the run, seconds."""
    doubtful: Mapping[str, str] = field(default_factory=dict)
    """Warnings, each with the operation that it excludes from totals and verdicts."""
    warnings: Family | None = None
    """Options that change what figures mean: label `warning`."""
    jobs: Family | None = None
    """One series per job, with the labels `job` and `numjobs` (its processes)."""
    cpu: Family | None = None
    """CPU seconds per second of a job's own processes, by the labels `job` and `mode`."""
    threads: Family | None = None
    """Number of threads, each of which uses at most one CPU."""
    latency_step: float = 0.0
    """Resolution of mean latencies and of a log's latencies, seconds; 0 if exact."""
    further: Callable[[Sequence[Numbers], Mapping[str, str]], Iterator[str]] | None = None
    """Lines for people on what else the final reports of a run's workers have; given their numbers and parameters."""
    sources: Mapping[Family, str] = field(default_factory=dict)
    """The source of a family, one sentence for captions."""

    @property
    def families(self) -> frozenset[Family]:
        """All families with a role."""
        single = (value for value in vars(self).values() if isinstance(value, Family))
        lost = (family for one in self.lost.values() for family in (one.counter, *one.of, one.result) if family)
        return frozenset((*single, *self.fixed_rate, *lost))

    def measured(self, values: Numbers) -> float | None:
        """How long the tool measured by its own clock, seconds; None without its final report."""
        found = values.get(self.result_duration.name) if self.result_duration else None
        return max(found.values()) if found else None

    @property
    def operation(self) -> str:
        """The label of the operation; empty if there is none."""
        return self.labels[-1] if self.labels else ""


def roles_of(roles: Sequence[Roles], known: Collection[str]) -> Roles:
    """The roles that apply to a run with families of these names; the first if none do."""
    return next((each for each in roles if each.rate.name in known or each.result_rate.name in known), roles[0])
