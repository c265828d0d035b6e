"""pgbench: throughput, latency, failures by worker, and what the runs came to."""

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.registry import TOOLS

from . import benchmark, variables
from .board import Board, Row
from .look import GREEN, RED
from .panels import BOTH, graph, stat
from .queries import RUN, Query, alive, mean, mean_of, now, once, peak, rate, weighted_latency
from .tables import RUN_COMPARED, Column, table

_TOOLS = [tool for tool in TOOLS if tool.name == "pgbench"]
_WORKER = "{{worker}}"
_BY = "by (worker)"  # of several runs the highest


def _overview() -> list[dashboard.Panel]:
    def total(name: str) -> str:
        return f"sum({once(f'pgbench_{name}{{{RUN}}}')})"

    failed = total("failed_transactions_total")
    return [
        stat(
            "Active workers",
            "pgbench processes that run now.",
            now(
                f"sum({once(f'benchwatch_run_state{{{RUN},state={chr(34)}running{chr(34)}}} == 1')}"
                " and on (run, worker) pgbench_tps)",
                "on",
            ),
            unit="short",
            bad="fewer than were started.",
            none="none",
            size=(6, 3),
        ),
        stat(
            "TPS",
            "Transactions per second of the last report, all workers together.",
            now(total("tps"), "TPS"),
            unit="short",
            bad="0 while running: a total stall.",
            none=benchmark.NO_REPORT,
            size=(6, 3),
            steps=((None, "text"), (0, RED), (0.001, "text")),
        ),
        stat(
            "Latency",
            "Mean of the last report over all transactions.",
            now(weighted_latency(f"pgbench_latency_average_seconds{{{RUN}}}", f"pgbench_tps{{{RUN}}}"), "mean"),
            unit="s",
            bad="above the objective, or rising at the same TPS.",
            none=benchmark.NO_LATENCY,
            size=(6, 3),
        ),
        stat(
            "p99",
            "99th percentile of the last second, the highest of the workers. The transaction log arrives in blocks: "
            "if p99 is older than the mean, the panel says by how much.",
            now(f'max(pgbench_latency_window_seconds{{{RUN},quantile="0.99"}})', "p99"),
            *benchmark.delays(_TOOLS),
            unit="s",
            bad="many times the mean.",
            none=benchmark.NO_PERCENTILE,
            size=(6, 3),
            text_mode=BOTH,
        ),
        stat(
            "Transactions",
            "Completed transactions so far, all workers together.",
            now(total("transactions_total"), "transactions"),
            unit="short",
            bad="does not grow while running.",
            none="none",
            size=(6, 3),
        ),
        stat(
            "Failed",
            "Share of the transactions that failed after all tries (serialization, deadlock).",
            now(f"{failed} / ({failed} + {total('transactions_total')})", "failed"),
            unit="percentunit",
            bad="above 0.",
            none="none",
            size=(6, 3),
            steps=((None, "text"), (0, GREEN), (0.000001, RED)),
        ),
        stat(
            "Skipped",
            "Transactions that were skipped because they were already late (-R with -L).",
            now(total("skipped_transactions_total"), "skipped"),
            unit="short",
            bad="above 0: the database cannot keep up with the rate.",
            none="none with -R",
            size=(6, 3),
            steps=((None, "text"), (0, GREEN), (1, RED)),
        ),
        stat(
            "Retries",
            "Retries of transactions (--max-tries).",
            now(total("retries_total"), "retries"),
            unit="short",
            bad="a large share of the transactions: they compete for the same rows.",
            none="none with --max-tries",
            size=(6, 3),
        ),
    ]


def _throughput() -> list[dashboard.Panel]:
    return [
        graph(
            "TPS by worker",
            "Transactions per second of each pgbench: the mean of its reports in each step.",
            Query(f"max {_BY} ({mean(f'pgbench_tps{{{RUN}}}')})", _WORKER),
            unit="short",
            bad="one worker below the others, or all of them down together.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Total TPS",
            "All workers of a run together, from the reports and from the counted transactions: both must agree. If "
            "they are counted without a transaction log, reports more than 4 s apart appear as peaks, with 0 between "
            "them.",
            Query(mean_of(f"sum by (run) ({once(alive(f'pgbench_tps{{{RUN}}}'))})"), "{{run}}"),
            Query(f"sum by (run) ({once(rate(f'pgbench_transactions_total{{{RUN}}}'))})", "{{run}} counted"),
            unit="short",
            bad="a saw-tooth with the period of checkpoints, or drops to 0.",
            none=benchmark.NO_RUN,
        ),
    ]


