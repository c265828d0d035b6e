"""A cluster of simulated CVMs: which pages each one has at a moment of a scene."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

from . import published, sections
from .document import PageDocument
from .faults import FAULT_SCENES
from .load import Load
from .scenes import PUBLISHED_SCENES, background, jitter
from .sections import SimulatedVdisk, Stargate

SCENES = {**PUBLISHED_SCENES, **FAULT_SCENES}
PUBLISHED = "published"
SCENE_NAMES = (*SCENES, PUBLISHED)
EVENT_SECONDS = 30
"""When a restart or a move happens, seconds after the start."""
_OPLOG_KILOBYTES = 100 * 1024 * 1024
_BEGIN = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


class Cluster:
    """`vdisks` is their total number; `clock` gives seconds (only differences count)."""

    def __init__(self, scene: str, *, cvms: int, vdisks: int, seed: int, clock: Callable[[], float]) -> None:
        self._scene = SCENES.get(scene)
        self._cvms = cvms
        self._seed = seed
        self._clock = clock
        self._began = clock()
        named = self._scene.vdisks if self._scene else (published.BUSY, published.IDLE)
        others = (str(50_000 + 13 * index) for index in range(vdisks - len(named) if self._scene else 0))
        self.vdisks = [*named, *others]
        self.gone: set[str] = set()
        """Vdisks that were removed."""

    @property
    def second(self) -> int:
        """Whole seconds since the beginning: within one, all pages agree."""
        return int(self._clock() - self._began)

    def hosted(self, cvm: int, variations: Collection[str] = ()) -> list[str]:
        """The vdisks that this CVM (from 0) has now."""
        return [
            vdisk
            for vdisk in self.vdisks
            if vdisk not in self.gone and self._host(vdisk, "vdisk-moved" in variations) == cvm
        ]

    def main(self, cvm: int, variations: Collection[str] = ()) -> PageDocument:
        """The main page."""
        if self._scene is None:
            return published.MAIN
        stargates = [self._stargate(number, "restart" in variations) for number in range(self._cvms)]
        rows = [(self._vdisk(vdisk), self.load(vdisk)) for vdisk in self.hosted(cvm, variations)]
        operations = self.second * sum(load.read.rate + load.write.rate for _, load in rows)
        admitted = sum(load.read.rate * load.read.average_latency for _, load in rows) // 1_000_000
        hits = [load.read_source.get("Cache DRAM", 0) for _, load in rows if load.read.rate]
        changing = {
            "Highest allocated opid": str(1_000_000 + operations),
            "Highest contiguous completed opid": str(1_000_000 + operations - admitted),
            "Content cache total hits(NonDedup)": f"{100 * sum(hits) / len(hits):.2f}%" if hits else "0",
            "Content cache flash pagin pct(NonDedup)": "0",
            "Content cache total hits(Dedup)": "0%",
            "Content cache flash pagin pct(Dedup)": "0%",
            "Content cache memory usage": "3220 MB",
            "Content cache physical memory usage": "3224 MB",
            "Content cache flash usage": "0 MB",
            "QoS Queue (size/admitted)": f"{sum(load.queued for _, load in rows)}/{admitted}",
            "Oplog QoS queue (size/admitted)": f"{sum(load.oplog_queued for _, load in rows)}/0",
            "NFS Flush Queue (size/admitted)": "0/0",
            "NFS cache usage": "0 MB",
        }
        return PageDocument(
            "Stargate",
            (
                sections.overview(stargates[cvm], changing),
                sections.cluster_state(stargates),
                sections.frontend(sections.frontend_row(vdisk, load) for vdisk, load in rows),
                sections.hosted(sections.hosted_row(vdisk, load) for vdisk, load in rows),
            ),
        )

    def vdisk(self, cvm: int, vdisk: str, variations: Collection[str] = ()) -> PageDocument | None:
        """The page of one vdisk; None if this CVM does not have it."""
        if self._scene is None:
            return published.vdisk_document(vdisk) if vdisk in (published.BUSY, published.IDLE) else None
        if vdisk not in self.hosted(cvm, variations):
            return None
        return sections.vdisk_document(vdisk, self.load(vdisk))

    def oplog(self, cvm: int) -> PageDocument:
        """The page of the oplog's flushing."""
        if self._scene is None:
            return published.OPLOG
        rows = []
        for vdisk in self.hosted(cvm):
            load = self.load(vdisk)
            fragment = max(load.write.average_size // 1024, 1)
            rows.append((self._vdisk(vdisk).name, load.oplog_kilobytes, load.oplog_kilobytes // fragment))
        return sections.oplog_document(rows, _OPLOG_KILOBYTES)

    def load(self, vdisk: str, second: int | None = None) -> Load:
        """What a vdisk does at a second, by default now."""
        second = self.second if second is None else second
        if self._scene is not None and vdisk in self._scene.vdisks:
            return jitter(self._scene.load(vdisk, second, self._seed), vdisk, second, self._seed)
        return background(vdisk, second, self._seed)

    def _host(self, vdisk: str, moved: bool) -> int:
        if moved and vdisk == self.vdisks[0] and self.second >= EVENT_SECONDS:
            return 1
        if self._scene is not None and vdisk in self._scene.vdisks:
            return min(self._scene.host(vdisk, self.second), self._cvms - 1)
        return self.vdisks.index(vdisk) % self._cvms

    def _vdisk(self, vdisk: str) -> SimulatedVdisk:
        return SimulatedVdisk(vdisk, f"NFS:{vdisk} (5f0d7d8e-3a52-4c0b-9f0e-{int(vdisk):012d})")

    def _stargate(self, number: int, restarts: bool) -> Stargate:
        anew = int(restarts and self.second >= EVENT_SECONDS)
        start = _BEGIN + timedelta(days=anew)
        disks = [None, *(f"{154 + 10 * number - k} (188/209)" for k in range(2))]
        disks += [f"{152 + 10 * number - k} (477/862)" for k in range(4)]
        return Stargate(
            f"10.3.140.{151 + number}",
            str(7 + number),
            str(30_986_558 + 1000 * number + anew),
            start.strftime("%Y%m%d-%H:%M:%S-GMT%z"),
            disks,
        )
