"""The metrics of a sysbench run.

Which of them a run has depends on its test: databases have transactions and queries, `cpu`, `threads` and tests in Lua
have events, `fileio` and `memory` have bytes. Labels: `op` is read, write or other (queries), read or write (bytes;
empty for memory), read, write or sync (fileio's results).
"""

from typing import NamedTuple

from ...metrics.exposition import Family


def _live(name: str, text: str, *labels: str) -> Family:
    help_ = f"{text}, of the last line, which covers the interval since the line before."
    return Family(f"sysbench_{name}", "gauge", help_, labels)


def _total(name: str, text: str, *labels: str) -> Family:
    help_ = f"{text} since the start: summed up from the lines, never ahead of the truth; settled by the final report."
    return Family(f"sysbench_{name}_total", "counter", help_, labels)


def _result(name: str, text: str, *labels: str) -> Family:
    return Family(f"sysbench_result_{name}", "gauge", f"{text}, of the whole run: the final report.", labels, "runs")


TPS = _live("tps", "Transactions (events of a database test) per second: tps")
EVENTS = _live("events_per_second", "Events per second of a test without a database: eps")
QUERIES = _live("queries_per_second", "Statements per second by kind: r/w/o", "op")
BANDWIDTH = _live("bandwidth_bytes_per_second", "Bytes per second of fileio (reads, writes) and memory", "op")
FSYNCS = _live("fsyncs_per_second", "fsync calls per second of fileio")
LATENCY_WINDOW = _live(
    "latency_window_seconds",
    "The percentile chosen by --percentile, of the events that ended in the interval, seconds, in bins 1.8 % wide; "
    "with --rate from when they were due; absent if none ended",
    "quantile",
)
THREADS = _live("threads", "Threads at work: thds")
QUEUE = _live("queue_length", "Events that wait for a thread (--rate): queue length")
TRANSACTIONS_TOTAL = _total("transactions", "Transactions (events of a database test)")
EVENTS_TOTAL = _total("events", "Events of a test without a database")
QUERIES_TOTAL = _total("queries", "Statements by kind", "op")
BYTES_TOTAL = _total("bytes", "Bytes of fileio and memory", "op")
ERRORS_TOTAL = _total("errors", "Ignored errors, after which the event is tried again (deadlock, serialization),")
RECONNECTS_TOTAL = _total("reconnects", "Reconnects")
RESULT_TPS = _result("tps", "Transactions per second")
RESULT_EVENTS = _result("events_per_second", "Events per second of a test without a database: events by total time")
RESULT_BANDWIDTH = _result("bandwidth_bytes_per_second", "Bytes per second of fileio and memory: Throughput", "op")
RESULT_IOPS = _result("iops", "Operations per second of fileio", "op")
RESULT_LATENCY_AVERAGE = _result("latency_average_seconds", "Mean latency, seconds: sum by events")
RESULT_LATENCY_MIN = _result("latency_min_seconds", "Lowest latency, seconds; absent below 5 µs: min")
RESULT_LATENCY_MAX = _result("latency_max_seconds", "Highest latency, seconds: max")
RESULT_LATENCY = _result(
    "latency_seconds",
    "The percentile chosen by --percentile, seconds, in bins 1.8 % wide; absent with --report-checkpoints",
    "quantile",
)
RESULT_TRANSACTIONS = _result("transactions", "Events (transactions of a database, operations of fileio)")
RESULT_UNFINISHED = _result("unfinished_transactions", "Transactions cut off by --forced-shutdown")
LATENCY = Family(
    "sysbench_latency_seconds",
    "histogram",
    "Latency of all events of an ended run, seconds, by the upper edges of sysbench's own bins (1.8 % wide): "
    "--histogram=on.",
    part="runs",
)
FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""


class Shown(NamedTuple):
    """Where a number is shown."""

    live: Family | None = None
    """Its rate in the last interval."""
    total: Family | None = None
    result: Family | None = None
    labels: tuple[str, ...] = ()


NUMBERS = {
    "transactions": Shown(TPS, TRANSACTIONS_TOTAL),
    "events": Shown(EVENTS, EVENTS_TOTAL),
    **{f"queries_{op}": Shown(QUERIES, QUERIES_TOTAL, None, (op,)) for op in ("read", "write", "other")},
    **{f"bytes_{op}": Shown(BANDWIDTH, BYTES_TOTAL, RESULT_BANDWIDTH, (op,)) for op in ("read", "write", "")},
    "fsyncs": Shown(FSYNCS),
    "errors": Shown(None, ERRORS_TOTAL),
    "reconnects": Shown(None, RECONNECTS_TOTAL),
    "tps": Shown(result=RESULT_TPS),
    "eps": Shown(result=RESULT_EVENTS),
    **{f"iops_{op}": Shown(result=RESULT_IOPS, labels=(op,)) for op in ("read", "write", "sync")},
    "latency_average": Shown(result=RESULT_LATENCY_AVERAGE),
    "latency_min": Shown(result=RESULT_LATENCY_MIN),
    "latency_max": Shown(result=RESULT_LATENCY_MAX),
    "operations": Shown(result=RESULT_TRANSACTIONS),
    "unfinished": Shown(result=RESULT_UNFINISHED),
}
"""By the names that `reports` and `summary` give them; those of a whole run are in `Results.figures`."""
