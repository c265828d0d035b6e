"""What is shown of an exporter: workers, what they measured, vdisks, CVMs. Base units; times are Unix seconds."""

from collections.abc import Mapping
from typing import NamedTuple

from ..tools.roles import Roles


class Measured(NamedTuple):
    """What a worker, or one operation of one of its jobs, did: in its last report, or in the whole run.

    Base units; None and what is missing was not measured. `quantiles` are latencies by quantile ("0.5" ... "1").
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
    """When the interval of rate and latency ended, Unix seconds, where that of the quantiles is another."""
    quantiles_time: float | None = None
    """The same of the quantiles."""


class ShownWorker(NamedTuple):
    """One worker of a run. Times are Unix seconds, lengths seconds; None: not known."""

    run: str
    name: str
    tool: str
    tool_version: str
    roles: Roles | None
    """Of its tool's families; None of a tool that is not known here."""
    state: str
    """As in docs/configuration.md."""
    reason: str
    """Why it is in that state, one clause; empty if there is nothing to say."""
    last_report: float | None
    report_interval: float | None
    start: float | None
    end: float | None
    duration: float | None
    """How long it was asked to run."""
    objective: float | None
    now: tuple[Measured, ...]
    """Of the last report: one a job and operation, where its tool has such; nothing measured once it has ended."""
    result: tuple[Measured, ...]
    """Of the whole run; none before its end."""
    lost: Mapping[str, tuple[float, float]]
    """Since the start, by the tool's word: how many operations were not done as they should, and of how many."""
    warnings: tuple[str, ...]
    """Options that make its numbers mean something else than they seem to."""
    remarks: tuple[str, ...] = ()
    """What to know of how its output was read."""
    warmup: float = 0.0
    """Seconds from the start on that comparisons leave out; the results here are with it."""

    @property
    def active(self) -> bool:
        """Whether more is expected of it."""
        return self.state in ("running", "stalled")


class ShownVdisk(NamedTuple):
    """One vdisk of a CVM: figures by operation (read, write), and the part of its writes that went to the oplog."""

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
    """A CVM: whether the last poll could read it, and when one last did (Unix seconds)."""

    name: str
    up: bool
    last_success: float | None


class Page(NamedTuple):
    """All of an exporter that is shown."""

    workers: tuple[ShownWorker, ...] = ()
    vdisks: tuple[ShownVdisk, ...] = ()
    cvms: tuple[Cvm, ...] = ()


class Alert(NamedTuple):
    """An alert that fires. `since`: when its condition began to hold, Unix seconds."""

    name: str
    severity: str
    summary: str
    since: float
