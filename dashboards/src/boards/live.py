"""Live run, the home dashboard: is it all right, and if not, where is the time going? Everything on one time axis."""

from collections.abc import Callable

from grafana_foundation_sdk.models import dashboard

from . import disks, variables
from .board import Board, Row
from .look import BLUE, GREEN, ORANGE, RED
from .panels import BOTH, graph, heatmap, stat
from .queries import (
    RECORDED,
    RUN,
    UNRECORDED,
    Query,
    alive,
    histogram,
    log_delay,
    mean,
    mean_of,
    now,
    oplog_writes,
    peak,
    weighted_latency,
)
from .tables import Column, table, transformation

NO_REPORT, NO_LATENCY, NO_PERCENTILE = "no report now", "no latency now", "no percentile now"
NO_RUN = "No data of a run in this time range"
NO_PGBENCH = "No report of pgbench in this time range: pgbench -P 1 provides it"
NO_FIO = "No report of fio in this time range: fio --status-interval=1 provides it"
NO_LOG = "No percentiles in this time range: pgbench -l provides them"
NO_BINS = "No percentiles in this time range: fio --output-format=json+ provides them"
NO_CVM = "No page of a Nutanix CVM was read in this time range. To watch one, set nutanix.cvms in benchwatch.yaml"
STATES = {"running": GREEN, "stalled": ORANGE, "failed": RED, "finished": BLUE, "abandoned": "gray"}

PGBENCH_QUANTILES = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p99.9"), ("1", "max"))


def quantiles(series: str, of: tuple[tuple[str, str], ...]) -> tuple[Query, ...]:
    """One query for each quantile of a window, the highest over the chosen workers. `series` ends before its brace."""
    return tuple(
        Query(f"max ({peak(f'{series},quantile={chr(34)}{quantile}{chr(34)}}}')})", name) for quantile, name in of
    )


