"""pgbench's metric families, in the order of the exposition."""

from collections.abc import Mapping

from ...metrics.samples import Family, Kind, Part


def _families(prefix: str, kind: Kind, part: Part, helps: Mapping[str, str]) -> dict[str, Family]:
    """Families by their names without the prefix; `helps` are by name and labels."""
    named = [(*key.split(), text) for key, text in helps.items()]
    return {name: Family(f"{prefix}_{name}", kind, text, tuple(labels), part) for name, *labels, text in named}


LIVE = _families(
    "pgbench",
    "gauge",
    "live",
    {
        "tps": "Transactions per second, last interval; without progress lines, last second of the transaction log.",
        "latency_average_seconds": "Mean latency, last interval; with -R from the scheduled start.",
        "latency_stddev_seconds": "Standard deviation of the latency, last interval.",
        "rate_limit_lag_seconds": "Mean delay of transactions behind their schedule (-R), last interval.",
        "latency_window_seconds quantile": "Latency quantiles, last second of the transaction log (-l), within 1.6 %; "
        "1 is the exact maximum.",
        "interval_timestamp_seconds": "End of the last interval, Unix time.",
        "latency_window_timestamp_seconds": "End of the second of pgbench_latency_window_seconds, Unix time; at low "
        "rates up to 12 s old, because the log comes in blocks.",
    },
)
_COUNTERS = _families(
    "pgbench",
    "counter",
    "live",
    {
        "transactions_total": "Completed transactions, from the log or the progress lines; at the end from the final "
        "report, which in 9.6 and 10 includes skipped ones.",
        "failed_transactions_total": "Transactions that failed after all tries (15+), or with any error (19+, "
        "--continue-on-error).",
        "skipped_transactions_total": "Transactions skipped because they were already late (-R with -L).",
        "retried_transactions_total": "Transactions tried more than once (--max-tries).",
        "retries_total": "Further tries of transactions (--max-tries).",
    },
)
COUNTERS = dict(zip(("transactions", "failed", "skipped", "retried", "retries"), _COUNTERS.values(), strict=True))
"""By the name of the figure in the final report."""
LATENCY = Family(
    "pgbench_latency_seconds",
    "histogram",
    "Latency by script (from 0) since the start, from the transaction log (-l); with --sampling-rate "
    "of the sampled transactions.",
    ("script",),
)
SETTINGS = _families(
    "pgbench",
    "gauge",
    "runs",
    {
        "clients": "Clients.",
        "threads": "Threads.",
        "scale_factor": "Scale factor of the final report, unless it is the 1 printed for custom scripts; of -i, from "
        "the rows generated so far.",
        "duration_seconds": "Requested duration (-T).",
    },
)
RESULTS = _families(
    "pgbench_result",
    "gauge",
    "runs",
    {
        "tps": "Transactions per second without the initial connections (14+ with -C: including reconnections).",
        "latency_average_seconds": "Mean latency.",
        "latency_stddev_seconds": "Standard deviation of the latency.",
        "latency_seconds quantile": "Latency quantiles from the transaction log (-l), within 1.6 %; 1 is the exact "
        "maximum.",
        "transactions": "Transactions; in 9.6 and 10 including skipped ones.",
        "connection_seconds": "Time of all initial connections; with -C mean time of a connection (14+).",
        "late_transactions": "Transactions above the latency limit (-L).",
        "rate_limit_lag_average_seconds": "Mean delay behind the schedule (-R).",
        "rate_limit_lag_max_seconds": "Longest delay behind the schedule (-R).",
        "failed_transactions kind": "Failed transactions by error: serialization, deadlock, other (19+); with "
        "--failures-detailed.",
        "script_transactions script": "Transactions of a script (from 0); in some versions including skipped and "
        "failed ones.",
        "script_tps script": "Transactions per second of a script.",
        "script_latency_average_seconds script": "Mean latency of a script.",
        "script_latency_stddev_seconds script": "Standard deviation of the latency of a script.",
        "statement_latency_average_seconds script statement": "Mean latency of a statement (-r); a repeated statement "
        "has its position before it.",
        "statement_failures script statement": "Serialization and deadlock errors of a statement without another try "
        "(15+, -r).",
        "statement_retries script statement": "Errors of a statement after which the transaction was tried again "
        "(15+, -r, --max-tries).",
    },
)
FAMILIES = (*LIVE.values(), *COUNTERS.values(), LATENCY, *SETTINGS.values(), *RESULTS.values())
