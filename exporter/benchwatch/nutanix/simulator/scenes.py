"""Scenes: the load of each vdisk at each second, and the CVM that hosts it.

Some follow published experiments: a database whose checkpoints write in bursts beside its constant transaction log;
reads that move from HDD to SSD after a cold start; reads that become local after a VM has moved to another host.

The others have one fault each: a database that is slow for a while because one layer of its storage is slow. Its
clients wait for each transaction, which waits for two reads of the data vdisk and one write of the log vdisk; so
anything slow lowers all rates (Little's law). The seed decides levels, noise and the severity of a fault. A checkpoint
writes at the time of the fault, and in the steady scene too, because more load alone is not a fault.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .load import KILOBYTE, Load, LoadStream

DATA, LOG = "45269", "40043"
BURST_CYCLE, BURST_START, BURST_SECONDS = 120, 20, 40
_DRAIN = 16 * 1024
"""KB per second that leave the oplog."""
_UP_MIGRATION_CYCLE = 600
_COLD_SECONDS = 45.0
_EXTENT_GROUPS = 2000
_LOCALITY_MOVE = 60
_LOCAL_SECONDS = 100.0

FAULT_CYCLE, FAULT_START, FAULT_SECONDS = 240, 180, 40
CLIENTS, READS = 8, 2
"""READS: reads of the data vdisk per transaction."""
CPU = 500
"""Microseconds that a transaction takes in addition to waiting for storage."""
_WRITES, _BURST_WRITES = 200, 1500
_COMMITS_TOGETHER = 4
_OPLOG_LIMIT = 6 * 1024 * 1024
"""KB per vdisk."""

_EIGHT = {8 * KILOBYTE: 1.0}
_LOG_SIZES = {16 * KILOBYTE: 0.5, 24 * KILOBYTE: 0.3, 32 * KILOBYTE - 512: 0.2}
_SOURCES = {"Cache DRAM": 0.6, "Estore SSD Local": 0.4}
_FROM_HDD = {"Cache DRAM": 0.2, "Estore SSD Local": 0.2, "Estore HDD Local": 0.6}
_FROM_REMOTE = {"Cache DRAM": 0.2, "Estore SSD Local": 0.1, "Estore SSD Remote": 0.7}


@dataclass(frozen=True)
class Scene:
    """`load` of a vdisk at a second since the start, with a seed; `host` is the number (from 0) of the vdisks' CVM."""

    description: str
    vdisks: tuple[str, ...]
    load: Callable[[str, int, int], Load]
    host: Callable[[int], int] = lambda second: 0


def background(vdisk: str, second: int, seed: int) -> Load:
    """The load of a vdisk outside the scene: most are idle, some have a small load."""
    kind = random.Random(f"{seed}/{vdisk}")
    if kind.random() < 0.7:
        return Load(usage_gigabytes=kind.randrange(200))
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
    reads, writes = (round(stream.rate * chance.uniform(0.97, 1.03)) for stream in (load.read, load.write))
    noise = [chance.lognormvariate(0, load.noise) for _ in range(4)]
    return replace(
        load,
        read=replace(load.read, rate=reads, latency=load.read.latency * noise[0]),
        write=replace(load.write, rate=writes, latency=load.write.latency * noise[1]),
        path=load.path * noise[2],
        backend_latency=load.backend_latency and load.backend_latency * noise[3],
    )


def _checkpoint(vdisk: str, second: int, seed: int) -> Load:
    if vdisk == LOG:
        return Load(
            write=LoadStream(400, _LOG_SIZES, 700, 0.1),
            oplog_kilobytes=9600,
            drain_kilobytes=9600,
            working_set={"Write": (1100, 8000), "Union": (1100, 8000)},
        )
    since = second % BURST_CYCLE - BURST_START
    bursting = 0 <= since < BURST_SECONDS
    filled = max(0, min(since, BURST_SECONDS)) * (4000 * 8 - _DRAIN)  # the burst fills the oplog, which drains always
    waiting = max(0, filled - max(0, since - BURST_SECONDS) * _DRAIN)
    return Load(
        read=LoadStream(800, _EIGHT, 600),
        write=LoadStream(4000 if bursting else 60, _EIGHT, 1500 if bursting else 900),
        read_source={"Oplog": 0.02, "Cache DRAM": 0.62, "Estore SSD": 0.36},
        oplog_kilobytes=waiting,
        drain_kilobytes=min(waiting, _DRAIN),
        working_set={"Read": (900, 9000), "Write": (1200, 9000), "Union": (1800, 14000)},
        usage_gigabytes=180,
    )


