"""What happens in a slow layer, in words, as far as metrics show it. What they do not show is not guessed."""

from ..values import numbers
from .seen import Seen
from .signals import Signals
from .waits import Picture

_FLOOR = 0.00025
_PRESENT, _STANDS_OUT = 0.3, 2.0
"""Workers of autovacuum on a table in the mean, and the multiple of the usual, from which on they are named."""
_OF_A_PROCESSOR, _BYTES = 0.3, 2e6
"""What a process must use more than usual to be named: processors, and bytes a second of disks."""
_NO_MORE = 1.1
"""The multiple of its usual rate up to which a benchmark does not do more."""
_DATABASE = "postgres"
_LONGEST = 80
"""Characters of a query."""


def time(seconds: float) -> str:
    """A latency in words: 74.7 ms."""
    return numbers.trimmed(numbers.latency(max(0.0, seconds)))


def machine_cause(usual: Picture, now: Picture, host: str) -> str:
    """Of missing processors."""
    busy, before = now.signals.get(("busy", host), 0.0), usual.signals.get(("busy", host))
    steal = now.signals.get(("steal", host), 0.0)
    said = f"the processors of {host or 'its machine'} are {100 * busy:.0f} % busy"
    said += "" if before is None else f", usually {100 * before:.0f} %"
    queue = now.signals.get(("queue", host), 0.0)
    said += f", {queue + 1:.1f} processes want each" if queue >= 0.25 else ""
    said += f"; the hypervisor takes {100 * steal:.0f} % (steal)" if steal >= 0.03 else ""
    name, now_used, usually_used = _more_used(usual, now, "process", host)
    if now_used - usually_used >= _OF_A_PROCESSOR:
        said += f"; {name} uses {now_used:.1f} of them, usually {usually_used:.1f}"
    return said


def _more_used(usual: Picture, now: Picture, key: str, host: str) -> tuple[str, float, float]:
    """The name of the processes of a machine whose use of something has grown most, their use now, and usually.

    Where the usual use was not looked at, the database is left out: it does the benchmark's own work.
    """
    found = (
        (signal[2], value, usual.signals.get(signal, 0.0))
        for signal, value in now.signals.items()
        if signal[:2] == (key, host) and (signal in usual.signals or signal[2] != _DATABASE)
    )
    return max(found, key=lambda one: one[1] - one[2], default=("", 0.0, 0.0))


def lock_cause(seen: Seen, now: Picture, host: str, begin: float, end: float) -> str:
    """Of a lock: who waits, how long, and who holds it where that is exported."""
    waiting, longest = now.signals.get(("locks",), 0.0), now.signals.get(("lock wait",), 0.0)
    said = f"waiting for a lock: {waiting:.0f} wait, the longest for {numbers.duration(longest)}"
    blockers = [
        (value, one.labels)
        for one in seen.of("pg_blocking_processes", host=host)
        if (value := one.highest(begin, end)) is not None
    ]
    if not blockers:
        return said
    _, labels = max(blockers, key=lambda blocker: blocker[0])
    on = f" on {labels['relation']}" if labels.get("relation") else ""
    query = labels.get("query", "")[:_LONGEST]
    state = " (idle in its transaction)" if labels.get("state") == "idle in transaction" else ""
    return f"{said}; the lock{on} is held by {query!r}{state}"


def device_cause(
    usual: Picture, now: Picture, host: str, device: str, role: str, op: str, before: float, after: float
) -> str:
    """Of a slow device: reads or writes, how slow, how many and how large, and which processes use disks more."""
    said = f"{op}s of {device} ({role}) take {time(after)}{f', usually {time(before)}' if before else ''}"
    rate, usually = now.signals.get(("rate", device, op), 0.0), usual.signals.get(("rate", device, op), 0.0)
    size = now.signals.get(("size", device, op), 0.0)
    said += f" ({numbers.rate_in_full(rate)}/s"
    said += f" of {size / 1024:.3g} KiB" if size else ""
    said += f", usually {numbers.rate_in_full(usually)}/s)"
    both = sum(now.signals.get(("rate", device, each), 0.0) for each in ("read", "write"))
    were = sum(usual.signals.get(("rate", device, each), 0.0) for each in ("read", "write"))
    busier = now.rate / usual.rate if usual.rate else 1.0
    if both > 1.5 * were * max(busier, 1.0) and both - were >= 50:
        does = "less" if busier < 1 / _NO_MORE else "no more" if busier <= _NO_MORE else f"{busier:.1f} times as much"
        said += f"; it serves {numbers.rate_in_full(both - were)} operations/s more while the benchmark does {does}"
        said += _competing(usual, now, host)
    return said + _autovacuum(usual, now)