def _overview() -> list[dashboard.Panel]:
    age = f"max by (run, worker) (time() - benchwatch_run_last_report_timestamp_seconds{{{RUN}}})"
    late = f"{age} > 3 * max by (run, worker) (benchwatch_run_report_interval_seconds{{{RUN}}})"
    active = f'(benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1)'
    failed = f"sum(pgbench_failed_transactions_total{{{RUN}}})"
    return [
        stat(
            "State",
            "Workers (pgbench and fio processes) of the selected runs by state.",
            now(f"sum by (state) (benchwatch_run_state{{{RUN}}} == 1)", "{{state}}"),
            unit="short",
            bad="any `stalled` (nothing completed or reported for 3 report intervals) or `failed`.",
            none="no run",
            size=(8, 3),
            text_mode=BOTH,
            fixed=STATES,
        ),
        stat(
            "Data age",
            "Time since the tool last reported: the longest of the workers that are on time, and of those that are "
            "late. A fresh scrape may carry old data.",
            now(f"max({age} and on (run, worker) {active} unless on (run, worker) ({late}))", "on time"),
            now(f"max({late} and on (run, worker) {active})", "late"),
            unit="s",
            bad="`late`, beyond 3 of its own report intervals: the benchmark hangs or its output does not arrive.",
            none="nothing on",
            size=(5, 3),
            text_mode=BOTH,
            fixed={"on time": GREEN, "late": RED},
            decimals=1,
        ),
        stat(
            "Failures",
            "Transactions that failed (serialization, deadlock) and fio jobs that ended with an error.",
            now(f"{failed} or vector(0)", "transactions"),
            now(f"count(fio_job_error{{{RUN}}} > 0) or vector(0)", "jobs"),
            unit="short",
            bad="above 0: the figures do not describe the requested load.",
            none="0",
            size=(6, 3),
            text_mode=BOTH,
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "Alerts",
            "Alerts that fire now, for the selected runs or for no particular run.",
            now('count(ALERTS{alertstate="firing",run=~"$run|"}) or vector(0)', "firing"),
            unit="short",
            bad="above 0; the table below names them.",
            none="0",
            size=(5, 3),
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "pgbench TPS",
            "Transactions per second of the last report, all workers together.",
            now(f"sum(pgbench_tps{{{RUN}}})", "TPS"),
            unit="short",
            bad="0 while running: a total stall.",
            none=NO_REPORT,
            size=(6, 4),
            steps=((None, "text"), (0, RED), (0.001, "text")),
        ),
        stat(
            "pgbench latency",
            "Mean of the last report over all transactions, and the 99th percentile of the "
            "last second, the highest of the workers. The transaction log arrives in blocks: if p99 is older than the "
            "mean, the panel says by how much.",
            now(
                weighted_latency(f"pgbench_latency_average_seconds{{{RUN}}}", f"pgbench_tps{{{RUN}}}"),
                "mean",
            ),
            now(f'max(pgbench_latency_window_seconds{{{RUN},quantile="0.99"}})', "p99"),
            log_delay(),
            unit="s",
            bad="p99 is many times the mean: some transactions wait for something that others do not need.",
            none=NO_LATENCY,
            size=(6, 4),
            text_mode=BOTH,
        ),
        stat(
            "fio IOPS",
            "I/Os completed a second in the last window, all jobs together.",
            now(f"sum by (op) (fio_iops{{{RUN}}})", "{{op}}"),
            unit="iops",
            bad="0 while running, or far below the target rate.",
            none=NO_REPORT,
            size=(6, 4),
            text_mode=BOTH,
            fixed={"read": BLUE, "write": ORANGE, "trim": "purple", "sync": "yellow"},
        ),
        stat(
            "fio p99",
            "99th percentile of the completion latency in the last window, the highest of the jobs.",
            now(f'max by (op) (fio_latency_window_seconds{{{RUN},quantile="0.99"}})', "{{op}}"),
            unit="s",
            bad="above what the database on top can tolerate; 1 ms is a common objective for a log device.",
            none=NO_PERCENTILE,
            size=(6, 4),
            text_mode=BOTH,
            fixed={"read": BLUE, "write": ORANGE, "trim": "purple", "sync": "yellow"},
        ),
    ]


def alerts(size: tuple[int, int] = (24, 5)) -> dashboard.Panel:
    """The firing alerts, each with a link to its moment."""
    labels = "by (alertname, severity, run, worker, cvm, vdisk, device)"
    chosen = 'alertstate="firing",run=~"$run|"'
    firing = f"ALERTS{{{chosen}}}"
    critical, warning = (f'ALERTS{{{chosen},severity="{severity}"}}' for severity in ("critical", "warning"))
    begun = f"(ALERTS_FOR_STATE and ignoring (alertstate) {firing}) * 1000"
    moment = (
        '/d/benchwatch-spike?from=${__data.fields["from"].numeric}&to=${__data.fields["to"].numeric}&${run:queryparam}'
    )
    return table(
        "Firing alerts",
        "Alerts that fire at the end of the time range. The name leads to the two minutes before and after its "
        "beginning.",
        now(f"max {labels} ({critical} or 2 * {warning} or 3 * {firing})"),
        now(f"max {labels} ({begun}) - 120000"),
        now(f"max {labels} ({begun}) + 120000"),
        columns=[
            Column("alertname", "Alert", link=moment),
            Column("severity", "Severity", width=100, mappings={"critical": RED, "warning": ORANGE, "info": BLUE}),
            Column("run", "Run"),
            Column("worker", "Worker"),
            Column("cvm", "CVM"),
            Column("vdisk", "Vdisk"),
            Column("device", "Device"),
            Column("Value #B", "from", hidden=True),
            Column("Value #C", "to", hidden=True),
        ],
        bad="any line. docs/alerts.md explains each alert and what to do.",
        none="No alert is firing",
        size=size,
        before=[transformation("merge"), transformation("sortBy", fields={}, sort=[{"field": "Value #A"}])],
    )


