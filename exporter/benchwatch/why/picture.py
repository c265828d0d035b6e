"""What one operation of a benchmark waits for, and what its machines do, in one window of time.

Stages are seconds of a mean operation and add up to its latency. Time in the database comes from its counters; samples
of its sessions only split it. Devices count by their await, weighted with what one operation asks of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .course import Course
from .facts import LOG_ROLES, RunFacts
from .seen import Seen

OUTSIDE, WORK, LOCK, OTHER = "client and network", "database at work", "lock", "other waits of the database"
LOG, DATA, UNEXPLAINED = "log device", "data device", "unexplained"
PATH, VDISK = "path to the vdisk", "vdisk"
STAGES = (OUTSIDE, WORK, LOCK, OTHER, LOG, DATA, PATH, VDISK, UNEXPLAINED)
_FEW = 1.5
"""Sessions that wait at once from which on samples count more than counters: a counter grows at a statement's end."""
_COMMITS = 64
"""Commits that one write of the log may serve."""

Signals = Mapping[tuple[str, ...], float]
"""Figures by what they are and of what: ("await", "sdb", "write") in seconds."""


class Picture(NamedTuple):
    """A window of a run."""

    latency: float
    """Of a mean operation, seconds; of a run in which nothing completes, how long that has lasted."""
    rate: float
    """Operations a second."""
    stages: Mapping[str, float]
    """Seconds by stage; their sum is the latency."""
    signals: Signals
    unseen: tuple[str, ...] = ()
    """What is not measured: a clause each."""


def picture(
    seen: Seen, facts: RunFacts, parts: Sequence[Course], begin: float, end: float, usual: Picture | None = None
) -> Picture | None:
    """The window from `begin` to `end`; None if there is no report in it. `usual` is for a window of a slow time."""
    spent, done = map(sum, zip(*(part.window(begin, end) for part in parts), strict=True)) if parts else (0.0, 0.0)
    seconds = max(end - begin, 1.0)
    rate = done / seconds
    signals = dict(_signals(seen, facts, begin, end))
    stuck = usual is not None and rate < 0.05 * usual.rate
    if not done and not stuck:
        return None
    latency = seconds if stuck else max(spent / done, 0.0)
    unseen = tuple(_unseen(seen, facts, begin, end))
    if facts.database and ("active",) in signals:
        stages = _database(facts, latency, signals, rate, stuck)
    else:
        stages = _devices(facts, latency, signals, rate, parts, (begin, end), usual)
    return Picture(latency, rate, stages, signals, unseen)


def _database(facts: RunFacts, latency: float, signals: Signals, rate: float, stuck: bool) -> dict[str, float]:
    """The stages of a transaction where the database is seen."""
    sampled = {kind[1]: value for kind, value in signals.items() if kind[0] == "sessions"}
    waiting = sum(sampled.values())
    if stuck:
        inside = latency * min(1.0, waiting / max(facts.at_once, waiting, 1.0))
    else:
        inside = signals["active",] / max(rate, 1e-9)
        if waiting >= _FEW:
            inside = max(inside, waiting / max(rate, 1e-9))
        inside = min(latency, inside)
    shares = {stage: value / waiting for stage, value in sampled.items()} if waiting else {WORK: 1.0}
    stages = {stage: inside * shares.get(stage, 0.0) for stage in STAGES}
    stages[OUTSIDE] = latency - inside
    return stages


def _devices(
    facts: RunFacts,
    latency: float,
    signals: Signals,
    rate: float,
    parts: Sequence[Course],
    window: tuple[float, float],
    usual: Picture | None,
) -> dict[str, float]:
    """The stages of an operation where only devices are seen: what they do not explain is unexplained."""
    stages = dict.fromkeys(STAGES, 0.0)
    if facts.database:
        log = {device: role for device, role in facts.devices.items() if role == "log"} or facts.devices
        writes = [signals["await", device, "write"] for device in log if ("await", device, "write") in signals]
        written = sum(signals.get(("rate", device, "write"), 0.0) for device in log)
        if writes and written * _COMMITS >= rate:
            stages[LOG] = max(writes)
        for device in facts.devices:
            key = ("rate", device, "read")
            each = signals.get(key, 0.0) / max(rate, 1e-9)
            if usual and usual.rate:
                each = min(each, max(usual.signals.get(key, 0.0) / usual.rate, 0.01))
            stages[DATA] += each * signals.get(("await", device, "read"), 0.0)
    elif facts.roles and not facts.roles.unit.in_bytes:
        done = {part.op or "any": part.window(*window)[1] for part in parts}
        for device, role in facts.devices.items():
            for op, number in done.items():
                share = number / max(sum(done.values()), 1e-9) / _users(facts, signals, op)
                waited = signals.get(("await", device, op), 0.0)
                stages[LOG if role == "log" else DATA] += share * waited
    known = sum(stages.values())
    if known > latency > 0:
        stages = {stage: value * latency / known for stage, value in stages.items()}
    stages[UNEXPLAINED] = max(0.0, latency - known)
    return stages


