"""pgbench's metric families, in the order of the exposition."""

from ...metrics.samples import Family

TPS = Family(
    "pgbench_tps",
    "gauge",
    "Transactions per second over the last report interval: tps of the last progress line; "
    "without progress lines, transactions of the last closed whole second of the transaction log.",
)
LATENCY_AVERAGE = Family(
    "pgbench_latency_average_seconds",
    "gauge",
    "Mean latency over the last report interval, seconds: lat of the last progress line, or the last closed second of "
    "the transaction log. With -R it counts from the scheduled begin. Absent when nothing completed.",
)
LATENCY_STDDEV = Family(
    "pgbench_latency_stddev_seconds",
    "gauge",
    "Standard deviation of the latency over the last report interval, seconds: stddev of the last progress line, or "
    "the last closed second of the transaction log. Absent when nothing completed.",
)
LAG = Family(
    "pgbench_rate_limit_lag_seconds",
    "gauge",
    "Mean time between the scheduled and the true begin of a transaction (-R) over the last report interval, seconds: "
    "lag of the last progress line. Absent when nothing completed.",
)
LATENCY_WINDOW = Family(
    "pgbench_latency_window_seconds",
    "gauge",
    "Latency quantiles of the transactions that completed in the last closed whole second, seconds, from the "
    "transaction log (-l), within 1.6 %; quantile 1 is the exact maximum. Absent when nothing completed.",
    labels=("quantile",),
)
INTERVAL_TIME = Family(
    "pgbench_interval_timestamp_seconds",
    "gauge",
    "Unix time at which the interval ended that pgbench_tps, latency average, latency stddev and lag are of: that of "
    "the last progress line, or of the last closed second of the transaction log.",
)
LATENCY_WINDOW_TIME = Family(
    "pgbench_latency_window_timestamp_seconds",
    "gauge",
    "Unix time at which the second ended that pgbench_latency_window_seconds is of. The transaction log comes in "
    "blocks, so at low rates it is up to some 12 s earlier than pgbench_interval_timestamp_seconds. Absent with them.",
)
TRANSACTIONS = Family(
    "pgbench_transactions_total",
    "counter",
    "Transactions that completed. During the run from the transaction log, or from the progress lines' rates (less a "
    "small margin) if those are ahead; then the final report's figure, which in 9.6 and 10 includes skipped "
    "transactions.",
)
FAILED = Family(
    "pgbench_failed_transactions_total",
    "counter",
    "Transactions that failed with a serialization or deadlock error after all tries (15+), or with any error where "
    "that is passed over (19+, --continue-on-error): failed of the progress "
    "lines, or from the transaction log; then the final report's figure.",
)
SKIPPED = Family(
    "pgbench_skipped_transactions_total",
    "counter",
    "Transactions that were not begun because they were late already (-R with -L): skipped of the progress lines, or "
    "from the transaction log; then the final report's figure.",
)
RETRIED = Family(
    "pgbench_retried_transactions_total",
    "counter",
    "Transactions that were tried more than once (--max-tries): retried of the progress lines, or from the "
    "transaction log; then the final report's figure.",
)
RETRIES = Family(
    "pgbench_retries_total",
    "counter",
    "Further tries of transactions (--max-tries): retries of the progress lines, or from the transaction log; then "
    "the final report's figure.",
)
LATENCY = Family(
    "pgbench_latency_seconds",
    "histogram",
    "Latency of the transactions by script (script_no, from 0) since the start of the run, seconds, from the "
    "transaction log (-l). With --sampling-rate of the sampled transactions only.",
    labels=("script",),
)


def _runs(name: str, text: str, *labels: str) -> Family:
    return Family(name, "gauge", text, labels, part="runs")


