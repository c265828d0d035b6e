"""The layer that stands out: one fault at a time on a machine with a database, two devices and two vdisks."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from tests.support.programs import GROUPS, RULE_FILES, judged, output, program, series

SECONDS = 140
FAULT = range(95, 121)
"""When the fault is active, seconds."""
BEFORE, DURING, AFTER = 90, 118, 139
EXPORTER = {"instance": "b:1"}

Course = tuple[float, float]
"""A value as usual and during the fault."""

USUAL: dict[str, Course] = {
    "latency": (0.010, 0.010),  # of a transaction, seconds
    "lag": (0, 0),  # of it behind the schedule of a fixed rate
    "tps": (1000, 1000),
    "idle": (0.5, 0.5),  # part of the processors
    "steal": (0, 0),
    "running": (4, 4),  # processes, on 4 processors
    "cpu_pressure": (0.05, 0.05),
    "memory_pressure": (0, 0),
    "log_await": (0.0008, 0.0008),  # seconds, of writes
    "log_writes": (900, 900),
    "data_await": (0.0020, 0.0020),
    "data_read_await": (0.0004, 0.0004),
    "data_writes": (300, 300),
    "log_frontend": (0.0007, 0.0007),
    "data_frontend": (0.0018, 0.0018),
    "backend": (0.0015, 0.0015),
    "oplog_share": (1, 1),
    "oplog_bytes": (1e8, 1e8),
    "hdd": (0, 0),
    "remote": (0, 0),
    "queue": (0, 0),
    "checkpoint": (0, 0),
    "checkpoint_bytes": (0, 0),
    "lock": (0.01, 0.01),
    "sessions": (9, 9),
    "lock_sessions": (0, 0),
    "retransmits": (0, 0),
    "postgres_exporter": (1, 1),  # 1: it answers
    "postgres_exporter_seconds": (0.01, 0.01),
    "postgres": (1, 1),  # 1: it answers its exporter
}
SLOW = {"latency": (0.010, 0.050), "tps": (1000, 200), "sessions": (9, 9.8)}
"""What a benchmark with ten clients does when its disks, or whatever it is, cost 40 ms more."""
LOG = {**SLOW, "log_await": (0.0008, 0.042), "log_writes": (900, 200)}
SILENT = {"postgres_exporter": (1, 0), "postgres_exporter_seconds": (0.01, 1)}
"""The database gives postgres_exporter no answer in time."""
DATA_READS = {**SLOW, "data_await": (0.0020, 0.030), "data_read_await": (0.0004, 0.030)}
CVM = {"log_frontend", "data_frontend", "backend", "oplog_share", "oplog_bytes", "hdd", "remote", "queue"}


def values(course: Course, counter: bool = False) -> str:
    """A sample a second; a counter gains the value each second."""
    usual, fault = course
    found = [fault if second in FAULT else usual for second in range(SECONDS + 1)]
    if not counter:
        return " ".join(f"{value:.9g}" for value in found)
    total, summed = 0.0, []
    for value in found:
        total += value
        summed.append(total)
    return " ".join(f"{value:.9g}" for value in summed)


def polled(course: Course) -> str:
    """As a CVM gives it: read every 10 s, scraped every 10 s."""
    usual, fault = course
    return " ".join(f"{(fault if second in FAULT else usual):.9g} _x9" for second in range(0, SECONDS + 1, 10))


def product(one: Course, other: Course) -> Course:
    return one[0] * other[0], one[1] * other[1]


def machine(name: str, now: Mapping[str, Course], cvm: bool = True) -> Iterator[dict[str, str]]:
    """A run, the machine of its database, and the CVM below, all of this name, on which `now` is the case."""
    worker = {**EXPORTER, "run": name, "worker": "db1"}
    host = {"host": name}

    def gauge(name: str, key: str | Course, **labels: str) -> dict[str, str]:
        return series(name, values(now[key] if isinstance(key, str) else key), **labels)

    def counter(name: str, key: str | Course, **labels: str) -> dict[str, str]:
        return series(name, values(now[key] if isinstance(key, str) else key, counter=True), **labels)

    yield gauge("benchwatch_run_state", (1, 1), **worker, state="running")
    yield gauge("benchwatch_run_start_timestamp_seconds", (0, 0), **worker)
    yield gauge("benchwatch_run_host_info", (1, 1), **worker, **host, role="server")
    for device, role in (("sdb", "log"), ("sdc", "data")):
        yield gauge("benchwatch_run_disk_info", (1, 1), **worker, **host, device=device, role=role)
        seconds = product(now[f"{role}_await"], now[f"{role}_writes"])
        yield counter("node_disk_writes_completed_total", f"{role}_writes", **host, device=device)
        yield counter("node_disk_write_time_seconds_total", seconds, **host, device=device)
        yield counter("node_disk_reads_completed_total", (200, 200), **host, device=device)
        reads = now["data_read_await"] if role == "data" else (0.0004, 0.0004)
        yield counter("node_disk_read_time_seconds_total", product(reads, (200, 200)), **host, device=device)
        yield gauge("node_disk_io_now", (1, 1), **host, device=device)
    yield gauge("pgbench_latency_average_seconds", "latency", **worker)
    yield gauge("pgbench_rate_limit_lag_seconds", "lag", **worker)
    yield gauge("pgbench_tps", "tps", **worker)
    yield counter("pgbench_transactions_total", "tps", **worker)
    for cpu in range(4):
        idle, steal = now["idle"], now["steal"]
        busy = 1 - idle[0] - steal[0], 1 - idle[1] - steal[1]
        for mode, course in (("idle", idle), ("steal", steal), ("user", busy)):
            yield counter("node_cpu_seconds_total", course, **host, cpu=str(cpu), mode=mode)
    yield gauge("node_procs_running", "running", **host)
    yield counter("node_pressure_cpu_waiting_seconds_total", "cpu_pressure", **host)
    yield counter("node_pressure_memory_waiting_seconds_total", "memory_pressure", **host)
    yield counter("node_netstat_Tcp_RetransSegs", "retransmits", **host)
    yield gauge("up", (1, 1), **host, job="node")
    exporter = {**host, "job": "postgres", "instance": f"{name}:9187"}
    yield gauge("up", "postgres_exporter", **exporter)
    yield gauge("scrape_duration_seconds", "postgres_exporter_seconds", **exporter)
    yield gauge("pg_up", "postgres", **exporter)
    yield gauge("pg_checkpoint_active", "checkpoint", **host)
    yield counter("pg_buffers_written_bytes_total", "checkpoint_bytes", **host, by="checkpointer")
    yield gauge("pg_locks_waiting", (1, 1), **host)
    yield gauge("pg_locks_longest_wait_seconds", "lock", **host)
    yield gauge("pg_sessions_active", "sessions", **host, wait_event_type="CPU")
    yield gauge("pg_sessions_active", "lock_sessions", **host, wait_event_type="Lock")
    yield gauge("pg_sessions_active", (0, 0), **host, wait_event_type="IO")
    if not cvm:
        return
    yield gauge("benchwatch_run_vm_info", (1, 1), **worker, **host, vm=name)
    below = {**EXPORTER, "cvm": name}
    yield series("nutanix_cvm_up", polled((1, 1)), **below)
    stamps = " ".join(f"{second} _x9" for second in range(0, SECONDS + 1, 10))
    yield series("nutanix_cvm_last_success_timestamp_seconds", stamps, **below)
    yield series("nutanix_stargate_queue_operations", polled(now["queue"]), **below, queue="qos", state="queued")
    for vdisk, role in (("40043", "log"), ("45269", "data")):
        one = {**below, "vdisk": vdisk}
        yield series("nutanix_vdisk_info", polled((1, 1)), **one, vm=name, disk=f"scsi-{role}", role=role)
        for op, course in (("write", now[f"{role}_frontend"]), ("read", (0.0004, 0.0004))):
            if op == "read" and role == "data" and (now["hdd"][1] or now["remote"][1]):
                course = now["data_frontend"]
            yield series("nutanix_vdisk_frontend_latency_seconds", polled(course), **one, op=op)
            yield series("nutanix_vdisk_frontend_ops_per_second", polled((300, 300)), **one, op=op)
        yield series("nutanix_vdisk_backend_latency_seconds", polled(now["backend"]), **one)
        yield series("nutanix_vdisk_oplog_bytes", polled(now["oplog_bytes"]), **one)
        yield series("nutanix_vdisk_write_destination_ratio", polled(now["oplog_share"]), **one, destination="oplog")
        for source in ("hdd", "remote"):
            row = f"estore_{source}" if source == "hdd" else "estore_ssd_remote"
            yield series("nutanix_vdisk_read_source_ratio", polled(now[source]), **one, source=row)


NONE = "none"
CASES: dict[str, tuple[str, Mapping[str, Course], bool]] = {
    "nothing": (NONE, {}, True),
    "slow for no reason that is seen": (NONE, {"latency": (0.010, 0.050), "sessions": (9, 49)}, True),
    "a log device without a CVM": ("log_device", LOG, False),
    "a data device without a CVM": ("data_device", DATA_READS, False),
    "both devices, data the slower": (
        "data_device",
        {**LOG, "log_await": (0.0008, 0.004), "data_read_await": (0.0020, 0.150)},
        False,
    ),
    "a device that is slow while the benchmark is as usual": (NONE, {"log_await": (0.0008, 0.042)}, False),
    "a device whose slowness is too little for the benchmark's": (
        NONE,
        {**SLOW, "latency": (0.010, 0.2), "log_await": (0.0008, 0.005), "sessions": (9, 39.8)},
        False,
    ),
    "the way to the vdisk": ("path", LOG, True),
    "the way, with a front end that is a little slow too": ("path", {**LOG, "log_frontend": (0.0007, 0.0025)}, True),
    "a vdisk": ("frontend", {**LOG, "log_frontend": (0.0007, 0.040)}, True),
    "a vdisk past its oplog": (
        "oplog",
        {**LOG, "log_frontend": (0.0007, 0.040), "oplog_share": (1, 0.1)},
        True,
    ),
    "a full oplog": ("oplog", {**LOG, "log_frontend": (0.0007, 0.040), "oplog_bytes": (1e8, 5e9)}, True),
    "reads from hard disks": (
        "read_source",
        {**DATA_READS, "data_frontend": (0.0018, 0.029), "hdd": (0, 0.7)},
        True,
    ),
    "reads from another node": (
        "read_source",
        {**DATA_READS, "data_frontend": (0.0018, 0.029), "remote": (0, 0.7)},
        True,
    ),
    "a queue of the CVM": ("cvm_queue", {**LOG, "log_frontend": (0.0007, 0.040), "queue": (0, 200)}, True),
    "a slow back end": ("backend", {**LOG, "log_frontend": (0.0007, 0.040), "backend": (0.0015, 0.030)}, True),
    "an oplog that fills while no vdisk is slow": (
        NONE,
        {**SLOW, "oplog_bytes": (1e8, 5e9)},
        True,
    ),
    "processors": ("server_cpu", {**SLOW, "idle": (0.5, 0.01), "running": (4, 24)}, True),
    "processors that another machine takes": ("server_cpu", {**SLOW, "steal": (0, 0.3), "idle": (0.5, 0.3)}, True),
    "many processes that run after a stall, on processors with time left": (
        "log_device",
        {**LOG, "running": (4, 24)},
        False,
    ),
    "memory": ("memory", {**LOG, "memory_pressure": (0, 0.5)}, False),
    "a checkpoint": (
        "database",
        {
            **LOG,
            "checkpoint": (0, 1),
            "checkpoint_bytes": (0, 1e8),
            "data_await": (0.0020, 0.120),
            "data_writes": (300, 3000),
        },
        False,
    ),
    "a checkpoint that holds up reads before they reach the device": (
        "database",
        {**SLOW, "checkpoint": (0, 1), "checkpoint_bytes": (0, 1e8), "data_writes": (300, 3000)},
        False,
    ),
    "a checkpoint that is spread, while something else is slow": (
        NONE,
        {**SLOW, "checkpoint": (0, 1), "checkpoint_bytes": (0, 1e6), "data_writes": (300, 400)},
        False,
    ),
    "writes to the data device that kernel and checkpointer do": (NONE, {**SLOW, "data_await": (0.0020, 0.6)}, False),
    "another writer while a checkpoint is always under way": (
        "data_device",
        {**DATA_READS, "checkpoint": (1, 1), "checkpoint_bytes": (1e7, 1e7), "data_writes": (300, 900)},
        False,
    ),
    "a lock": ("database", {**SLOW, "latency": (0.010, 2), "tps": (1000, 5), "lock": (0.01, 12)}, False),
    "locks that are waited for while a device is slow": ("log_device", {**LOG, "lock": (0.01, 0.9)}, False),
    "a log device, behind the schedule of a fixed rate": (
        "log_device",
        {**LOG, "latency": (0.010, 3), "lag": (0, 2.95)},
        False,
    ),
    "a lock, while the kernel writes old pages back": (
        "database",
        {
            **SLOW,
            "latency": (0.010, 2),
            "tps": (1000, 5),
            "lock": (0.01, 12),
            "lock_sessions": (0, 9),
            "data_await": (0.0020, 0.6),
        },
        False,
    ),
    "a client that waits for a processor, as always here": (NONE, {**SLOW, "sessions": (9, 3), "idle": (0, 0)}, False),
    "the network": ("network", {**SLOW, "sessions": (9, 3)}, False),
    "a database that gives its exporter no answer in time": ("database", {**SLOW, **SILENT, "sessions": (9, 3)}, False),
    "a database that its exporter does not reach": (
        "database",
        {**SLOW, "sessions": (9, 3), "postgres": (1, 0)},
        False,
    ),
    "a database that has given no answer for long": (
        NONE,
        {**SLOW, "sessions": (9, 3), "postgres_exporter": (0, 0), "postgres_exporter_seconds": (1, 1)},
        False,
    ),
    "an exporter of the database that ends": (NONE, {**SLOW, "sessions": (9, 3), "postgres_exporter": (1, 0)}, False),
    "no answer of the database, on a machine without a processor left": (
        NONE,
        {**SLOW, **SILENT, "sessions": (9, 3), "idle": (0.1, 0.1)},
        False,
    ),
    "a log device, and a database that gives no answer": ("log_device", {**LOG, **SILENT}, False),
    "segments that are sent again": ("network", {**SLOW, "retransmits": (0, 200)}, False),
}


def expectation(expression: str, second: int, samples: Mapping[str, float]) -> dict[str, Any]:
    found = [{"labels": labels, "value": value} for labels, value in samples.items()]
    return {"expr": expression, "eval_time": f"{second}s", "exp_samples": found}


def verdict(name: str, layer: str) -> dict[str, float]:
    return {} if layer == NONE else {f'run:verdict:layer{{run="{name}", host="{name}", layer="{layer}"}}': 1}


def judge(folder: Path, tests: list[dict[str, Any]], rule_files: Sequence[str] = ()) -> None:
    content = {
        "rule_files": rule_files or judged(folder),
        "evaluation_interval": "1s",
        "group_eval_order": list(GROUPS),
        "tests": tests,
    }
    path = folder / "test.yml"
    path.write_text(json.dumps(content))
    assert "SUCCESS" in output(program("promtool"), "test", "rules", path)


@pytest.mark.slow(20)
def test_each_fault_has_its_layer_and_no_other(tmp_path: Path) -> None:
    """All at once, each on a machine of its own, so that none may take another's."""
    loads: list[dict[str, str]] = []
    expected = []
    for name, (layer, now, cvm) in CASES.items():
        loads += machine(name, {**USUAL, **now}, cvm)
        for second, found in ((BEFORE, NONE), (DURING, layer), (AFTER, NONE)):
            expected.append(expectation(f'run:verdict:layer{{run="{name}"}}', second, verdict(name, found)))
    writes = 'run_layer:latency:seconds{run="the way to the vdisk", op!="read", role!="data"}'
    waterfall = f"sum by (layer, which) (round({writes}, 1e-6))"
    spent = {
        ("benchmark", "db1"): 0.050,
        ("database", "latency"): 0.049,
        ("network", "outside"): 0.001,
        ("log_device", "sdb"): 0.042,
        ("path", "log"): 0.0413,
        ("frontend", "40043"): 0.0007,
        ("backend", "40043"): 0.0015,
    }
    labels = {f'{{layer="{layer}", which="{which}"}}': seconds for (layer, which), seconds in spent.items()}
    expected.append(expectation(waterfall, DURING, labels))
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


