"""Spike: one alert's moment. Why the run was slow, usual against now, everything in the minutes around it."""

from collections.abc import Iterator, Sequence

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

from . import benchmark, column, variables
from .board import Board, Row
from .head import head
from .look import ORANGE, RED, transformation
from .queries import RUN, VDISK, node, now, of_role, oplog_writes, p99_or_others
from .tables import Column, bars, table

_WINDOW = "2m"
"""How long the moment is, up to the end of the range, and the time before it with which it is compared."""

# What may have moved: name, expression, and the labels that tell its series apart.
_Signals = Sequence[tuple[str, str, Sequence[str]]]


def _roles() -> Iterator[tuple[str, Roles]]:
    for tool in TOOLS:
        yield from ((tool.name, roles) for roles in tool.roles if not roles.observer)


def _rates() -> _Signals:
    """The throughput of each tool, in each of its units."""
    return [
        (f"{tool} {roles.unit.name}", f"{roles.rate.name}{{{RUN}}}", ("worker", *roles.labels))
        for tool, roles in _roles()
    ]


def _latencies() -> _Signals:
    """The mean latency of each tool. Roles of several units may share it."""
    return list(
        dict.fromkeys(
            (f"{tool} mean latency", f"{roles.latency.name}{{{RUN}}}", ("worker", *roles.labels))
            for tool, roles in _roles()
            if roles.latency
        )
    )


_RISES: _Signals = (
    *_latencies(),
    ("vdisk front-end latency", f"nutanix_vdisk_frontend_latency_seconds{{{VDISK}}}", ("cvm", "vdisk", "op")),
    ("vdisk front-end operations", f"nutanix_vdisk_frontend_ops_per_second{{{VDISK}}}", ("cvm", "vdisk", "op")),
    ("vdisk oplog not drained", f"nutanix_vdisk_oplog_bytes{{{VDISK}}}", ("cvm", "vdisk")),
    ("CVM operations queued", 'nutanix_stargate_queue_operations{cvm=~"$cvm",state="queued"}', ("cvm", "queue")),
)
_FALLS: _Signals = (
    *_rates(),
    ("random part", f"nutanix_vdisk_random_ratio{{{VDISK}}}", ("cvm", "vdisk", "op")),
)


def _moved(name: str, direction: str, factor: str, labels: Sequence[str]) -> str:
    """`factor` as a line of the table: what it is, which one, which way it went."""
    which = f'label_join({factor}, "which", " ", {", ".join(f"{chr(34)}{label}{chr(34)}" for label in labels)})'
    what = f'label_replace({which}, "what", "{name}", "", "")'
    return f'max by (what, which, direction) (label_replace({what}, "direction", "{direction}", "", ""))'


def _before(series: str, step: str) -> str:
    return f"(quantile_over_time(0.5, {series}[{_WINDOW}{step}] offset {_WINDOW}) > 0)"


def _rise(series: str, step: str = "") -> str:
    """How many times the median before the highest value of the moment is. `step`: of a subquery, with its colon."""
    return f"(max_over_time({series}[{_WINDOW}{step}]) / {_before(series, step)})"


def _fall(series: str, step: str = "") -> str:
    """How many times its lowest value of the moment the median before is, 1000 at most."""
    return f"(1 / clamp_min(min_over_time({series}[{_WINDOW}{step}]) / {_before(series, step)}, 0.001))"


def _percentiles() -> Iterator[str]:
    """The 99th percentile of each tool; of a worker that does not report it, all that it reports but the maximum."""
    windows = dict.fromkeys((tool, roles.window, roles.labels) for tool, roles in _roles() if roles.window)
    for tool, window, labels in windows:
        which = ("worker", *labels, "quantile")
        rise = p99_or_others(_rise(f"{window.name}{{{RUN},%s}}"), ", ".join(("run", *which)))
        yield _moved(f"{tool} percentile", "rose", rise, which)


def _await(role: str, operation: str) -> str:
    """Mean time of a request in each second, with the direction as label `of`."""
    seconds, requests = (
        f"rate({node(name, f'{role}_device')}[5s])"
        for name in (f"{operation}_time_seconds_total", f"{operation}s_completed_total")
    )
    return f'label_replace({of_role(f"({seconds} / ({requests} > 0))", role)}, "of", "{operation}", "", "")'


def _candidates() -> dashboard.Panel:
    lines = [_moved(name, "rose", _rise(series), labels) for name, series, labels in _RISES]
    lines += _percentiles()
    lines += [_moved(name, "fell", _fall(series), labels) for name, series, labels in _FALLS]
    absorbed = _fall(f"(sum by (cvm, vdisk) ({oplog_writes(VDISK)}))", ":10s")
    lines.append(_moved("writes absorbed by the oplog", "fell", absorbed, ("cvm", "vdisk")))
    lines += [
        _moved(f"{role} device await", "rose", _rise(_await(role, operation), ":1s"), ("host", "device", "of"))
        for role in ("log", "data")
        for operation in ("read", "write")
    ]
    return table(
        "What moved most",
        "The extreme of each signal in the last 2 minutes of the range, divided by its median in the 2 minutes "
        "before: look at the first lines. It shows what moved together, not the cause.",
        now("\nor ".join(lines)),
        columns=[
            Column("what", "Signal"),
            Column("which", "Which"),
            Column("direction", "Direction", width=100),
            Column(
                "Value",
                "Times the median before",
                "short",
                width=220,
                decimals=1,
                steps=((None, "transparent"), (3, ORANGE), (10, RED)),
            ),
        ],
        bad="a disk, queue or vdisk above the benchmark's own lines: it moved more than the benchmark did.",
        none="Nothing was measured in the 2 minutes before the end of this time range",
        size=(24, 9),
        sort=("Times the median before", "down"),
    )


def _waterfall() -> dashboard.Panel:
    """What a mean operation waits for, usually and at the slow time's end."""
    seconds = 'benchwatch_run_why_seconds{run=~"$run"}'
    ends = f"max_over_time(timestamp({seconds})[$__range:1s])"
    # The stages of the last picture of the run that was slow last: others are of another cause.
    last = f"{ends} >= on () group_left () (max({ends}) - 1)"
    found = f"max by (when, stage) (last_over_time({seconds}[$__range]) and ({last}))"
    shown = f"{found} and on (stage) max by (stage) ({found}) > on () group_left () 0.01 * max({found})"
    return bars(
        "",
        "What a mean operation of the run that was slow last in the time range waits for, usually and then, as "
        "benchwatch why has it. The stages add up to its latency; those below 1 % are left out.",
        now(f'label_replace({shown}, "when", "slow", "when", "now")'),
        category="when\\stage",
        unit="s",
        bad="the stage that is long now and was not: the time is lost there.",
        none="benchwatch why said nothing up to the end of this time range (benchwatch serve --prometheus.url)",
        size=(24, 3),
        before=[
            transformation("groupingToMatrix", columnField="stage", rowField="when", valueField="Value"),
            transformation("sortBy", fields={}, sort=[{"field": "when\\stage", "desc": True}]),
        ],
        stacked=True,
    )


BOARD = Board(
    uid="benchwatch-spike",
    description="The time of one alert: why the run was slow, and everything in the minutes around it.",
    variables=[*variables.standard(newest=True, hidden=True), variables.recorded(), *variables.machine()],
    rows=[
        Row(
            "",
            [
                head(4, window="$__range"),
                _waterfall(),
                column.events(3),
                benchmark.throughput(2),
                benchmark.latency(),
                *column.below(),
            ],
        ),
        Row("All signals", [column.sessions(), _candidates()]),
    ],
    range_="now-4m",
    refresh="",
)
