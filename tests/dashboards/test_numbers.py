"""What panels show of known series, to the number, by promtool. Times are seconds, a sample each."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchwatch.why.explanation import NAMES
from tests.support.grafana import DASHBOARDS, FILES, Value, interpolate, load, panels, targets
from tests.support.programs import evaluate, series

SECONDS = 120
STEP = 15
ALL = Value(".*", ".*")
CHOSEN = {
    **dict.fromkeys(("run", "worker", "job", "cvm", "vdisk", "log_vdisk", "data_vdisk", "other_vdisk"), ALL),
    "recorded": Value("()", "()"),
    "baseline": Value("base", "base"),
    "host": Value("h", "h"),
    "client": Value("h", "h"),
    "log_device": ALL,
    "data_device": ALL,
    "__interval": Value(f"{STEP}s", ""),
    "__rate_interval": Value(f"{STEP}s", ""),
    "__range": Value(f"{SECONDS}s", ""),
}
CURVES, OF_LINEAR = "Total TPS by the number of databases", 3
"""Of Density: the panel, and the query of the table."""
Samples = Mapping[str, float]


def expression(dashboard: str, panel: str, place: int = 0, **chosen: str | Value) -> str:
    """A panel's query as Grafana sends it, with all chosen but for what is said."""
    (path,) = [path for path in FILES if path.stem == dashboard]
    queries = [target.expression for target in targets(load(path)) if target.panel == panel]
    given = {name: Value(value, value) if isinstance(value, str) else value for name, value in chosen.items()}
    return interpolate(queries[place], {**CHOSEN, **given})


def variable(dashboard: str, name: str, **chosen: str) -> str:
    """What Prometheus is asked for the values of a variable."""
    (path,) = [path for path in FILES if path.stem == dashboard]
    (query,) = [one["query"]["query"] for one in load(path)["templating"]["list"] if one["name"] == name]
    inner = query.removeprefix("query_result(").removesuffix(")")
    return interpolate(inner, {**CHOSEN, **{name: Value(text, text) for name, text in chosen.items()}})


LANES = "state-timeline"
ALERTS, SLOW = 0, 2
"""Its queries."""
RATE = 3
"""The query of the head for what a run does."""
LANE_NAMES = {
    "client_cpu": "client CPU",
    "server_cpu": "server CPU",
    "log_device": "log disk",
    "data_device": "data disk",
    "path": "path",
}
"""Layers that lanes call otherwise than the sentence does, for shortness."""


def shows(folder: Path, query: str, loads: list[dict[str, str]], expected: Samples) -> None:
    """Fails unless the query gives just these values, by labels, at the end."""
    evaluate(folder, loads, SECONDS, {query: expected}, ())


def pgbench(worker: str, tps: str, latency: str, run: str = "r") -> list[dict[str, str]]:
    return [
        series("pgbench_tps", tps, run=run, worker=worker),
        series("pgbench_latency_average_seconds", latency, run=run, worker=worker),
    ]


def one_after_the_other(name: str, last: str = "stale", **labels: str) -> list[dict[str, str]]:
    """Twelve jobs or runs of ten seconds, each with a rate of 1000; `last` is what follows."""
    changing = next(label for label, value in labels.items() if value == "{}")
    return [
        series(name, f"{'_ ' * 10 * number}1000x9 {last}", **{**labels, changing: f"n{number:02}"})
        for number in range(12)
    ]


@pytest.mark.parametrize(
    ("dashboard", "panel", "shown"),
    [
        ("density", "Processors", {'{mode="user"}': 0.375, '{mode="steal"}': 0.125}),
    ],
)
def test_processors_are_shown_although_a_loaded_machine_missed_scrapes(
    dashboard: str, panel: str, shown: Samples, tmp_path: Path
) -> None:
    (path,) = [path for path in FILES if path.stem == dashboard]
    (target,) = [one for one in targets(load(path)) if one.panel == panel]
    # The shortest that Grafana makes of it at a moment; a graph's is longer.
    window = f"{4 * target.minimum_step}s" if target.instant else "20s"
    loads = [
        series("node_cpu_seconds_total", f"0+{seconds}x{SECONDS - 8} _x8", host="h", cpu=cpu, mode=mode)
        for mode, seconds in (("idle", 0.5), ("user", 0.375), ("steal", 0.125))
        for cpu in ("0", "1")
    ]
    shows(tmp_path, f"round({expression(dashboard, panel, __rate_interval=window)}, 0.0009765625)", loads, shown)


def test_the_modes_of_two_hosts_are_parts_of_all_their_processors(tmp_path: Path) -> None:
    loads = [
        series("node_cpu_seconds_total", f"0+{seconds}x{SECONDS}", host=host, cpu=str(cpu), mode=mode)
        for host, cpus, busy in (("a", 3, 1.0), ("b", 1, 0.5))
        for cpu in range(cpus)
        for mode, seconds in (("idle", 1 - busy), ("user", busy))
    ]
    query = expression("density", "Processors", host=".*")
    shows(tmp_path, query, loads, {'{mode="user"}': 0.875})


def test_the_mean_latency_is_that_of_all_transactions(tmp_path: Path) -> None:
    # 14 reports of 1000 transactions at 1 ms, one of 10 at 1 s: 24 s in 14010 transactions.
    loads = pgbench("db1", f"1000x{SECONDS - 11} 10 1000x9", f"0.001x{SECONDS - 11} 1 0.001x9")
    query = expression("live", "Latency", 0, __interval=f"{STEP * 1000 - 500}ms")
    shows(tmp_path, f"round({query}, 1e-7)", loads, {'{run="r", what="mean"}': 0.0017131})


