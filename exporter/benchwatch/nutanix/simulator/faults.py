"""Scenes with one fault each: a database that is slow for a while because one layer of its storage is slow.

The clients of the database wait for each transaction, which waits for two reads of the data vdisk and one write of the
log vdisk; so anything slow lowers all rates (Little's law). The seed decides levels, noise and the severity of a fault.
A checkpoint writes at the time of the fault, and in the steady scene too, because more load alone is not a fault.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .load import KILOBYTE, Load, LoadStream
from .scenes import DATA, LOG, LOG_SIZES, Scene

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
_SOURCES = {"Cache DRAM": 0.6, "Estore SSD Local": 0.4}


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


_FROM_HDD = {"Cache DRAM": 0.2, "Estore SSD Local": 0.2, "Estore HDD Local": 0.6}
_FROM_REMOTE = {"Cache DRAM": 0.2, "Estore SSD Local": 0.1, "Estore SSD Remote": 0.7}
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


def _usual(vdisk: str, level: float, noise: float, bursting: bool) -> Load:
    """The load of a vdisk without a fault, before its rates are known."""
    is_data = vdisk == DATA
    return Load(
        read=LoadStream(0, _EIGHT, 600 * level) if is_data else LoadStream(),
        write=LoadStream(0, _EIGHT, 900 * level) if is_data else LoadStream(0, LOG_SIZES, 700 * level, 0.1),
        read_source=_SOURCES if is_data else {},
        oplog_kilobytes=200_000 if is_data and bursting else 20_000,
        drain_kilobytes=12_000 if is_data and bursting else 6_000,
        working_set={"Read": (900, 9000), "Write": (1200, 9000), "Union": (1800, 14000)},
        usage_gigabytes=180 if is_data else 20,
        path=150 * level,
        backend_latency=300 * level,
        noise=noise,
    )


def _loads(fault: _Fault, second: int, seed: int) -> Mapping[str, Load]:
    """The loads of both vdisks."""
    cycle, phase = divmod(second, FAULT_CYCLE)
    usual, now = random.Random(f"{seed}/usual"), random.Random(f"{seed}/{cycle}/fault")
    level, noise, strength = usual.uniform(0.4, 0.9), usual.uniform(0.05, 0.15), now.uniform(1, 3)
    hit = now.choice((*((vdisk,) for vdisk in fault.vdisks), fault.vdisks)) if fault.one_of_them else fault.vdisks
    is_bad = FAULT_START <= phase < FAULT_START + FAULT_SECONDS
    loads = {vdisk: _usual(vdisk, level, noise, is_bad) for vdisk in (DATA, LOG)}
    if is_bad:
        loads |= {vdisk: fault.change(loads[vdisk], strength) for vdisk in hit}
    data, log = loads[DATA], loads[LOG]
    wait = CPU + READS * (data.read.latency + data.path) + log.write.latency + log.path
    transactions = CLIENTS * 1e6 / wait
    data_writes = _BURST_WRITES if is_bad else _WRITES
    return {
        DATA: replace(
            data, read=replace(data.read, rate=round(READS * transactions)), write=replace(data.write, rate=data_writes)
        ),
        LOG: replace(log, write=replace(log.write, rate=round(transactions / _COMMITS_TOGETHER))),
    }


def _scene(fault: _Fault) -> Scene:
    description = f"seconds {FAULT_START} to {FAULT_START + FAULT_SECONDS} of every {FAULT_CYCLE}: {fault.description}"
    return Scene(description, (DATA, LOG), lambda vdisk, second, seed: _loads(fault, second, seed)[vdisk])


FAULT_SCENES: Mapping[str, Scene] = {name: _scene(fault) for name, fault in _FAULTS.items()}
