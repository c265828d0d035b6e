"""pgbench's metric families, in the order of the exposition."""

from ...metrics.samples import Family, Kind


def _live(name: str, text: str, *labels: str, kind: Kind = "gauge") -> Family:
    return Family(f"pgbench_{name}", kind, text, labels)


def _setting(name: str, text: str) -> Family:
    return Family(f"pgbench_{name}", "gauge", text, part="runs")


def _result(name: str, text: str, *labels: str) -> Family:
    return Family(f"pgbench_result_{name}", "gauge", text, labels, part="runs")


TPS = _live(
    "tps", "Transactions per second, last interval; without progress lines, last second of the transaction log."
)
LATENCY_AVERAGE = _live("latency_average_seconds", "Mean latency, last interval; with -R from the scheduled start.")
LATENCY_STDDEV = _live("latency_stddev_seconds", "Standard deviation of the latency, last interval.")
LAG = _live("rate_limit_lag_seconds", "Mean delay of transactions behind their schedule (-R), last interval.")
LATENCY_WINDOW = _live(
    "latency_window_seconds",
    "Latency quantiles, last second of the transaction log (-l), within 1.6 %; 1 is the exact maximum.",
    "quantile",
)
INTERVAL_TIME = _live("interval_timestamp_seconds", "End of the last interval, Unix time.")
LATENCY_WINDOW_TIME = _live(
    "latency_window_timestamp_seconds",
    "End of the second of pgbench_latency_window_seconds, Unix time; at low rates up to 12 s old, "
    "because the log comes in blocks.",
)
TRANSACTIONS = _live(
    "transactions_total",
    "Completed transactions, from the log or the progress lines; at the end from the final report, "
    "which in 9.6 and 10 includes skipped ones.",
    kind="counter",
)
FAILED = _live(
    "failed_transactions_total",
    "Transactions that failed after all tries (15+), or with any error (19+, --continue-on-error).",
    kind="counter",
)
SKIPPED = _live(
    "skipped_transactions_total",
    "Transactions skipped because they were already late (-R with -L).",
    kind="counter",
)
RETRIED = _live("retried_transactions_total", "Transactions tried more than once (--max-tries).", kind="counter")
RETRIES = _live("retries_total", "Further tries of transactions (--max-tries).", kind="counter")
LATENCY = _live(
    "latency_seconds",
    "Latency by script (from 0) since the start, from the transaction log (-l); with --sampling-rate "
    "of the sampled transactions.",
    "script",
    kind="histogram",
)
CLIENTS = _setting("clients", "Clients.")
THREADS = _setting("threads", "Threads.")
SCALE_FACTOR = _setting(
    "scale_factor",
    "Scale factor of the final report, unless it is the 1 printed for custom scripts; of -i, from "
    "the rows generated so far.",
)
DURATION = _setting("duration_seconds", "Requested duration (-T).")
RESULT_TPS = _result(
    "tps", "Transactions per second without the initial connections (14+ with -C: including reconnections)."
)
RESULT_LATENCY_AVERAGE = _result("latency_average_seconds", "Mean latency.")
RESULT_LATENCY_STDDEV = _result("latency_stddev_seconds", "Standard deviation of the latency.")
RESULT_LATENCY = _result(
    "latency_seconds",
    "Latency quantiles from the transaction log (-l), within 1.6 %; 1 is the exact maximum.",
    "quantile",
)
RESULT_TRANSACTIONS = _result("transactions", "Transactions; in 9.6 and 10 including skipped ones.")
RESULT_CONNECTION = _result(
    "connection_seconds", "Time of all initial connections; with -C mean time of a connection (14+)."
)
RESULT_LATE = _result("late_transactions", "Transactions above the latency limit (-L).")
RESULT_LAG_AVERAGE = _result("rate_limit_lag_average_seconds", "Mean delay behind the schedule (-R).")
RESULT_LAG_MAX = _result("rate_limit_lag_max_seconds", "Longest delay behind the schedule (-R).")
RESULT_FAILURES = _result(
    "failed_transactions",
    "Failed transactions by error: serialization, deadlock, other (19+); with --failures-detailed.",
    "kind",
)
SCRIPT_TRANSACTIONS = _result(
    "script_transactions",
    "Transactions of a script (from 0); in some versions including skipped and failed ones.",
    "script",
)
SCRIPT_TPS = _result("script_tps", "Transactions per second of a script.", "script")
SCRIPT_LATENCY_AVERAGE = _result("script_latency_average_seconds", "Mean latency of a script.", "script")
SCRIPT_LATENCY_STDDEV = _result(
    "script_latency_stddev_seconds", "Standard deviation of the latency of a script.", "script"
)
STATEMENT_LATENCY = _result(
    "statement_latency_average_seconds",
    "Mean latency of a statement (-r); a repeated statement has its position before it.",
    "script",
    "statement",
)
STATEMENT_FAILURES = _result(
    "statement_failures",
    "Serialization and deadlock errors of a statement without another try (15+, -r).",
    "script",
    "statement",
)
STATEMENT_RETRIES = _result(
    "statement_retries",
    "Errors of a statement after which the transaction was tried again (15+, -r, --max-tries).",
    "script",
    "statement",
)

FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""

COUNTERS = {"transactions": TRANSACTIONS, "failed": FAILED, "skipped": SKIPPED, "retried": RETRIED, "retries": RETRIES}
"""By the name of the figure in the final report."""
SETTINGS = {"clients": CLIENTS, "threads": THREADS, "scale_factor": SCALE_FACTOR, "duration": DURATION}
"""By the name of the setting in the final report."""
RESULTS = {one.name.removeprefix("pgbench_result_"): one for one in FAMILIES if "_result_" in one.name}
RESULTS["reconnection_seconds"] = RESULT_CONNECTION
"""By the name of the figure in the final report."""
ORDER = {name: FAMILIES.index(STATEMENT_LATENCY if "statement" in one.labels else one) for name, one in RESULTS.items()}
"""Of the results: what is known of a statement stays together."""