@pytest.mark.parametrize("rate", ["vdbench_iops", "vdbench_fs_iops"])
def test_the_mean_latency_is_shown_of_raw_devices_and_of_files(rate: str, tmp_path: Path) -> None:
    loads = [
        series(name, f"{value}x{SECONDS}", run="r", worker="w")
        for name, value in ((rate, 1000), ("vdbench_response_time_seconds", 0.002))
    ]
    shows(tmp_path, expression("live", "Latency", 0), loads, {'{run="r", what="mean"}': 0.002})


def test_latencies_of_several_runs_are_of_one_kind(tmp_path: Path) -> None:
    """The p99 of each if all have one, otherwise the mean, and a percentile only of runs without a mean."""

    def run(name: str, *, p99: bool) -> list[dict[str, str]]:
        window = {"run": name, "worker": "w", "quantile": "0.99"}
        return [
            *pgbench("w", f"1000x{SECONDS}", f"0.001x{SECONDS}", run=name),
            series("benchwatch_run_info", f"1x{SECONDS}", run=name, worker="w", tool="pgbench"),
            *([series("pgbench_latency_window_seconds", f"0.004x{SECONDS}", **window)] if p99 else []),
        ]

    def lines(*known: tuple[str, str]) -> dict[str, float]:
        return {f'{{run="{name}", what="{what}"}}': 0.001 if what == "mean" else 0.004 for name, what in known}

    query, one = expression("live", "Latency", 0), run("a", p99=True)
    shows(tmp_path, query, one, lines(("a", "mean"), ("a", "p99")))
    shows(tmp_path, query, one + run("b", p99=True), lines(("a", "p99"), ("b", "p99")))
    sysbench = [
        series("benchwatch_run_info", f"1x{SECONDS}", run="c", worker="w", tool="sysbench"),
        series("sysbench_latency_window_seconds", f"0.004x{SECONDS}", run="c", worker="w", quantile="0.95"),
    ]
    mixed = lines(("a", "mean"), ("b", "mean"), ("c", "p95"))
    shows(tmp_path, query, one + run("b", p99=False) + sysbench, mixed)


@pytest.mark.parametrize(
    ("dashboard", "panel", "place", "name", "labels", "shown"),
    [
        (
            "live",
            "Rate",
            0,
            "fio_iops",
            {"run": "r", "worker": "w", "job": "{}", "op": "read"},
            '{run="r", unit="IOPS"}',
        ),
        ("live", "Rate", 0, "pgbench_tps", {"run": "r", "worker": "{}"}, '{run="r", unit="TPS"}'),
        ("density", "TPS", 0, "pgbench_tps", {"run": "{}", "worker": "w"}, "{}"),
    ],
)
def test_what_follows_each_other_within_a_step_is_not_added_up(
    dashboard: str, panel: str, place: int, name: str, labels: dict[str, str], shown: str, tmp_path: Path
) -> None:
    query = expression(dashboard, panel, place, __interval="60s")
    shows(tmp_path, query, one_after_the_other(name, **labels), {shown: 1000})


def test_backfilled_jobs_that_end_without_a_marker_are_not_added_up(tmp_path: Path) -> None:
    loads = one_after_the_other("fio_iops", "", run="r", worker="w", job="{}", op="read")
    query = f"({expression('live', 'Rate', __interval='60s')})"
    # The second in which one ends and the next begins may count for both.
    shows(tmp_path, f"{query} > bool 1000 * 1.11 or {query} < bool 1000", loads, {'{run="r", unit="IOPS"}': 0})
    ended = one_after_the_other("fio_iops", "", run="r", worker="w", job="{}", op="read")[:2]
    shows(tmp_path, expression("live", "Rate", __interval="60s"), ended, {})


def test_the_course_of_a_run_does_not_add_up_jobs_that_follow_each_other(tmp_path: Path) -> None:
    loads = one_after_the_other("fio_iops", run="base", worker="w", job="{}", op="read")
    query = expression("compare", "Throughput over elapsed time", 1, baseline_ago="1", ago="1", __interval="60s")
    shows(tmp_path, query, loads, {'{what="fio IOPS"}': 1000})


def test_the_target_is_that_of_the_jobs_that_are_on(tmp_path: Path) -> None:
    first, second = ({"run": "r", "worker": "w", "job": job, "op": "read"} for job in ("first", "second"))
    loads = [
        series("fio_target_iops", f"200x{SECONDS}", **first),
        series("fio_target_iops", f"300x{SECONDS}", **second),
        series("fio_iops", f"199x{SECONDS}", **first),
        series("benchwatch_run_info", f"1x{SECONDS}", run="r", worker="w"),
    ]
    shows(tmp_path, expression("live", "Rate", 2), loads, {'{run="r", unit="IOPS"}': 200})


def test_the_target_has_the_unit_of_the_rates_that_it_is_for(tmp_path: Path) -> None:
    known = [("fio_target_iops", "fio_iops", {"job": "j", "op": op}) for op in ("read", "write")]
    known.append(("iperf_target_bytes_per_second", "iperf_throughput_bytes_per_second", {"direction": "sent"}))
    loads = [
        series(name, f"100x{SECONDS}", run="r", worker="w", **labels)
        for target, rate_, labels in known
        for name in (target, rate_)
    ]
    loads.append(series("benchwatch_run_info", f"1x{SECONDS}", run="r", worker="w"))
    together = {'{run="r", unit="IOPS"}': 200.0, '{run="r", unit="bit/s"}': 800.0}
    for place in (0, 2):
        shows(tmp_path, expression("live", "Rate", place), loads, together)