def _up_migration(vdisk: str, second: int, seed: int) -> Load:
    def migrated(second: int) -> int:
        """Extent groups moved up since the beginning."""
        cycles, phase = divmod(max(second, 0), _UP_MIGRATION_CYCLE)
        return cycles * _EXTENT_GROUPS + round(_EXTENT_GROUPS * (1 - math.exp(-phase / _COLD_SECONDS)))

    cold = math.exp(-(second % _UP_MIGRATION_CYCLE) / _COLD_SECONDS)
    sources = {"Cache DRAM": 0.1 * (1 - cold), "Estore SSD": 0.9 * (1 - cold), "Estore HDD": cold}
    latency = 150 * sources["Cache DRAM"] + 600 * sources["Estore SSD"] + 8000 * sources["Estore HDD"]
    last_5_minutes, last_hour, last_day = (migrated(second) - migrated(second - span) for span in (300, 3600, 86400))
    return Load(
        read=LoadStream(round(4e6 / latency), _EIGHT, latency),  # four readers, each with one read at a time
        read_source=sources,
        working_set={"Read": (2000, 8000), "Union": (2000, 8000)},
        up_migrations=(last_5_minutes, last_hour, last_day),
        usage_gigabytes=120,
    )


def _locality(vdisk: str, second: int, seed: int) -> Load:
    since = second - _LOCALITY_MOVE
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


class _Fault(NamedTuple):
    """`change` turns a usual load into a bad one, by a strength of 1 to 3. `vdisks` are the vdisks that it affects."""

    description: str
    change: Callable[[Load, float], Load] = lambda load, strength: load
    vdisks: tuple[str, ...] = (DATA, LOG)
    one_of_them: bool = False
    """It affects one of the vdisks or both, by chance."""


def _slower(load: Load, reads: float, writes: float, store: float = 1, **changes: Any) -> Load:
    return replace(
        load,
        read=replace(load.read, latency=load.read.latency * reads),
        write=replace(load.write, latency=load.write.latency * writes),
        backend_latency=(load.backend_latency or 0) * store,
        **changes,
    )


def _oplog_full(load: Load, strength: float) -> Load:
    full = replace(load, oplog_share=0.4, oplog_kilobytes=_OPLOG_LIMIT, drain_kilobytes=6 * load.drain_kilobytes)
    return _slower(full, 1, 12 * strength, 1.5, oplog_queued=round(20 * strength))


_FAULTS: Mapping[str, _Fault] = {
    "steady": _Fault("no fault"),
    "path-slow": _Fault(
        "a slow path between guest and CVM; both ends are as usual",
        lambda load, strength: replace(load, path=load.path + 12_000 * strength),
        one_of_them=True,
    ),
    "vdisk-slow": _Fault(
        "a slow front end, without a cause that the CVM shows",
        lambda load, strength: _slower(load, 14 * strength, 14 * strength),
        one_of_them=True,
    ),
    "oplog-full": _Fault("a full oplog: writes wait, and many bypass it", _oplog_full),
    "oplog-bypassed": _Fault(
        "writes bypass an oplog that is not full",
        lambda load, strength: _slower(load, 1, 12 * strength, 2 * strength, oplog_share=0.05),
        (LOG,),
    ),
    "reads-hdd": _Fault(
        "most reads come from hard disks",
        lambda load, strength: _slower(load, 10 * strength, 1, 12 * strength, read_source=_FROM_HDD),
        (DATA,),
    ),
    "reads-remote": _Fault(
        "most reads come from another host",
        lambda load, strength: _slower(load, 8 * strength, 1, 8 * strength, read_source=_FROM_REMOTE),
        (DATA,),
    ),
    "cvm-queue": _Fault(
        "operations queue in the CVM",
        lambda load, strength: _slower(load, 6 * strength, 6 * strength, queued=round(80 * strength)),
    ),
}