CLIENTS = _runs("pgbench_clients", "Clients: number of clients of the final report.")
THREADS = _runs("pgbench_threads", "Threads: number of threads of the final report.")
SCALE_FACTOR = _runs(
    "pgbench_scale_factor",
    "Scale factor of the final report, unless it is the 1 that is printed for scripts of one's own (-f) or several; "
    "before it, rows that -i generates divided by 100000.",
)
DURATION = _runs("pgbench_duration_seconds", "Duration asked for (-T), seconds: duration of the final report.")
RESULT_TPS = _runs(
    "pgbench_result_tps",
    "Transactions per second of the run without the initial connections: tps of the final report (in 14+ with -C "
    "including reconnections).",
)
RESULT_LATENCY_AVERAGE = _runs(
    "pgbench_result_latency_average_seconds", "Mean latency of the run, seconds: latency average of the final report."
)
RESULT_LATENCY_STDDEV = _runs(
    "pgbench_result_latency_stddev_seconds",
    "Standard deviation of the latency of the run, seconds: latency stddev of the final report.",
)
RESULT_LATENCY = _runs(
    "pgbench_result_latency_seconds",
    "Latency quantiles of the run, seconds, once its final report has come: of all transactions in the transaction "
    "log (-l), within 1.6 %; quantile 1 is the exact maximum. With --sampling-rate of the sampled transactions only.",
    "quantile",
)
RESULT_TRANSACTIONS = _runs(
    "pgbench_result_transactions",
    "Transactions of the run: number of transactions actually processed of the final report, in 9.6 and 10 with "
    "skipped ones.",
)
RESULT_CONNECTION = _runs(
    "pgbench_result_connection_seconds",
    "Time that all initial connections took, or with -C one connection on average, seconds: the final report of 14+.",
)
RESULT_LATE = _runs(
    "pgbench_result_late_transactions", "Transactions of the run above the latency limit (-L): the final report."
)
RESULT_LAG_AVERAGE = _runs(
    "pgbench_result_rate_limit_lag_average_seconds",
    "Mean time between the scheduled and the true begin of a transaction (-R) of the run, seconds: the final report.",
)
RESULT_LAG_MAX = _runs(
    "pgbench_result_rate_limit_lag_max_seconds",
    "Longest time between the scheduled and the true begin of a transaction (-R) of the run, seconds: the final "
    "report.",
)
RESULT_FAILURES = _runs(
    "pgbench_result_failed_transactions",
    "Failed transactions of the run by kind of error (serialization, deadlock, in 19+ other): the final report with "
    "--failures-detailed.",
    "kind",
)
SCRIPT_TRANSACTIONS = _runs(
    "pgbench_result_script_transactions",
    "Transactions of one of several scripts (from 0): the final report, in some versions with skipped and failed ones.",
    "script",
)
SCRIPT_TPS = _runs(
    "pgbench_result_script_tps",
    "Transactions per second of one of several scripts (from 0) over the run: the final report.",
    "script",
)
SCRIPT_LATENCY_AVERAGE = _runs(
    "pgbench_result_script_latency_average_seconds",
    "Mean latency of one of several scripts (from 0) over the run, seconds: the final report.",
    "script",
)
SCRIPT_LATENCY_STDDEV = _runs(
    "pgbench_result_script_latency_stddev_seconds",
    "Standard deviation of the latency of one of several scripts (from 0) over the run, seconds: the final report.",
    "script",
)
STATEMENT_LATENCY = _runs(
    "pgbench_result_statement_latency_average_seconds",
    "Mean latency of one statement of a script (from 0) over the run, seconds: the final report with -r. The second "
    "of two equal statements in a script has its position (from 1) before it.",
    "script",
    "statement",
)
STATEMENT_FAILURES = _runs(
    "pgbench_result_statement_failures",
    "Serialization and deadlock errors in one statement that were not tried again: the final report of 15+ with -r.",
    "script",
    "statement",
)
STATEMENT_RETRIES = _runs(
    "pgbench_result_statement_retries",
    "Errors in one statement after which the transaction was tried again: the final report of 15+ with -r and "
    "--max-tries.",
    "script",
    "statement",
)

FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""
