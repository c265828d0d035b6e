"""The chosen hosts' disks, as node_exporter counts them: the log device beside the data device."""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.models import dashboard

from .panels import graph
from .queries import Query, await_seconds, node, of_role, one_of, rate

NONE = "Nothing measured in this time range: the Prometheus job `node` scrapes node_exporter"
ROLES = ("log", "data")
AWAITS = tuple(f"{role.capitalize()} device: await" for role in ROLES)
_OPERATIONS = ("read", "write")
_TIMES = {"queue": "weighted_", "busy": ""}
_MOVED = {"read": "read_bytes_total", "write": "written_bytes_total"}


def _name(role: str, what: str) -> str:
    return f"{{{{host}}}} {{{{device}}}} {role} {what}"


def _rate(counter: str, role: str) -> str:
    return f"sum by (host, device) ({rate(node(counter, f'{role}_device'))})"


def _each(role: str, what: Mapping[str, str]) -> Query:
    """Lines of the role's devices, by the last word or words of their names."""
    return Query(of_role(one_of("op", what), role), _name(role, "{{op}}"))


def _measure(
    role: str, what: str, shows: str, *queries: Query, unit: str, bad: str, log: bool = False, busy: bool = False
) -> dashboard.Panel:
    return graph(
        f"{role.capitalize()} device: {what}",
        shows,
        *queries,
        unit=unit,
        bad=bad,
        none=NONE,
        size=(12, 6),
        log=log,
        right=("/busy$/", "percentunit", 1) if busy else None,
    )


def _await(role: str) -> dashboard.Panel:
    return _measure(
        role,
        "await",
        "Mean time of a request, including the queue: total seconds divided by the number of requests; no point "
        "without requests.",
        _each(role, {op: await_seconds(f"{role}_device", op) for op in _OPERATIONS}),
        unit="s",
        bad="writes above 1 ms on the log device: each commit waits at least that long."
        if role == "log"
        else "rises with the checkpoint's bursts: the device's queue is full.",
        log=True,
    )


def _requests(role: str) -> dashboard.Panel:
    return _measure(
        role,
        "requests",
        "Requests completed a second, by direction, and those that the kernel merged into them.",
        _each(
            role,
            {op: _rate(f"{op}s_completed_total", role) for op in _OPERATIONS}
            | {f"{op}s merged": _rate(f"{op}s_merged_total", role) for op in _OPERATIONS},
        ),
        unit="iops",
        bad="almost nothing on the log device while the data device bursts: commits wait behind a checkpoint."
        if role == "log"
        else "bursts of writes together with a stall of the log device.",
    )


def _throughput(role: str) -> dashboard.Panel:
    return _measure(
        role,
        "throughput",
        "Bytes read and written a second.",
        _each(role, {op: _rate(_MOVED[op], role) for op in _OPERATIONS}),
        unit="Bps",
        bad="a plateau at the device's or the virtual disk's limit.",
    )


def _queue(role: str) -> dashboard.Panel:
    return _measure(
        role,
        "queue and busy time",
        "Mean number of requests in flight (left) and share of the time with any in flight (right).",
        _each(role, {word: _rate(f"io_time_{name}seconds_total", role) for word, name in _TIMES.items()}),
        unit="short",
        bad="a queue that grows while throughput does not. Busy at 100 % alone means little on an SSD or virtual disk.",
        busy=True,
    )


def _size(role: str) -> dashboard.Panel:
    sizes = {op: f"{_rate(_MOVED[op], role)} / ({_rate(f'{op}s_completed_total', role)} > 0)" for op in _OPERATIONS}
    return _measure(
        role,
        "request size",
        "Mean bytes of a request, by direction; no point without requests.",
        _each(role, sizes),
        unit="bytes",
        bad="not what the database writes (8 kB pages, 16 to 32 kB of log), or it changes within the run.",
    )


def side_by_side() -> Sequence[dashboard.Panel]:
    """Log device left, data device right, one measure a line."""
    return [measure(role) for measure in (_await, _requests, _throughput, _queue, _size) for role in ROLES]
