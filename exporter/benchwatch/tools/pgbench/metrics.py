"""pgbench's metric families, in the order of the exposition."""

from ...metrics.samples import Family

TPS = Family(
    "pgbench_tps",
    "gauge",
    "Transactions per second over the last report interval; without progress lines, over the "
    "last second of the transaction log.",
)
LATENCY_AVERAGE = Family(
    "pgbench_latency_average_seconds",
    "gauge",
    "Mean latency over the last report interval; with -R from the scheduled start. Absent when nothing completed.",
)
LATENCY_STDDEV = Family(
    "pgbench_latency_stddev_seconds",
    "gauge",
    "Standard deviation of the latency over the last report interval. Absent when nothing completed.",
)
LAG = Family(
    "pgbench_rate_limit_lag_seconds",
    "gauge",
    "Mean delay of transactions behind their schedule (-R) over the last report interval. "
    "Absent when nothing completed.",
)
LATENCY_WINDOW = Family(
    "pgbench_latency_window_seconds",
    "gauge",
    "Latency quantiles of the last second of the transaction log (-l), within 1.6 %; 1 is the "
    "exact maximum. Absent when nothing completed.",
    labels=("quantile",),
)
INTERVAL_TIME = Family(
    "pgbench_interval_timestamp_seconds",
    "gauge",
    "End of the last report interval, Unix time.",
)
LATENCY_WINDOW_TIME = Family(
    "pgbench_latency_window_timestamp_seconds",
    "gauge",
    "End of the second of pgbench_latency_window_seconds, Unix time; at low rates up to 12 s "
    "old, because the log comes in blocks.",
)
TRANSACTIONS = Family(
    "pgbench_transactions_total",
    "counter",
    "Completed transactions, from the log or the progress lines; at the end from the final "
    "report, which in 9.6 and 10 includes skipped ones.",
)
FAILED = Family(
    "pgbench_failed_transactions_total",
    "counter",
    "Transactions that failed after all tries (15+), or with any error (19+, --continue-on-error).",
)
SKIPPED = Family(
    "pgbench_skipped_transactions_total",
    "counter",
    "Transactions skipped because they were already late (-R with -L).",
)
RETRIED = Family(
    "pgbench_retried_transactions_total",
    "counter",
    "Transactions tried more than once (--max-tries).",
)
RETRIES = Family(
    "pgbench_retries_total",
    "counter",
    "Further tries of transactions (--max-tries).",
)
LATENCY = Family(
    "pgbench_latency_seconds",
    "histogram",
    "Latency by script (from 0) since the start, from the transaction log (-l); with "
    "--sampling-rate of the sampled transactions.",
    labels=("script",),
)


def _runs(name: str, text: str, *labels: str) -> Family:
    return Family(name, "gauge", text, labels, part="runs")


CLIENTS = _runs("pgbench_clients", "Clients.")
THREADS = _runs("pgbench_threads", "Threads.")
SCALE_FACTOR = _runs(
    "pgbench_scale_factor",
    "Scale factor of the final report, unless it is the 1 printed for custom scripts; of -i, "
    "from the rows generated so far.",
)
DURATION = _runs("pgbench_duration_seconds", "Requested duration (-T).")
RESULT_TPS = _runs(
    "pgbench_result_tps",
    "Transactions per second without the initial connections (14+ with -C: including reconnections).",
)
RESULT_LATENCY_AVERAGE = _runs("pgbench_result_latency_average_seconds", "Mean latency.")
RESULT_LATENCY_STDDEV = _runs(
    "pgbench_result_latency_stddev_seconds",
    "Standard deviation of the latency.",
)
RESULT_LATENCY = _runs(
    "pgbench_result_latency_seconds",
    "Latency quantiles from the transaction log (-l), within 1.6 %; 1 is the exact maximum.",
    "quantile",
)
RESULT_TRANSACTIONS = _runs(
    "pgbench_result_transactions",
    "Transactions; in 9.6 and 10 including skipped ones.",
)
RESULT_CONNECTION = _runs(
    "pgbench_result_connection_seconds",
    "Time of all initial connections; with -C mean time of a connection (14+).",
)
RESULT_LATE = _runs("pgbench_result_late_transactions", "Transactions above the latency limit (-L).")
RESULT_LAG_AVERAGE = _runs(
    "pgbench_result_rate_limit_lag_average_seconds",
    "Mean delay behind the schedule (-R).",
)
RESULT_LAG_MAX = _runs(
    "pgbench_result_rate_limit_lag_max_seconds",
    "Longest delay behind the schedule (-R).",
)
RESULT_FAILURES = _runs(
    "pgbench_result_failed_transactions",
    "Failed transactions by error: serialization, deadlock, other (19+); with --failures-detailed.",
    "kind",
)
SCRIPT_TRANSACTIONS = _runs(
    "pgbench_result_script_transactions",
    "Transactions of a script (from 0); in some versions including skipped and failed ones.",
    "script",
)
SCRIPT_TPS = _runs(
    "pgbench_result_script_tps",
    "Transactions per second of a script.",
    "script",
)
SCRIPT_LATENCY_AVERAGE = _runs(
    "pgbench_result_script_latency_average_seconds",
    "Mean latency of a script.",
    "script",
)
SCRIPT_LATENCY_STDDEV = _runs(
    "pgbench_result_script_latency_stddev_seconds",
    "Standard deviation of the latency of a script.",
    "script",
)
STATEMENT_LATENCY = _runs(
    "pgbench_result_statement_latency_average_seconds",
    "Mean latency of a statement (-r); a repeated statement has its position before it.",
    "script",
    "statement",
)
STATEMENT_FAILURES = _runs(
    "pgbench_result_statement_failures",
    "Serialization and deadlock errors of a statement without another try (15+, -r).",
    "script",
    "statement",
)
STATEMENT_RETRIES = _runs(
    "pgbench_result_statement_retries",
    "Errors of a statement after which the transaction was tried again (15+, -r, --max-tries).",
    "script",
    "statement",
)

FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""
