"""All rules where there is much: joins that must stay unambiguous, and many workers that come and go."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.support.programs import evaluate, series

SECONDS = 120
ONE, ZERO = f"1x{SECONDS}", f"0x{SECONDS}"


def exporter(instance: str, job: str) -> Iterator[dict[str, str]]:
    """What a scrape of an exporter with two runs, two CVMs and two disks brings."""
    here = {"instance": instance, "job": job}
    for run, role in (("one", "log"), ("two", "wal")):
        worker = {**here, "run": run, "worker": "db1"}
        yield series("benchwatch_run_state", ONE, **worker, state="running")
        yield series("benchwatch_run_state", ZERO, **worker, state="failed")
        yield series("benchwatch_run_start_timestamp_seconds", ZERO, **worker)
        yield series("benchwatch_run_latency_objective_seconds", f"0.01x{SECONDS}", **worker)
        for host in ("db1", "db2"):
            yield series("benchwatch_run_host_info", ONE, **worker, host=host, role="server")
            yield series("benchwatch_run_disk_info", ONE, **worker, host=host, device="sdb", role=role)
            yield series("benchwatch_run_vm_info", ONE, **worker, host=host, vm="pg1")
        yield series("benchwatch_stream_errors_total", ZERO, **worker, tool="pgbench", reason="progress")
        yield series("pgbench_tps", f"1000x{SECONDS}", **worker)
        yield series("pgbench_latency_average_seconds", f"0.001x{SECONDS}", **worker)
        yield series("pgbench_transactions_total", f"0+1000x{SECONDS}", **worker)
        yield series("pgbench_failed_transactions_total", ZERO, **worker)
    yield series("up", ONE, **here)
    yield series("scrape_duration_seconds", f"0.01x{SECONDS}", **here)
    yield series("benchwatch_disk_info", ONE, **here, host="db1", device="sdc", role="data")
    yield series("benchwatch_watch_errors_total", ZERO, **here, reason="run_yaml")
    for name in ("cvm1", "cvm2"):
        cvm = {**here, "cvm": name}
        vdisk = {**cvm, "vdisk": "45269"}
        yield series("nutanix_cvm_up", ONE, **cvm)
        yield series("nutanix_stargate_queue_operations", ZERO, **cvm, queue="qos", state="queued")
        yield series("nutanix_vdisk_info", ONE, **vdisk, vdisk_name="NFS:45269", vm="pg1", disk="scsi.1", role="data")
        yield series("nutanix_vdisk_frontend_latency_seconds", f"0.0005x{SECONDS}", **vdisk, op="write")
        yield series("nutanix_vdisk_frontend_ops_per_second", f"500x{SECONDS}", **vdisk, op="write")
        yield series("nutanix_vdisk_random_ratio", ONE, **vdisk, op="write")
        yield series("nutanix_vdisk_write_destination_ratio", ONE, **vdisk, destination="oplog")
        yield series("nutanix_vdisk_read_source_ratio", ONE, **vdisk, source="estore_ssd")


def machine(host: str, job: str) -> Iterator[dict[str, str]]:
    here = {"instance": f"{host}:9100", "host": host, "job": job}
    yield series("node_cpu_seconds_total", f"0+0.5x{SECONDS}", **here, cpu="0", mode="idle")
    yield series("node_cpu_seconds_total", f"0+0.5x{SECONDS}", **here, cpu="0", mode="user")
    yield series("node_procs_running", ONE, **here)
    for device, op in product(("sdb", "sdc"), ("read", "write")):
        disk = {**here, "device": device}
        yield series(f"node_disk_{op}s_completed_total", f"0+500x{SECONDS}", **disk)
        yield series(f"node_disk_{op}_time_seconds_total", f"0+0.5x{SECONDS}", **disk)


@pytest.mark.slow(3)
def test_everything_twice_is_evaluated_and_fires_nothing_but_that(tmp_path: Path) -> None:
    exporters = product(("b:1", "b:2"), ("benchwatch-live", "all"))
    loads = [entry for instance, job in exporters for entry in exporter(instance, job)]
    loads += [entry for host, job in product(("db1", "db2"), ("node", "also")) for entry in machine(host, job)]
    expected = {
        f'count by (alertname, run, worker) (count_over_time(ALERTS{{alertstate="firing"}}[{SECONDS}s]))': {
            f'{{alertname="WorkerOnTwoExporters", run="{run}", worker="db1"}}': 1 for run in ("one", "two")
        },
        "count(worker:latency_seconds:threshold)": {"{}": 4},
        "count(vdisk:latency_seconds:mean)": {"{}": 2},
        "sum(worker:operations:rate)": {"{}": 4000},
        "count(device:benchwatch_disk_info:role)": {"{}": 3},
        "count(run_host_role:node_disk_writes:rate5s_median5m)": {"{}": 3},
    }
    evaluate(tmp_path, loads, SECONDS, expected)


@pytest.mark.slow(3)
def test_forty_workers_that_come_and_go_fire_nothing_but_one_that_spikes(tmp_path: Path) -> None:
    """Two begin each second and run for 100 s, at levels from 0.1 ms to 4 ms; the last one is slow once."""
    loads = []
    for number in range(40):
        begin, level = number // 2, 0.0001 * (number + 1)
        worker = {"instance": "b:1", "run": "density", "worker": str(number)}
        lived = f"_x{begin}"
        loads += [
            series("benchwatch_run_state", f"{lived} 1x99 0x{SECONDS}", **worker, state="running"),
            series("benchwatch_run_state", f"{lived} 0x99 1x{SECONDS}", **worker, state="finished"),
            series("benchwatch_run_start_timestamp_seconds", f"{lived} {begin}x{SECONDS}", **worker),
            series("pgbench_tps", f"{lived} 500x99 stale", **worker),
        ]
        course = f"{level}x79 {level * 4} {level}x18 stale" if number == 39 else f"{level}x99 stale"
        loads.append(series("pgbench_latency_average_seconds", f"{lived} {course}", **worker))
    expected = {
        f"count by (alertname, worker) (count_over_time(ALERTS[{SECONDS}s]))": {
            '{alertname="LatencySpike", worker="39"}': 1
        },
        f"max_over_time(count(worker:latency_seconds:median5m)[{SECONDS}s:1s])": {"{}": 40},
        "count(worker:benchwatch_run_state:settled)": {},
    }
    evaluate(tmp_path, loads, SECONDS, expected)
