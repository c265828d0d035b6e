"""A CVM with the numbers of public screenshots of 2015, without the sections whose numbers are not known."""

from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.load import KILOBYTE, Bucket, LoadStream
from benchwatch.nutanix.simulator.page_html import Cell, PageDocument
from benchwatch.nutanix.simulator.sections import (
    READ_SOURCES,
    Stargate,
    cluster_state,
    frontend,
    hosted,
    latencies,
    operations,
    oplog_document,
    overview,
    up_migrations,
    vdisk_link,
    vdisk_section,
)

STARGATE = Stargate(
    "10.3.140.151",
    "7",
    "30986558",
    "20150618-11:12:52-GMT-0700",
    (
        None,
        "154 (188/209)",
        "153 (188/209)",
        "152 (477/862)",
        "151 (477/862)",
        "150 (477/862)",
        "149 (438/782)",
    ),
)

BUSY, IDLE = "31181823", "15432793"
_BUSY_NAME = "NFS:31181823 (1a8ef41c-ae3f-4293-a46e-49d7e6c1c907)"
_IDLE_NAME = "NFS:20581239 (a849adb6-3809-423e-a89c-dd2f02d665d6)"
_FRONTEND = f"{_BUSY_NAME}|0|0|0|0|6|2192|986|0|8768|3944|104|2198|4096|1|82"
_HOSTED = {
    BUSY: f"{_BUSY_NAME}|2|0|198372|49593|990|3960|0, 0KB|0, 0KB|0|2192|1|0|2193|8768|320|46|4243|0|10",
    IDLE: f"{_IDLE_NAME}|0|0|0|0|0|0|0, 0KB|0, 0KB|0|0|0|0||0|0|0||0|0",
}


def _cells(text: str) -> tuple[Cell, ...]:
    return tuple(cell or None for cell in text.split("|"))


_FIGURES: dict[str, int | str] = {
    "allocated": 38138394,
    "completed": 36132415,
    "hits": "86.17%",
    "queued": 0,
    "admitted": 72,
    "oplog_queued": 0,
}
MAIN = PageDocument(
    "Stargate",
    (
        overview(STARGATE, **_FIGURES),
        cluster_state([STARGATE]),
        frontend([_cells(_FRONTEND)]),
        hosted((vdisk_link(vdisk), *_cells(numbers)) for vdisk, numbers in _HOSTED.items()),
    ),
)
OPLOG = oplog_document((), 1638399)

_READ = ((6211, 286), (371, 1362), (135, 2855), (6, 5433), (0, 0), (0, 0), (0, 0), (0, 0))
_WRITE = ((0, 0), (167, 1724), (2098, 3422), (562, 6369), (88, 12297), (6, 23386), (0, 0), (0, 0))
"""Operations and their average latency, microseconds, in each range."""


class PublishedCluster(Cluster):
    """One CVM with two vdisks, whose pages never change."""

    def __init__(self) -> None:
        super().__init__("idle", cvms=1, vdisks=2, seed=1, clock=lambda: 0.0)
        self.vdisks = [BUSY, IDLE]

    def main(self, cvm: int) -> PageDocument:
        return MAIN

    def oplog(self, cvm: int) -> PageDocument:
        return OPLOG

    def vdisk(self, cvm: int, vdisk: str) -> PageDocument | None:
        return _vdisk_document(vdisk) if vdisk in self.vdisks else None


def _vdisk_document(vdisk: str) -> PageDocument:
    """The page of a vdisk."""
    pages_of_4_kilobytes = {4 * KILOBYTE: 1.0}
    sources = (("Cache DRAM", "7", "75%") if name == "Cache DRAM" else (name, None, None) for name in READ_SOURCES)
    return PageDocument(
        f"VDisk {vdisk} Stats",
        (
            operations(vdisk, LoadStream(2192, pages_of_4_kilobytes), LoadStream(986, pages_of_4_kilobytes)),
            latencies(vdisk, "Read", [Bucket(*bucket) for bucket in _READ]),
            latencies(vdisk, "Write", [Bucket(*bucket) for bucket in _WRITE]),
            vdisk_section(vdisk, "Read Source", ("Source", "Data (MB/s)", "Percent"), sources),
            up_migrations(vdisk, (0, 18, 18)),
        ),
    )
