"""Figures of a run's machines, devices, database and vdisks in one window of time."""

from collections.abc import Iterator, Mapping

import numpy as np

from .run_facts import LOG_ROLES, RunFacts
from .seen import Samples, Seen

WORK, LOCK, OTHER, LOG, DATA = (
    *("database at work", "lock", "other waits of the database"),
    *("log device", "data device"),
)
"""What a session of a database does or waits for."""
Signals = Mapping[tuple[str, ...], float]
"""Figures by what they are and of what: ("await", "sdb", "write") in seconds."""
Signal = tuple[tuple[str, ...], float]
_OF_VDISK: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "oplog share": ("vdisk_write_destination_ratio", {"destination": "oplog"}),
    "oplog bytes": ("vdisk_oplog_bytes", {}),
    "backend": ("vdisk_backend_latency_seconds", {}),
    "size": ("vdisk_frontend_operation_size_bytes", {}),
    "sequential": ("vdisk_sequential_ratio", {"op": "write"}),
}
"""Families of a vdisk, with labels, by what they are."""
_OF_PROCESS = {
    "process": "benchwatch_process_processors",
    "process bytes": "benchwatch_process_disk_bytes_per_second",
}


def signals_of(seen: Seen, facts: RunFacts, begin: float, end: float) -> Signals:
    """All that is known of the window."""
    return dict(_signals(seen, facts, begin, end))


def _signals(seen: Seen, facts: RunFacts, begin: float, end: float) -> Iterator[Signal]:
    for host in facts.hosts:
        for name, measured in _of_machine(seen, host, begin, end):
            if measured is not None:
                yield (name, host), measured
        yield from _of_processes(seen, host, begin, end)
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


def _of_processes(seen: Seen, host: str, begin: float, end: float) -> Iterator[Signal]:
    scrapes = _scrapes(seen, "node_cpu_seconds_total", host, begin, end)
    for key, name in _OF_PROCESS.items():
        for one in seen.of(name, host=host):
            if one.mean(begin, end) is not None:
                yield (key, host, one.labels.get("process", "")), _while_present(one, scrapes, begin, end)


def _scrapes(seen: Seen, name: str, host: str, begin: float, end: float) -> int:
    """How often a metric that is always there was scraped."""
    found = (np.searchsorted(one.times, (begin, end), side="right") for one in seen.of(name, host=host))
    return max((int(last - first) for first, last in found), default=0)


def _while_present(one: Samples, scrapes: int, begin: float, end: float) -> float:
    """The mean of a series that is 0 where it is absent."""
    present = (one.times > begin) & (one.times <= end)
    return float(one.values[present].sum()) / max(scrapes, int(present.sum()), 1)


def _silent(seen: Seen, job: str, host: str, begin: float, end: float) -> float | None:
    """The share of scrapes without an answer."""
    answered = [mean for one in seen.of("up", job=job, host=host) if (mean := one.mean(begin, end)) is not None]
    return 1 - min(answered) if answered else None


def _of_device(seen: Seen, host: str, device: str, begin: float, end: float) -> Iterator[Signal]:
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
    scrapes = _scrapes(seen, "pg_sessions_active", host, begin, end)
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
    for one in seen.of("pg_autovacuum_workers", host=host):
        yield ("autovacuum", one.labels.get("relation", "")), _while_present(one, scrapes, begin, end)
    yield ("locks",), _highest(seen, "pg_locks_waiting", host, begin, end)
    yield ("lock wait",), _highest(seen, "pg_locks_longest_wait_seconds", host, begin, end)
    yield ("checkpoint",), seen.means("pg_checkpoint_active", begin, end, host=host)
    yield ("checkpoint writes",), seen.rates("pg_buffers_written_bytes_total", begin, end, host=host, by="checkpointer")
    syncing = {"host": host, "backend_type": "checkpointer", "wait_event": "DataFileSync"}
    yield ("checkpoint sync",), seen.means("pg_waiting_processes", begin, end, **syncing)
    pauses = seen.of("pg_waiting_processes", host=host, wait_event="CheckpointWriteDelay")
    yield ("checkpoint pauses",), sum(_while_present(one, scrapes, begin, end) for one in pauses)
    yield ("max wal size",), seen.means("pg_checkpoint_max_wal_size_bytes", begin, end, host=host)
    yield ("completion target",), seen.means("pg_checkpoint_completion_target_ratio", begin, end, host=host)
    for why in ("timed", "requested"):
        yield (why,), seen.rates(f"pg_checkpoint_{why}_total", begin - 5, end, host=host)
    silent = _silent(seen, "postgres", host, begin, end)
    up = seen.means("pg_up", begin, end, host=host)
    yield (
        ("unanswered",),
        max((value for value in (silent, None if up is None else 1 - up) if value is not None), default=None),
    )


def _highest(seen: Seen, name: str, host: str, begin: float, end: float) -> float | None:
    found = (one.highest(begin, end) for one in seen.of(name, host=host))
    return max((value for value in found if value is not None), default=None)


def _of_vdisks(seen: Seen, machine: str, begin: float, end: float) -> Iterator[Signal]:
    """Figures of the machine's vdisks from polls within the window; a page covers the 3 s before."""
    for info in seen.of("nutanix_vdisk_info", vm=machine) if machine else ():
        vdisk, cvm = info.labels.get("vdisk", ""), info.labels.get("cvm", "")
        polls = [
            value for one in seen.of("nutanix_cvm_last_success_timestamp_seconds", cvm=cvm) for value in one.values
        ]
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
        means = {
            key: seen.means(f"nutanix_{name}", begin_here, end, **of, **more) for key, (name, more) in _OF_VDISK.items()
        }
        means["oplog fill"] = seen.means("nutanix_oplog_utilisation_ratio", begin_here, end, cvm=cvm)
        queues = (
            seen.means("nutanix_stargate_queue_operations", begin_here, end, queue=queue, state="queued", cvm=cvm)
            for queue in ("qos", "oplog_qos")
        )
        means["queued"] = max((length for length in queues if length is not None), default=None)
        for word in ("hdd", "remote"):
            sources = seen.of("nutanix_vdisk_read_source_ratio", **of)
            means[word] = sum(
                one.mean(begin_here, end) or 0.0 for one in sources if word in one.labels.get("source", "")
            )
        yield from (((key, vdisk), value) for key, value in means.items() if value is not None)
