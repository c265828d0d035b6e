"""Live run, the home dashboard: is it all right, and if not, where is the time going? Everything on one time axis."""

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.registry import TOOLS

from . import alerts, benchmark, disks, layers, machine, storage, variables
from .board import Board, Row
from .look import BLUE, GREEN, ORANGE, PURPLE, RED
from .panels import BOTH, stat
from .queries import RUN, now

_STATES = {
    "running": GREEN,
    "stalled": ORANGE,
    "failed": RED,
    "interrupted": PURPLE,
    "finished": BLUE,
    "abandoned": "gray",
}


def _overview() -> list[dashboard.Panel]:
    age = f"max by (run, worker) (time() - benchwatch_run_last_report_timestamp_seconds{{{RUN}}})"
    late = f"{age} > 3 * max by (run, worker) (benchwatch_run_report_interval_seconds{{{RUN}}})"
    active = f'(benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1)'
    counters = [
        lost.counter
        for tool in TOOLS
        for roles in tool.roles[:1]
        for word, lost in roles.lost.items()
        if word == "failed"
    ]
    failed = " or ".join(f"max by (run, worker) ({family.name}{{{RUN}}})" for family in counters)
    return [
        stat(
            "State",
            "Workers (processes of benchmarks) of the selected runs by state.",
            now(f"sum by (state) (max by (run, worker, state) (benchwatch_run_state{{{RUN}}}) == 1)", "{{state}}"),
            unit="short",
            bad="any `stalled` (nothing completed or reported for 3 report intervals) or `failed`.",
            none="no run",
            size=(4, 2),
            text_mode=BOTH,
            fixed=_STATES,
        ),
        stat(
            "Data age",
            "Time since the tool last reported: the longest of the workers that are on time, and of those that are "
            "late. A fresh scrape may carry old data.",
            now(f"max({age} and on (run, worker) {active} unless on (run, worker) ({late}))", "on time"),
            now(f"max({late} and on (run, worker) {active})", "late"),
            unit="s",
            bad="`late`, beyond 3 of its own report intervals: the benchmark hangs or its output does not arrive.",
            none="nothing active",
            size=(3, 2),
            text_mode=BOTH,
            fixed={"on time": GREEN, "late": RED},
            decimals=1,
        ),
        benchmark.throughput_now((7, 2)),
        benchmark.latency_now((7, 2)),
        stat(
            "Failures",
            "Transactions that failed (serialization, deadlock) and fio jobs that ended with an error.",
            now(f"sum({failed})", "transactions"),
            now(f"sum(max by (run, worker, job) (fio_job_error{{{RUN}}}) > bool 0)", "jobs"),
            unit="short",
            bad="above 0: the figures do not describe the requested load.",
            none="not counted",
            size=(3, 2),
            text_mode=BOTH,
            steps=((None, GREEN), (1, RED)),
        ),
    ]


BOARD = Board(
    uid="benchwatch-live",
    description="What the benchmark reports, where its time goes, and every layer below it, on one time axis.",
    variables=[*variables.standard(), variables.recorded(), *variables.machine()],
    rows=[
        Row(
            "",
            [
                *_overview(),
                layers.verdict(),
                benchmark.throughput((8, 6)),
                benchmark.latency((8, 6), of=benchmark.QUANTILES[::2]),
                benchmark.distribution((8, 6)),
                layers.waterfall((14, 5)),
                layers.slowness((10, 5)),
                alerts.firing((14, 4)),
                alerts.history((10, 4)),
            ],
        ),
        Row("Client and database", [machine.processors_busy((12, 6)), machine.pressure((12, 6))]),
        Row("Database: waits, checkpoints, log (postgres_exporter)", machine.database(), collapsed=True),
        Row("Disks of the host: log device left, data device right", disks.side_by_side()),
        Row("Memory and network of the host", [machine.memory((12, 6)), machine.network((12, 6))]),
        Row("Vdisks: log left, data right", storage.vdisks()),
        Row("CVM", storage.controller()),
    ],
    range_="now-5m",
    checkpoints=("Throughput", "Latency", "Processors: client and database", *disks.AWAITS),
)
