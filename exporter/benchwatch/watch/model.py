"""What is shown of an exporter: workers, what they measured, vdisks, CVMs. Base units; times are Unix seconds."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..tools.roles import Roles


class Measured(NamedTuple):
    """What a worker, or one operation of one of its jobs, did in its last report or in the whole run.

    Base units; None or missing: not measured. `quantiles` are latencies by quantile ("0.5" ... "1").
    """

    job: str = ""
    op: str = ""
    rate: float | None = None
    latency: float | None = None
    quantiles: Mapping[str, float] = {}
    bandwidth: float | None = None
    target_rate: float | None = None
    target_bandwidth: float | None = None
    time: float | None = None
    """When the interval of rate and latency ended, Unix seconds; None if the quantiles have the same interval."""
    quantiles_time: float | None = None
    """When the interval of the quantiles ended, Unix seconds; None if it is the same."""


class ShownWorker(NamedTuple):
    """One worker of a run. Times are Unix seconds, lengths seconds; None: not known."""

    run: str
    name: str
    tool: str
    tool_version: str
    roles: Roles | None
    """The roles of its tool's families; None for an unknown tool."""
    state: str
    """As in docs/configuration.md."""
    reason: str
    """The reason for its state, one clause; empty if there is none."""
    last_report: float | None
    report_interval: float | None
    start: float | None
    end: float | None
    duration: float | None = None
    """How long it was asked to run."""
    objective: float | None = None
    now: tuple[Measured, ...] = ()
    """In the last report, by job and operation if its tool has them; nothing is measured once it has ended."""
    result: tuple[Measured, ...] = ()
    """In the whole run; empty before its end."""
    lost: Mapping[str, tuple[float, float]] = {}
    """Since the start, by the tool's word (failed, retries ...): how many operations were lost, and of how many."""
    warnings: tuple[str, ...] = ()
    """Options that change what its numbers mean."""
    remarks: tuple[str, ...] = ()
    """What is unusual in how its output was read."""
    warmup: float = 0.0
    """Seconds at the start that comparisons leave out; the results here include them."""

    @property
    def active(self) -> bool:
        """Whether it may still report."""
        return self.state in ("running", "stalled")


class ShownVdisk(NamedTuple):
    """One vdisk of a CVM: figures by operation (read, write), and the share of its writes that went to the oplog."""

    cvm: str
    vdisk: str
    vm: str
    disk: str
    role: str
    rates: Mapping[str, float]
    latencies: Mapping[str, float]
    random: Mapping[str, float]
    oplog: float | None


class Cvm(NamedTuple):
    """A CVM: whether the last poll succeeded, and when the last successful one was (Unix seconds)."""

    name: str
    up: bool
    last_success: float | None


class PastReport(NamedTuple):
    """One report of a worker: when (Unix seconds), operations a second, mean latency in seconds."""

    time: float
    rate: float | None
    latency: float | None


Past = Mapping[tuple[str, str], Sequence[PastReport]]
"""The reports of workers, by run and worker."""


class Page(NamedTuple):
    """Everything that is shown of an exporter."""

    workers: tuple[ShownWorker, ...] = ()
    vdisks: tuple[ShownVdisk, ...] = ()
    cvms: tuple[Cvm, ...] = ()


class Alert(NamedTuple):
    """A firing alert. `since`: when its condition became true, Unix seconds."""

    name: str
    severity: str
    summary: str
    since: float
