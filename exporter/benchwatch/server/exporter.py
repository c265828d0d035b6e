"""The exporter as a whole: what its runs, CVMs and own samples show, as metrics and as data."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from ..metrics.exposition import Exposition
from ..metrics.limits import DEFAULT, Limits
from ..metrics.samples import Family, Part, Sample, SampleColumn, Source
from ..model.cvm import Cvm, Vdisk
from ..model.run import Run, Worker
from ..nutanix import families
from ..nutanix.cvm_snapshot import Snapshot, Status
from ..nutanix.poller import Poller
from ..runs.observer import Observer
from ..runs.watcher import Runs
from ..runs.worker_model import shown, silent
from .own_metrics import OwnMetrics

_OF_VDISKS = frozenset(
    {families.FRONTEND_OPS, families.FRONTEND_LATENCY, families.RANDOM, families.WRITE_DESTINATION_RATIO}
)
STILL_READING = "still reading the runs that existed at the start"
"""Why an exporter is not ready."""


class Exporter:
    """What the exporter shows. The event loop calls everything here, so everything answers at once.

    `others` are further samples, `own` its metrics about itself. Pushes are written to `push_folder` as
    `<run>/<worker>.push`; None: they are refused.
    """

    def __init__(
        self,
        runs: Runs,
        cvms: Sequence[Poller] = (),
        others: Sequence[Source] = (),
        push_folder: Path | None = None,
        limits: Limits = DEFAULT,
        own: OwnMetrics | None = None,
    ) -> None:
        self.watched = runs
        self._cvms = cvms
        self._own = own
        self._others = others
        self.push_folder = push_folder
        self._exposition = Exposition(limits)
        self._ready = False
        self._vdisks: dict[str, tuple[Status, list[Vdisk]]] = {}
        self._shown: dict[Observer, tuple[object, Worker]] = {}

    def render(self, parts: frozenset[Part]) -> str:
        """The exposition of these parts."""
        sources = [*self._others, self.watched, *self.watched.workers, *self._cvms, self._exposition]
        own = self._own.render() if self._own and "live" in parts else ""
        return own + self._exposition.render(sources, parts, _rank)

    @property
    def ready(self) -> bool:
        """Whether the output that existed at the start has been read; once ready, it stays ready."""
        self._ready = self._ready or (self.watched.looked and not self.watched.behind)
        return self._ready

    @property
    def catching_up(self) -> str:
        """What is still being read, for example `reading 2 runs, 41% of 120.3 MB`; empty when nothing is."""
        behind = self.watched.behind
        if not behind:
            return ""
        read = sum(run.bytes_read for run in behind)
        size = sum(status.size for run in behind for status in run.files.values()) or 1
        runs = f"{len(behind)} run{'s' * (len(behind) > 1)}"
        return f"reading {runs}, {read / size:.0%} of {size / 1e6:.1f} MB"

    def runs(self) -> list[Run]:
        """All runs in memory."""
        present = self.watched.workers
        self._shown = {worker: self._shown[worker] for worker in present if worker in self._shown}
        workers: dict[str, list[Worker]] = {}
        for worker in present:
            workers.setdefault(worker.run, []).append(self._model(worker))
        return [Run(name, tuple(members)) for name, members in workers.items()]

    def run(self, name: str) -> Run | None:
        """The run with that label; None if there is none."""
        runs = self.watched.named(name)
        if runs is None:
            return None
        workers = [self._model(worker) for run in runs for worker in run.workers]
        problems = [problem for run in runs for problem in run.problems]
        return Run(name, tuple(workers), tuple(problems))

    def before(self, run: Run) -> Run | None:
        """The last run in memory of the same tools that began before that one."""
        tools = {worker.tool for worker in run.workers}
        earlier = [
            (worker.start, worker.run)
            for worker in self.watched.workers
            if worker.run != run.name
            and worker.tool.name in tools
            and worker.start is not None
            and worker.start < (run.start or 0.0)
        ]
        return self.run(max(earlier)[1]) if earlier else None

    def cvms(self) -> list[Cvm]:
        """The configured CVMs."""
        return [self._cvm(poller) for poller in self._cvms]

    def _model(self, worker: Observer) -> Worker:
        """The worker, made again if it has changed, with what the last page of metrics lacks of it."""
        version = worker.version, silent(worker)
        known = self._shown.get(worker)
        if known is None or known[0] != version:
            try:
                found = shown(worker)
            except Exception as error:  # a bug in one worker must not affect the others
                self._exposition.failed(worker, "view", error)
                sentence = f"cannot show its figures: {type(error).__name__}; see the log"
                found = Worker(worker.run, worker.name, worker.tool.name, worker.phase, reason=sentence)
            known = self._shown[worker] = version, found
        remark = self._exposition.remark(worker)
        return replace(known[1], reason="; ".join(filter(None, (known[1].reason, remark)))) if remark else known[1]

    def _cvm(self, poller: Poller) -> Cvm:
        """The CVM; the vdisks of each poll are read once."""
        try:
            status = poller.status
            known = self._vdisks.get(poller.name)
            if known is None or known[0] is not status:
                found = _vdisks(poller, status.snapshot) if status.snapshot else []
                known = self._vdisks[poller.name] = status, found
        except Exception as error:  # likewise
            self._exposition.failed(poller, "view", error)
            return Cvm(poller.name, poller.url, error=f"cannot show it: {type(error).__name__}; see the log")
        problem = "; ".join(filter(None, (status.error, self._exposition.remark(poller))))
        return Cvm(poller.name, poller.url, status.up, status.last_success, problem, tuple(known[1]))


def _rank(source: Source) -> tuple[int, float]:
    """Priority on a full page: the exporter's own samples, then active workers, CVMs, ended workers; newest first."""
    if isinstance(source, Observer):
        return (3, -source.end) if source.ended else (1, -(source.start or inf))
    return (2 if isinstance(source, Poller) else 0, 0.0)


def _vdisks(poller: Poller, snapshot: Snapshot) -> list[Vdisk]:
    """Those of one CVM in its last snapshot, except those of which the page has no row."""
    known: dict[str, Mapping[str, str]] = {}
    numbers: dict[Family, dict[str, dict[str, float]]] = {family: defaultdict(dict) for family in _OF_VDISKS}
    for sample in poller.samples():
        if sample.family is families.VDISK_INFO and isinstance(sample, Sample):
            known[sample.labels[0]] = dict(zip(sample.family.labels, sample.labels, strict=True))
        elif sample.family in numbers:
            if isinstance(sample, Sample):
                sample = SampleColumn(sample.family, [sample.labels], [cast(float, sample.value)])
            of_vdisks = numbers[sample.family]
            for (vdisk, key), number in zip(sample.labels, sample.numbers, strict=True):
                of_vdisks[vdisk][key] = number
    return [
        Vdisk(
            poller.name,
            vdisk,
            info["vm"],
            info["disk"],
            info["role"],
            snapshot.time,
            rates=numbers[families.FRONTEND_OPS][vdisk],
            latencies=numbers[families.FRONTEND_LATENCY][vdisk],
            random=numbers[families.RANDOM][vdisk],
            oplog=numbers[families.WRITE_DESTINATION_RATIO][vdisk].get("oplog"),
        )
        for vdisk, info in known.items()
    ]