def test_rates_of_the_whole_server_are_not_added(tmp_path: Path) -> None:
    """HammerDB's TPM: each of two processes counts the transactions of both."""
    loads = [series("benchwatch_run_state", f"1x{SECONDS}", run="r", worker="a", state="running")]
    for worker, tpm in (("a", 6000), ("b", 6100)):
        labels = {"run": "r", "worker": worker, "database": "PostgreSQL"}
        loads += [
            series("benchwatch_run_info", f"1x{SECONDS}", run="r", worker=worker, tool="hammerdb"),
            series("hammerdb_transactions_per_minute", f"{tpm}x{SECONDS}", **labels),
            series("hammerdb_result_tpm", f"{tpm}x{SECONDS}", **labels),
            series("worker:operations:rate_median5m", f"{tpm}x{SECONDS}", run="r", worker=worker, tool="hammerdb"),
        ]
    shows(tmp_path, expression("live", "Rate"), loads, {'{run="r", unit="TPM"}': 6100})
    shows(tmp_path, expression("live", "Rate", 1), loads, {'{run="r"}': 6100})
    shows(tmp_path, expression("live", "table", RATE), loads, {'{run="r", what="hammerdb TPM"}': 6100})
    of_tool = [target for target in targets(load(DASHBOARDS / "json/hammerdb.json")) if target.panel == "TPM"]
    assert [target.expression.count("sum by (run)") for target in of_tool] == [0, 0]
    query = expression("compare", "Results, as multiples of the baseline's", 6, baseline="r")
    shows(tmp_path, query, loads, {'{run="r", part="PostgreSQL", what="hammerdb TPM"}': 6100})


def vdisks(name: str, **by: Mapping[str, float]) -> list[dict[str, str]]:
    """Ratios of vdisks: those of `by`, by the value of the other label."""
    label = {"nutanix_vdisk_write_destination_ratio": "destination"}.get(name, "source")
    return [
        series(name, f"{value}x{SECONDS}", cvm="c", vdisk=vdisk, **{label: which})
        for vdisk, ratios in by.items()
        for which, value in ratios.items()
    ]


def test_an_oplog_that_takes_nothing_is_0_and_not_left_out(tmp_path: Path) -> None:
    loads = vdisks("nutanix_vdisk_write_destination_ratio", v1={"oplog": 1}, v2={"estore": 1})
    loads.append(series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk="v1", vm="v", role="log"))
    loads.append(series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk="v2", vm="v", role="data"))
    each = {
        f'{{cvm="c", vdisk="{vdisk}", which="{name}"}}': part
        for vdisk, name, part in (("v1", "v  log", 1.0), ("v2", "v  data", 0.0))
    }
    shows(tmp_path, expression("nutanix", "table", 2), loads, each)
    roles = {'{what="log writes to oplog"}': 1.0, '{what="data writes to oplog"}': 0.0}
    shows(tmp_path, expression("live", "Vdisks"), loads, roles)


def test_reads_from_hard_disks_are_0_only_where_reads_are_known(tmp_path: Path) -> None:
    query = expression("nutanix", "HDD")
    known = [series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk="v1")]
    name, shown = "nutanix_vdisk_read_source_ratio", '{cvm="c", vdisk="v1", which="vdisk v1"}'
    sources = {"cache": 0.6, "estore_hdd_local": 0.3, "estore_hdd_remote": 0.1}
    shows(tmp_path, query, known + vdisks(name, v1=sources), {shown: 0.4})
    shows(tmp_path, query, known + vdisks(name, v1={"cache": 1}), {shown: 0})
    shows(tmp_path, query, known, {})


def test_linear_is_what_the_run_of_the_same_kind_with_the_fewest_databases_reaches(tmp_path: Path) -> None:
    runs = {
        "ahv1": ("ahv", [1000]),
        "ahv2": ("ahv", [900, 900]),
        "esxi1": ("esxi", [937.5]),
        "esxi4": ("esxi", [750] * 4),
    }
    loads = []
    for run, (hypervisor, results) in runs.items():
        for number, tps in enumerate(results):
            for instance in ("a", "b"):
                labels = {"instance": instance, "run": run, "worker": f"db{number}"}
                loads.append(
                    series("benchwatch_run_info", f"1x{SECONDS}", **labels, tool="pgbench", hypervisor=hypervisor)
                )
                loads.append(series("pgbench_result_tps", f"{tps}x{SECONDS}", **labels))
    # No run says its mode: names have no space for it.
    kind = Value("(hypervisor|tool|mode)", "", "hypervisor,tool,mode", '"hypervisor","tool","mode"')
    expected = {"ahv1": 1.0, "ahv2": 0.9, "esxi1": 1.0, "esxi4": 0.8}
    labels = '{{run="{}", hypervisor="{}", tool="pgbench", kind="{} pgbench"}}'
    each = {labels.format(run, runs[run][0], runs[run][0]): part for run, part in expected.items()}
    shows(tmp_path, expression("density", "Runs", OF_LINEAR, kind=kind), loads, each)
    totals = {"ahv1": (1000, 1000), "ahv2": (1800, 2000), "esxi1": (937.5, 937.5), "esxi4": (3000, 3750)}
    curves = {
        labels.format(run, runs[run][0], runs[run][0]).replace(" pgbench", f" pgbench{which}"): float(tps)
        for run, both in totals.items()
        for which, tps in zip(("", ", linear"), both, strict=True)
    }
    shows(tmp_path, expression("density", CURVES, 1, kind=kind), loads, curves)


def test_alerts_of_two_jobs_of_fio_are_two(tmp_path: Path) -> None:
    known = {"alertname": "LatencySpike", "severity": "critical", "alertstate": "firing", "run": "r", "worker": "w"}
    jobs = ("data", "log")
    loads = [series("ALERTS", f"1x{SECONDS}", **known, op="read", job=job) for job in jobs]
    alert = 'alertname="LatencySpike", worker="w", op="read", job="{}"'
    row = f'{{{{{alert}, severity="critical", run="r", to_run="r", to_host="All", to_vdisk="All"}}}}'
    shows(tmp_path, expression("live", "Firing alerts"), loads, {row.format(job): 1 for job in jobs})
    lanes = {f'{{run="r", alertname="LatencySpike", job="{job}"}}': 4.0 for job in jobs}
    for board in ("live", "spike"):
        shows(tmp_path, expression(board, LANES, ALERTS), loads, lanes)


