"""The devices that a run waits for, and what is slow below them: path, vdisk, CVM."""

from collections.abc import Iterator
from typing import NamedTuple

from ..values import numbers
from .explanation import PART, STANDS_OUT, Cause, Explanation, time
from .window import DATA, LOCK, LOG, PolledVdisk, nothing

_AT_LEAST, _FLOOR = 0.05, 0.00025
"""What a slow device takes at least: of the increase, as an operation may wait for many of its I/Os; seconds."""
_WORKERS, _OFTENER = 0.3, 2.0
"""Workers of autovacuum on a table in the mean, and the multiple of the usual, from which on they are named."""
_BYTES = 2e6  # what a process must move more than usual to be named, bytes a second
_NO_MORE = 1.1  # the multiple of its usual rate up to which a benchmark does not do more
_GIB = 2.0**30
_OPS = ("read", "write")
_DATABASE = "postgres"


class SlowDisk(NamedTuple):
    """Operations of a device that a run waits for, seconds each; usually 0: not known."""

    device: str
    op: str
    usual: float
    now: float


def slow_disks(of: Explanation) -> list[SlowDisk]:
    """What the run waits for of those devices that are slow, by as much as explains some of what it is slower."""
    least, found = max(_FLOOR / 2, _AT_LEAST * of.slower), []
    for device in of.facts.devices:
        own = waited(of, device)
        if any(one.now >= max(STANDS_OUT * one.usual, _FLOOR) and one.now - one.usual >= least for one in own):
            found += own
    return found


def waited(of: Explanation, device: str) -> list[SlowDisk]:
    """What a run waits for. With a log of its own, a database waits for writes to that, and for reads of its data."""
    devices = of.facts.devices
    apart = of.facts.database and set(devices.values()) == {"log", "data"}
    ops = _OPS if not apart else ("write",) if devices[device] == "log" else ("read",)
    both = [(op, of.usual.window.disk(device, op).wait, of.now.window.disk(device, op).wait) for op in ops]
    return [SlowDisk(device, op, usual or 0.0, now) for op, usual, now in both if now is not None]


def storage_causes(of: Explanation, slow: list[SlowDisk]) -> Iterator[Cause]:
    """The slowest device, or what is below it."""
    more, whole = of.more(), of.slower
    seconds = more[LOG] + more[DATA]
    if not slow:
        if seconds >= 0.5 * whole and not of.facts.devices:
            stage = max((LOG, DATA), key=lambda stage: more[stage])
            yield Cause(stage.replace(" ", "_"), f"waiting for the {stage}", seconds)
        return
    if of.now.window.active is not None and seconds < PART * whole and more[LOCK] + seconds < PART * whole:
        return
    device = max(slow, key=lambda one: one.now).device
    disk = max((one for one in slow if one.device == device), key=lambda one: one.now - one.usual)
    said = _said_of_device(of, disk)
    if others := [one for one in slow if one.device != device]:
        said += f"; {said_of_wait(of, max(others, key=lambda one: one.now))}"
    layer, why = _below(of, disk) or (f"{of.facts.devices[device]}_device", "")
    yield Cause(layer, f"{said}; {why}" if why else said, seconds)


def said_of_wait(of: Explanation, disk: SlowDisk) -> str:
    """Reads or writes of a device, its role, how long they take and usually take."""
    return f"{disk.op}s of {disk.device} ({of.facts.devices[disk.device]}) take {_usually(disk.now, disk.usual)}"


def _usually(now: float, usual: float) -> str:
    return time(now) + (f", usually {time(usual)}" if usual else "")


def _said_of_device(of: Explanation, disk: SlowDisk) -> str:
    """Reads or writes, how slow, how many and how large, and what uses disks more."""
    now, was = of.now.window, of.usual.window
    one = now.disk(disk.device, disk.op)
    size = f" of {one.size / 1024:.3g} KiB" if one.size else ""
    usually = numbers.rate_in_full(was.disk(disk.device, disk.op).rate)
    said = f"{said_of_wait(of, disk)} ({numbers.rate_in_full(one.rate)}/s{size}, usually {usually}/s)"
    serves, served = (sum(window.disk(disk.device, op).rate for op in _OPS) for window in (now, was))
    busier = of.now.rate / of.usual.rate if of.usual.rate else 1.0
    if serves > 1.5 * served * max(busier, 1.0) and serves - served >= 50:
        does = "less" if busier < 1 / _NO_MORE else "no more" if busier <= _NO_MORE else f"{busier:.1f} times as much"
        said += f"; it serves {numbers.rate_in_full(serves - served)} operations/s more while the benchmark does {does}"
        # Processes are looked at only while a disk is busy.
        name, moved, before = more_used(of, "benchwatch_process_disk_bytes_per_second", of.facts.server)
        if moved - (before or 0.0) >= _BYTES:
            said += f"; {name} reads and writes {numbers.bandwidth(moved)}"
            if before is not None:
                said += f", usually {numbers.bandwidth(before) if before >= 1 else 'nothing'}"
    workers, usual = (window.means("pg_autovacuum_workers", of.facts.server, "relation") for window in (now, was))
    begun = [one for one, mean in workers.items() if mean >= max(_WORKERS, _OFTENER * usual.get(one, 0.0))]
    return said + (f"; autovacuum of {', '.join(sorted(begun))}" if begun else "")


