"""The metrics of a sysbench run.

Databases have transactions and queries; `fileio` and `memory` have bytes; other tests have events. The label `op` is
read, write, other (queries) or sync (fileio).
"""

from collections.abc import Mapping

from ...metrics.samples import Family, Sample


def _live(name: str, text: str, *labels: str) -> Family:
    return Family(f"sysbench_{name}", "gauge", f"{text}, of the interval since the line before: the last line.", labels)


def _total(name: str, text: str, *labels: str) -> Family:
    help_ = f"{text} since the start: summed up from the lines, never ahead of the truth; settled by the final report."
    return Family(f"sysbench_{name}_total", "counter", help_, labels)


def _result(name: str, text: str, *labels: str) -> Family:
    return Family(f"sysbench_result_{name}", "gauge", f"{text}, of the whole run: the final report.", labels, "runs")


TPS = _live("tps", "Transactions (events of a database test) per second: tps")
EVENTS = _live("events_per_second", "Events per second of a test without a database: eps")
THROUGHPUT = _live("throughput_bytes_per_second", "Bytes per second of fileio (reads and writes) and memory")
QUERIES = _live("queries_per_second", "Statements per second by kind: r/w/o", "op")
BANDWIDTH = _live("bandwidth_bytes_per_second", "Bytes per second of fileio by kind: reads, writes", "op")
FSYNCS = _live("fsyncs_per_second", "fsync calls per second of fileio")
_CHOSEN = "The percentile chosen by --percentile, seconds, in bins 1.8 % wide"
LATENCY_WINDOW = _live(
    "latency_window_seconds", f"{_CHOSEN}; with --rate from when an event was due; absent if none ended", "quantile"
)
THREADS = _live("threads", "Threads at work: thds")
QUEUE = _live("queue_length", "Events that wait for a thread (--rate): queue length")
TRANSACTIONS_TOTAL = _total("transactions", "Transactions (events of a database test)")
EVENTS_TOTAL = _total("events", "Events of a test without a database")
BYTES_TOTAL = _total("bytes", "Bytes of fileio and memory")
QUERIES_TOTAL = _total("queries", "Statements by kind", "op")
ERRORS_TOTAL = _total("errors", "Ignored errors, after which the event is tried again (deadlock, serialization),")
RECONNECTS_TOTAL = _total("reconnects", "Reconnects")
RESULT_TPS = _result("tps", "Transactions per second")
RESULT_EVENTS = _result("events_per_second", "Events per second of a test without a database: events by total time")
RESULT_THROUGHPUT = _result("throughput_bytes_per_second", "Bytes per second of fileio and memory")
RESULT_BANDWIDTH = _result("bandwidth_bytes_per_second", "Bytes per second of fileio by kind", "op")
RESULT_IOPS = _result("iops", "Operations per second of fileio by kind", "op")
RESULT_LATENCY_AVERAGE = _result("latency_average_seconds", "Mean latency, seconds: sum by events")
RESULT_LATENCY_MIN = _result("latency_min_seconds", "Lowest latency, seconds; absent below 5 µs: min")
RESULT_LATENCY_MAX = _result("latency_max_seconds", "Highest latency, seconds: max")
RESULT_LATENCY = _result("latency_seconds", f"{_CHOSEN}; absent with --report-checkpoints", "quantile")
RESULT_TRANSACTIONS = _result("transactions", "Events (transactions of a database, operations of fileio)")
LATENCY = Family(
    "sysbench_latency_seconds",
    "histogram",
    "Latency of all events of a run that ended, seconds, by the upper edges of sysbench's own bins: --histogram=on.",
    part="runs",
)
FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))

# By the names of figures in `parser` and `summary`; a name that ends in `_` stands for those with an `op` after it.
LIVE = {"transactions": TPS, "events": EVENTS, "bytes": THROUGHPUT, "fsyncs": FSYNCS}
LIVE |= {"queries_": QUERIES, "bytes_": BANDWIDTH, "threads": THREADS, "queue": QUEUE}
TOTALS = {"transactions": TRANSACTIONS_TOTAL, "events": EVENTS_TOTAL, "bytes": BYTES_TOTAL, "queries_": QUERIES_TOTAL}
TOTALS |= {"errors": ERRORS_TOTAL, "reconnects": RECONNECTS_TOTAL}
RESULTS = {"tps": RESULT_TPS, "eps": RESULT_EVENTS, "bytes": RESULT_THROUGHPUT, "bytes_": RESULT_BANDWIDTH}
RESULTS |= {"iops_": RESULT_IOPS, "operations": RESULT_TRANSACTIONS, "mean": RESULT_LATENCY_AVERAGE}
RESULTS |= {"min": RESULT_LATENCY_MIN, "max": RESULT_LATENCY_MAX}


def sample(families: Mapping[str, Family], name: str, value: float | None) -> list[Sample]:
    """The sample of a figure; none if it has no family or no value."""
    first, labelled, op = name.partition("_")
    family = families.get(first + labelled)
    return [] if family is None or value is None else [Sample(family, (op,) if labelled else (), value)]
