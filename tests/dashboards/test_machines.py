"""What the dashboards show of a run does not depend on other runs, machines, controllers and exporters.

Four machines with node_exporters, a run of ten VMs on each at the same time, four controllers of two clusters: the
series of all of them are in one Prometheus, and those of one run's machine alone in another. Each query of each panel
has to give the same. Devices and vdisks of one name have other roles elsewhere, both clusters number their vdisks
alike, and two exporters know the same runs and poll the same controllers, one of them without a mapping.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.backfilled import Made, served
from tests.support.grafana import FILES, Json, View, load, targets

pytestmark = pytest.mark.system

END = 1_790_000_000
SECONDS = 300
STEP = 2
BEGIN = END - SECONDS
MACHINES = (1, 2, 3, 4)
RUNS = [f"r{number}" for number in MACHINES]
DEVICES = {1: {"sdb": "log", "sdc": "data"}, 2: {"sdb": "data", "sdc": "log"}}
"""By the parity of the machine's number."""
BOARDS = [path for path in FILES if path.stem in ("live", "spike", "nutanix", "locality", "pgbench", "density")]
SLOWER = 60
"""How many times its usual the log device's await is on machine 4, in the last minute; on the others it stays."""


def _machine(number: int, exporter: int) -> Iterator[Made]:
    """A run of ten workers, the machine it uses, and what is recorded of it. Rates and latencies go by the number."""
    run, host = f"r{number}", f"h{number}"
    instance = f'instance="exporter{exporter}:19777"'
    roles = DEVICES[1 if number % 2 else 2]

    def constant(name: str, labels: str, value: float) -> Made:
        return Made(name, labels, lambda _: value)

    def growing(name: str, labels: str, rate: float) -> Made:
        return Made(name, labels, lambda time: rate * (time - BEGIN))

    for worker in range(1, 11):
        who = f'{instance},run="{run}",worker="db{worker}"'
        vm = f"vm{number}-{worker}"
        yield constant("benchwatch_run_info", f'{who},tool="pgbench",tool_version="17.2"', 1)
        for role in ("server", "client"):
            yield constant("benchwatch_run_host_info", f'{who},host="{host}",role="{role}"', 1)
        yield constant("benchwatch_run_vm_info", f'{who},host="{host}",vm="{vm}"', 1)
        for device, role in roles.items():
            yield constant("benchwatch_run_disk_info", f'{who},host="{host}",device="{device}",role="{role}"', 1)
        yield constant("benchwatch_run_start_timestamp_seconds", who, BEGIN - number)
        yield constant("benchwatch_run_report_interval_seconds", who, 1)
        yield constant("benchwatch_run_latency_objective_seconds", who, 0.01 * number)
        yield constant("benchwatch_run_state", f'{who},state="running"', 1)
        yield Made("benchwatch_run_last_report_timestamp_seconds", who, lambda time: time - 0.1 * number)
        yield constant("pgbench_tps", who, 100 * number)
        yield constant("pgbench_latency_average_seconds", who, 0.001 * number)
        yield constant("pgbench_latency_stddev_seconds", who, 0.0001 * number)
        for quantile in ("0.5", "0.95", "0.99", "0.999", "1"):
            yield constant("pgbench_latency_window_seconds", f'{who},quantile="{quantile}"', 0.002 * number)
        for name in ("transactions", "failed_transactions", "skipped_transactions", "retried_transactions", "retries"):
            yield growing(f"pgbench_{name}_total", who, 100 * number)
        for bound in ("0.001", "0.01", "+Inf"):
            yield growing("pgbench_latency_seconds_bucket", f'{who},script="0",le="{bound}"', 100 * number)
        yield constant("pgbench_result_tps", who, 90 * number)
        yield constant("pgbench_result_latency_average_seconds", who, 0.001 * number)
    for device, role in (*roles.items(), ("sda", "")):
        disk = f'instance="{host}:9100",job="node",host="{host}",device="{device}"'
        yield constant("node_disk_io_now", disk, number)
        for name, rate in (
            *((f"{op}s_completed_total", 100.0 * number) for op in ("read", "write")),
            *((f"{op}s_merged_total", 10.0 * number) for op in ("read", "write")),
            ("read_bytes_total", 8192.0 * number),
            ("written_bytes_total", 8192.0 * number),
            ("io_time_seconds_total", 0.1 * number),
            ("io_time_weighted_seconds_total", 0.2 * number),
            ("read_time_seconds_total", 0.1 * number),
        ):
            yield growing(f"node_disk_{name}", disk, rate)
        more = SLOWER - 1 if number == 4 and role == "log" else 0
        yield Made(
            "node_disk_write_time_seconds_total",
            disk,
            lambda time, more=more: 0.1 * number * (time - BEGIN + more * max(0, time - (END - 60))),  # type: ignore[misc]
        )
    node = f'instance="{host}:9100",job="node",host="{host}"'
    for mode, part in (("idle", 0.5), ("user", 0.1 * number), ("steal", 0.01 * number), ("iowait", 0.02)):
        yield growing("node_cpu_seconds_total", f'{node},cpu="0",mode="{mode}"', part)
    for name in ("cpu", "io", "memory"):
        yield growing(f"node_pressure_{name}_waiting_seconds_total", node, 0.1 * number)
    for name in ("Dirty", "Writeback"):
        yield constant(f"node_memory_{name}_bytes", node, 1e6 * number)
    for way in ("receive", "transmit"):
        yield growing(f"node_network_{way}_bytes_total", f'{node},device="eth0"', 1e6 * number)
        yield growing(f"node_network_{way}_drop_total", f'{node},device="eth0"', number)
    database = f'instance="{host}:9187",job="postgres",host="{host}",server="{host}:5432"'
    yield constant("pg_sessions_active", f'{database},wait_event_type="IO"', number)
    for name in ("active", "idle_in_transaction"):
        yield growing(f"pg_sessions_time_{name}_seconds_total", database, number)
    yield constant("pg_locks_waiting", database, number)
    yield constant("pg_locks_longest_wait_seconds", database, number)
    yield constant("pg_checkpoint_active", database, 1)
    yield growing("pg_wal_bytes_total", database, 1e6 * number)
    yield growing("pg_buffers_written_bytes_total", f'{database},by="checkpointer"', 1e6 * number)
    where = f'run="{run}",host="{host}"'
    for name, value in (("rate", 100 * number), ("rate_median5m", 200)):
        yield constant(f"worker:operations:{name}", f'{instance},run="{run}",worker="db1"', value)
    yield constant("worker:latency_seconds:mean", f'{instance},run="{run}",worker="db1"', 0.001 * number)
    yield constant("benchwatch_run_why_info", f'{where},layer="path",text="t{number}"', 1)
    yield constant("benchwatch_run_why_since_timestamp_seconds", f'run="{run}"', END - 60)
    for when in ("usual", "now"):
        yield constant("benchwatch_run_why_seconds", f'run="{run}",stage="path",when="{when}"', 0.001 * number)
    yield constant("run:benchmark_slowness:ratio", where, number)
    yield constant("run:benchmark_slow:info", where, 1)
    yield constant("pg_up", database, 1)
    alert = f'alertname="DiskAwaitHigh",severity="warning",{where},role="log",device="sdb",op="write"'
    yield Made("ALERTS", f'{alert},alertstate="firing"', lambda time: 1 if time >= END - 60 else None)
    yield constant("ALERTS_FOR_STATE", alert, END - 60)


