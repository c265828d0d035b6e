"""A cluster of simulated CVMs: the pages of each CVM at a moment of a scene."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from ...values.errors import ConfigError
from ...values.suggestion import did_you_mean, either
from . import sections
from .load import Load
from .page_html import PageDocument
from .scenes import SCENES, background, jitter

_OPLOG_KILOBYTES = 100 * 1024 * 1024


class Cluster:
    """`vdisks` is their total number; `clock` gives seconds, of which only differences count.

    Raises ConfigError for an unknown scene.
    """

    def __init__(self, scene: str, *, cvms: int, vdisks: int, seed: int, clock: Callable[[], float]) -> None:
        if scene not in SCENES:
            meant = did_you_mean(scene, SCENES)
            raise ConfigError(f"--scene: expected {either(SCENES)}, got {scene!r}{meant}")
        self._scene = SCENES[scene]
        self._cvms = cvms
        self._seed = seed
        self._clock = clock
        self._began = clock()
        others = (str(50_000 + 13 * index) for index in range(vdisks - len(self._scene.vdisks)))
        self.vdisks = [*self._scene.vdisks, *others]

    @property
    def second(self) -> int:
        """Whole seconds since the beginning; all pages within a second agree."""
        return int(self._clock() - self._began)

    def load(self, vdisk: str, second: int | None = None) -> Load:
        """The load of a vdisk at a second, by default now."""
        second = self.second if second is None else second
        if vdisk in self._scene.vdisks:
            return jitter(self._scene.load(vdisk, second, self._seed), vdisk, second, self._seed)
        return background(vdisk, second, self._seed)

    def page(self, cvm: int, target: str) -> PageDocument | None:
        """The page of a CVM (from 0) for the target of a request; None if there is no such page."""
        parts = urlsplit(target)
        if parts.path == "/vdisk_stats":
            return self.vdisk(cvm, parse_qs(parts.query).get("vdisk_id", [""])[0])
        pages = {"/": self.main, "/oplog_flush_stats": self.oplog}
        return pages[parts.path](cvm) if parts.path in pages else None

    def main(self, cvm: int) -> PageDocument:
        """The main page."""
        stargates = [_stargate(number) for number in range(self._cvms)]
        loads = {vdisk: self.load(vdisk) for vdisk in self.hosted(cvm)}
        allocated = 1_000_000 + self.second * sum(load.read.rate + load.write.rate for load in loads.values())
        admitted = sum(load.read.rate * load.read.average_latency for load in loads.values()) // 1_000_000
        hits = [load.read_source.get("Cache DRAM", 0) for load in loads.values() if load.read.rate]
        overview = sections.overview(
            stargates[cvm],
            allocated=allocated,
            completed=allocated - admitted,
            hits=f"{100 * sum(hits) / len(hits):.2f}%" if hits else "0",
            queued=sum(load.queued for load in loads.values()),
            admitted=admitted,
            oplog_queued=sum(load.oplog_queued for load in loads.values()),
        )
        frontend = sections.frontend(sections.frontend_row(_name(vdisk), load) for vdisk, load in loads.items())
        hosted = sections.hosted(sections.hosted_row(vdisk, _name(vdisk), load) for vdisk, load in loads.items())
        return PageDocument("Stargate", (overview, sections.cluster_state(stargates), frontend, hosted))

    def vdisk(self, cvm: int, vdisk: str) -> PageDocument | None:
        """The page of one vdisk; None if this CVM does not have it."""
        return sections.vdisk_document(vdisk, self.load(vdisk)) if vdisk in self.hosted(cvm) else None

    def oplog(self, cvm: int) -> PageDocument:
        """The page of the oplog's flushing."""
        loads = ((_name(vdisk), self.load(vdisk)) for vdisk in self.hosted(cvm))
        rows = ((name, load.oplog_kilobytes, load.oplog_fragments) for name, load in loads)
        return sections.oplog_document(rows, _OPLOG_KILOBYTES)

    def hosted(self, cvm: int) -> list[str]:
        """The vdisks that this CVM has now."""
        own = min(self._scene.host(self.second), self._cvms - 1)
        hosts = (own if vdisk in self._scene.vdisks else index % self._cvms for index, vdisk in enumerate(self.vdisks))
        return [vdisk for vdisk, host in zip(self.vdisks, hosts, strict=True) if host == cvm]


def _stargate(number: int) -> sections.Stargate:
    first = 154 + 10 * number
    disks = [None, *(f"{first - k} (188/209)" for k in range(2)), *(f"{first - k} (477/862)" for k in range(2, 6))]
    start, incarnation = "20240506-07:08:09-GMT+0000", str(30_986_558 + 1000 * number)
    return sections.Stargate(f"10.3.140.{151 + number}", str(7 + number), incarnation, start, disks)


def _name(vdisk: str) -> str:
    return f"NFS:{vdisk} (5f0d7d8e-3a52-4c0b-9f0e-{int(vdisk):012d})"