def test_a_lane_is_0_while_its_alert_does_not_fire_and_of_many_four_are_shown(tmp_path: Path) -> None:
    known = {"severity": "warning", "alertstate": "firing", "run": "r"}
    loads = [
        series("ALERTS", f"{'_ ' * 9}1x{number} stale", **known, alertname=f"Alert{number:02}")
        for number in range(5, 15)
    ]
    shown = {f'{{run="r", alertname="Alert{number:02}"}}': 0.0 for number in range(11, 15)}
    shows(tmp_path, expression("live", LANES, ALERTS), loads, shown)


def test_a_runs_lane_says_that_it_is_slow_then_why_and_then_that_it_is_over(tmp_path: Path) -> None:
    words = {text: int(value) for value, text in lane_words().items()}
    why = {"run": "r", "host": "h", "text": "because"}
    young = series("benchwatch_run_why_info", f"1x{SECONDS}", **why | {"run": "young"}, layer="cvm_queue")
    for slow, named, wanted in (
        (f"1x{SECONDS}", "", words["?"]),
        (f"1x{SECONDS}", f"_x20 1x{SECONDS}", words["log disk"]),
        ("_x20 1x20 stale", "_x25 1x15 stale", 0),
    ):
        loads = [young, series("run:benchmark_slow:info", slow, run="r", host="h")]
        loads += [series("benchwatch_run_why_info", named, **why, layer="log_device")] if named else []
        shown = {'{run="r"}': wanted, '{run="young"}': words["CVM queue"]}
        shows(tmp_path, expression("live", LANES, SLOW), loads, shown)


def lane_words() -> dict[str, str]:
    """What a lane says by its value."""
    (path,) = [path for path in FILES if path.stem == "live"]
    (panel,) = [panel for panel in panels(load(path)) if panel["type"] == LANES]
    return {value: one["text"] for value, one in panel["fieldConfig"]["defaults"]["mappings"][0]["options"].items()}


def test_every_layer_that_benchwatch_why_names_has_a_lane_of_its_name(tmp_path: Path) -> None:
    values = set()
    for layer in NAMES:
        loads = [series("benchwatch_run_why_info", f"1x{SECONDS}", run="r", layer=layer, text="because")]
        value = next(int(value) for value, text in lane_words().items() if text == LANE_NAMES.get(layer, NAMES[layer]))
        shows(tmp_path, expression("live", LANES, SLOW), loads, {'{run="r"}': value})
        values.add(value)
    assert len(values) == len(NAMES)


def test_alerts_and_moves_between_two_points_of_a_graph_are_seen(tmp_path: Path) -> None:
    known = {"alertname": "LatencySpike", "severity": "critical", "alertstate": "firing", "run": "r", "worker": "w"}
    loads = [series("ALERTS", f"{'_ ' * (SECONDS - 50)}1x30 stale", **known)]
    long = {"__interval": "60s"}
    shows(tmp_path, expression("live", LANES, ALERTS, **long), loads, {'{run="r", alertname="LatencySpike"}': 4})
    # What is evaluated every 5 s has no gaps where there is a point for each second.
    slow = [series("ALERTS", f"_ _ {'1 _ _ _ _ ' * 22}1 _ _ _ _ _ _", **known)]
    shows(
        tmp_path, expression("live", LANES, ALERTS, __interval="1s"), slow, {'{run="r", alertname="LatencySpike"}': 4}
    )
    places = [("cvm1", f"1x{SECONDS - 50} stale"), ("cvm2", f"{'_ ' * (SECONDS - 45)}1x45")]
    vdisk = {"vdisk": "4", "vdisk_uuid": "u", "vm": "v", "disk": "d", "role": "log"}
    moved = [series("nutanix_vdisk_info", values, cvm=cvm, **vdisk) for cvm, values in places]
    shown = {'{cvm="cvm2", from="cvm1", vdisk_uuid="u", vm="v", disk="d", role="log"}': 1}
    shows(tmp_path, expression("locality", "annotation Moves", 0, **long), moved, shown)
    shows(tmp_path, expression("locality", "annotation Moves", 0, __interval="1s"), moved, {})


@pytest.mark.parametrize(
    ("dashboard", "panel", "place", "name", "labels", "shown"),
    [
        *(
            (board, panel, 0, f"nutanix_vdisk_{name}_latency_seconds", labels, vdisk)
            for board, panel, name, labels, vdisk in (
                ("nutanix", "Front end", "frontend", {"op": "read"}, ', op="read"'),
                ("locality", "Front end", "frontend", {"op": "read"}, ', op="read"'),
                ("nutanix", "Back end", "backend", {}, ""),
            )
        ),
    ],
)
def test_a_peak_between_two_points_of_a_graph_is_shown(
    dashboard: str, panel: str, place: int, name: str, labels: dict[str, str], shown: str, tmp_path: Path
) -> None:
    who = {"cvm": "c", "vdisk": "4"} if name.startswith("nutanix") else {"host": "h"}
    loads = [
        series(name, f"0x{SECONDS - 30} 1x4 0x25", **who, **labels),
        series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk="4"),
    ]
    if "host" not in who:
        shown = f'{{cvm="c", vdisk="4", which="vdisk 4"{shown}}}'
    shows(tmp_path, expression(dashboard, panel, place, __interval="60s"), loads, {shown: 1})


