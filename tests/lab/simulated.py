"""Rounds of simulated faults, as a Prometheus would record them.

Each round is a simulated cluster, its guest and its pgbench, side by side with others on one virtual clock, so that
hundreds of rounds take minutes. The product's poller reads the pages' HTML, its watcher of runs reads pgbench's lines,
and its exporter renders both.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchwatch.metrics.buckets import Buckets
from benchwatch.nutanix.client import Client
from benchwatch.nutanix.cvm_settings import CvmSettings, NutanixSettings, VdiskDisk
from benchwatch.nutanix.poller import Poller
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.guest import NAME as GUEST
from benchwatch.nutanix.simulator.guest import RECORD, Guest
from benchwatch.nutanix.simulator.page_html import render
from benchwatch.nutanix.simulator.scenes import FAULT_SECONDS, FAULT_START
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings
from tests.lab.tape import Fault, Tape

EXPECTED = {
    "steady": "none",
    "path-slow": "path",
    "vdisk-slow": "frontend",
    "oplog-full": "oplog",
    "oplog-bypassed": "oplog",
    "reads-hdd": "read_source",
    "reads-remote": "read_source",
    "cvm-queue": "cvm_queue",
}
"""The layer that each scene's fault is in."""
_AROUND, _POLL = 20, 10
"""Seconds looked at after a fault; seconds between polls of a CVM."""
_UUID = "5f0d7d8e-3a52-4c0b-9f0e-{:012d}"


class _Pages(Client):
    """A CVM's pages without a network."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__("http://127.0.0.1:1")
        self._cluster = cluster

    def get(self, path: str, query: str = "") -> bytes:
        """See Client."""
        document = self._cluster.page(0, f"{path}?{query}")
        assert document is not None
        return render(document).encode()


class _World:
    """One round's cluster, guest and run."""

    def __init__(self, name: str, scene: str, seed: int, runs: Path, clock: Callable[[], float]) -> None:
        self.name = name
        cluster = Cluster(scene, cvms=1, vdisks=4, seed=seed, clock=clock)
        self.guest = Guest(cluster)
        self.phase = random.Random(seed).randrange(_POLL)
        mapping = {
            _UUID.format(45269): VdiskDisk(vm=name, disk="scsi.1", role="data"),
            _UUID.format(40043): VdiskDisk(vm=name, disk="scsi.2", role="log"),
        }
        cvm = CvmSettings(name=name, url="http://127.0.0.1:1")
        settings = NutanixSettings(oplog_flush_stats=True)
        self.poller = Poller(cvm, settings, mapping, _Pages(cluster), wall_clock=clock, monotonic=clock)
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "run.yaml").write_text(RECORD.replace(GUEST, name))
        self.output = (folder / "db1.err").open("w", buffering=1)


def play(scenes: Sequence[tuple[str, int]], folder: Path, skipped: int = 0) -> tuple[Tape, list[Fault]]:
    """Play scenes by (name, seed) until some time after their fault, without their first seconds."""
    begin = FAULT_START - skipped
    end = begin + FAULT_SECONDS
    tape, epoch = Tape(end + _AROUND + 1), float(int(time.time()))
    now = epoch - skipped

    def clock() -> float:
        return now

    names = [f"r{number:03}" for number in range(len(scenes))]
    worlds = [_World(name, *scene, folder / "runs", clock) for name, scene in zip(names, scenes, strict=True)]
    runs = Runs([folder / "runs"], RunsSettings(), Buckets(4))
    exporter = Exporter(runs, [world.poller for world in worlds])
    for second in range(tape.seconds):
        now = epoch + second
        for world in worlds:
            if second:
                world.output.write(world.guest.progress(skipped + second - 1, now))
                os.utime(world.output.fileno(), (now, now))
            node = world.guest.exposition(skipped + second)
            tape.scrape(second, node, job="node", instance=f"{world.name}:9100", host=world.name)
            if second % _POLL == world.phase:
                world.poller.poll()
        while runs.poll(now, now):
            pass
        for part in ("live", "runs", "nutanix")[: 1 if second % _POLL else 3]:
            text = exporter.render(frozenset({part}))
            tape.scrape(second, text, epoch, instance="exporter:19777", job=f"benchwatch-{part}")
    for world in worlds:
        world.output.close()
    return tape, [Fault(name, scene, EXPECTED[scene], begin) for name, (scene, _) in zip(names, scenes, strict=True)]
