"""What the web pages need to know about the exporter."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from ..metrics.samples import Part
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
    """What a CVM says of one vdisk and operation, as its virtual machine sees it."""

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
    """Those in memory; a run that ended long ago has none."""
    faults: Sequence[str] = ()
    """What is wrong with its files: a sentence each."""
    vdisks: Sequence[VdiskView] = ()
    """Those of its virtual machine, otherwise all, busiest first."""


class Board(Protocol):
    """The exporter, as the web pages see it. Everything is called on the event loop and must answer at once."""

    @property
    def ready(self) -> bool:
        """Whether what is exported is complete."""

    @property
    def ready_reason(self) -> str:
        """Why it is not ready, one clause; otherwise empty."""

    @property
    def catching_up(self) -> str:
        """What is still being read, for example `reading 3 files, 41 % of 1.2 GB`; empty when nothing is."""

    @property
    def lost(self) -> Mapping[Path, str]:
        """The folders of runs that cannot be read at the moment, and why."""

    @property
    def faults(self) -> Sequence[str]:
        """What is wrong with the configuration and with files of runs: a sentence each."""

    @property
    def push_folder(self) -> Path | None:
        """Folder of runs to which pushes are written as `<run>/<worker>.push`; None: pushes are refused."""

    def render(self, parts: frozenset[Part]) -> str:
        """The exposition of these parts."""

    def runs(self) -> Sequence[WorkerView]:
        """All known workers of all known runs."""

    def run(self, name: str) -> RunView | None:
        """The run with that label; None if there is none."""

    @property
    def run_names(self) -> Sequence[str]:
        """The labels of all runs, the most recently changed first."""

    def cvms(self) -> Sequence[CvmView]:
        """The configured CVMs."""
