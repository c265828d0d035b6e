"""A cluster of simulated CVMs: the pages of each CVM at a moment of a scene."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

from ...values.errors import ConfigError
from ...values.suggestion import did_you_mean, either
from . import published, sections
from .faults import FAULT_SCENES
from .load import Load
from .page_html import PageDocument
from .scenes import PUBLISHED_SCENES, background, jitter

SCENES = {**PUBLISHED_SCENES, **FAULT_SCENES}
SCENE_NAMES = (*SCENES, "published")
EVENT_SECONDS = 30
"""When a restart or a move happens, seconds after the start."""
_OPLOG_KILOBYTES = 100 * 1024 * 1024
_BEGIN = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


class Cluster:
    """`vdisks` is their total number; `clock` gives seconds, of which only differences count.

    Raises ConfigError for an unknown scene.
    """

    def __init__(self, scene: str, *, cvms: int, vdisks: int, seed: int, clock: Callable[[], float]) -> None:
        if scene not in SCENE_NAMES:
            meant = did_you_mean(scene, SCENE_NAMES)
            raise ConfigError(f"--scene: expected {either(SCENE_NAMES)}, got {scene!r}{meant}")
        self._scene = SCENES.get(scene)
        self._cvms = cvms
        self._seed = seed
        self._clock = clock
        self._began = clock()
        self._named = self._scene.vdisks if self._scene else (published.BUSY, published.IDLE)
        others = (str(50_000 + 13 * index) for index in range(vdisks - len(self._named) if self._scene else 0))
        self.vdisks = [*self._named, *others]
        self.gone: set[str] = set()
        """Vdisks that were removed."""

    @property
    def second(self) -> int:
        """Whole seconds since the beginning; all pages within a second agree."""
        return int(self._clock() - self._began)

    def hosted(self, cvm: int, variations: Collection[str] = ()) -> list[str]:
        """The vdisks that this CVM (from 0) has now."""
        moved = "vdisk-moved" in variations and self.second >= EVENT_SECONDS
        hosts = {vdisk: index % self._cvms for index, vdisk in enumerate(self.vdisks)}
        if self._scene is not None:
            hosts |= dict.fromkeys(self._named, min(self._scene.host(self.second), self._cvms - 1))
        if moved:
            hosts[self.vdisks[0]] = 1
        return [vdisk for vdisk, host in hosts.items() if host == cvm and vdisk not in self.gone]

    def main(self, cvm: int, variations: Collection[str] = ()) -> PageDocument:
        """The main page."""
        if self._scene is None:
            return published.MAIN
        stargates = [self._stargate(number, "restart" in variations) for number in range(self._cvms)]
        loads = {vdisk: self.load(vdisk) for vdisk in self.hosted(cvm, variations)}
        completed = 1_000_000 + self.second * sum(load.read.rate + load.write.rate for load in loads.values())
        admitted = sum(load.read.rate * load.read.average_latency for load in loads.values()) // 1_000_000
        hits = [load.read_source.get("Cache DRAM", 0) for load in loads.values() if load.read.rate]
        return PageDocument(
            "Stargate",
            (
                sections.overview(
                    stargates[cvm],
                    (completed, completed - admitted),
                    f"{100 * sum(hits) / len(hits):.2f}%" if hits else "0",
                    (sum(load.queued for load in loads.values()), admitted),
                    sum(load.oplog_queued for load in loads.values()),
                ),
                sections.cluster_state(stargates),
                sections.frontend(sections.frontend_row(_name(vdisk), load) for vdisk, load in loads.items()),
                sections.hosted(sections.hosted_row(vdisk, _name(vdisk), load) for vdisk, load in loads.items()),
            ),
        )

    def vdisk(self, cvm: int, vdisk: str, variations: Collection[str] = ()) -> PageDocument | None:
        """The page of one vdisk; None if this CVM does not have it."""
        if self._scene is None:
            return published.vdisk_document(vdisk) if vdisk in self.vdisks else None
        if vdisk not in self.hosted(cvm, variations):
            return None
        return sections.vdisk_document(vdisk, self.load(vdisk))

    def oplog(self, cvm: int) -> PageDocument:
        """The page of the oplog's flushing."""
        if self._scene is None:
            return published.OPLOG
        loads = ((_name(vdisk), self.load(vdisk)) for vdisk in self.hosted(cvm))
        rows = ((name, load.oplog_kilobytes, load.oplog_fragments) for name, load in loads)
        return sections.oplog_document(rows, _OPLOG_KILOBYTES)

    def load(self, vdisk: str, second: int | None = None) -> Load:
        """The load of a vdisk at a second, by default now."""
        second = self.second if second is None else second
        if self._scene is not None and vdisk in self._named:
            return jitter(self._scene.load(vdisk, second, self._seed), vdisk, second, self._seed)
        return background(vdisk, second, self._seed)

    def _stargate(self, number: int, restarts: bool) -> sections.Stargate:
        restarted = int(restarts and self.second >= EVENT_SECONDS)
        start = _BEGIN + timedelta(days=restarted)
        disks = [None, *(f"{154 + 10 * number - k} (188/209)" for k in range(2))]
        disks += [f"{152 + 10 * number - k} (477/862)" for k in range(4)]
        return sections.Stargate(
            f"10.3.140.{151 + number}",
            str(7 + number),
            str(30_986_558 + 1000 * number + restarted),
            start.strftime("%Y%m%d-%H:%M:%S-GMT%z"),
            disks,
        )


def _name(vdisk: str) -> str:
    return f"NFS:{vdisk} (5f0d7d8e-3a52-4c0b-9f0e-{int(vdisk):012d})"
