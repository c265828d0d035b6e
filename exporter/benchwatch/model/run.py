"""A run and its workers at one moment, as the exporter's pages, `/api/runs` and `benchwatch watch` show them.

Base units; times are Unix seconds. None: not measured, or not known. In JSON, a report is an array of
time, throughput and latency.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from ..values import numbers


class Report(NamedTuple):
    """One report of a tool."""

    time: float
    throughput: float | None
    """Operations per second."""
    latency: float | None
    """Mean, seconds."""


class Measured(Struct, frozen=True):
    """What a worker, or one operation of one of its jobs, did in its last report or in the whole run."""

    job: str = ""
    op: str = ""
    rate: float | None = None
    """Operations per second."""
    latency: float | None = None
    """Mean, seconds."""
    quantiles: Mapping[str, float] = {}
    """Latencies by quantile ("0.5" ... "1"), seconds."""
    bandwidth: float | None = None
    """Bytes per second."""
    target_rate: float | None = None
    target_bandwidth: float | None = None
    time: float | None = None
    """When the interval of rate and latency ended; None if the quantiles have the same interval."""
    quantiles_time: float | None = None
    """When the interval of the quantiles ended; None if it is the same."""


class Loss(Struct, frozen=True):
    """Operations that did not go as they should: failed, skipped, retried ..."""

    count: float
    of: float = 0.0
    """The number of operations that includes them; 0 if they are no share of anything."""
    bad: bool = False
    """Whether a single one deserves a warning."""

    def text(self, word: str, seconds: float | None) -> str:
        """For people: 3 failed (0.012 %), 12 retransmits (1.2/s)."""
        beside = ""
        if self.of:
            beside = f" ({numbers.part(self.count / self.of)})"
        elif seconds:
            beside = f" ({numbers.rate(self.count / seconds)}/s)"
        return f"{numbers.count(self.count)} {word}{beside}"


class Worker(Struct, frozen=True):
    """One worker of a run."""

    run: str
    name: str
    tool: str
    state: str
    """running, stalled, finished, failed, interrupted or abandoned."""
    tool_version: str = ""
    reason: str = ""
    """Why it is in that state, one clause."""
    notes: tuple[str, ...] = ()
    """What is unusual in how its output was read, a clause each."""
    warnings: tuple[str, ...] = ()
    """Options that change what its figures mean."""
    labels: Mapping[str, str] = {}
    parameters: Mapping[str, str] = {}
    """Settings of the benchmark and its machine."""
    experiment: str = ""
    """The experiment that its run repeats, or the sweep of which it is a point."""
    point: Mapping[str, str] = {}
    """What the sweep varies, and its values of it."""
    unit: str = ""
    """What the throughput counts: TPS, IOPS."""
    in_bytes: bool = False
    """Whether that is bytes per second."""
    observer: bool = False
    """Whether another worker counts the same operations, as the client of a server does."""
    apart: tuple[str, ...] = ()
    """Operations that no total includes."""
    whole_server: bool = False
    """Whether its throughput is that of all clients of the server, so that those of two workers do not add."""
    start: float | None = None
    end: float | None = None
    """None while it is active."""
    last_report: float | None = None
    report_interval: float | None = None
    """Seconds."""
    duration: float | None = None
    """How long it was asked to run, seconds."""
    measured: float | None = None
    """How long its tool says that it measured, seconds; None before its end."""
    warmup: float = 0.0
    """Seconds at the start that results leave out. An ended worker with a warm-up has no throughput and latency here,
    and its `result`, the tool's own, includes it."""
    objective: float | None = None
    """Latency it should stay below, seconds."""
    throughput: float | None = None
    """Operations per second: of the last report while it runs, of the whole run once it has ended."""
    latency: float | None = None
    """Mean latency of the same time, seconds."""
    p99: float | None = None
    """99th percentile of the latency of the same time, unless `p99_time` is another, seconds."""
    time: float | None = None
    """When the interval of throughput and latency ended; None once the benchmark has ended."""
    p99_time: float | None = None
    """The same for p99, if it has an interval of its own."""
    operations: float | None = None
    """Operations since the start."""
    now: tuple[Measured, ...] = ()
    """The last report by job and operation; empty once it has ended."""
    result: tuple[Measured, ...] = ()
    """The whole run by job and operation; empty before its end."""
    lost: Mapping[str, Loss] = {}
    """Since the start, by the tool's word."""
    reports: tuple[Report, ...] = ()
    """The last reports, oldest first, at most 300."""

    @property
    def active(self) -> bool:
        """Whether it may still report."""
        return self.state in ("running", "stalled")

    @property
    def span(self) -> tuple[float, float] | None:
        """When it ran, Unix seconds; the end of an active one is infinite. None if nothing says when."""
        if self.start is None:
            return None
        return self.start, math.inf if self.end is None else max(self.start, self.end)

    @property
    def measured_seconds(self) -> float | None:
        """How long it counted operations: by the tool's own clock, otherwise from its start to its last report."""
        if self.measured is not None:
            return self.measured
        if self.start is None or self.last_report is None:
            return None
        return max(0.0, self.last_report - self.start)


class Run(Struct, frozen=True):
    """One run."""

    name: str
    workers: tuple[Worker, ...] = ()
    """Those in memory; a run that ended long ago has none."""
    problems: tuple[str, ...] = ()
    """What is wrong with its files, a sentence each."""

    @property
    def active(self) -> bool:
        """Whether a worker may still report."""
        return any(worker.active for worker in self.workers)

    @property
    def start(self) -> float | None:
        """When its first worker began, Unix seconds; None: not known."""
        return min((worker.start for worker in self.workers if worker.start is not None), default=None)

    @property
    def planned_end(self) -> float | None:
        """When its active workers will have ended, Unix seconds; None: not known."""
        active = [worker for worker in self.workers if worker.active]
        return max((one.start + one.duration for one in active if one.start is not None and one.duration), default=None)

    @property
    def end(self) -> float:
        """When its last worker ended or reported last, Unix seconds; 0: not known."""
        return max((worker.end or worker.last_report or 0.0 for worker in self.workers), default=0.0)
