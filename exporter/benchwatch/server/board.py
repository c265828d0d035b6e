"""The exporter as a whole: what its runs, CVMs and own samples show, as metrics and on pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from ..metrics.exposition import Exposition
from ..metrics.limits import DEFAULT, Limits
from ..metrics.samples import Part, Source
from ..nutanix.poller import Poller
from ..runs.run import Run
from ..runs.watcher import Runs
from ..runs.worker import Worker
from ..tools.api import Times
from .vdisks import Vdisks
from .views import CvmView, RunPlace, RunView, WorkerView

STILL_READING = "still reading the runs that existed at the start"
"""Why an exporter is not ready."""
_SILENT = 15.0
"""Seconds without a report after which a page says that a running benchmark does not report."""


class Exporter:
    """What the exporter shows. The event loop calls everything here, so everything answers at once.

    `others` are its own samples. Pushes are written to `push_folder` as `<run>/<worker>.push`; None: they are refused.
    """

    def __init__(
        self,
        runs: Runs,
        cvms: Sequence[Poller],
        others: Sequence[Source],
        push_folder: Path | None,
        clock: Callable[[], float],
        limits: Limits = DEFAULT,
    ) -> None:
        self._runs = runs
        self._cvms = cvms
        self._others = others
        self._clock = clock
        self.push_folder = push_folder
        self._exposition = Exposition(limits)
        self._ready = False
        self._vdisks = Vdisks(cvms, self._exposition.failed)

    def render(self, parts: frozenset[Part]) -> str:
        """The exposition of these parts."""
        sources = [*self._others, self._runs, *self._runs.workers, *self._cvms, self._exposition]
        return self._exposition.render(sources, parts, _rank)

    @property
    def ready(self) -> bool:
        """Whether the output that existed at the start has been read; once ready, it stays ready."""
        self._ready = self._ready or (self._runs.looked and not self._runs.behind)
        return self._ready

    @property
    def catching_up(self) -> str:
        """What is still being read, for example `reading 2 runs, 41% of 120.3 MB`; empty when nothing is."""
        behind = self._runs.behind
        if not behind:
            return ""
        read = sum(run.bytes_read for run in behind)
        size = sum(status.size for run in behind for status in run.files.values()) or 1
        runs = f"{len(behind)} run{'s' * (len(behind) > 1)}"
        return f"reading {runs}, {read / size:.0%} of {size / 1e6:.1f} MB"

    @property
    def lost(self) -> Mapping[Path, str]:
        """The folders of runs that cannot be read at the moment, and why."""
        return self._runs.roots.lost

    @property
    def faults(self) -> Sequence[str]:
        """What is wrong with the configuration and with files of runs: a sentence each."""
        return self._runs.problems

    @property
    def run_names(self) -> Sequence[str]:
        """The labels of all runs, the most recently changed first."""
        return self._runs.names

    def run(self, name: str) -> RunView | None:
        """The run with that label; None if there is none."""
        known = self._runs.named(name)
        if not known:
            return None
        workers = [worker for one in known if one.run for worker in one.run.workers]
        vms = {worker.runfile.virtual_machine for worker in workers} - {""}
        active = any(not worker.ended for worker in workers)
        return RunView(
            name,
            [RunPlace(one.folder, one.files, _ended(one.run)) for one in known],
            [self._worker_view(worker, whole=True) for worker in workers],
            [problem for one in known if one.run for problem in one.run.problems],
            self._vdisks.of(vms) if active else (),
        )

    def runs(self) -> Sequence[WorkerView]:
        """All known workers."""
        return [self._worker_view(worker) for worker in self._runs.workers]

    def cvms(self) -> Sequence[CvmView]:
        """The configured CVMs."""
        now = self._clock()
        return [self._cvm_view(poller, now) for poller in self._cvms]

    def _worker_view(self, worker: Worker, *, whole: bool = False) -> WorkerView:
        try:
            view = _view(worker)
            view = replace(view, planned=worker.planned) if whole else view
        except Exception as error:  # a bug in one worker must not affect the others
            self._exposition.failed(worker, "view", error)
            reason = f"cannot show its figures: {type(error).__name__}; see the log"
            return WorkerView(worker.run, worker.name, worker.tool.name, worker.phase, reason)
        return replace(view, reason="; ".join(filter(None, (view.reason, self._exposition.remark(worker)))))

    def _cvm_view(self, poller: Poller, now: float) -> CvmView:
        try:
            view = _cvm_view(poller, now)
        except Exception as error:
            self._exposition.failed(poller, "view", error)
            return CvmView(poller.name, poller.url, error=f"cannot show it: {type(error).__name__}; see the log")
        return replace(view, error="; ".join(filter(None, (view.error, self._exposition.remark(poller)))))


def _ended(run: Run | None) -> frozenset[str] | None:
    return frozenset(worker.name for worker in run.workers if worker.ended) if run else None


def _rank(source: Source) -> tuple[int, float]:
    """Priority on a full page: the exporter's own samples, then active workers, CVMs, ended workers; newest first."""
    if isinstance(source, Worker):
        return (3, -source.end) if source.ended else (1, -(source.start or inf))
    return (2 if isinstance(source, Poller) else 0, 0.0)


def _cvm_view(poller: Poller, now: float) -> CvmView:
    status = poller.status
    return CvmView(
        name=poller.name,
        url=poller.url,
        up=status.up,
        age=None if status.last_success is None else now - status.last_success,
        error=status.error,
        vdisks=len(status.snapshot.main.hosted.rows) if status.snapshot else 0,
    )


def _lost(worker: Worker) -> Iterator[str]:
    """Operations that failed, were skipped or were lost, a clause for each kind."""
    lost, seconds = worker.roles.lost, (worker.state.last_report or 0.0) - (worker.start or inf)
    values: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in worker.state.samples(current=False) if lost else ():
        if isinstance(sample.value, int | float):
            values.setdefault(sample.family.name, {})[sample.labels] = sample.value
    for word, one in lost.items():
        if (reported := one.told(values)) and reported[0]:
            yield one.text(word, reported, max(seconds, 0.0))


def _silent(worker: Worker) -> Iterator[str]:
    """A note on a benchmark that does not report, with the options that make it report."""
    if worker.phase == "running" and worker.state.last_report is None and worker.quiet > _SILENT and worker.tool.advice:
        yield f"{worker.tool.name} has not reported since it began: {worker.tool.advice} reports after a restart"


def _view(worker: Worker) -> WorkerView:
    state, roles, figures = worker.state, worker.roles, worker.figures
    times = state.times() if worker.has_figures else Times()
    return WorkerView(
        run=worker.run,
        worker=worker.name,
        tool=worker.tool.name,
        state=worker.phase,
        reason=worker.reason,
        notes=(*worker.notes, *_lost(worker), *_silent(worker)),
        throughput_unit=roles.unit.name,
        in_bytes=roles.unit.in_bytes,
        observer=roles.observer,
        throughput=figures.throughput,
        latency=figures.latency,
        p99=figures.p99,
        time=times.report,
        p99_time=times.p99,
        report_interval=state.report_interval,
        warmup=worker.runfile.warmup,
        operations=figures.operations,
        start=worker.start,
        end=worker.end if worker.ended else None,
        last_report=state.last_report,
        history=tuple(state.history),
    )
