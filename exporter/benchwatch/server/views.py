"""What the web pages need to know about the exporter, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..metrics.exposition import Part
from ..tools.api import Report


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker of a run, as the landing page shows it. Times are Unix seconds; None: not measured or not known."""

    run: str
    worker: str
    tool: str
    state: str
    """One of worker.STATES."""
    reason: str = ""
    """Why it is in that state, one clause."""
    notes: Sequence[str] = ()
    """What to know of how its output was read, a clause each."""
    throughput_unit: str = ""
    """What the throughput counts, for people: TPS, IOPS."""
    in_bytes: bool = False
    """Whether that is bytes a second."""
    observer: bool = False
    """Whether it only sees what another worker counts."""
    throughput: float | None = None
    """Operations per second: of the last report while it runs, of the whole run once it has ended."""
    latency: float | None = None
    """Mean latency in seconds, of the same time."""
    p99: float | None = None
    """99th percentile of the latency in seconds, of the same time unless `p99_time` is another."""
    time: float | None = None
    """When the interval of throughput and latency ended; None once the benchmark has ended."""
    p99_time: float | None = None
    """The same of p99, where that is of an interval of its own."""
    report_interval: float | None = None
    """Seconds."""
    warmup: float = 0.0
    """Seconds from the start on that comparisons leave out; the figures here are with it."""
    operations: float | None = None
    """Operations since the start."""
    start: float | None = None
    end: float | None = None
    last_report: float | None = None
    history: Sequence[Report] = ()
    """The last reports, oldest first."""

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
    """How many vdisks the last poll showed; of no meaning unless it is up."""


class Board(Protocol):
    """The exporter, as the web side sees it. Everything is asked for on the event loop and must answer at once."""

    @property
    def ready(self) -> bool:
        """Whether what is exported is complete."""

    @property
    def ready_reason(self) -> str:
        """Why it is not ready, one clause; else empty."""

    @property
    def catching_up(self) -> str:
        """What is still being read, for example `reading 3 files, 41 % of 1.2 GB`; empty when nothing is."""

    @property
    def lost(self) -> Mapping[Path, str]:
        """The folders of runs that cannot be read at the moment, and why."""

    @property
    def push_folder(self) -> Path | None:
        """Folder of runs to which pushes are written as `<run>/<worker>.push`; None: pushes are refused."""

    def render(self, parts: frozenset[Part]) -> str:
        """The exposition of these parts."""

    def runs(self) -> Sequence[WorkerView]:
        """All known workers of all known runs."""

    def cvms(self) -> Sequence[CvmView]:
        """The configured CVMs."""
