"""The exporter as a whole: runs, CVMs, pushes and itself, rendered as one page (see web.model.Board)."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .exposition import Exposition, Family, Part, Sample, Source
from .nutanix.poller import Poller
from .runs import Runs
from .web.model import CvmView, WorkerView
from .worker import Worker

DISK_INFO = Family(
    "benchwatch_disk_info",
    "gauge",
    "Role of a disk of this machine (data, log ...), by device name, from the configuration; always 1.",
    ("device", "role"),
    "runs",
)
FAMILIES = (DISK_INFO,)


class Disks:
    """The configured roles of this machine's disks (see exposition.Source)."""

    labels: tuple[tuple[str, str], ...] = ()
    version = 0

    def __init__(self, roles: dict[str, str]) -> None:
        self._roles = roles

    def samples(self) -> Iterator[Sample]:
        """See exposition.Source."""
        return (Sample(DISK_INFO, pair, 1) for pair in self._roles.items())


class Exporter:
    """Everything there is to show."""

    def __init__(
        self,
        runs: Runs,
        cvms: Sequence[Poller],
        others: Sequence[Source],
        push_folder: Path | None,
        clock: Callable[[], float],
    ) -> None:
        self._runs = runs
        self._cvms = cvms
        self._others = others
        self._clock = clock
        self.push_folder = push_folder
        self._exposition = Exposition()
        self._ready = False

    def render(self, parts: frozenset[Part]) -> str:
        """The exposition of these parts."""
        return self._exposition.render([*self._others, self._runs, *self._runs.workers, *self._cvms], parts)

    @property
    def ready(self) -> bool:
        """Whether what was there at the start has been read; once ready it stays so."""
        self._ready = self._ready or (self._runs.looked and not self._runs.behind)
        return self._ready

    @property
    def ready_reason(self) -> str:
        """Why it is not ready, one clause; else empty."""
        return "" if self.ready else "what was there at the start has not been read yet"

    @property
    def catching_up(self) -> str:
        """What is still being read; empty when nothing is."""
        behind = self._runs.behind
        if not behind:
            return ""
        read = sum(run.bytes_read for run in behind)
        size = sum(status.size for run in behind for status in run.files.values()) or 1
        runs = f"{len(behind)} run{'s' * (len(behind) > 1)}"
        return f"reading {runs}, {read / size:.0%} of {size / 1e6:.1f} MB"

    def runs(self) -> Sequence[WorkerView]:
        """All known workers."""
        return [_view(worker) for worker in self._runs.workers]

    def cvms(self) -> Sequence[CvmView]:
        """The configured CVMs."""
        now = self._clock()
        return [_cvm_view(poller, now) for poller in self._cvms]


def _cvm_view(poller: Poller, now: float) -> CvmView:
    status = poller.status
    return CvmView(
        name=poller.name,
        url=poller.url,
        up=status.up,
        age=None if status.last_success is None else now - status.last_success,
        error=status.error,
        vdisks=len(status.snapshot.main.hosted) if status.snapshot else 0,
    )


def _view(worker: Worker) -> WorkerView:
    state, figures = worker.state, worker.state.figures()
    if not worker.current and not worker.ended:
        figures = figures._replace(throughput=None, latency=None, p99=None)
    return WorkerView(
        run=worker.run,
        worker=worker.name,
        tool=worker.tool.name,
        state=worker.phase,
        reason=worker.reason,
        throughput_unit=worker.tool.throughput_unit,
        throughput=figures.throughput,
        latency=figures.latency,
        p99=figures.p99,
        operations=figures.operations,
        start=worker.start,
        end=worker.end if worker.ended else None,
        last_report=state.last_report,
        history=tuple(state.history),
    )
