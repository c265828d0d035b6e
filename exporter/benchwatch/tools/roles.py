"""The role of each of a tool's families, so that every view finds it without knowing the tool.

A tool whose unit depends on its task (transactions of a database, bytes of a disk) declares several `Roles`; the first
one whose `rate` or `result_rate` a run has applies to the run.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..metrics.exposition import Family


class Unit(NamedTuple):
    """What a throughput counts."""

    name: str
    """For people: TPS, IOPS."""
    in_bytes: bool = False
    """Whether it is bytes a second, which views show with a prefix."""


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
    observer: bool = False
    """Whether such a process only sees what another one counts (the server of a client), so that no sum includes it."""
    latency: Family | None = None
    """Mean of the last interval, seconds."""
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
    result_quantile: Family | None = None
    """Quantiles of the whole run, by the further label `quantile`."""
    result_bandwidth: Family | None = None
    result_operations: Family | None = None
    """Total number of operations."""
    fixed_rate: tuple[Family, ...] = ()
    """Families that exist if the rate was given, not measured."""
    lost: Mapping[str, Family] = field(default_factory=dict)
    """Counters of operations that went wrong, by a word: failed, skipped, retries."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What a comparison says about them, by the same word: a sentence with {} for their share."""
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
        return frozenset((*single, *self.fixed_rate, *self.lost.values()))

    @property
    def operation(self) -> str:
        """The label that says which operation; empty without one."""
        return self.labels[-1] if self.labels else ""


def roles_of(roles: Sequence[Roles], known: Collection[str]) -> Roles:
    """The roles that apply to a run with families (or samples) of these names; the first if none does."""
    return next((each for each in roles if each.rate.name in known or each.result_rate.name in known), roles[0])
