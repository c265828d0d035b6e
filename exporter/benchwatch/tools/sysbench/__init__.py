"""sysbench 1.0: tests of databases, files, memory, processors and what else is written in Lua."""

import re
from dataclasses import replace

from ..api import Kind, Tool
from ..lines import recognise_lines
from ..roles import Lost, Roles, Unit
from . import command
from . import metrics as m
from .parser import SysbenchParser, report
from .state import SysbenchState

_OF_EVENTS = Roles(
    unit=Unit("events/s"),
    operations="events",
    rate=m.EVENTS,
    result_rate=m.RESULT_EVENTS,
    window=m.LATENCY_WINDOW,
    histogram=m.LATENCY,
    total=m.EVENTS_TOTAL,
    result_latency=m.RESULT_LATENCY_AVERAGE,
    result_quantile=m.RESULT_LATENCY,
    result_latency_max=m.RESULT_LATENCY_MAX,
    result_operations=m.RESULT_TRANSACTIONS,
    fixed_rate=(m.QUEUE,),
    sources={m.LATENCY_WINDOW: "From sysbench's lines: one percentile, in bins 1.8 % wide."},
)
_OF_DATABASE = replace(_OF_EVENTS, unit=Unit("TPS"), operations="transactions", lost={"retried": Lost(m.ERRORS_TOTAL)})
_OF_TRANSACTIONS = replace(
    _OF_DATABASE, rate=m.TPS, result_rate=m.RESULT_TPS, total=m.TRANSACTIONS_TOTAL, database=True
)
_OF_BYTES = replace(
    _OF_EVENTS, unit=Unit("B/s", True), rate=m.THROUGHPUT, result_rate=m.RESULT_THROUGHPUT, total=m.BYTES_TOTAL
)


SYSBENCH = Tool(
    name="sysbench",
    families=m.FAMILIES,
    roles=(_OF_TRANSACTIONS, _OF_EVENTS, _OF_BYTES),
    kinds={"text": Kind(SysbenchParser)},
    recognise=recognise_lines(lambda line: report(line) or re.match(r"sysbench \d", line)),
    new_state=lambda *_: SysbenchState(),
    time_limit=re.compile(r"(?:^|\s)--(?:max-)?time=(\d+)"),
    advice="--report-interval=1 and --percentile=99 give",
    example="sysbench oltp_read_write --report-interval=1 --percentile=99 --time=600 run",
    has_server=True,
    launcher=command,
)