def more_used(of: Explanation, use: str, host: str) -> tuple[str, float, float | None]:
    """The name of the processes of a machine whose use of something has grown most, their use now, and usually.

    Where the usual use was not looked at (None), the database is left out: it does the benchmark's own work.
    """
    now, usual = (window.means(use, host, "process") for window in (of.now.window, of.usual.window))
    found = [(name, used, usual.get(name)) for name, used in now.items() if name in usual or name != _DATABASE]
    return max(found, key=lambda one: one[1] - (one[2] or 0.0), default=("", 0.0, None))


def _below(of: Explanation, disk: SlowDisk) -> tuple[str, str] | None:
    """The layer below a slow device, and why; None without a poll of its vdisk since, or without a vdisk."""
    op, role, polled = disk.op, of.facts.devices[disk.device], of.now.window.vdisks
    own = [one for one in polled.values() if one.role == role and one.mean("frontend_ops_per_second", op=op) >= 5]
    if not own:
        return None
    now = max(own, key=lambda one: one.latency(op))
    was = of.usual.window.vdisks.get(now.name) or now._replace(window=nothing(of.facts))
    latency, before = now.latency(op), was.latency(op)
    name = f"the {role} vdisk {now.name} of {of.facts.machine}"
    if latency - before < (disk.now - disk.usual) / 3 or latency < max(STANDS_OUT * before, _FLOOR):
        return "path", f"{name} is as usual ({time(latency)}): guest or network path"
    layer, said = next(_inside(op, now, was))
    said = f"{name} takes {time(latency)}, usually {time(before)}: {said}"
    # Another one that is slower yet.
    others = ((other.latency(op), op, other) for other in polled.values() for op in _OPS if other is not now)
    slowest, op, other = max(others, key=lambda one: one[0], default=(0.0, op, now))
    known = of.usual.window.vdisks.get(other.name)
    usual = known.latency(op) if known else 0.0
    if slowest > latency and slowest >= STANDS_OUT * usual:
        said += f"; {op}s of the {other.role} vdisk {other.name} take {_usually(slowest, usual)}"
    return layer, said


def _inside(op: str, now: PolledVdisk, was: PolledVdisk) -> Iterator[tuple[str, str]]:
    """The layers of a CVM that explain a slow vdisk, and why, in the order in which they are believed."""
    if op == "write":
        into, usually = (one.mean("write_destination_ratio", 1.0, destination="oplog") for one in (now, was))
        held = now.mean("oplog_bytes")
        much = held >= STANDS_OUT * max(was.mean("oplog_bytes"), _GIB)
        if into < 0.5 and usually - into >= 0.3:
            size = now.mean("frontend_operation_size_bytes")
            why = "they bypass the oplog" + (f" ({size / 1024:.0f} KiB each)" if size > 262144 else "")
            if much or (now.window.mean("nutanix_oplog_utilisation_ratio", cvm=now.cvm) or 0.0) >= 0.75:
                why = "the oplog is full"
            yield "oplog", f"{why}, {100 * into:.0f} % go there, usually {100 * usually:.0f} %"
        if much:
            yield "oplog", f"the oplog fills up, {held / _GIB:.1f} GiB are not drained"
    else:
        for word, source in (("hdd", "hard disks"), ("remote", "another node")):
            share, usually = (_read_from(one, word) for one in (now, was))
            if share >= max(0.2, STANDS_OUT * usually):
                yield "read_source", f"{100 * share:.0f} % of the data read comes from {source}"
    queued, usually = (max(_queued(one, queue) for queue in ("qos", "oplog_qos")) for one in (now, was))
    if queued >= max(10.0, STANDS_OUT * usually):
        yield "cvm_queue", f"{queued:.0f} operations queue in the CVM"
    backend, before = now.mean("backend_latency_seconds"), was.mean("backend_latency_seconds")
    if before and backend >= STANDS_OUT * max(before, 0.0005):
        yield "backend", f"the back end takes {time(backend)}, usually {time(before)}"
    yield "frontend", "the front end, without a cause that the CVM shows"


def _read_from(vdisk: PolledVdisk, word: str) -> float:
    """The part of the data read that comes from sources with this word in their name."""
    window = vdisk.window
    sources = window.seen.of("nutanix_vdisk_read_source_ratio", cvm=vdisk.cvm, vdisk=vdisk.name)
    named = (one for one in sources if word in one.labels.get("source", ""))
    return sum(one.mean(window.begin, window.end) or 0.0 for one in named)


def _queued(vdisk: PolledVdisk, queue: str) -> float:
    return vdisk.window.mean("nutanix_stargate_queue_operations", cvm=vdisk.cvm, queue=queue, state="queued") or 0.0