@pytest.mark.slow(3)
def test_what_made_a_fixed_rate_late_is_named_until_it_has_caught_up(tmp_path: Path) -> None:
    """The network is slow for ten seconds. Then the backlog is worked off, so fast that the log device is busy."""
    name = "late"
    usual, slow, after, well = ("", 90), ("fault", 12), ("backlog", 6), ("", 30)

    def course(usual_value: float, fault: float, backlog: float, counter: bool = False) -> str:
        found = [
            {"": usual_value, "fault": fault, "backlog": backlog}[what]
            for what, times in (usual, slow, after, well)
            for _ in range(times)
        ]
        return " ".join(f"{value:.9g}" for value in (itertools.accumulate(found) if counter else found))

    changed = {
        "pgbench_tps": (150, 75, 450),
        "pgbench_latency_average_seconds": (0.002, 2.1, 1.5),
        "pgbench_rate_limit_lag_seconds": (0.0001, 2, 1.48),
        "node_disk_write_time_seconds_total": (0.015, 0.0075, 0.9),
        "node_disk_writes_completed_total": (150, 75, 450),
    }
    loads = [
        {**one, "values": course(*changed[metric], counter=metric.startswith("node"))}
        if (metric := one["series"].partition("{")[0]) in changed and "sdc" not in one["series"]
        else one
        for one in machine(name, {**USUAL, "sessions": (0.3, 0.3), "log_writes": (150, 150)}, cvm=False)
    ]
    begun, ended, well_at = 90, 102, 108
    network = {f'run:verdict:layer{{run="{name}", host="{name}", layer="network"}}': 1.0}
    busy = 'run_layer:slowness:ratio{layer="log_device"} >= 3'
    expected = [
        expectation("run:verdict:layer", begun - 1, {}),
        *(
            expectation("run:verdict:layer", second, network)
            for second in (begun + 6, ended + 3, well_at - 1, well_at + 1)
        ),
        expectation(f"count({busy})", well_at - 1, {"{}": 1}),
        expectation("run:verdict:layer", well_at + 15, {}),
    ]
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