def test_a_move_names_the_vm_and_both_controllers(tmp_path: Path) -> None:
    known = {"vdisk_uuid": "u", "vm": "vm1", "disk": "scsi.1", "role": "data"}
    loads = []
    for instance in ("a", "b"):
        labels = {"instance": instance, "vdisk": "40000", **known}
        loads += [
            series("nutanix_vdisk_info", f"1x{SECONDS - 10} stale", cvm="cvm1", **labels),
            series("nutanix_vdisk_info", f"{'_ ' * (SECONDS - 9)}1x9", cvm="cvm2", **labels),
            series("nutanix_vdisk_info", f"1x{SECONDS}", instance=instance, cvm="cvm2", vdisk="7", vdisk_uuid="other"),
        ]
    query = expression("locality", "annotation Moves")
    moved = '{cvm="cvm2", from="cvm1", vdisk_uuid="u", vm="vm1", disk="scsi.1", role="data"}'
    shows(tmp_path, query, loads, {moved: 1})


def test_unmapped_vdisks_of_two_clusters_have_names_of_their_own_and_one_that_moves_keeps_its_name(
    tmp_path: Path,
) -> None:
    loads = []
    for cvm, vdisk, file in (("a", "7", "one"), ("b", "7", "other"), ("a", "8", "moving"), ("b", "8", "moving")):
        labels = {"cvm": cvm, "vdisk": vdisk}
        loads.append(series("nutanix_vdisk_info", f"1x{SECONDS}", **labels, vdisk_name=f"NFS:{vdisk} ({file})"))
        loads.append(series("nutanix_vdisk_frontend_queue_length", f"1x{SECONDS}", **labels))
    names = {("a", "7"): "vdisk 7 of a", ("b", "7"): "vdisk 7 of b", ("a", "8"): "vdisk 8", ("b", "8"): "vdisk 8"}
    found = {f'{{cvm="{cvm}", vdisk="{vdisk}", which="{name}"}}': 1.0 for (cvm, vdisk), name in names.items()}
    shows(tmp_path, expression("nutanix", "Queue"), loads, found)


@pytest.mark.parametrize(("place", "shown"), [(0, {'{run="r", worker="client"}': 1.0}), (2, {})])
def test_what_one_side_lost_is_not_shown_as_the_other_sides(place: int, shown: Samples, tmp_path: Path) -> None:
    loads = [
        series("iperf_retransmits_total", f"0+1x{SECONDS}", run="r", worker="client", direction="send"),
        series("iperf_throughput_bytes_per_second", f"9x{SECONDS}", run="r", worker="client", direction="send"),
        series("iperf_server_throughput_bytes_per_second", f"9x{SECONDS}", run="r", worker="server", direction="recv"),
    ]
    shows(tmp_path, expression("iperf3", "Lost", place), loads, shown)


RESULTS = "Results, as multiples of the baseline's"


@pytest.mark.parametrize(
    ("family", "labels", "what", "part", "absolute"),
    [
        ("pgbench_result_tps", {}, "pgbench TPS", "all", 6),
        ("fio_result_iops", {"job": "job", "op": "read"}, "fio IOPS", "job read", 6),
        ("sysbench_result_tps", {}, "sysbench TPS", "all", 6),
        ("sysbench_result_events_per_second", {}, "sysbench events/s", "all", 6),
        ("sysbench_result_throughput_bytes_per_second", {}, "sysbench B/s", "all", 7),
        ("iperf_result_throughput_bytes_per_second", {"direction": "send"}, "iperf3 bit/s", "send", 10),
    ],
)
def test_throughputs_of_all_workers_are_compared(
    family: str, labels: dict[str, str], what: str, part: str, absolute: int, tmp_path: Path
) -> None:
    loads = [
        series(family, f"1000x{SECONDS}", run=run, worker=worker, **labels)
        for run, workers in (("base", ("vm1",)), ("four", ("vm1", "vm2", "vm3", "vm4")))
        for worker in workers
    ]
    other = "fio_result_iops" if "fio" not in family else "pgbench_result_tps"
    loads.append(series(other, f"1000x{SECONDS}", run="other", worker="w"))
    row = f'{{{{run="{{}}", what="{what}", part="{part}"}}}}'
    workers = {row.format("base"): 1.0, row.format("four"): 4.0}
    rates = {labels: (8000 if absolute == 10 else 1000) * value for labels, value in workers.items()}
    queries: dict[str, Samples] = {expression("compare", RESULTS, place): workers for place in (0, 9)}
    queries |= {expression("compare", RESULTS, place): rates if place == absolute else {} for place in (6, 7, 10)}
    evaluate(tmp_path, loads, SECONDS, queries, ())


def test_results_of_workers_that_followed_each_other_are_not_added(tmp_path: Path) -> None:
    loads = []
    for run, late in (("base", 0), ("together", 5), ("followed", 59)):
        for number, worker in enumerate(("a", "b")):
            labels = {"run": run, "worker": worker}
            start, end = 1000 + late * number, 1060 + late * number
            loads += [
                series("pgbench_result_tps", f"1000x{SECONDS}", **labels),
                series("benchwatch_run_info", f"1x{SECONDS}", **labels, tool="pgbench", hypervisor="ahv"),
                series("benchwatch_run_start_timestamp_seconds", f"{start}x{SECONDS}", **labels),
                series("benchwatch_run_end_timestamp_seconds", f"{end}x{SECONDS}", **labels),
            ]
    row = '{{run="{}", what="pgbench TPS", part="all"}}'
    rates = {row.format(run): 2000.0 for run in ("base", "together")}
    evaluate(tmp_path, loads, SECONDS, {expression("compare", RESULTS, 6): rates}, ())
    kind = Value("(hypervisor|tool)", "", "hypervisor,tool", '"hypervisor","tool"')
    each = {
        f'{{run="{run}", hypervisor="ahv", tool="pgbench", kind="ahv pgbench"}}': 1.0 for run in ("base", "together")
    }
    shows(tmp_path, expression("density", "Runs", OF_LINEAR, kind=kind), loads, each)


