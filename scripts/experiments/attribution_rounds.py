"""Rounds on the simulator: each a cluster, its guest and its pgbench, side by side on one virtual clock.

Everything between the simulated pages and the samples is the product's: the poller reads the pages' HTML, the watcher
of runs reads pgbench's lines, and the exporter renders both.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attribution_series import Found, Tape, evaluate
from benchwatch.metrics.buckets import Buckets
from benchwatch.nutanix.client import Client
from benchwatch.nutanix.cvm_settings import CvmSettings, NutanixSettings, VdiskDisk
from benchwatch.nutanix.poller import Poller
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.faults import FAULT_SECONDS, FAULT_START
from benchwatch.nutanix.simulator.guest import NAME as GUEST
from benchwatch.nutanix.simulator.guest import RECORD, Guest
from benchwatch.nutanix.simulator.variations import write
from benchwatch.runs.watcher import Runs
from benchwatch.server.board import Exporter
from benchwatch.settings.settings import RunsSettings

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
AROUND = 20
"""Seconds before and after the fault that are looked at."""
_POLL = 10
_UUID = "5f0d7d8e-3a52-4c0b-9f0e-{:012d}"


@dataclass
class Round:
    """One fault: `begin` and `end` are seconds on the tape, `verdicts` the named layer by second while one is named."""

    name: str
    fault: str
    expected: str
    begin: int
    end: int
    verdicts: dict[int, str]
    slow: set[int]
    """Seconds in which the benchmark is slow by the product's own condition."""
    notes: str = ""


class _Pages(Client):
    """A CVM's pages without a network."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__("http://127.0.0.1:1")
        self._cluster = cluster

    def get(self, path: str, query: str = "") -> bytes:
        """See Client."""
        if path == "/vdisk_stats":
            document = self._cluster.vdisk(0, query.removeprefix("vdisk_id="))
            assert document is not None
            return write(document, ()).encode()
        return write(self._cluster.oplog(0) if path == "/oplog_flush_stats" else self._cluster.main(0), ()).encode()


class _World:
    """One round's cluster, guest and run."""

    def __init__(self, name: str, scene: str, seed: int, runs: Path, clock: Callable[[], float]) -> None:
        self.name, self.scene = name, scene
        self.cluster = Cluster(scene, cvms=1, vdisks=4, seed=seed, clock=clock)
        self.guest = Guest(self.cluster)
        chance = random.Random(seed)
        self.phase = chance.randrange(_POLL)
        mapping = {
            _UUID.format(45269): VdiskDisk(vm=name, disk="scsi.1", role="data"),
            _UUID.format(40043): VdiskDisk(vm=name, disk="scsi.2", role="log"),
        }
        cvm = CvmSettings(name=name, url="http://127.0.0.1:1")
        settings = NutanixSettings(oplog_flush_stats=True)
        self.poller = Poller(cvm, settings, mapping, _Pages(self.cluster), wall_clock=clock, monotonic=clock)
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "run.yaml").write_text(RECORD.replace(GUEST, name))
        self.output = (folder / "db1.err").open("w", buffering=1)


def play(scenes: Sequence[tuple[str, int]], folder: Path, skipped: int = 0) -> Tape:
    """Scenes by (name, seed), side by side, until some time after their first fault, without their first seconds."""
    seconds = FAULT_START + FAULT_SECONDS + AROUND + 1 - skipped
    tape, epoch = Tape(seconds, FAULT_START - skipped), float(int(time.time()))
    now = epoch - skipped

    def clock() -> float:
        return now

    worlds = [
        _World(f"r{number:03}", scene, seed, folder / "runs", clock) for number, (scene, seed) in enumerate(scenes)
    ]
    runs = Runs([folder / "runs"], RunsSettings(), Buckets(4))
    exporter = Exporter(runs, [world.poller for world in worlds], [], None, clock)
    target = {"instance": "exporter:19777"}
    for second in range(seconds):
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
        tape.scrape(second, exporter.render(frozenset({"live"})), epoch, **target, job="benchwatch-live")
        if second % _POLL == 0:
            for part in ("runs", "nutanix"):
                tape.scrape(second, exporter.render(frozenset({part})), epoch, **target, job=f"benchwatch-{part}")
    for world in worlds:
        world.output.close()
    return tape


def judge(tape: Tape, scenes: Sequence[tuple[str, int]], folder: Path, promtool: str) -> list[Round]:
    """What the rules say of each round on the tape."""
    begin, end = tape.fault, tape.fault + FAULT_SECONDS
    watched = range(begin - AROUND, end + AROUND)
    verdict, slow, slowness = "run:verdict:layer", "run:benchmark_slow:info", "run_layer:slowness:ratio >= 2"
    asked = {verdict: watched, slow: watched, slowness: [end - 1]}
    found = evaluate(tape, asked, folder, promtool)

    def of(name: str, expression: str) -> list[Found]:
        return [sample for sample in found[expression] if sample.labels.get("run") == name]

    rounds = []
    for number, (scene, _) in enumerate(scenes):
        name = f"r{number:03}"
        verdicts = {sample.second: sample.labels["layer"] for sample in of(name, verdict)}
        high = sorted(of(name, slowness), key=lambda sample: -sample.value)
        notes = ", ".join(f"{one.labels['layer']} {one.labels.get('which', '')} {one.value:.3g}x" for one in high)
        slow_at = {sample.second for sample in of(name, slow)}
        rounds.append(Round(name, scene, EXPECTED[scene], begin, end, verdicts, slow_at, notes))
    return rounds