def _cvm(number: int) -> str:
    return f"cvm-{'ab'[(number - 1) // 2]}{number}"


def _controller(number: int, exporter: int, mapped: bool) -> Iterator[Made]:
    """The CVM that hosts the machine's VMs. Numbers of vdisks begin anew in each cluster, with other roles."""
    cvm = _cvm(number)
    instance = f'instance="exporter{exporter}:19777"'
    base = 40000 + 20 * (number % 2)

    def constant(name: str, labels: str, value: float) -> Made:
        return Made(f"nutanix_{name}", f'{instance},cvm="{cvm}"{labels}', lambda _: value)

    node = f'instance="{cvm}:9100",job="node",host="{cvm}",cpu="0"'
    yield Made("node_cpu_seconds_total", f'{node},mode="user"', lambda time: 0.1 * number * (time - BEGIN))
    yield constant("cvm_up", "", 1)
    yield Made("nutanix_cvm_last_success_timestamp_seconds", f'{instance},cvm="{cvm}"', lambda time: time - number)
    yield constant("cvm_poll_duration_seconds", "", 0.1 * number)
    yield constant("oplog_utilisation_ratio", ',store="oplog"', 0.1 * number)
    yield constant("content_cache_hit_ratio", ',kind="range"', 0.1 * number)
    for state in ("queued", "admitted"):
        yield constant("stargate_queue_operations", f',queue="qos",state="{state}"', number)
    for name in ("size", "available"):
        yield constant(f"disk_{name}_bytes", ',disk="1",tier="SSD"', 1e9 * number)
    for place in range(20):
        vm = f"vm{number}-{place // 2 + 1}"
        log = (place + number // 3) % 2 == 0
        vdisk = f',vdisk="{base + place}"'
        entry = (
            f',vm="{vm}",disk="scsi.{place % 2}",role="{"log" if log else "data"}"'
            if mapped
            else ',vm="",disk="",role=""'
        )
        yield constant("vdisk_info", f'{vdisk},vdisk_uuid="{cvm}-{place}",vdisk_name="x"{entry}', 1)
        value = number + 0.01 * place
        for op in ("read", "write"):
            for name in ("ops_per_second", "bytes_per_second", "latency_seconds", "outstanding_ops"):
                yield constant(f"vdisk_frontend_{name}", f'{vdisk},op="{op}"', value)
            yield constant("vdisk_backend_ops_per_second", f'{vdisk},op="{op}"', value)
            yield constant("vdisk_outstanding_ops", f'{vdisk},op="{op}"', value)
            for name in ("random", "sequential"):
                yield constant(f"vdisk_{name}_ratio", f'{vdisk},op="{op}"', 0.1 * value)
            yield constant("vdisk_working_set_bytes", f'{vdisk},op="{op}",window="120s"', value)
            for name in ("frontend_latency", "size"):
                yield constant(f"vdisk_{name}_window_ios", f'{vdisk},op="{op}",le="+Inf"', value)
            yield constant("vdisk_frontend_latency_range_seconds", f'{vdisk},op="{op}",le="+Inf"', value)
            yield constant("vdisk_size_range_bytes", f'{vdisk},op="{op}",le="+Inf"', value)
        for name in (
            "frontend_queue_length",
            "oplog_bytes",
            "oplog_ops_per_second",
            "backend_latency_seconds",
            "frontend_busy_ratio",
        ):
            yield constant(f"vdisk_{name}", vdisk, value)
        yield constant("vdisk_write_destination_ratio", f'{vdisk},destination="oplog"', 0.1 * number)
        yield constant("vdisk_write_destination_bytes_per_second", f'{vdisk},destination="oplog"', number)
        yield constant("vdisk_read_source_bytes_per_second", f'{vdisk},source="estore_hdd_remote"', number)
        yield constant("vdisk_read_source_ratio", f'{vdisk},source="estore_hdd_remote"', 0.1 * number)
        yield constant("vdisk_extent_group_up_migrations", f'{vdisk},window="120s"', value)


_NOT_MADE = {
    "pgbench": {"Behind", "Statements"},
    "density": {"CVM overhead at 80 % load"},
    "locality": {"annotation Moves"},
}
"""Panels about what these runs have not got."""


class Worlds(NamedTuple):
    """The same time with all machines, and with one alone."""

    every: View
    alone: Mapping[int, View]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    folder = tmp_path_factory.mktemp("machines")
    times = range(BEGIN, END + 1, STEP)

    def only(number: int, exporter: int = 1) -> list[Made]:
        return [*_machine(number, exporter), *_controller(number, exporter, mapped=exporter == 1)]

    # What is of no exporter is the same twice.
    together = {one[:2]: one for number in MACHINES for exporter in (1, 2) for one in only(number, exporter)}

    with (
        served(folder, [*together.values()], times, "every") as every,
        served(folder, only(1), times, "first") as first,
        served(folder, only(4), times, "fourth") as fourth,
    ):
        yield Worlds(View(every, END - 240, END), {1: View(first, END - 240, END), 4: View(fourth, END - 240, END)})


def _shown(view: View, dashboard: Json, run: str) -> dict[tuple[str, int], dict[str, list[float]]]:
    """Of each query of each panel the series, without what only says who scraped them."""
    values = view.values(dashboard, {"run": run, "controller": _cvm(int(run[1:]))})
    found = {}
    for place, target in enumerate(targets(dashboard)):
        series = {}
        for one in view.ask(target, values):
            labels = {name: text for name, text in one["metric"].items() if name != "instance"}
            samples = one["values"] if "values" in one else [one["value"]]
            assert str(labels) not in series, (target.panel, labels)
            series[str(sorted(labels.items()))] = [float(value) for _, value in samples]
        found[target.panel, place] = series
    return found


@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_a_runs_panels_show_what_they_would_without_other_machines(path: Path, number: int, worlds: Worlds) -> None:
    dashboard = load(path)
    together, alone = (_shown(view, dashboard, f"r{number}") for view in (worlds.every, worlds.alone[number]))
    for query, series in alone.items():
        assert together[query] == {labels: pytest.approx(values, nan_ok=True) for labels, values in series.items()}, (
            query
        )
    without = {panel for panel, _ in alone} - {panel for (panel, _), series in alone.items() if series}
    assert without == _NOT_MADE.get(path.stem, set()), "nothing is proved by a panel without data"


@pytest.mark.parametrize(("number", "device", "times"), [(1, "sdb", 1.0), (4, "sdc", SLOWER)])
def test_spike_rates_the_log_device_of_the_runs_own_machine(
    number: int, device: str, times: float, worlds: Worlds
) -> None:
    shown = _shown(worlds.every, _board("spike"), f"r{number}")
    (moved,) = (series for (panel, _), series in shown.items() if panel == "What moved most")
    line = [("direction", "rose"), ("what", "log device await"), ("which", f"h{number} {device} write")]
    assert moved[str(line)] == [pytest.approx(times)]
    assert not any("log device" in labels and f"h{number} {device}" not in labels for labels in moved)


def test_machines_disks_and_vdisks_follow_the_chosen_runs(worlds: Worlds) -> None:
    dashboard = _board("live")
    names = ("host", "client", "log_device", "data_device", "cvm", "vdisk", "log_vdisk", "data_vdisk")
    values = worlds.every.values(dashboard, {"run": "r4"})
    numbers = range(40000, 40020)
    # In the second cluster the odd ones are the log's.
    assert [_sorted(values[name].text) for name in names] == [
        *("h4", "h4", "sdc", "sdb", r"cvm-b4"),
        *(f"({'|'.join(map(str, numbers[first::step]))})" for first, step in ((0, 1), (1, 2), (0, 2))),
    ]
    every = worlds.every.values(dashboard, {"run": RUNS})
    assert [_sorted(every[name].text) for name in ("host", "log_device")] == ["(h1|h2|h3|h4)", "(sdb|sdc)"]


def _sorted(choice: str) -> str:
    several = choice.removeprefix("(").removesuffix(")").split("|")
    return f"({'|'.join(sorted(several))})" if len(several) > 1 else choice


def test_disks_of_all_runs_together_have_the_role_of_their_own_machine(worlds: Worlds) -> None:
    view, dashboard = worlds.every, _board("live")
    values = view.values(dashboard, {"run": RUNS})
    target = next(one for one in targets(dashboard) if one.panel == "Written")
    found = {
        (one["metric"]["host"], one["metric"]["what"]): float(one["values"][-1][1]) for one in view.ask(target, values)
    }
    wanted = {(f"h{number}", role): 8192.0 * number for number in MACHINES for role in ("log", "data")}
    assert found == pytest.approx(wanted), "each disk has one role"


def _board(name: str) -> Json:
    return load(next(path for path in FILES if path.stem == name))