def test_latencies_are_compared_with_those_of_the_same_unit(tmp_path: Path) -> None:
    loads = []
    for run, rate, latency in (("base", "tps", 0.001), ("r", "tps", 0.002), ("cpu", "events_per_second", 0.004)):
        who = {"run": run, "worker": "w"}
        loads += [
            series(f"sysbench_result_{rate}", f"1000x{SECONDS}", **who),
            series("sysbench_result_latency_average_seconds", f"{latency}x{SECONDS}", **who),
            series("sysbench_result_latency_seconds", f"{latency * 2}x{SECONDS}", **who, quantile="0.99"),
        ]
    row = '{{run="{}", what="sysbench TPS", part="all"}}'
    ratios = {row.format("base"): 1.0, row.format("r"): 2.0}
    queries: dict[str, Samples] = {expression("compare", RESULTS, place): ratios for place in (2, 4)}
    queries |= {expression("compare", RESULTS, place): {} for place in (3, 5)}
    queries[expression("compare", RESULTS, 8)] = {row.format("base"): 0.001, row.format("r"): 0.002}
    evaluate(tmp_path, loads, SECONDS, queries, ())


def test_curves_of_different_tools_say_so(tmp_path: Path) -> None:
    loads = [
        series("pgbench_tps", f"500x{SECONDS}", run="r", worker="db1"),
        series("fio_iops", f"200x{SECONDS}", run="r", worker="d", job="j", op="read"),
        series("fio_iops", f"100x{SECONDS}", run="base", worker="d", job="j", op="read"),
        series("sysbench_latency_window_seconds", f"0.3x{SECONDS}", run="r", worker="s", quantile="0.95"),
        *(
            series("pgbench_latency_window_seconds", f"{value}x{SECONDS}", run="r", worker="db1", quantile=quantile)
            for quantile, value in (("0.95", 0.1), ("0.99", 0.2), ("1", 0.4))
        ),
    ]
    shifted = {"run": "r", "ago": "1", "baseline_ago": "1"}
    queries: dict[str, Samples] = {
        expression("compare", "Throughput over elapsed time", 1, **shifted): {'{what="fio IOPS"}': 100},
        expression("compare", "Throughput over elapsed time", 2, **shifted): {
            '{what="pgbench TPS"}': 500,
            '{what="fio IOPS"}': 200,
        },
        expression("compare", "Percentiles over elapsed time", 2, **shifted): {
            '{what="pgbench", quantile="p99"}': 0.2,
            '{what="sysbench", quantile="p95"}': 0.3,
        },
    }
    evaluate(tmp_path, loads, SECONDS, queries, ())


def test_the_final_reports_percentiles_count_and_until_there_are_some_the_histogram(tmp_path: Path) -> None:
    loads = [
        series("pgbench_result_latency_seconds", f"0.5x{SECONDS}", run="base", worker="w", quantile="0.99"),
        series("pgbench_latency_seconds_bucket", f"0+1x{SECONDS}", run="base", worker="w", script="0", le="+Inf"),
        *(
            series("fio_completion_latency_seconds_bucket", f"0+1x{SECONDS}", run="r", worker="w", op="read", le=le)
            for le in ("2", "+Inf")
        ),
    ]
    shown = {'{run="base (baseline) pgbench", quantile="p99"}': 0.5}
    shown |= {f'{{run="r fio read", quantile="{name}"}}': q for name, q in (("p50", 1), ("p95", 1.9), ("p99", 1.98))}
    shown['{run="r fio read", quantile="p99.9"}'] = 1.998
    chosen = {"run": "r", "length": "60", "ago": "1", "baseline_ago": "1"}
    query = f"round({expression('compare', 'Latency of the whole run', **chosen)}, 0.001)"
    shows(tmp_path, query, loads, shown)


def test_histograms_of_workers_with_different_edges_are_not_added(tmp_path: Path) -> None:
    loads = [
        series("sysbench_latency_seconds_bucket", f"100x{SECONDS}", run="r", worker=worker, le=le)
        for worker, edge in (("a", "1"), ("b", "2"))
        for le in (edge, "+Inf")
    ]
    chosen = {"run": "r", "length": "60", "ago": "1", "baseline_ago": "1"}
    query = f"round({expression('compare', 'Latency of the whole run', **chosen)}, 0.001)"
    highest = {"p50": 1, "p95": 1.9, "p99": 1.98, "p99.9": 1.998}
    shows(tmp_path, query, loads, {f'{{run="r sysbench", quantile="{name}"}}': q for name, q in highest.items()})


def test_a_run_is_as_long_as_its_last_worker(tmp_path: Path) -> None:
    loads = [
        series("benchwatch_run_start_timestamp_seconds", f"10x{SECONDS}", run="base", worker="db1"),
        series("benchwatch_run_end_timestamp_seconds", f"{'_ ' * 50}50x{SECONDS - 50}", run="base", worker="db1"),
        series("benchwatch_run_last_report_timestamp_seconds", "10+1x40 stale", run="base", worker="db1"),
        series("benchwatch_run_start_timestamp_seconds", f"10x{SECONDS}", run="base", worker="db2"),
        series("benchwatch_run_last_report_timestamp_seconds", f"0+1x{SECONDS - 20} stale", run="base", worker="db2"),
    ]
    query = variable("compare", "length", run="base")
    shows(tmp_path, query, loads, {"{}": SECONDS - 20 - 10 + 5})
    loads.append(series("benchwatch_run_state", f"1x{SECONDS}", run="base", worker="db2", state="stalled"))
    shows(tmp_path, query, loads, {"{}": SECONDS - 10 + 5})


@pytest.mark.parametrize(("tool", "result"), [("pgbench", "pgbench_result_tps"), ("sysbench", "sysbench_result_tps")])
def test_the_first_baseline_is_the_oldest_run_of_the_tool_with_results(tool: str, result: str, tmp_path: Path) -> None:
    loads = []
    for run, start, results in (("removed", 10, False), ("old", 20, True), ("new", 30, True), ("other", 5, True)):
        labels = {"run": run, "worker": "db1"}
        length = SECONDS if results else 40
        loads += [
            series("benchwatch_run_start_timestamp_seconds", f"{start}x{length}", **labels),
            series("benchwatch_run_info", f"1x{length}", **labels, tool="fio" if run == "other" else tool),
            *([series(result, f"1000x{SECONDS}", **labels)] if results else []),
        ]
    query = variable("compare", "baseline", run="new")
    shows(tmp_path, query, loads, {'{run="old"}': 20, '{run="new"}': 30, '{run="removed"}': 1e10 + 10})