def tps(size: tuple[int, int]) -> dashboard.Panel:
    """Throughput of all workers together."""
    return graph(
        "pgbench throughput",
        "Transactions per second by run, all workers together: the mean of the reports in each step.",
        Query(
            f"{mean(f'run:pgbench_tps:mean1s{{{RECORDED}}}')}\nor\n"
            f"{mean_of('sum by (run) ' + alive(f'pgbench_tps{{{UNRECORDED}}}'))}",
            "{{run}}",
        ),
        unit="short",
        bad="drops to 0 or saw-teeth with the period of checkpoints.",
        none=NO_PGBENCH,
        size=size,
    )


def _mean_latency() -> str:
    """Transactions under way by transactions a second: the mean over all transactions of all runs.

    A second in which nothing completed has no latency; it counts among the seconds of the step.
    """
    seconds = f"count_over_time(run:pgbench_tps:mean1s{{{RECORDED}}}[$__interval])"
    under_way = f"sum_over_time(run:pgbench_under_way:mean1s{{{RECORDED}}}[$__interval]) / {seconds}"
    latency, tps = (f"pgbench_{name}{{{UNRECORDED}}}" for name in ("latency_average_seconds", "tps"))
    others = (
        f"sum_over_time(({latency} * {alive(tps)})[$__interval:1s]) / count_over_time({alive(tps)}[$__interval:1s])"
    )
    recorded = mean(f"run:pgbench_tps:mean1s{{{RECORDED}}}")
    return f"sum ({under_way} or {others})\n/\nsum ({recorded} or avg_over_time({alive(tps)}[$__interval:1s]))"


def pgbench_latency(size: tuple[int, int], of: tuple[tuple[str, str], ...] = PGBENCH_QUANTILES) -> dashboard.Panel:
    """Mean and quantiles of all workers."""
    return graph(
        "pgbench latency",
        "Mean over all transactions and percentiles of each second, the highest of the workers and "
        "of the seconds in each step. "
        "Never averaged: with one worker they are exact (within 1.6 %). Percentiles appear when the transaction log "
        "has them: at low rates some seconds to the right of the mean.",
        Query(_mean_latency(), "mean"),
        *quantiles(f"pgbench_latency_window_seconds{{{RUN}", of),
        unit="s",
        bad="p99 and max rise while p50 stays: a stall that affects only some transactions, usually at the log device.",
        none=NO_PGBENCH,
        size=size,
        log=True,
    )


def pgbench_heatmap(size: tuple[int, int]) -> dashboard.Panel:
    """The distribution of transactions over time, without bounds below 0.1 ms, which are written as 9.8e-05."""
    recorded = f"sum by (le) ({mean(f'run:pgbench_latency_seconds_bucket:rate5s{{{RECORDED}}}')})"
    others = histogram(f'pgbench_latency_seconds_bucket{{{UNRECORDED},le!~".*e-0."}}')
    return heatmap(
        "pgbench latency distribution",
        "How many transactions a second took how long, by time. From the transaction log (pgbench -l); the lowest row "
        "has everything below 0.1 ms.",
        Query(f"{recorded}\nor\n{others}", "{{le}}"),
        unit="s",
        bad="a second band above the main one, or a band that moves up.",
        none=NO_LOG,
        size=size,
    )


