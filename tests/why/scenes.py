"""A pgbench run on its machine and database as scrapes saw it: 120 s as usual, then 20 s of a fault.

A scene says what each second has, as usual and during the fault; counters are their sums.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from benchwatch.metrics.prometheus import Samples, Seen

T0 = 1_790_000_000.0
FAULT, LENGTH = 120, 140
USUAL: Mapping[str, float] = {
    "tps": 1000,
    "latency": 0.006,
    "lag": 0,
    "active": 5.0,
    "CPU": 2.0,
    "IO": 2.6,
    "Lock": 0.1,
    "LWLock": 0.3,
    "wal": 1.3,
    "idle": 0.6,
    "iowait": 0.15,
    "steal": 0.01,
    "pressure": 0.01,
    "running": 1,
    "log_writes": 500,
    "log_await": 0.0008,
    "data_reads": 800,
    "data_read_await": 0.0005,
    "data_writes": 100,
    "data_write_await": 0.001,
    "locks": 0,
    "lock_wait": 0,
    "checkpoint": 0,
    "checkpoint_bytes": 0,
    "requested": 0,
    "memory": 0,
    "retransmits": 0,
    "client_idle": 1.8,
    "client_pressure": 0.01,
    "up": 1,
    "pg_up": 1,
}
"""By second; the modes are those of each of two processors."""
HOSTS = {"server": "db1", "client": "client1"}


def seen(
    fault: Mapping[str, float],
    missing: Iterable[str] = (),
    more: Iterable[Samples] = (),
    usual: Mapping[str, float] = USUAL,
) -> Seen:
    """What was scraped; no series whose name begins with one of `missing`."""
    found = [*_series(usual, {**usual, **fault}), *more]
    return Seen(one for one in found if not one.labels["__name__"].startswith(tuple(missing) or ("?",)))


def gauge(name: str, usual: float, now: float, **labels: str) -> Samples:
    """One value a second."""
    times = T0 + np.arange(LENGTH) + 0.3
    return Samples({"__name__": name, **labels}, times, np.where(np.arange(LENGTH) < FAULT, usual, now).astype(float))


def _series(usual: Mapping[str, float], now: Mapping[str, float]) -> Iterator[Samples]:
    def level(name: str, key: str, **labels: str) -> Samples:
        return gauge(name, usual[key], now[key], **labels)

    def counter(name: str, key: str, also: str = "", **labels: str) -> Samples:
        """The sum of a level, or of the product of two."""
        one = gauge(name, usual[key] * (usual[also] if also else 1), now[key] * (now[also] if also else 1), **labels)
        return one._replace(values=np.cumsum(one.values) - one.values[0])

    run: dict[str, Any] = {"run": "tpcb", "worker": "db1"}
    yield level("pgbench_tps", "tps", **run)
    yield level("pgbench_latency_average_seconds", "latency", **run)
    yield level("pgbench_rate_limit_lag_seconds", "lag", **run)
    yield gauge("pgbench_clients", 8, 8, **run)
    for role, host in HOSTS.items():
        yield gauge("benchwatch_run_host_info", 1, 1, **run, host=host, role=role)
    yield gauge("benchwatch_run_disk_info", 1, 1, **run, host="db1", device="sdb", role="log")
    yield gauge("benchwatch_run_disk_info", 1, 1, **run, host="db1", device="sdc", role="data")
    host = {"host": "db1"}
    yield level("up", "up", **host, job="node")
    for mode in ("idle", "iowait", "steal"):
        for cpu in "01":
            yield counter("node_cpu_seconds_total", mode, **host, mode=mode, cpu=cpu)
    for cpu in "01":
        one = counter("node_cpu_seconds_total", "client_idle", host="client1", mode="idle", cpu=cpu)
        yield one._replace(values=one.values / 2)
    yield counter("node_pressure_cpu_waiting_seconds_total", "pressure", **host)
    yield counter("node_pressure_cpu_waiting_seconds_total", "client_pressure", host="client1")
    yield counter("node_pressure_memory_waiting_seconds_total", "memory", **host)
    yield counter("node_netstat_Tcp_RetransSegs", "retransmits", **host)
    yield level("node_procs_running", "running", **host)
    for device, op, number, await_ in (
        ("sdb", "write", "log_writes", "log_await"),
        ("sdc", "read", "data_reads", "data_read_await"),
        ("sdc", "write", "data_writes", "data_write_await"),
    ):
        disk = {**host, "device": device}
        yield counter(f"node_disk_{op}s_completed_total", number, **disk)
        yield counter(f"node_disk_{op}_time_seconds_total", number, await_, **disk)
    yield level("pg_up", "pg_up", **host)
    yield counter("pg_sessions_time_active_seconds_total", "active", **host)
    for kind in ("CPU", "IO", "Lock", "LWLock"):
        yield level("pg_sessions_active", kind, **host, wait_event_type=kind)
    wal = {"wait_event": "WALSync", "wait_event_type": "IO", "backend_type": "client backend"}
    yield level("pg_waiting_processes", "wal", **host, **wal)
    yield level("pg_locks_waiting", "locks", **host)
    yield level("pg_locks_longest_wait_seconds", "lock_wait", **host)
    yield level("pg_checkpoint_active", "checkpoint", **host)
    yield counter("pg_checkpoint_requested_total", "requested", **host)
    yield counter("pg_buffers_written_bytes_total", "checkpoint_bytes", **host, by="checkpointer")