def test_seconds_without_a_transaction_take_no_time_outside_the_database(tmp_path: Path) -> None:
    """Every other second a lock lets nothing complete, so pgbench reports no latency."""
    name = "a lock in every other second"
    worker = {**EXPORTER, "run": name, "worker": "db1"}
    loads = [
        one
        for one in machine(name, {**USUAL, "sessions": (4, 4)}, cvm=False)
        if not one["series"].startswith("pgbench")
    ]
    loads.append(series("pgbench_tps", "200 0 " * 60, **worker))
    loads.append(series("pgbench_latency_average_seconds", "0.04 stale " * 60, **worker))
    outside = 'round(host_layer:latency:seconds{layer="network"}, 1e-6)'
    expected = [
        expectation(outside, second, {f'{{host="{name}", layer="network", which="outside"}}': 0}) for second in (81, 82)
    ]
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


def standing(name: str, now: Mapping[str, Course], *gone: str) -> Iterator[dict[str, str]]:
    """A machine on which no transaction completes during the fault; series whose names begin with these words end then.

    After it, those that waited are reported within a second.
    """

    def course(usual: str, then: str, after: str) -> str:
        return " ".join((usual,) * FAULT.start + (then,) * len(FAULT) + (after,) + (usual,) * 30)

    changed = {
        "benchwatch_run_state": course("1", "0", "1"),
        "pgbench_tps": course("1000", "stale", "900"),
        "pgbench_latency_average_seconds": course("0.01", "stale", "0.3"),
        "pgbench_rate_limit_lag_seconds": course("0", "stale", "0"),
    }
    for one in machine(name, {**USUAL, **now}, cvm=False):
        metric = one["series"].partition("{")[0]
        values = one["values"].split()
        if metric.startswith(gone):
            values[FAULT.start : FAULT.stop] = ["stale"] * len(FAULT)
        yield {**one, "values": changed.get(metric, " ".join(values))}
    worker = {**EXPORTER, "run": name, "worker": "db1"}
    yield series("benchwatch_run_state", course("0", "1", "0"), **worker, state="stalled")


