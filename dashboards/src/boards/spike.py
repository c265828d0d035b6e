"""Spike: one alert's moment, everything in the minutes around it, and what moved most."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from . import disks, live, variables
from .board import Board, Row
from .look import ORANGE, RED
from .panels import graph, timeline
from .queries import RUN, VDISK, Query, node, now, oplog_writes, processors, rate
from .tables import Column, table

# What may have moved: name, expression, and the labels that tell its series apart.
_RISES: Sequence[tuple[str, str, Sequence[str]]] = (
    ("pgbench mean latency", f"pgbench_latency_average_seconds{{{RUN}}}", ("worker",)),
    ("pgbench p99", f'pgbench_latency_window_seconds{{{RUN},quantile="0.99"}}', ("worker",)),
    ("fio mean latency", f"fio_latency_average_seconds{{{RUN}}}", ("job", "op")),
    ("fio p99", f'fio_latency_window_seconds{{{RUN},quantile="0.99"}}', ("job", "op")),
    ("vdisk front-end latency", f"nutanix_vdisk_frontend_latency_seconds{{{VDISK}}}", ("vdisk", "op")),
    ("vdisk front-end operations", f"nutanix_vdisk_frontend_ops_per_second{{{VDISK}}}", ("vdisk", "op")),
    ("vdisk oplog not drained", f"nutanix_vdisk_oplog_bytes{{{VDISK}}}", ("vdisk",)),
    ("CVM operations queued", 'nutanix_stargate_queue_operations{cvm=~"$cvm",state="queued"}', ("cvm", "queue")),
)
_FALLS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("pgbench TPS", f"pgbench_tps{{{RUN}}}", ("worker",)),
    ("fio IOPS", f"fio_iops{{{RUN}}}", ("job", "op")),
    ("random part", f"nutanix_vdisk_random_ratio{{{VDISK}}}", ("vdisk", "op")),
)


def _moved(name: str, direction: str, factor: str, labels: Sequence[str]) -> str:
    """`factor` as a line of the table: what it is, which one, which way it went."""
    which = f'label_join({factor}, "which", " ", {", ".join(f"{chr(34)}{label}{chr(34)}" for label in labels)})'
    what = f'label_replace({which}, "what", "{name}", "", "")'
    return f'max by (what, which, direction) (label_replace({what}, "direction", "{direction}", "", ""))'


def _rise(series: str, window: str = "[$__range]") -> str:
    """How many times its median the highest value of the window is."""
    return f"(max_over_time({series}{window}) / (quantile_over_time(0.5, {series}{window}) > 0))"


def _fall(series: str, window: str = "[$__range]") -> str:
    """How many times its lowest value of the window the median is, 1000 at most."""
    median = f"(quantile_over_time(0.5, {series}{window}) > 0)"
    return f"(1 / clamp_min(min_over_time({series}{window}) / {median}, 0.001))"


def _await(role: str, operation: str) -> str:
    """Mean time of a request in each second, with the direction as label `of`."""
    seconds, requests = (
        f"rate({node(name, f'{role}_device')}[5s])"
        for name in (f"{operation}_time_seconds_total", f"{operation}s_completed_total")
    )
    return f'label_replace({seconds} / ({requests} > 0), "of", "{operation}", "", "")'


def _candidates() -> dashboard.Panel:
    lines = [_moved(name, "rose", _rise(series), labels) for name, series, labels in _RISES]
    lines += [_moved(name, "fell", _fall(series), labels) for name, series, labels in _FALLS]
    absorbed = _fall(f"(sum by (cvm, vdisk) ({oplog_writes(VDISK)}))", "[$__range:10s]")
    lines.append(_moved("writes absorbed by the oplog", "fell", absorbed, ("vdisk",)))
    lines += [
        _moved(f"{role} device await", "rose", _rise(_await(role, operation), "[$__range:1s]"), ("device", "of"))
        for role in ("log", "data")
        for operation in ("read", "write")
    ]
    return table(
        "What moved most",
        "The extreme of each signal in the time range, divided by its median: the first lines are the candidates. It "
        "shows what moved together, not the cause.",
        now("\nor ".join(lines)),
        columns=[
            Column("what", "Signal"),
            Column("which", "Which"),
            Column("direction", "Direction", width=100),
            Column(
                "Value",
                "Times its median",
                "short",
                width=160,
                decimals=1,
                steps=((None, "transparent"), (3, ORANGE), (10, RED)),
            ),
        ],
        bad="a disk, queue or vdisk above the benchmark's own lines: it moved more than the benchmark did.",
        none="Nothing was measured in this time range",
        size=(14, 11),
        sort=("Times its median", "down"),
    )


def _alerts() -> dashboard.Panel:
    return timeline(
        "Alerts",
        "Firing alerts, one bar each.",
        Query(
            'max by (alertname, severity, run, worker, vdisk, device) (ALERTS{alertstate="firing",run=~"$run|"})',
            "{{alertname}} {{run}} {{worker}} {{vdisk}} {{device}}",
        ),
        bad="several that begin together: the first is closest to the cause.",
        none="No alert fired in this time range: select another",
        size=(10, 11),
        steps=((None, RED),),
    )


def _host() -> list[dashboard.Panel]:
    return [
        graph(
            "Processors of the host",
            "Processor time by mode, as a share of all processors.",
            Query(processors('!="idle"', "by (mode) ") + " > 0", "{{mode}}"),
            unit="percentunit",
            bad="iowait or steal rise with the alert.",
            none=disks.NONE,
            stacked=True,
            maximum=1,
        ),
        graph(
            "Waiting for I/O and memory",
            "Share of the time in which some process waited (pressure stall information).",
            Query(rate('node_pressure_io_waiting_seconds_total{instance="$host"}'), "I/O"),
            Query(rate('node_pressure_memory_waiting_seconds_total{instance="$host"}'), "memory"),
            Query(rate('node_pressure_cpu_waiting_seconds_total{instance="$host"}'), "CPU"),
            unit="percentunit",
            bad="I/O rises with the alert: the device; memory rises: the page cache or swap.",
            none=disks.NONE,
        ),
    ]


BOARD = Board(
    uid="benchwatch-spike",
    description="The time of one alert: select two minutes before and after it to rank what moved most.",
    variables=[
        *variables.standard(),
        variables.recorded(),
        variables.host(),
        variables.devices("log"),
        variables.devices("data"),
        variables.cvm(hidden=True),
        variables.vdisk(),
        *variables.vdisks_by_role(),
    ],
    rows=[
        Row("", [_candidates(), _alerts()]),
        Row("The benchmark", [live.tps((12, 8)), live.pgbench_latency((12, 8)), *live.fio((12, 8))[::2]]),
        Row("Disks of the host: log device left, data device right", disks.side_by_side()),
        Row("The host", _host()),
        Row("Nutanix", live.nutanix()),
    ],
    range_="now-4m",
    refresh="",
)
