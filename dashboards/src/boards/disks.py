"""The host's disks, as node_exporter counts them: the log device beside the data device."""

from collections.abc import Iterator

from grafana_foundation_sdk.models import dashboard

from .panels import graph
from .queries import Query, await_seconds, node, rate

NONE = "Nothing measured in this time range: the Prometheus job `node` scrapes node_exporter"
_OPERATIONS = ("read", "write")


def _sum(counter: str, device: str) -> str:
    return f"sum by (device) ({rate(node(counter, device))})"


def _requests(role: str) -> dashboard.Panel:
    device = f"{role}_device"
    return graph(
        f"{role.capitalize()} device: requests",
        "Requests completed a second, by direction.",
        *(Query(_sum(f"{op}s_completed_total", device), f"{{{{device}}}} {op}") for op in _OPERATIONS),
        unit="iops",
        bad="almost nothing on the log device while the data device bursts: commits wait behind a checkpoint."
        if role == "log"
        else "bursts of writes together with a stall of the log device.",
        none=NONE,
        size=(12, 6),
    )


def _throughput(role: str) -> dashboard.Panel:
    device = f"{role}_device"
    counters = {"read": "read_bytes_total", "write": "written_bytes_total"}
    return graph(
        f"{role.capitalize()} device: throughput",
        "Bytes read and written a second.",
        *(Query(_sum(counters[op], device), f"{{{{device}}}} {op}") for op in _OPERATIONS),
        unit="Bps",
        bad="a plateau at the device's or the virtual disk's limit.",
        none=NONE,
        size=(12, 6),
    )


def _await(role: str) -> dashboard.Panel:
    return graph(
        f"{role.capitalize()} device: await",
        "Mean time of a request, including the queue: total seconds divided by the number of requests; no point "
        "without requests.",
        *(Query(await_seconds(f"{role}_device", op), f"{{{{device}}}} {op}") for op in _OPERATIONS),
        unit="s",
        bad="writes above 1 ms on the log device: each commit waits at least that long."
        if role == "log"
        else "rises with the checkpoint's bursts: the device's queue is full.",
        none=NONE,
        size=(12, 6),
        log=True,
    )


def _queue(role: str) -> dashboard.Panel:
    device = f"{role}_device"
    return graph(
        f"{role.capitalize()} device: queue and busy time",
        "Mean number of requests in flight (left) and share of the time with any in flight (right).",
        Query(_sum("io_time_weighted_seconds_total", device), "{{device}} queue"),
        Query(_sum("io_time_seconds_total", device), "{{device}} busy"),
        unit="short",
        bad="a queue that grows while throughput does not. Busy at 100 % alone means little on an SSD or "
        "a virtual disk.",
        none=NONE,
        size=(12, 6),
        right=("/busy$/", "percentunit", 1),
    )


def side_by_side() -> list[dashboard.Panel]:
    """Log device left, data device right, one measure a line."""
    return list(_pairs())


def _pairs() -> Iterator[dashboard.Panel]:
    for measure in (_requests, _throughput, _await, _queue):
        yield measure("log")
        yield measure("data")