def below(of: Picture, devices: Mapping[str, str]) -> Picture:
    """The picture with the waits for devices split into those for their vdisks and for the path to them, where both are
    known.
    """
    stages = dict(of.stages)
    for stage, role in ((LOG, "log"), (DATA, "data")):
        waited, inside = 0.0, 0.0
        for op in ("write",) if stage == LOG else ("read", "write"):
            polled = [key[1] for key in of.signals if key[0] == "polled" and key[2] == role]
            latency = max((of.signals.get(("latency", vdisk, op), 0.0) for vdisk in polled), default=0.0)
            awaits = [of.signals.get(("await", device, op), 0.0) for device, known in devices.items() if known == role]
            if latency and any(awaits):
                waited, inside = max(awaits), latency
                break
        if waited:
            part = min(1.0, inside / waited)
            stages[VDISK] = stages.get(VDISK, 0.0) + stages[stage] * part
            stages[PATH] = stages.get(PATH, 0.0) + stages[stage] * (1 - part)
            stages[stage] = 0.0
    return of._replace(stages=stages)


def _users(facts: RunFacts, signals: Signals, op: str) -> int:
    """Number of the run's devices that do such operations."""
    return max(1, sum(("await", device, op) in signals for device in facts.devices))


def _unseen(seen: Seen, facts: RunFacts, begin: float, end: float) -> Iterator[str]:
    if seen.rates("node_cpu_seconds_total", begin, end, host=facts.server) is None:
        yield "no node_exporter of its server"
    elif not facts.devices:
        yield "its devices have no roles"
    if facts.database and seen.rates("pg_sessions_time_active_seconds_total", begin, end, host=facts.server) is None:
        yield "no postgres_exporter"


def _signals(seen: Seen, facts: RunFacts, begin: float, end: float) -> Iterator[tuple[tuple[str, ...], float]]:
    for host in facts.hosts:
        for key, value in _of_machine(seen, host, begin, end):
            if value is not None:
                yield (key, host), value
    for device in facts.devices:
        yield from _of_device(seen, facts.server, device, begin, end)
    for key, value in _of_database(seen, facts.server, begin, end):
        if value is not None:
            yield key, value
    yield from _of_vdisks(seen, facts.machine, begin, end)


def _of_machine(seen: Seen, host: str, begin: float, end: float) -> Iterator[tuple[str, float | None]]:
    idle, number = 0.0, 0
    for mode in ("idle", "iowait"):
        rates = [one.rate(begin, end) for one in seen.of("node_cpu_seconds_total", host=host, mode=mode)]
        number = number or len(rates)
        idle += sum(rate for rate in rates if rate is not None)
    if number:
        yield "busy", min(1.0, max(0.0, 1 - idle / number))
        steal = seen.rates("node_cpu_seconds_total", begin, end, host=host, mode="steal")
        yield "steal", None if steal is None else steal / number
        running = seen.means("node_procs_running", begin, end, host=host)
        yield "queue", None if running is None else max(0.0, running / number - 1)
    yield "pressure", seen.rates("node_pressure_cpu_waiting_seconds_total", begin, end, host=host)
    yield "memory", seen.rates("node_pressure_memory_waiting_seconds_total", begin, end, host=host)
    yield "reclaim", seen.rates("node_vmstat_pgscan_direct", begin, end, host=host)
    swapped = [seen.rates(f"node_vmstat_pswp{way}", begin, end, host=host) for way in ("in", "out")]
    yield "swap", sum(rate for rate in swapped if rate is not None)
    yield "retransmits", seen.rates("node_netstat_Tcp_RetransSegs", begin, end, host=host)
    yield "silent", _silent(seen, "node", host, begin, end)


def _silent(seen: Seen, job: str, host: str, begin: float, end: float) -> float | None:
    """The share of scrapes without an answer."""
    answered = [mean for one in seen.of("up", job=job, host=host) if (mean := one.mean(begin, end)) is not None]
    return 1 - min(answered) if answered else None


def _of_device(
    seen: Seen, host: str, device: str, begin: float, end: float
) -> Iterator[tuple[tuple[str, ...], float]]:
    for op, number, size in (("read", "reads", "read"), ("write", "writes", "written")):
        where = {"host": host, "device": device}
        done = seen.rates(f"node_disk_{number}_completed_total", begin, end, **where)
        if done is None:
            continue
        yield ("rate", device, op), done
        spent = seen.rates(f"node_disk_{op}_time_seconds_total", begin, end, **where) or 0.0
        if done >= 1:
            yield ("await", device, op), spent / done
            yield ("size", device, op), (seen.rates(f"node_disk_{size}_bytes_total", begin, end, **where) or 0.0) / done
        elif (seen.means("node_disk_io_now", begin, end, **where) or 0.0) >= 1:
            yield ("await", device, op), end - begin