def test_disks_have_the_roles_that_the_chosen_run_gives_them(tmp_path: Path) -> None:
    loads = [
        series("benchwatch_run_disk_info", f"1x{SECONDS}", run=run, worker="db1", host="h", device=device, role=role)
        for run, devices in (("old", ("sda", "sdb")), ("new", ("sdb", "sda")))
        for device, role in zip(devices, ("log", "data"), strict=True)
    ]
    loads.append(series("benchwatch_disk_info", f"1x{SECONDS}", host="h", device="sdc", role="log"))
    for run, device in (("old", "sda"), ("new", "sdb"), ("none", "sdc")):
        shows(tmp_path, variable("live", "log_device", run=run), loads, {f'{{device="{device}"}}': 1})


def test_what_is_not_the_log_is_data_as_in_the_rules(tmp_path: Path) -> None:
    who = {"run": "r", "worker": "db1", "host": "h"}
    roles = {"sda": "wal", "sdb": "data", "sdc": "index"}
    loads = [
        line
        for device, role in roles.items()
        for line in (
            series("benchwatch_run_disk_info", f"1x{SECONDS}", **who, device=device, role=role),
            series("node_disk_written_bytes_total", f"0+100x{SECONDS}", host="h", device=device),
            series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk=device, vm="v", disk="d", role=role),
            series("nutanix_vdisk_frontend_latency_seconds", f"0.001x{SECONDS}", cvm="c", vdisk=device, op="read"),
        )
    ]
    for kind, devices in (("log", ["sda"]), ("data", ["sdb", "sdc"])):
        shows(tmp_path, variable("live", f"{kind}_device"), loads, {f'{{device="{one}"}}': 1 for one in devices})
    shown = {'{host="h", what="log"}': 100, '{host="h", what="data"}': 200}
    shows(tmp_path, f"round({expression('live', 'Written')})", loads, shown)
    found = {f'{{what="{role} vdisk"}}': 0.001 for role in ("log", "data")}
    shows(tmp_path, expression("live", "Disk latency"), loads, found)


def test_a_short_outage_of_a_target_is_seen(tmp_path: Path) -> None:
    loads = [series("up", f"1x{SECONDS - 12} 0x4 1x8", job="node", instance="h:9100")]
    shows(tmp_path, expression("exporter", "Targets"), loads, {'{job="node", instance="h:9100"}': 0})


def test_writes_that_bypass_the_oplog_are_among_what_moved_most(tmp_path: Path) -> None:
    name = "nutanix_vdisk_write_destination_ratio"
    loads = [
        series(name, f"1x{SECONDS - 30} stale", cvm="c", vdisk="v1", destination="oplog"),
        series(name, f"{'_ ' * (SECONDS - 29)}1x29", cvm="c", vdisk="v1", destination="estore"),
    ]
    query = expression("spike", "What moved most", log_device="none", data_device="none")
    line = '{direction="fell", what="writes absorbed by the oplog", which="c v1"}'
    shows(tmp_path, query, loads, {line: 1000})


def test_each_unit_and_percentile_of_a_tool_is_among_what_moved_most(tmp_path: Path) -> None:
    who = {"run": "r", "worker": "w"}
    loads = [
        series("sysbench_events_per_second", f"1000x{SECONDS - 30} 250x29", **who),
        series("sysbench_latency_window_seconds", f"0.001x{SECONDS - 30} 0.004x29", **who, quantile="0.95"),
    ]
    query = expression("spike", "What moved most", log_device="none", data_device="none")
    lines = [("fell", "sysbench events/s", "w"), ("rose", "sysbench percentile", "w 0.95")]
    shown = {f'{{direction="{way}", what="{what}", which="{which}"}}': 4 for way, what, which in lines}
    shows(tmp_path, query.replace("2m", "1m"), loads, shown)


def processor(host: str, **parts: float) -> list[dict[str, str]]:
    """Two processors of a host, by the part of their time in each mode."""
    return [
        series("node_cpu_seconds_total", f"0+{part}x{SECONDS}", host=host, cpu=cpu, mode=mode)
        for mode, part in parts.items()
        for cpu in ("0", "1")
    ]


def test_a_processor_that_waits_for_io_is_not_busy(tmp_path: Path) -> None:
    loads = processor("h", idle=0.25, iowait=0.5, user=0.125, steal=0.125) + processor("c", idle=0.75, user=0.25)
    query = expression("live", "CPU", client="(h|c)")
    lines = {("h", "server"): 0.25, ("h", "steal"): 0.125, ("c", "client"): 0.25}
    shows(tmp_path, query, loads, {f'{{host="{host}", what="{what}"}}': part for (host, what), part in lines.items()})


def test_the_objective_is_that_of_the_runs_that_are_active(tmp_path: Path) -> None:
    loads = []
    for run, objective in (("old", 0.001), ("new", 0.005)):
        loads.append(series("benchwatch_run_latency_objective_seconds", f"{objective}x{SECONDS}", run=run, worker="w"))
    loads.append(series("benchwatch_run_end_timestamp_seconds", f"1x{SECONDS}", run="old", worker="w"))
    loads.append(series("benchwatch_run_info", f"1x{SECONDS}", run="new", worker="w", tool="pgbench"))
    shows(tmp_path, expression("live", "Latency", 2), loads, {"{}": 0.005})
    loads.append(series("benchwatch_run_info", f"1x{SECONDS}", run="old", worker="w", tool="pgbench"))
    shows(tmp_path, expression("live", "Latency", 2), loads, {})