def _latency() -> list[dashboard.Panel]:
    average, stddev = f"pgbench_latency_average_seconds{{{RUN}}}", f"pgbench_latency_stddev_seconds{{{RUN}}}"
    return [
        graph(
            "Mean latency by worker",
            "Mean latency of each pgbench over its report intervals, the highest in each step, and "
            "the objective of the run.",
            Query(f"max {_BY} ({peak(average)})", _WORKER),
            Query(
                f"min(benchwatch_run_latency_objective_seconds{{{RUN}}} and on (run, worker) {average})", "objective"
            ),
            unit="s",
            bad="above the dashed objective. Absent while nothing completes: a stall is a gap here and 0 "
            "TPS beside it.",
            none=benchmark.NO_RUN,
            log=True,
        ),
        benchmark.latency((12, 8), _TOOLS),
        benchmark.distribution((12, 7), _TOOLS),
        graph(
            "Spread of the latency",
            "Standard deviation divided by the mean of each report interval: 1 is what random arrivals give.",
            Query(f"max {_BY} (max_over_time(({stddev} / {alive(average)})[$__interval:1s]))", _WORKER),
            unit="short",
            bad="above 2 or 3: a few transactions wait very long.",
            none=benchmark.NO_RUN,
            size=(12, 7),
        ),
        graph(
            "99th percentile by worker",
            "99th percentile of each second of each pgbench, the highest in each step, shown when the transaction log "
            "has it: at low rates some seconds late.",
            Query(
                f"max {_BY} ({peak(f'pgbench_latency_window_seconds{{{RUN},quantile={chr(34)}0.99{chr(34)}}}')})",
                _WORKER,
            ),
            unit="s",
            bad="one worker above the others: look at its disks.",
            none=benchmark.NO_RUN,
            log=True,
        ),
        graph(
            "Behind the schedule",
            "With -R: mean time between the scheduled and the actual start of a transaction, the highest in each step.",
            Query(f"max {_BY} ({peak(f'pgbench_rate_limit_lag_seconds{{{RUN}}}')})", _WORKER),
            unit="s",
            bad="grows: the database cannot reach the rate, and the latency no longer says how fast it is.",
            none="No report of a run with a rate limit (pgbench -R) in this time range",
        ),
    ]


def _failures() -> list[dashboard.Panel]:
    def counter(title: str, name: str, shows: str, bad: str, none: str) -> dashboard.Panel:
        return graph(
            title,
            shows,
            Query(f"max {_BY} ({rate(f'{name}{{{RUN}}}')})", _WORKER),
            unit="ops",
            bad=bad,
            none=none,
            size=(8, 6),
        )

    return [
        counter(
            "Failed",
            "pgbench_failed_transactions_total",
            "Transactions a second that failed after all tries.",
            "above 0.",
            "Nothing counted: pgbench before 15, or no run in this time range",
        ),
        counter(
            "Skipped",
            "pgbench_skipped_transactions_total",
            "Transactions a second that were skipped because they were already late (-R with -L).",
            "above 0: the database cannot reach the rate.",
            "No report of a run with -R and -L in this time range",
        ),
        counter(
            "Retries",
            "pgbench_retries_total",
            "Retries a second (--max-tries).",
            "a large share of the TPS.",
            "No report of a run with --max-tries in this time range",
        ),
    ]


def _results() -> list[dashboard.Panel]:
    def result(name: str, more: str = "") -> Query:
        return now(f"max by (run, worker) (pgbench_result_{name}{{{RUN}{more}}})")

    return [
        table(
            "Results",
            "The final report of each finished pgbench. It covers the whole run, including the warm-up; percentiles "
            "and the highest latency come from the transaction log.",
            result("tps"),
            result("latency_average_seconds"),
            result("latency_stddev_seconds"),
            result("transactions"),
            result("connection_seconds"),
            now(f"max by (run, worker) (pgbench_clients{{{RUN}}})"),
            now(f"max by (run, worker) (pgbench_scale_factor{{{RUN}}})"),
            *(result("latency_seconds", f',quantile="{quantile}"') for quantile in ("0.5", "0.99", "1")),
            columns=[
                RUN_COMPARED,
                Column("worker", "Worker"),
                Column("Value #A", "TPS", "short", decimals=1),
                Column("Value #B", "Mean latency", "s"),
                Column("Value #C", "Standard deviation", "s"),
                Column("Value #H", "p50", "s"),
                Column("Value #I", "p99", "s"),
                Column("Value #J", "Highest", "s"),
                Column("Value #D", "Transactions", "short"),
                Column("Value #E", "Connecting", "s"),
                Column("Value #F", "Clients", "short"),
                Column("Value #G", "Scale", "short"),
            ],
            bad="a run that is missing here has no final report: it runs, failed or was interrupted.",
            none="No result of pgbench at the end of this time range",
            size=(24, 7),
            sort=("Run", "down"),
        ),
        table(
            "Statements",
            "Mean latency of each statement over the run (-r).",
            now(f"max by (run, worker, script, statement) (pgbench_result_statement_latency_average_seconds{{{RUN}}})"),
            columns=[
                Column("run", "Run"),
                Column("worker", "Worker", width=120),
                Column("script", "Script", width=80),
                Column("statement", "Statement"),
                Column("Value", "Mean latency", "s", width=130),
            ],
            bad="END (the commit) takes most of the time: the log device is the bottleneck.",
            none="No result of pgbench -r at the end of this time range",
            size=(14, 9),
            sort=("Mean latency", "down"),
        ),
        table(
            "Parameters",
            "How the runs were started, from the tool's output and run.yaml.",
            now(
                f"group by (run, name, value) (benchwatch_run_parameter{{{RUN}}} "
                f'and on (run) benchwatch_run_info{{tool="pgbench"}})'
            ),
            columns=[Column("run", "Run", width=180), Column("name", "Parameter"), Column("value", "Value")],
            bad="not what you meant to measure.",
            none="No parameters are known of these runs",
            size=(10, 9),
            sort=("Parameter", "up"),
        ),
    ]


BOARD = Board(
    uid="benchwatch-pgbench",
    description="pgbench by worker: throughput, latency and its distribution, failures, results.",
    variables=[*variables.standard("pgbench", newest=True), variables.recorded()],
    rows=[
        Row("", _overview()),
        Row("Throughput", _throughput()),
        Row("Latency", _latency()),
        Row("Failures", _failures()),
        Row("Results and parameters", _results()),
    ],
)
