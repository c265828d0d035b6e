"""pgbench 9.3 - 19: its text (progress, final report, initialisation, errors), transaction log and aggregated log."""

import re

from ..api import Kind, Tool
from ..roles import Lost, Roles, Unit
from . import command
from .log import LogBins
from .metrics import COUNTERS, FAMILIES, LATENCY, LIVE, RESULTS, SETTINGS, further
from .moments import of_aggregate, of_log
from .state import PgbenchState
from .text import TextParser
from .transactions import AggregateParser, TransactionParser, completed, interval

_TEXT = re.compile(
    rb"(?:^|[\r\n])(?:progress: \d+\.\d+ s, |pgbench \((?!PostgreSQL\))\S|starting vacuum"
    rb"|transaction type: |dropping old tables\.\.\.|creating tables\.\.\."
    rb"|\d+ of \d+ tuples \(\d+%\)"
    rb"|[Cc]onnection to database \"[^\r\n]*\" failed:|[Cc]lient \d+ (?:script \d+ )?aborted )"
)
_MESSAGE = re.compile(rb"(?:^|[\r\n])pgbench: ")
_LEVEL = re.compile(rb"(?:^|[\r\n])pgbench: (?:fatal|error|warning|info|debug|hint|detail): ")
"""A message since PostgreSQL 13."""
_BEHIND = re.compile(
    rb"(?:^|[\r\n])pgbench: (?:progress: \d|pgbench[ :]|starting vacuum|transaction type: |scaling factor: |"
    rb"query mode: |number of |latency |tps = |duration: |dropping old tables|creating tables|\d+ of \d+ tuples|\r?\n)"
)
"""Lines that are not messages, after `pgbench: `, which is therefore a prefix that something else added."""

_WINDOW = LIVE["latency_window_seconds"]
_ROLES = Roles(
    unit=Unit("TPS"),
    operations="transactions",
    rate=LIVE["tps"],
    result_rate=RESULTS["tps"],
    database=True,
    latency=LIVE["latency_average_seconds"],
    lag=LIVE["rate_limit_lag_seconds"],
    window=_WINDOW,
    histogram=LATENCY,
    histogram_interval=1.0,
    total=COUNTERS["transactions"],
    result_latency=RESULTS["latency_average_seconds"],
    result_deviation=RESULTS["latency_stddev_seconds"],
    result_quantile=RESULTS["latency_seconds"],
    result_operations=RESULTS["transactions"],
    fixed_rate=(LIVE["rate_limit_lag_seconds"], RESULTS["rate_limit_lag_average_seconds"]),
    lost={
        "failed": Lost(
            COUNTERS["failed"],
            of=(COUNTERS["transactions"], COUNTERS["failed"]),
            remark="transactions failed: {}; throughput counts only the others, as does latency if pgbench measured "
            "each (-P, -R or -L)",
            bad=True,
        ),
        "skipped": Lost(
            COUNTERS["skipped"],
            of=(COUNTERS["transactions"], COUNTERS["failed"], COUNTERS["skipped"]),
            remark="transactions were skipped because they were already late (-R with -L): {}; throughput and latency "
            "count only the others",
        ),
        "retries": Lost(COUNTERS["retries"]),
    },
    interval_time=LIVE["interval_timestamp_seconds"],
    window_time=LIVE["latency_window_timestamp_seconds"],
    threads=SETTINGS["threads"],
    connection=RESULTS["connection_seconds"],
    duration=SETTINGS["duration_seconds"],
    latency_step=1e-6,
    further=further,
    sources={
        LIVE["tps"]: "From pgbench's progress lines; without them, counted in its transaction log.",
        LIVE["latency_average_seconds"]: "From pgbench's progress lines; without them, from its transaction log.",
        _WINDOW: "From the transaction log, every transaction in it, by second; percentiles within 1.6 %, the maximum "
        "exact.",
        LATENCY: "From the transaction log, every transaction in it, in exact bins.",
    },
)


def _recognise(head: bytes) -> str:
    """The kind: "text", "log" (-l), "log aggregate" (-l --aggregate-interval), or empty."""
    head = head.replace(b"\0", b"")
    for line in head.split(b"\n")[:-1]:
        if completed(line):
            return "log"
        if interval(line):
            return "log aggregate"
    is_text = _TEXT.search(head) or _LEVEL.search(head) or (_MESSAGE.search(head) and not _BEHIND.search(head))
    return "text" if is_text else ""


PGBENCH = Tool(
    name="pgbench",
    families=FAMILIES,
    roles=(_ROLES,),
    kinds={
        "text": Kind(TextParser, piecewise=True),
        "log": Kind(TransactionParser, of_log, piecewise=True, is_log=True, bins=LogBins),
        "log aggregate": Kind(AggregateParser, of_aggregate, piecewise=True, is_log=True),
    },
    recognise=_recognise,
    state=PgbenchState,
    log_prefix="pgbench_log",
    time_limit=re.compile(r"(?:^|\s)(?:-[A-Za-z]*T\s*|--time[= ])(\d+)(?=\s|$)"),
    advice="-P 1 and -l give",
    has_server=True,
    launcher=command.read,
    example="pgbench -P 1 -T 600 mydb",
)
