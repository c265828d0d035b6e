"""The role of each of a tool's families, so that every view finds it without knowing the tool.

A tool whose unit depends on its task (transactions of a database, bytes of a disk) declares several `Roles`; the first
one whose `rate` or `result_rate` a run has applies to the run.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..metrics.samples import Family
from ..values import numbers

Numbers = Mapping[str, Mapping[tuple[str, ...], float]]
"""A worker's numbers, by family and by the values of its labels."""


class Unit(NamedTuple):
    """What a throughput counts."""

    name: str
    """For people: TPS, IOPS."""
    in_bytes: bool = False
    """Whether it is bytes a second, which views show with a prefix."""


class Lost(NamedTuple):
    """Operations that were not done as they should, such as those that failed."""

    counter: Family
    """How many since the start."""
    of: tuple[Family, ...] = ()
    """Counters whose sum they are a part of, group by group; empty: they are told by the second."""
    result: Family | None = None
    """What the final report says of the whole run: the part where there is `of`, else how many."""
    remark: str = ""
    """What a comparison says of them, if there were any: a sentence with {} for the part or the number a second."""
    bad: bool = False
    """Whether a single one is worth a warning."""

    def told(self, values: Numbers) -> tuple[float, float] | None:
        """How many there were, and of how many (0 without `of`); None if that is not known."""
        result = values.get(self.result.name) if self.result else None
        found = result or values.get(self.counter.name)
        if not found:
            return None
        whole = {group: sum(values.get(one.name, {}).get(group, 0.0) for one in self.of) for group in found}
        parts = (value * whole[group] if result and self.of else value for group, value in found.items())
        return math.fsum(parts), math.fsum(whole.values())

    def text(self, word: str, told: tuple[float, float], seconds: float | None) -> str:
        """For people: 3 failed (0.012 %), 12 retransmits (1.2/s)."""
        counted, whole = told
        beside = numbers.part(counted / whole) if whole else f"{numbers.rate(counted / seconds)}/s" if seconds else ""
        return f"{numbers.count(counted)} {word}{f' ({beside})' if beside else ''}"


@dataclass(frozen=True, eq=False)
class Roles:
    """Families by role; None: the tool has no such family.

    `labels` are those of a group: one set of their values is one line, one row. The last one says which operation
    (read, write; sent, received), those before it whose. The families of rates, latencies, operations and targets have
    them, in this order and before any other.
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
    """Operations that are in no total: fio's syncs, and reads that only verify."""
    idle: frozenset[str] = frozenset()
    """Operations that are no work: a run that does nothing else is stalled."""
    database: bool = False
    """Whether they are transactions of a database, which can wait for its locks and checkpoints."""
    observer: bool = False
    """Whether such a process only sees what another one counts (the server of a client), so that no sum includes it."""
    latency: Family | None = None
    """Mean of the last interval, seconds."""
    lag: Family | None = None
    """The part of that mean for which they waited for their turn at a fixed rate."""
    latency_max: Family | None = None
    window: Family | None = None
    """Quantiles of the last interval, by the further label `quantile`."""
    histogram: Family | None = None
    histogram_interval: float = math.inf
    """Seconds before a report in which its new content was counted; infinite: since the previous report."""
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
    """The highest latency of the whole run, if that is no quantile 1."""
    result_bandwidth: Family | None = None
    result_operations: Family | None = None
    """Total number of operations."""
    fixed_rate: tuple[Family, ...] = ()
    """Families that are there if the rate was given, not found."""
    objective: float | None = None
    """Mean latency, seconds, above which a run is alerted on that has no objective of its own."""
    lost: Mapping[str, Lost] = field(default_factory=dict)
    """Operations that were not done as they should, by a word: failed, skipped, retries."""
    interval_time: Family | None = None
    """When the interval of rate and mean latency ended, Unix seconds, if the window has another one."""
    window_time: Family | None = None
    """The same of the window."""
    connection: Family | None = None
    """Seconds that connecting took."""
    duration: Family | None = None
    """Seconds that the run was asked to take."""
    doubtful: Mapping[str, str] = field(default_factory=dict)
    """Warnings, and the operation that they keep out of totals and verdicts."""
    warnings: Family | None = None
    """Options that change what figures mean: label `warning`."""
    jobs: Family | None = None
    """One series a job, with the labels `job` and `numjobs`, its processes."""
    cpu: Family | None = None
    """CPU seconds a second of a job's own processes, by the labels `job` and `mode`."""
    threads: Family | None = None
    """How many threads there are, each of which uses one CPU at most."""
    latency_step: float = 0.0
    """Resolution of mean latencies and of a log's latencies, seconds; 0 if exact."""
    sources: Mapping[Family, str] = field(default_factory=dict)
    """Sentences about where a family comes from, for captions."""

    @property
    def families(self) -> frozenset[Family]:
        """All that are named here."""
        single = (value for value in vars(self).values() if isinstance(value, Family))
        lost = (family for one in self.lost.values() for family in (one.counter, *one.of, one.result) if family)
        return frozenset((*single, *self.fixed_rate, *lost))

    @property
    def operation(self) -> str:
        """The label that says which operation; empty without one."""
        return self.labels[-1] if self.labels else ""


def roles_of(roles: Sequence[Roles], known: Collection[str]) -> Roles:
    """The roles that apply to a run with families (or samples) of these names; the first if none does."""
    return next((each for each in roles if each.rate.name in known or each.result_rate.name in known), roles[0])
