"""What the pages show of workers, CVMs, vdisks and runs: plain values, taken at one moment."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..tools.api import Report


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker of a run, as the landing page shows it. Times are Unix seconds; None: not measured or not known."""

    run: str
    worker: str
    tool: str
    state: str
    """One of phase.PHASES."""
    reason: str = ""
    """Why it is in that state, one clause."""
    notes: Sequence[str] = ()
    """Notes on how its output was read, a clause each."""
    throughput_unit: str = ""
    """What the throughput counts, for people: TPS, IOPS."""
    in_bytes: bool = False
    """Whether that is bytes a second."""
    observer: bool = False
    """Whether another worker counts the same operations, as the client of a server does."""
    throughput: float | None = None
    """Operations per second: of the last report while it runs, of the whole run once it has ended."""
    latency: float | None = None
    """Mean latency in seconds, of the same time."""
    p99: float | None = None
    """99th percentile of the latency in seconds, of the same time unless `p99_time` is another."""
    time: float | None = None
    """When the interval of throughput and latency ended; None once the benchmark has ended."""
    p99_time: float | None = None
    """The same for p99, if it has an interval of its own."""
    report_interval: float | None = None
    """Seconds."""
    warmup: float = 0.0
    """Seconds at the start that comparisons leave out; the figures here include them."""
    operations: float | None = None
    """Operations since the start."""
    start: float | None = None
    end: float | None = None
    last_report: float | None = None
    history: Sequence[Report] = ()
    """The last reports, oldest first."""
    planned: float | None = None
    """How long it is to run, seconds; only on the page of its run."""

    @property
    def active(self) -> bool:
        """Whether more is expected of it."""
        return self.state in ("running", "stalled")


@dataclass(frozen=True, slots=True)
class CvmView:
    """One configured CVM, as the landing page shows it."""

    name: str
    url: str
    up: bool | None = None
    """Whether the last poll succeeded; None before the first."""
    age: float | None = None
    """Seconds since the last success; None if there was none."""
    error: str = ""
    """Why the last poll failed, one clause."""
    vdisks: int = 0
    """How many vdisks the last poll showed; meaningless unless it is up."""


@dataclass(frozen=True, slots=True)
class VdiskView:
    """What a CVM reports about one operation of a vdisk, as its virtual machine sees it."""

    cvm: str
    vdisk: str
    vm: str
    role: str
    op: str
    time: float
    """When the page was read, Unix seconds."""
    rate: float
    """Operations a second."""
    latency: float | None
    """Seconds."""


class RunPlace(NamedTuple):
    """Where files of a run are."""

    folder: Path
    files: Collection[str]
    """Their names."""
    ended: frozenset[str] | None
    """The workers that have ended; None: all of them."""


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, as its page shows it."""

    name: str
    places: Sequence[RunPlace]
    """Each with workers of its own."""
    workers: Sequence[WorkerView] = ()
    """Workers in memory; a run that ended long ago has none."""
    faults: Sequence[str] = ()
    """What is wrong with its files: a sentence each."""
    vdisks: Sequence[VdiskView] = ()
    """The busiest vdisks of its virtual machines, or of all if these are unknown."""
