"""pgbench: Live's head, rate and latency, then what only pgbench tells: each worker, schedule, failures, statements."""

from benchwatch.tools.registry import TOOLS

from . import benchmark, column, variables
from .board import Board, Row
from .head import head
from .queries import RUN, Query, mean, now, one_of, peak, rate
from .strips import strip
from .tables import RUN_COMPARED, Column, table

_TOOLS = [tool for tool in TOOLS if tool.name == "pgbench"]
_WORKER = "{{run}} {{worker}}"
_BY = "by (run, worker)"
_P99 = f'pgbench_latency_window_seconds{{{RUN},quantile="0.99"}}'
_LOST = {"failed": "failed_transactions", "skipped": "skipped_transactions", "retried": "retries"}


def _result(name: str, more: str = "") -> Query:
    return now(f"max by (run, worker) (pgbench_result_{name}{{{RUN}{more}}})")


_RESULTS = table(
    "Results",
    "The final report of each finished pgbench. It covers the whole run, including the warm-up; percentiles and the "
    "highest latency come from the transaction log.",
    _result("tps"),
    _result("latency_average_seconds"),
    _result("latency_stddev_seconds"),
    *(_result("latency_seconds", f',quantile="{quantile}"') for quantile in ("0.5", "0.99", "1")),
    _result("transactions"),
    now(f"max by (run, worker) (pgbench_clients{{{RUN}}})"),
    now(f"max by (run, worker) (pgbench_scale_factor{{{RUN}}})"),
    columns=[
        RUN_COMPARED,
        Column("worker", "Worker"),
        Column("Value #A", "TPS", "short", decimals=1),
        Column("Value #B", "Mean latency", "s"),
        Column("Value #C", "Standard deviation", "s"),
        Column("Value #D", "p50", "s"),
        Column("Value #E", "p99", "s"),
        Column("Value #F", "Highest", "s"),
        Column("Value #G", "Transactions", "short"),
        Column("Value #H", "Clients", "short"),
        Column("Value #I", "Scale", "short"),
    ],
    bad="a run that is missing here has no final report: it runs, failed or was interrupted.",
    none="No result of pgbench at the end of this time range",
    size=(24, 6),
    sort=("Run", "down"),
)
_STATEMENTS = table(
    "Statements",
    "Mean latency of each statement over the run (-r).",
    now(f"max by (run, worker, script, statement) (pgbench_result_statement_latency_average_seconds{{{RUN}}})"),
    columns=[
        Column("run", "Run"),
        Column("worker", "Worker", width=90),
        Column("script", "Script", width=60),
        Column("statement", "Statement"),
        Column("Value", "Mean latency", "s", width=110),
    ],
    bad="END (the commit) takes most of the time: the log device is the bottleneck.",
    none="No result of pgbench -r at the end of this time range",
    size=(24, 8),
    sort=("Mean latency", "down"),
)

BOARD = Board(
    uid="benchwatch-pgbench",
    description="pgbench by worker: throughput, latency and its distribution, schedule, failures, results.",
    variables=[*variables.standard("pgbench", newest=True), variables.recorded(), variables.host(hidden=True)],
    rows=[
        Row(
            "",
            [
                head(4, _TOOLS),
                column.events(3),
                benchmark.throughput(3, _TOOLS),
                benchmark.latency(3, _TOOLS),
                column.sessions(clock=True),
                benchmark.distribution((24, 9), _TOOLS),
                _RESULTS,
            ],
        ),
        Row(
            "Statements, workers, schedule and failures",
            [
                strip(
                    "TPS, workers",
                    "Transactions per second of each pgbench: the mean of its reports in each step.",
                    Query(f"max {_BY} ({mean(f'pgbench_tps{{{RUN}}}')})", _WORKER),
                    unit="short",
                    bad="one worker below the others, or all of them down together.",
                    none=benchmark.NO_RUN,
                    slow="1",
                ),
                strip(
                    "p99, workers",
                    "99th percentile of each second of each pgbench, the highest in each step, shown when the "
                    "transaction log has it: at low rates some seconds late.",
                    Query(f"max {_BY} ({peak(_P99)})", _WORKER),
                    unit="s",
                    bad="one worker above the others: look at its disks.",
                    none=benchmark.NO_RUN,
                    log=True,
                    slow="1",
                ),
                strip(
                    "Behind",
                    "With -R: mean time between the scheduled and the actual start of a transaction, the highest in "
                    "each step.",
                    Query(f"max {_BY} ({peak(f'pgbench_rate_limit_lag_seconds{{{RUN}}}')})", _WORKER),
                    unit="s",
                    bad="grows: the database cannot reach the rate, and the latency no longer says how fast it is.",
                    none="Behind the schedule: no report of a run with a rate limit (pgbench -R) in this time range",
                    height=2,
                ),
                strip(
                    "Lost",
                    "Transactions a second that failed after all tries, were skipped because they were late already "
                    "(-R with -L), and retries (--max-tries).",
                    Query(
                        one_of(
                            "what",
                            {
                                word: f"max {_BY} ({rate(f'pgbench_{name}_total{{{RUN}}}')}) > 0"
                                for word, name in _LOST.items()
                            },
                        ),
                        f"{_WORKER} {{{{what}}}}",
                    ),
                    unit="ops",
                    bad="failed or skipped above 0; retries a large share of the TPS.",
                    none="Nothing failed, was skipped or retried in this time range",
                    height=2,
                    clock=True,
                ),
                _STATEMENTS,
            ],
            collapsed=True,
        ),
    ],
)
