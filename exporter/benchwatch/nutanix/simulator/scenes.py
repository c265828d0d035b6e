"""Scenes: the load of each vdisk at each second, and the CVM that hosts it.

The scenes here follow published experiments: a database whose checkpoints write in bursts beside its constant
transaction log; reads that move from HDD to SSD after a cold start; reads that become local after a VM has moved to
another host.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from .load import KILOBYTE, Load, LoadStream

DATA = "45269"
LOG = "40043"

BURST_CYCLE, BURST_START, BURST_SECONDS = 120, 20, 40
_DRAIN = 16 * 1024
"""KB per second that leave the oplog."""

UP_MIGRATION_CYCLE = 600
_COLD_SECONDS = 45.0
_EXTENT_GROUPS = 2000

LOCALITY_MOVE = 60
_LOCAL_SECONDS = 100.0

_EIGHT = {8 * KILOBYTE: 1.0}
LOG_SIZES = {16 * KILOBYTE: 0.5, 24 * KILOBYTE: 0.3, 32 * KILOBYTE - 512: 0.2}
IDLE = Load()


@dataclass(frozen=True)
class Scene:
    """`load` of a vdisk at a second since the start, with a seed; `host` is the number (from 0) of the vdisks' CVM."""

    description: str
    vdisks: tuple[str, ...]
    load: Callable[[str, int, int], Load]
    host: Callable[[int], int] = lambda second: 0


def background(vdisk: str, second: int, seed: int) -> Load:
    """The load of another vdisk: most are idle, some have a small load."""
    kind = random.Random(f"{seed}/{vdisk}")
    if kind.random() < 0.7:
        return replace(IDLE, usage_gigabytes=kind.randrange(200))
    rate = kind.randrange(5, 200)
    now = random.Random(f"{seed}/{vdisk}/{second}")
    size = {kind.choice((4, 8, 16, 64)) * KILOBYTE: 1.0}
    return Load(
        read=LoadStream(round(rate * now.uniform(0.8, 1.2)), size, kind.uniform(300, 3000), kind.random()),
        write=LoadStream(round(rate * now.uniform(0.3, 0.5)), size, kind.uniform(600, 3000), kind.random()),
        read_source={"Cache DRAM": 0.5, "Estore SSD": 0.4, "Estore HDD": 0.1},
        oplog_kilobytes=kind.randrange(2000),
        working_set={"Read": (80, 500), "Write": (40, 200), "Union": (100, 600)},
        usage_gigabytes=kind.randrange(200),
    )


def jitter(load: Load, vdisk: str, second: int, seed: int) -> Load:
    """The load with rates that vary by a few percent, as if measured, and latencies that vary by its noise."""
    chance = random.Random(f"{seed}/{vdisk}/{second}/jitter")
    rates = [round(stream.rate * chance.uniform(0.97, 1.03)) for stream in (load.read, load.write)]
    noise = [chance.lognormvariate(0, load.noise) for _ in range(4)]
    return replace(
        load,
        read=replace(load.read, rate=rates[0], latency=load.read.latency * noise[0]),
        write=replace(load.write, rate=rates[1], latency=load.write.latency * noise[1]),
        path=load.path * noise[2],
        backend_latency=load.backend_latency and load.backend_latency * noise[3],
    )


def _checkpoint(vdisk: str, second: int, seed: int) -> Load:
    if vdisk == LOG:
        return Load(
            write=LoadStream(400, LOG_SIZES, 700, 0.1),
            oplog_kilobytes=9600,
            drain_kilobytes=9600,
            working_set={"Write": (1100, 8000), "Union": (1100, 8000)},
        )
    phase = second % BURST_CYCLE
    bursting = BURST_START <= phase < BURST_START + BURST_SECONDS
    waiting = _oplog_fill(phase)
    return Load(
        read=LoadStream(800, _EIGHT, 600),
        write=LoadStream(4000 if bursting else 60, _EIGHT, 1500 if bursting else 900),
        read_source={"Oplog": 0.02, "Cache DRAM": 0.62, "Estore SSD": 0.36},
        oplog_kilobytes=waiting,
        drain_kilobytes=min(waiting, _DRAIN),
        working_set={"Read": (900, 9000), "Write": (1200, 9000), "Union": (1800, 14000)},
        usage_gigabytes=180,
    )