def finished(run: str, *results: float | None) -> list[dict[str, str]]:
    """A run of pgbench with these results, None for a database that has none."""
    names = [{"run": run, "worker": f"db{number}"} for number in range(len(results))]
    return [
        *(series("benchwatch_run_info", f"1x{SECONDS}", **who, tool="pgbench") for who in names),
        *(
            series("pgbench_result_tps", f"{tps}x{SECONDS}", **who)
            for who, tps in zip(names, results, strict=True)
            if tps is not None
        ),
    ]


def test_a_run_is_one_line_of_the_table_of_density(tmp_path: Path) -> None:
    loads = finished("two", 900, 450)
    for number in range(2):
        labels = {"run": "two", "worker": f"db{number}"}
        loads.append(series("pgbench_result_latency_average_seconds", f"0.01x{SECONDS}", **labels))
    kind = Value("tool", "", "tool", '"tool"')
    line = '{run="two", tool="pgbench", kind="pgbench"}'
    for place, value in enumerate((2, 1350, 675, 1, 0.5, 0.01)):
        shows(tmp_path, expression("density", "Runs", place, kind=kind), loads, {line: value})


def test_a_run_of_which_a_database_has_no_result_is_not_one_of_fewer_databases(tmp_path: Path) -> None:
    loads = finished("two", 900, 900) + finished("four", 500, 500, 500, None)
    # A process of another tool beside the databases makes the run no other kind.
    loads.append(series("benchwatch_run_info", f"1x{SECONDS}", run="two", worker="disk", tool="fio"))
    kind = Value("tool", "", "tool", '"tool"')
    shown = {'{run="two", tool="pgbench", kind="pgbench"}': 2}
    shows(tmp_path, expression("density", "Runs", kind=kind), loads, shown)


def test_what_the_cvm_takes_is_no_part_of_what_the_databases_take(tmp_path: Path) -> None:
    loads = processor("h", idle=0.25, user=0.75) + processor("cvm", idle=0.75, user=0.25)
    loads += pgbench("db1", f"100x{SECONDS}", f"0.001x{SECONDS}")
    both = {"host": "(h|cvm)", "controller": "cvm"}
    shows(tmp_path, expression("density", "CVM overhead", 0, **both), loads, {"{}": 0.25})
    per_transaction = "Processor time of a transaction"
    shows(tmp_path, expression("density", per_transaction, 0, **both), loads, {"{}": 0.015})
    stalled = [*loads[:-2], *pgbench("db1", f"0x{SECONDS}", "stale")]
    shows(tmp_path, expression("density", per_transaction, 0, **both), stalled, {})


def test_the_overhead_of_several_cvms_is_their_share_of_the_busy_processors_of_all(tmp_path: Path) -> None:
    loads = [one for node in "1234" for one in processor(f"h{node}", idle=8, user=32)]
    loads += [one for node in "1234" for one in processor(f"c{node}", idle=6, user=2)]
    chosen = {"host": "(h1|h2|h3|h4|c1|c2|c3|c4)", "controller": "(c1|c2|c3|c4)"}
    shows(tmp_path, expression("density", "CVM overhead", 0, **chosen), loads, {"{}": 8 / 136})


def test_a_host_with_other_roles_has_no_device_of_that_name_in_this_one(tmp_path: Path) -> None:
    loads = [
        series("node_disk_io_now", f"1x{SECONDS}", host=host, device=device)
        for host in ("db1", "db2", "db3", "db4")
        for device in ("sdb", "sdc")
    ]
    loads += [series("node_disk_written_bytes_total", f"0+8192x{SECONDS}", host=f"db{n}", device="sdb") for n in "1234"]
    for run, host, device, role in (
        ("r1", "db1", "sdb", "log"),
        ("r1", "db1", "sdc", "data"),
        ("r2", "db2", "sdb", "data"),
    ):
        who = {"run": run, "worker": "w", "host": host}
        loads.append(series("benchwatch_run_disk_info", f"1x{SECONDS}", **who, device=device, role=role))
    for host, role in (("db2", "log"), ("db3", "data")):
        loads.append(series("benchwatch_disk_info", f"1x{SECONDS}", host=host, device="sdb", role=role))
    chosen = {"host": "(db1|db2|db3|db4)", "log_device": "sdb"}
    written = expression("live", "Written", 0, **chosen, data_device="none")
    shows(tmp_path, written, loads, {f'{{host="{host}", what="log"}}': 8192.0 for host in ("db1", "db4")})


def test_reads_are_all_local_before_a_move_and_not_unknown_afar(tmp_path: Path) -> None:
    loads = vdisks("nutanix_vdisk_read_source_ratio", v1={"cache": 0.75, "estore": 0.25}, v2={"estore_remote": 1})
    loads += [series("nutanix_vdisk_info", f"1x{SECONDS}", cvm="c", vdisk=vdisk) for vdisk in ("v1", "v2")]
    label = '{{cvm="c", vdisk="{0}", which="vdisk {0}"}}'.format
    local, remote = (expression("locality", "Reads", place) for place in range(2))
    shows(tmp_path, local, loads, {label("v1"): 1, label("v2"): 0})
    shows(tmp_path, remote, loads, {label("v1"): 0, label("v2"): 1})


def test_sessions_of_all_servers_on_a_host_are_added_up(tmp_path: Path) -> None:
    loads = [
        series(name, f"{port - 5430}x{SECONDS}", instance=f"{exporter}:9187", host="h", server=f"h:{port}", **labels)
        for exporter in ("a", "b")
        for port in (5432, 5433)
        for name, labels in (("pg_sessions_active", {"wait_event_type": "IO"}),)
    ]
    shows(tmp_path, expression("pgbench", "Waits"), loads, {'{what="I/O"}': 5})