def _loads(fault: _Fault, second: int, seed: int) -> Mapping[str, Load]:
    """The loads of both vdisks, with rates as their latencies allow."""
    cycle, phase = divmod(second, FAULT_CYCLE)
    usual, now = random.Random(f"{seed}/usual"), random.Random(f"{seed}/{cycle}/fault")
    level, noise, strength = usual.uniform(0.4, 0.9), usual.uniform(0.05, 0.15), now.uniform(1, 3)
    hit = now.choice((*((vdisk,) for vdisk in fault.vdisks), fault.vdisks)) if fault.one_of_them else fault.vdisks
    is_bad = FAULT_START <= phase < FAULT_START + FAULT_SECONDS
    log = Load(
        write=LoadStream(0, _LOG_SIZES, 700 * level, 0.1),
        oplog_kilobytes=20_000,
        drain_kilobytes=6_000,
        working_set={"Read": (900, 9000), "Write": (1200, 9000), "Union": (1800, 14000)},
        path=150 * level,
        backend_latency=300 * level,
        noise=noise,
    )
    data = replace(
        log,
        read=LoadStream(0, _EIGHT, 600 * level),
        write=LoadStream(0, _EIGHT, 900 * level),
        read_source=_SOURCES,
        oplog_kilobytes=200_000 if is_bad else 20_000,
        drain_kilobytes=12_000 if is_bad else 6_000,
        usage_gigabytes=180,
    )
    if is_bad:
        data = fault.change(data, strength) if DATA in hit else data
        log = fault.change(log, strength) if LOG in hit else log
    wait = CPU + READS * (data.read.latency + data.path) + log.write.latency + log.path
    transactions = CLIENTS * 1e6 / wait
    reads = replace(data.read, rate=round(READS * transactions))
    writes = replace(data.write, rate=_BURST_WRITES if is_bad else _WRITES)
    commits = replace(log.write, rate=round(transactions / _COMMITS_TOGETHER))
    return {DATA: replace(data, read=reads, write=writes), LOG: replace(log, write=commits)}


def _fault_scene(fault: _Fault) -> Scene:
    description = f"seconds {FAULT_START} to {FAULT_START + FAULT_SECONDS} of every {FAULT_CYCLE}: {fault.description}"
    return Scene(description, (DATA, LOG), lambda vdisk, second, seed: _loads(fault, second, seed)[vdisk])


FAULT_SCENES = {name: _fault_scene(fault) for name, fault in _FAULTS.items()}
SCENES: Mapping[str, Scene] = {
    "checkpoint": Scene(
        f"vDisk {DATA} (data files): bursts of random writes of {BURST_SECONDS} s every {BURST_CYCLE} s into the oplog;"
        f" vDisk {LOG} (transaction log): constant small, mostly sequential writes, a tenth as many",
        (DATA, LOG),
        _checkpoint,
    ),
    "up-migration": Scene(
        f"reads of vDisk {DATA} move from Estore HDD to Estore SSD within 3 minutes; again every"
        f" {_UP_MIGRATION_CYCLE} s",
        (DATA,),
        _up_migration,
    ),
    "locality": Scene(
        f"vDisk {DATA} moves to the second CVM after {_LOCALITY_MOVE} s; its reads turn from remote to local over"
        " minutes, and its rate steps up by a third, then drifts to twice what it was",
        (DATA,),
        _locality,
        lambda second: int(second >= _LOCALITY_MOVE),
    ),
    "idle": Scene("nothing happens", (DATA, LOG), lambda vdisk, second, seed: Load()),
    **FAULT_SCENES,
}