@pytest.mark.slow(4)
def test_a_database_that_stands_still_is_named_and_never_the_network(tmp_path: Path) -> None:
    """Its processes are stopped (SIGSTOP), or a lock stops its sessions; its exporter ends; the machine is away."""
    lock = {"lock": (0.01, 12), "lock_sessions": (0, 9)}
    ended = {"postgres_exporter": (1, 0)}
    loads = [*standing("stopped", SILENT, "pg_"), *standing("locked", lock), *standing("unmeasured", ended, "pg_")]
    loads += [
        {**one, "values": values((1, 0))} if one["series"].startswith("up{") else one
        for one in standing("away", SILENT, "pg_", "node_")
    ]
    released = FAULT.stop
    expected = [
        expectation(f'run:verdict:layer{{run="{name}"}}', second, verdict(name, layer))
        for name, layer in (
            ("stopped", "database"),
            ("locked", "database"),
            ("unmeasured", NONE),
            ("away", NONE),
        )
        for second, layer in (
            (BEFORE, NONE),
            (FAULT.start + 8, layer),
            (DURING, layer),
            (released + 1, layer),
            (released + 3, layer),
            (released + 15, NONE),
        )
    ]
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


@pytest.mark.slow(3)
def test_processors_of_the_client_are_named_on_its_machine_and_not_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its figures, the same is the network: a transaction takes longer, and not within the database.

    The processors are seen to be busy a little later than the benchmark is slow, and no longer at its end.
    """
    name, busy = "the network", {**USUAL, "idle": (0.5, 0.01), "running": (4, 24)}
    loads = [*machine(name, {**USUAL, **CASES[name][1]}, cvm=False)]
    worker = {**EXPORTER, "run": name, "worker": "db1"}
    loads.append(series("benchwatch_run_host_info", values((1, 1)), **worker, host="client", role="client"))
    own = ("node_cpu", "node_procs", "node_pressure_cpu")
    monkeypatch.setattr(f"{__name__}.FAULT", FAULT[:-1])
    loads += [one for one in machine("client", busy, cvm=False) if one["series"].startswith(own)]
    expected = [
        expectation("run:verdict:layer", BEFORE, {}),
        expectation(
            "run:verdict:layer", DURING, {f'run:verdict:layer{{run="{name}", host="client", layer="client_cpu"}}': 1}
        ),
        *(expectation('run:verdict:layer{layer="network"}', second, {}) for second in range(BEFORE, AFTER)),
        expectation("run:verdict:layer", AFTER, {}),
    ]
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


@pytest.mark.slow(3)
def test_what_another_run_waits_for_outside_the_disks_explains_no_slow_fio(tmp_path: Path) -> None:
    """fio beside a pgbench that waits for the network or for a lock has neither a network nor a database."""
    loads: list[dict[str, str]] = []
    expected = []
    for name in ("the network", "a lock"):
        layer, now, cvm = CASES[name]
        worker = {**EXPORTER, "run": f"fio beside {name}", "worker": "disk1"}
        loads += machine(name, {**USUAL, **now}, cvm)
        loads.append(series("benchwatch_run_state", values((1, 1)), **worker, state="running"))
        loads.append(series("benchwatch_run_start_timestamp_seconds", values((0, 0)), **worker))
        loads.append(series("benchwatch_run_host_info", values((1, 1)), **worker, host=name, role="server"))
        loads.append(series("fio_latency_average_seconds", values((0.001, 0.010)), **worker, job="data", op="read"))
        loads.append(series("fio_iops", values((1000, 900)), **worker, job="data", op="read"))
        slow = {f'{{run="{run}"}}': 1.0 for run in (name, worker["run"])}
        expected.append(expectation(f'max by (run) (run:benchmark_slow:info{{host="{name}"}} ^ 0)', DURING, slow))
        expected.append(expectation(f'run:verdict:layer{{host="{name}"}}', DURING, verdict(name, layer)))
    judge(tmp_path, [{"interval": "1s", "input_series": loads, "promql_expr_test": expected}])


VERDICTS = {
    "the way to the vdisk": "Of the 40 ms more, 39 ms are the path.",
    "a full oplog": "Of the 40 ms more, 39 ms are the oplog.",
    "slow for no reason that is seen": "",
}
"""What `benchwatch why` says of these cases; of the last one nothing."""


def firing(name: str, verdict: str, links: Mapping[str, str]) -> dict[str, Any]:
    """LatencySpike of the worker of this name."""
    return {
        "exp_labels": {**EXPORTER, "run": name, "worker": "db1", "tool": "pgbench", "severity": "warning"},
        "exp_annotations": {
            "summary": f"pgbench latency of {name}/db1 spiked to 50ms",
            "description": (
                f"Mean latency of one report of pgbench, worker db1 of run {name}: 50ms; its median of the last 5 min "
                "is 10ms. Something made all clients wait at once: a checkpoint or flush, the device or vdisk, a "
                "neighbour. Look at the log and data device (await, queue, writes) and the vdisks' front-end latency "
                "and write destination at the same second."
            ),
            "verdict": verdict,
            **links,
        },
    }


@pytest.mark.slow(10)
def test_alert_says_what_why_says_and_where_to_look(tmp_path: Path) -> None:
    """With the bases of the links configured; the last one without."""
    base = {"grafana": "http://127.0.0.1:3000", "runbooks": "https://example.com/"}
    *named, last = VERDICTS
    judge(tmp_path, [alerts(named, base), alerts([last], {})], [*map(str, RULE_FILES)])


def alerts(names: Sequence[str], base: Mapping[str, str]) -> dict[str, Any]:
    """The machines of these cases together, and the alerts that fire during their faults."""
    loads: list[dict[str, str]] = []
    expected = []
    for name in names:
        _, now, cvm = CASES[name]
        loads += machine(name, {**USUAL, **now}, cvm)
        if VERDICTS[name]:
            said = {**EXPORTER, "run": name, "host": name, "layer": "oplog", "text": VERDICTS[name]}
            loads.append(series("benchwatch_run_why_info", values((1, 1)), **said))
        begun, where = FAULT[0] * 1000, f"var-run={quote_plus(name)}&var-host={quote_plus(name)}"
        links = {
            "dashboard_url": base.get("grafana", "")
            and f"{base['grafana']}/d/benchwatch-spike/?{where}&from={begun - 120_000}&to={begun + 120_000}",
            "runbook_url": f"{base.get('runbooks', '')}docs/alerts.md#latencyspike",
        }
        expected.append(firing(name, VERDICTS[name], links))
    check = {"alertname": "LatencySpike", "eval_time": f"{DURING}s", "exp_alerts": expected}
    return {"interval": "1s", "input_series": loads, "external_labels": dict(base), "alert_rule_test": [check]}