def _of_database(seen: Seen, host: str, begin: float, end: float) -> Iterator[tuple[tuple[str, ...], float | None]]:
    yield ("active",), seen.rates("pg_sessions_time_active_seconds_total", begin, end, host=host)
    # The sessions by what they wait for; of I/O and internal locks, those for the log are of the log device.
    sessions = dict.fromkeys((WORK, LOCK, LOG, DATA, OTHER), 0.0)
    for one in seen.of("pg_sessions_active", host=host):
        kind, mean = one.labels.get("wait_event_type", ""), one.mean(begin, end) or 0.0
        sessions[{"CPU": WORK, "Lock": LOCK, "IO": DATA}.get(kind, OTHER)] += mean if kind != "Client" else 0.0
    scrapes = max((one.times.searchsorted(end, side="right") - one.times.searchsorted(begin, side="right")
                   for one in seen.of("pg_sessions_active", host=host)), default=0)
    for one in seen.of("pg_waiting_processes", host=host, backend_type="client backend"):
        kind, event = one.labels.get("wait_event_type", ""), one.labels.get("wait_event", "")
        place = slice(one.times.searchsorted(begin, side="right"), one.times.searchsorted(end, side="right"))
        number = float(one.values[place].sum()) / max(scrapes, 1)
        if event.lower().startswith("wal"):
            moved = min(number, sessions[DATA if kind == "IO" else OTHER])
            sessions[DATA if kind == "IO" else OTHER] -= moved
            sessions[LOG] += moved
    if any(sessions.values()):
        yield from ((("sessions", stage), value) for stage, value in sessions.items())
    yield ("locks",), _highest(seen, "pg_locks_waiting", host, begin, end)
    yield ("lock wait",), _highest(seen, "pg_locks_longest_wait_seconds", host, begin, end)
    yield ("checkpoint",), seen.means("pg_checkpoint_active", begin, end, host=host)
    yield ("checkpoint writes",), seen.rates("pg_buffers_written_bytes_total", begin, end, host=host, by="checkpointer")
    syncing = {"host": host, "backend_type": "checkpointer", "wait_event": "DataFileSync"}
    yield ("checkpoint sync",), seen.means("pg_waiting_processes", begin, end, **syncing)
    for why in ("timed", "requested"):
        yield (why,), seen.rates(f"pg_checkpoint_{why}_total", begin - 5, end, host=host)
    silent = _silent(seen, "postgres", host, begin, end)
    up = seen.means("pg_up", begin, end, host=host)
    yield ("unanswered",), max((value for value in (silent, None if up is None else 1 - up) if value is not None), default=None)


def _highest(seen: Seen, name: str, host: str, begin: float, end: float) -> float | None:
    found = (one.highest(begin, end) for one in seen.of(name, host=host))
    return max((value for value in found if value is not None), default=None)


def _of_vdisks(seen: Seen, machine: str, begin: float, end: float) -> Iterator[tuple[tuple[str, ...], float]]:
    """Figures of the machine's vdisks from polls within the window; a page covers the 3 s before."""
    for info in seen.of("nutanix_vdisk_info", vm=machine) if machine else ():
        vdisk, cvm = info.labels.get("vdisk", ""), info.labels.get("cvm", "")
        polls = [value for one in seen.of("nutanix_cvm_last_success_timestamp_seconds", cvm=cvm) for value in one.values]
        polled = max((poll for poll in polls if begin + 1 <= poll <= end), default=None)
        if polled is None:
            continue
        role = "log" if info.labels.get("role") in LOG_ROLES else "data"
        yield ("polled", vdisk, role), polled
        begin_here = min(poll for poll in polls if poll >= begin + 1)
        of = {"cvm": cvm, "vdisk": vdisk}
        for op in ("read", "write"):
            for key, name in (("latency", "latency_seconds"), ("ops", "ops_per_second")):
                value = seen.means(f"nutanix_vdisk_frontend_{name}", begin_here, end, op=op, **of)
                if value is not None:
                    yield (key, vdisk, op), value
        figures = {
            "oplog share": seen.means("nutanix_vdisk_write_destination_ratio", begin_here, end, destination="oplog", **of),
            "oplog bytes": seen.means("nutanix_vdisk_oplog_bytes", begin_here, end, **of),
            "backend": seen.means("nutanix_vdisk_backend_latency_seconds", begin_here, end, **of),
            "size": seen.means("nutanix_vdisk_frontend_operation_size_bytes", begin_here, end, **of),
            "sequential": seen.means("nutanix_vdisk_sequential_ratio", begin_here, end, op="write", **of),
            "queued": max(
                (
                    seen.means("nutanix_stargate_queue_operations", begin_here, end, queue=queue, state="queued", cvm=cvm) or 0.0
                    for queue in ("qos", "oplog_qos")
                ),
            ),
            "oplog fill": seen.means("nutanix_oplog_utilisation_ratio", begin_here, end, cvm=cvm),
        }
        for word in ("hdd", "remote"):
            shares = [
                one.mean(begin_here, end) or 0.0
                for one in seen.of("nutanix_vdisk_read_source_ratio", **of)
                if word in one.labels.get("source", "")
            ]
            figures[word] = sum(shares)
        yield from (((key, vdisk), value) for key, value in figures.items() if value is not None)