def fio(size: tuple[int, int]) -> list[dashboard.Panel]:
    """IOPS, bandwidth and latency of all jobs."""
    return [
        graph(
            "fio IOPS",
            "I/Os completed a second by direction, all jobs together: the mean of the windows in each step.",
            Query(mean_of("sum by (op) " + alive(f"fio_iops{{{RUN}}}")), "{{op}}"),
            Query(f"sum(fio_target_iops{{{RUN}}} and on (run, worker, job, op) fio_iops)", "target"),
            unit="iops",
            bad="below the dashed target (of all directions together), or gaps: fio reports nothing while one of its "
            "workers hangs.",
            none=NO_FIO,
            size=size,
        ),
        graph(
            "fio bandwidth",
            "Bytes completed a second by direction, all jobs together: the mean of the windows in each step.",
            Query(mean_of("sum by (op) " + alive(f"fio_bandwidth_bytes_per_second{{{RUN}}}")), "{{op}}"),
            unit="Bps",
            bad="a plateau far below what the device can do.",
            none=NO_FIO,
            size=size,
        ),
        graph(
            "fio latency",
            "Completion latency in each window: median and 99th percentile, the highest of the jobs "
            "and windows in each step.",
            *(
                Query(
                    f"max by (op) ({peak(f'fio_latency_window_seconds{{{RUN},quantile={chr(34)}{q}{chr(34)}}}')})",
                    f"{name} {{{{op}}}}",
                )
                for q, name in (("0.5", "p50"), ("0.99", "p99"))
            ),
            unit="s",
            bad="p99 of writes to the log above 1 ms, or steps that come with the data device's bursts.",
            none=NO_BINS,
            size=size,
            log=True,
        ),
    ]


def _by_role(series: Callable[[str], str], legend: str = "{{vdisk}} {{op}}") -> list[Query]:
    """Vdisks of the log, of the data, and the others, by variables: a join would cost a hundred times as much.

    `series` is given the matchers of the vdisks.
    """
    words = {word: f"{word} " if word != "other" else "" for word in variables.VDISK_ROLES}
    return [
        Query(series(f'cvm=~"$cvm",vdisk=~"${role}_vdisk"'), f"{word}{legend}", minimum_step="10s")
        for role, word in words.items()
    ]


def nutanix() -> list[dashboard.Panel]:
    """What the storage controller does for the vdisks."""
    panels = [
        graph(
            "Vdisk front-end latency",
            "What the virtual machine sees, by vdisk and direction: the average over the page's own short window.",
            *_by_role(lambda vdisks: f"nutanix_vdisk_frontend_latency_seconds{{{vdisks}}}"),
            unit="s",
            bad="writes above some milliseconds: the oplog no longer absorbs them.",
            none=NO_CVM,
            size=(8, 8),
            log=True,
        ),
        graph(
            "Writes absorbed by the oplog",
            "Share of the written data that went to the oplog (Write Destination), by vdisk.",
            *_by_role(oplog_writes, "{{vdisk}}"),
            unit="percentunit",
            bad="falls from 100 %: writes go straight to the extent store and wait for its disks.",
            none=NO_CVM,
            size=(8, 8),
            maximum=1,
        ),
        graph(
            "Random share of the operations",
            "How random the operations were (Ops and Randomness), by vdisk and direction.",
            *_by_role(lambda vdisks: f"nutanix_vdisk_random_ratio{{{vdisks}}}"),
            unit="percentunit",
            bad="flips within a run: another load than intended reaches the vdisk.",
            none=NO_CVM,
            size=(8, 8),
            maximum=1,
        ),
    ]
    for panel in panels:
        panel.max_data_points = 120  # the pages are read every 10 s, and there may be many vdisks
    return panels


BOARD = Board(
    uid="benchwatch-live",
    description="What the benchmark reports, what the disks do and what the storage controller does, on one time axis.",
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
        Row("", _overview()),
        Row("pgbench", [tps((12, 8)), pgbench_latency((12, 8), PGBENCH_QUANTILES[::2])]),
        Row("pgbench latency distribution", [pgbench_heatmap((24, 9))]),
        Row("fio", fio((8, 8))),
        Row("Disks of the host: log device left, data device right", disks.side_by_side()),
        Row("Nutanix", nutanix()),
        Row("Alerts", [alerts()]),
    ],
    range_="now-5m",
)
