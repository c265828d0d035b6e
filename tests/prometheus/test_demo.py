"""The scene that the demo's simulated CVM plays beside its pgbench and fio, as the rules on vdisks judge it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.load import LoadStream
from benchwatch.nutanix.simulator.scenes import BURST_CYCLE, DATA, LOG
from tests.support.programs import evaluate, series

SECONDS = 3 * BURST_CYCLE
POLLS = range(7, SECONDS + 1, 10)
Of = TypeVar("Of")
CVM = {"instance": "b:1", "cvm": "cvm1"}
ON = f"1x{SECONDS}"
FRONTEND: dict[str, Callable[[LoadStream], float]] = {
    "frontend_latency_seconds": lambda stream: stream.average_latency / 1e6,
    "frontend_ops_per_second": lambda stream: stream.rate,
    "random_ratio": lambda stream: stream.random,
}


def polled(found: Mapping[int, Of], value: Callable[[Of], float]) -> str:
    return f"_x{POLLS.start} " + " ".join(f"{value(one):.9g} _x9" for one in found.values())


def vdisks() -> Iterator[dict[str, str]]:
    cluster = Cluster("checkpoint", cvms=1, vdisks=2, seed=1, clock=lambda: 0)
    for vdisk, role in ((DATA, "data"), (LOG, "log")):
        loads = {second: cluster.load(vdisk, second) for second in POLLS}
        own = {**CVM, "vdisk": vdisk}
        yield series("nutanix_vdisk_info", polled(loads, lambda load: 1), **own, vm="pg1", disk=role, role=role)
        yield series("nutanix_vdisk_oplog_bytes", polled(loads, lambda load: 1024 * load.oplog_kilobytes), **own)
        for op in ("read", "write"):
            for name, value in FRONTEND.items():
                values = polled({second: getattr(load, op) for second, load in loads.items()}, value)
                yield series(f"nutanix_vdisk_{name}", values, **own, op=op)


def benchmark(run: str, counter: str) -> Iterator[dict[str, str]]:
    worker = {"instance": "b:1", "run": run, "worker": "w"}
    yield series("benchwatch_run_state", ON, **worker, state="running")
    yield series("benchwatch_run_start_timestamp_seconds", f"0x{SECONDS}", **worker)
    yield series("benchwatch_run_vm_info", ON, **worker, host="here", vm="pg1")
    yield series(counter, f"0+400x{SECONDS}", **worker)


@pytest.mark.slow(5)
@pytest.mark.parametrize(("run", "counter"), [("fio", "fio_operations_total"), ("tpcb", "pgbench_transactions_total")])
def test_its_checkpoints_of_a_healthy_cluster_raise_no_alert(run: str, counter: str, tmp_path: Path) -> None:
    alerts = f"count by (alertname, vdisk, op) (count_over_time(ALERTS{{alertstate='firing'}}[{SECONDS}s]))"
    evaluate(tmp_path, [*vdisks(), *benchmark(run, counter)], SECONDS, {alerts: {}}, ("runs", "vdisks"))