def _oplog_fill(phase: int) -> int:
    """KB in the oplog at a second of the cycle: the burst fills it, and it drains all the time."""
    rising = max(0, min(phase - BURST_START, BURST_SECONDS))
    falling = max(0, phase - BURST_START - BURST_SECONDS)
    return max(0, rising * (4000 * 8 - _DRAIN) - falling * _DRAIN)


def _up_migration(vdisk: str, second: int, seed: int) -> Load:
    cold = math.exp(-(second % UP_MIGRATION_CYCLE) / _COLD_SECONDS)
    sources = {"Cache DRAM": 0.1 * (1 - cold), "Estore SSD": 0.9 * (1 - cold), "Estore HDD": cold}
    latency = 150 * sources["Cache DRAM"] + 600 * sources["Estore SSD"] + 8000 * sources["Estore HDD"]
    counts = (_migrated(second) - _migrated(second - span) for span in (300, 3600, 86400))
    last_5_minutes, last_hour, last_day = counts
    return Load(
        read=LoadStream(round(4e6 / latency), _EIGHT, latency),  # four readers, each with one read at a time
        read_source=sources,
        working_set={"Read": (2000, 8000), "Union": (2000, 8000)},
        up_migrations=(last_5_minutes, last_hour, last_day),
        usage_gigabytes=120,
    )


def _migrated(second: int) -> int:
    """Extent groups moved up since the beginning."""
    cycles, phase = divmod(max(second, 0), UP_MIGRATION_CYCLE)
    return cycles * _EXTENT_GROUPS + round(_EXTENT_GROUPS * (1 - math.exp(-phase / _COLD_SECONDS)))


def _locality(vdisk: str, second: int, seed: int) -> Load:
    since = second - LOCALITY_MOVE
    remote = 1.0 if since < 0 else math.exp(-since / _LOCAL_SECONDS)
    transactions = 15_000 if since < 0 else 20_000 + 10_000 * (1 - remote)
    return Load(
        read=LoadStream(round(transactions / 10), _EIGHT, 500 + 900 * remote),
        write=LoadStream(round(transactions / 20), _EIGHT, 900),
        read_source={"Cache DRAM": 0.3, "Estore SSD Local": 0.7 * (1 - remote), "Estore SSD Remote": 0.7 * remote},
        oplog_kilobytes=20_000,
        drain_kilobytes=6000,
        working_set={"Read": (3000, 20000), "Write": (700, 5000), "Union": (3300, 22000)},
        usage_gigabytes=150,
    )


PUBLISHED_SCENES: Mapping[str, Scene] = {
    "checkpoint": Scene(
        f"vDisk {DATA} (data files): bursts of random writes of {BURST_SECONDS} s every {BURST_CYCLE} s into the oplog;"
        f" vDisk {LOG} (transaction log): constant small, mostly sequential writes, a tenth as many",
        (DATA, LOG),
        _checkpoint,
    ),
    "up-migration": Scene(
        f"reads of vDisk {DATA} move from Estore HDD to Estore SSD within 3 minutes; again every"
        f" {UP_MIGRATION_CYCLE} s",
        (DATA,),
        _up_migration,
    ),
    "locality": Scene(
        f"vDisk {DATA} moves to the second CVM after {LOCALITY_MOVE} s; its reads turn from remote to local over"
        " minutes, and its rate steps up by a third, then drifts to twice what it was",
        (DATA,),
        _locality,
        lambda second: int(second >= LOCALITY_MOVE),
    ),
    "idle": Scene("nothing happens", (DATA, LOG), lambda vdisk, second, seed: IDLE),
}
