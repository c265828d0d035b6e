"""The metrics of a sysbench run.

Which of them a run has depends on its test: databases have transactions and queries, `cpu`, `threads` and tests in Lua
have events, `fileio` and `memory` have bytes. Labels: `op` is read, write or other (queries), read or write (bytes;
empty for memory), read, write or sync (fileio's results).
"""

from ...metrics.exposition import Family

_LINE = "of the last line, which covers the interval since the line before"
_REPORT = "the final report"


def _runs(name: str, text: str, *labels: str) -> Family:
    return Family(name, "gauge", text, labels, "runs")


TPS = Family("sysbench_tps", "gauge", f"Transactions (events of a database test) per second: tps {_LINE}.")
EVENTS = Family("sysbench_events_per_second", "gauge", f"Events per second of a test without a database: eps {_LINE}.")
QUERIES = Family("sysbench_queries_per_second", "gauge", f"Statements per second by kind: r/w/o {_LINE}.", ("op",))
BANDWIDTH = Family(
    "sysbench_bandwidth_bytes_per_second",
    "gauge",
    f"Bytes read and written a second by fileio, or moved by memory (op empty): {_LINE}.",
    ("op",),
)
FSYNCS = Family("sysbench_fsyncs_per_second", "gauge", f"Calls of fsync a second by fileio: {_LINE}.")
LATENCY_WINDOW = Family(
    "sysbench_latency_window_seconds",
    "gauge",
    "The percentile that --percentile chose, of the events that ended in the interval of the last line, seconds, in "
    "bins 1.8 % wide; with --rate the wait in the queue counts. Absent where none ended.",
    ("quantile",),
)
THREADS = Family("sysbench_threads", "gauge", f"Threads at work: thds {_LINE}.")
QUEUE = Family(
    "sysbench_queue_length", "gauge", "Events that wait for a thread (--rate): queue length of the last such line."
)
TRANSACTIONS_TOTAL = Family(
    "sysbench_transactions_total",
    "counter",
    "Transactions since the start: summed up from tps, never ahead of the truth, and settled by the final report.",
)
EVENTS_TOTAL = Family(
    "sysbench_events_total",
    "counter",
    "Events of a test without a database since the start: summed up from eps, and settled by the final report.",
)
QUERIES_TOTAL = Family(
    "sysbench_queries_total",
    "counter",
    "Statements since the start by kind: summed up from r/w/o, and settled by the final report.",
    ("op",),
)
BYTES_TOTAL = Family(
    "sysbench_bytes_total",
    "counter",
    "Bytes since the start of fileio and memory: summed up from the lines' rates, and settled by the final report.",
    ("op",),
)
ERRORS_TOTAL = Family(
    "sysbench_errors_total",
    "counter",
    "Errors that were ignored and the event tried again (deadlock, serialization): summed up from err/s, and settled "
    "by the final report.",
)
RECONNECTS_TOTAL = Family(
    "sysbench_reconnects_total", "counter", "Reconnects: summed up from reconn/s, and settled by the final report."
)
RESULT_TPS = _runs("sysbench_result_tps", f"Transactions per second of the run: {_REPORT}.")
RESULT_EVENTS_RATE = _runs(
    "sysbench_result_events_per_second",
    f"Events per second of a test without a database, of the run: total number of events by total time of {_REPORT}.",
)
RESULT_BANDWIDTH = _runs(
    "sysbench_result_bandwidth_bytes_per_second", f"Bytes per second of the run: Throughput of {_REPORT}.", "op"
)
RESULT_IOPS = _runs("sysbench_result_iops", f"fileio's operations per second of the run: {_REPORT}.", "op")
RESULT_LATENCY_AVERAGE = _runs(
    "sysbench_result_latency_average_seconds", f"Mean latency of the run, seconds: avg of {_REPORT}."
)
RESULT_LATENCY_MIN = _runs(
    "sysbench_result_latency_min_seconds", f"Lowest latency of the run, seconds: min of {_REPORT}."
)
RESULT_LATENCY_MAX = _runs(
    "sysbench_result_latency_max_seconds", f"Highest latency of the run, seconds: max of {_REPORT}."
)
RESULT_LATENCY = _runs(
    "sysbench_result_latency_seconds",
    f"The percentile that --percentile chose, of the run, seconds, in bins 1.8 % wide: {_REPORT}.",
    "quantile",
)
RESULT_TRANSACTIONS = _runs(
    "sysbench_result_transactions", f"Events of the run (transactions of a database): {_REPORT}."
)
RESULT_UNFINISHED = _runs(
    "sysbench_result_unfinished_transactions", f"Transactions cut off by --forced-shutdown: {_REPORT}."
)
LATENCY = Family(
    "sysbench_latency_seconds",
    "histogram",
    "Latency of all events of an ended run, seconds, by the upper edges of sysbench's own bins (1.8 % wide): "
    "--histogram=on.",
    part="runs",
)

FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""