def _competing(usual: Picture, now: Picture, host: str) -> str:
    name, used, usually = _more_used(usual, now, "process bytes", host)
    if used - usually < _BYTES:
        return ""
    said = f"; {name} reads and writes {numbers.bandwidth(used)}"
    if ("process bytes", host, name) not in usual.signals:
        return said  # processes are looked at only while a disk is busy
    return f"{said}, usually {numbers.bandwidth(usually) if usually >= 1 else 'nothing'}"


def _autovacuum(usual: Picture, now: Picture) -> str:
    """The tables that autovacuum reads and writes now and did not before."""
    tables = sorted(
        key[1]
        for key, workers in now.signals.items()
        if key[0] == "autovacuum" and workers >= max(_PRESENT, _STANDS_OUT * usual.signals.get(key, 0.0))
    )
    return f"; autovacuum of {', '.join(tables)}" if tables else ""


def storage_cause(usual: Picture, now: Picture, role: str, op: str, excess: float) -> tuple[str, str] | None:
    """The layer below a slow device of a role, and why; None without a poll of its vdisk since, or without a vdisk."""
    of, was = now.signals, usual.signals
    polled = [key[1] for key in of if key[0] == "polled" and key[2] == role]
    vdisks = [vdisk for vdisk in polled if of.get(("ops", vdisk, op), 0.0) >= 5]
    if not vdisks:
        return None
    vdisk = max(vdisks, key=lambda one: of.get(("latency", one, op), 0.0))
    latency, before = of.get(("latency", vdisk, op), 0.0), was.get(("latency", vdisk, op), 0.0)
    if latency - before < excess / 3 or latency < 3 * max(before, _FLOOR / 3):
        return "path", f"vdisk {vdisk} as usual ({time(latency)}): guest or network path"
    said = f"vdisk {vdisk} {time(latency)}, usually {time(before)}"

    def figure(key: str, signals: Signals = of) -> float:
        return signals.get((key, vdisk), 0.0)

    into, usually = of.get(("oplog share", vdisk)), was.get(("oplog share", vdisk), 1.0)
    if op == "write" and into is not None and into < 0.5 and usually - into >= 0.3:
        full = figure("oplog bytes") >= 3 * max(figure("oplog bytes", was), 2.0**30) or figure("oplog fill") >= 0.75
        why = "the oplog is full" if full else "they bypass the oplog"
        why += f" ({figure('size') / 1024:.0f} KiB each)" if not full and figure("size") > 262144 else ""
        return "oplog", f"{said}: {why}, {100 * into:.0f} % go there, usually {100 * usually:.0f} %"
    if op == "write" and figure("oplog bytes") >= 3 * max(figure("oplog bytes", was), 2.0**30):
        return "oplog", f"{said}: the oplog fills up, {figure('oplog bytes') / 2**30:.1f} GiB are not drained"
    if op == "read":
        for word, source in (("hdd", "hard disks"), ("remote", "another node")):
            share, share_before = figure(word), figure(word, was)
            if share >= 0.2 and share >= 3 * share_before:
                return "read_source", f"{said}: {100 * share:.0f} % of the data read comes from {source}"
    if figure("queued") >= max(10.0, 3 * figure("queued", was)):
        return "cvm_queue", f"{said}: {figure('queued'):.0f} operations queue in the CVM"
    backend, backend_before = figure("backend"), figure("backend", was)
    if backend >= 3 * max(backend_before, 0.0005) and backend_before:
        return "backend", f"{said}: the back end takes {time(backend)}, usually {time(backend_before)}"
    return "frontend", f"{said}: the front end, without a cause that the CVM shows"
