"""memtier_benchmark: operations of Redis and memcached.

Each second, and at the end, it writes to stderr:

    [RUN #1 40%,   2 secs]  2 threads  5 conns:  115861 ops,  61533 (avg:  57819) ops/sec, 3.49MB/sec (...),
        0.16 (avg:  0.17) msec latency

Operations count since the run began, the first of each pair is that of the last interval, and operations divided by
their mean rate, a whole number, is the time, whose whole seconds precede it. `2 conns 4 conn errors:` is possible too.
The line with `0 threads` repeats the interval before: only its operations count. Where the operations go back, threads
were started again, and a rate without operations means nothing. `-x N` runs N times, one after the other, which are one
run here. An operation counts also if the server answered it with an error, which has a line of its own, `server
127.0.0.1:6379 handle error response: -NOAUTH Authentication required.` The results, of all runs together, follow on
stdout:

    ALL STATS  or, of several runs:  AGGREGATED AVERAGE RESULTS (2 runs)
    Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency       KB/sec
    Sets        32684.09          ---          ---         0.15352         0.11100         1.59900      2517.80
    Totals      65367.18        36.00     32647.09         0.15335         0.11100         1.60700      3792.22

Latencies are milliseconds; 1.2 has a mean only, in the column `Latency`. It ends with 0 even if the server refused
every connection, and says 0 operations a second.
"""

import math
import re
from collections.abc import Sequence

from .kit import Failed, Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options
from .kit.templates import milliseconds, quantile
from .roles import Unit

OP, BOTH = ("operation",), ("operation", "quantile")
FAMILIES = Families(
    "memtier",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure("Operations", "operations_per_second", rate=True),
        "done": ToolFigure("Operations", total="operations", added=True),
        "failed": ToolFigure(
            "Operations that the server answered with an error", total="failed_operations", added=True
        ),
        "mean": ToolFigure("Mean latency, seconds", "latency_average_seconds"),
        "latency": ToolFigure("Latency, seconds", result="latency_seconds", labels=("quantile",)),
        "hits": ToolFigure("Hits a second", result="hits_per_second"),
        "misses": ToolFigure("Misses a second", result="misses_per_second"),
        "op_rate": ToolFigure("Operations a second of one kind", result="kind_operations_per_second", labels=OP),
        "op_mean": ToolFigure("Mean latency of one kind, seconds", result="kind_latency_average_seconds", labels=OP),
        "op_latency": ToolFigure("Latency of one kind, seconds", result="kind_latency_seconds", labels=BOTH),
    },
)

NUMBER = r"\d{1,15}(?:\.\d{1,6})?"
LIVE = re.compile(
    rf"\[RUN #(?P<run>\d{{1,6}}) \d{{1,3}}%, +(?P<seconds>\d{{1,9}}) secs\] +(?P<threads>\d{{1,9}}) threads"
    rf"(?: +\d{{1,9}} conns)?(?: \d{{1,15}} conn errors)?: +(?P<ops>\d{{1,15}}) ops, +(?P<rate>{NUMBER}) "
    rf"\(avg: +(?P<mean>{NUMBER})\) ops/sec, .{{1,60}}/sec\), +-?(?P<latency>nan|{NUMBER}) "
    rf"\(avg: +-?(?:nan|{NUMBER})\) msec latency$"
)
SECTION = re.compile(
    r"(?:ALL STATS|((?:BEST RUN|WORST RUN|RUN #\d+) RESULTS)|AGGREGATED AVERAGE RESULTS \(\d+ runs\))$"
)
ROW = re.compile(r"(\S.{0,99}?)((?: +(?:\d[\d.]{0,20}|---|-?nan)){3,12})$")
QUANTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,6})?) Latency$")
REFUSED = re.compile(r"server \S+ handle error response: ")
NAMES = {"Ops/sec": "rate", "Hits/sec": "hits", "Misses/sec": "misses", "Avg. Latency": "mean", "Latency": "mean"}


class SecondLines(KitParser):
    """Reads the lines of intervals and the table of results."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._run = 0
        self._base = 0.0  # the time of the runs before, seconds
        self._time = 0.0
        self._ops = 0
        self._refused = 0.0  # since the last line
        self._is_wanted = True
        self._columns: Sequence[str] = ()

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if live := LIVE.match(text):
            return [self._report(live)]
        if REFUSED.match(text):
            self._refused += 1
            return []
        if re.match(r"\[RUN #\d+\] Interrupted by user", text):
            return [Failed(text.partition("] ")[2], interrupted=True)]
        if section := SECTION.match(text):
            self._is_wanted, self._columns = section[1] is None, ()
            return []
        if text.startswith("Type ") and "Ops/sec" in text:
            self._columns = re.split(r" {2,}", text.strip())[1:]
            return []
        if text == "Request Latency Distribution":
            self._columns = ()
        if self._columns and (row := ROW.match(text)) and len(numbers := row[2].split()) == len(self._columns):
            return self._result(row[1], numbers)
        return None

    def _report(self, live: re.Match[str]) -> ToolReport:
        run, seconds, ops = int(live["run"]), int(live["seconds"]), int(live["ops"])
        if run != self._run or ops < self._ops:
            self._run, self._base, self._ops = run, self._time, 0
        elif self._time > self._base + seconds + 1.0:  # threads that had done nothing were started again
            self._base = self._time
        new, self._ops = ops - self._ops, ops
        before, self._time = self._time, max(self._time, self._passed(seconds, ops, float(live["mean"])))
        figures: dict[Key, float] = {("done",): float(new)}
        if self._refused:
            figures["failed",], self._refused = self._refused, 0.0
        if int(live["threads"]) and (new or not ops):
            figures["rate",] = float(live["rate"]) if new else 0.0
        elif int(live["threads"]) and self._time > before:
            figures["rate",] = 0.0
        if new and int(live["threads"]):
            figures["mean",] = milliseconds(live["latency"])
        return ToolReport(self._time, figures)

    def _passed(self, seconds: int, ops: int, mean: float) -> float:
        """The time of a line: a second after the one before, if its numbers, all rounded down, agree."""
        expected = self._time - self._base + 1.0
        if ops:
            expected = min(max(expected, seconds, ops / (mean + 1)), seconds + 1.0, ops / mean if mean else math.inf)
        return self._base + expected

    def _result(self, name: str, numbers: Sequence[str]) -> Sequence[Record]:
        if not self._is_wanted:
            return []
        kind = "" if name == "Totals" else name
        figures: dict[Key, float] = {}
        for column, number in zip(self._columns, numbers, strict=True):
            if not number[0].isdigit():
                continue
            percent = QUANTILE.match(column)
            key: Key | None = ("latency",) if percent else (NAMES[column],) if column in NAMES else None
            value = milliseconds(number) if column.endswith("Latency") else float(number)
            if key and not kind:
                figures[(*key, quantile(percent[1])) if percent else key] = value
            elif key and key[0] in ("latency", "rate", "mean"):
                label = (kind, quantile(percent[1])) if percent else (kind,)
                figures[f"op_{key[0]}", *label] = value
        if kind:
            return [ToolResult(figures)]
        if not figures.get(("rate",)):
            return [Failed("no connection lasted: the results are 0 operations a second")]
        return [ToolResult(figures)]


OPTIONS = {"--ratio": "ratio", "--pipeline": "pipeline", "-d": "data_size", "--data-size": "data_size", "-x": "runs"}


MEMTIER = TextTool(
    name="memtier",
    families=FAMILIES,
    roles=[
        FAMILIES.roles(Unit("op/s"), "operations", lost={"failed": FAMILIES.lost("failed", "done", bad=True)}),
    ],
    banner=r"Writing results to |\[RUN #1\] Preparing",
    begins=r"Writing results to stdout$|\[RUN #\d+\] (?:Preparing benchmark client|Launching threads)|"
    r"\[RUN #\d+ +\d+%,|\d+ +Connections per thread$|Type +Ops/sec +|"
    r"(?:ALL STATS|AGGREGATED AVERAGE RESULTS .*|BEST RUN RESULTS)$",
    settings={
        "threads": r"(\d{1,9}) +Threads$",
        "clients": r"(\d{1,9}) +Connections per thread$",
        "requests": r"(\d{1,15}) +Requests per client$",
        "seconds": r"(\d{1,9}) +Seconds$",
    },
    known=r"\[RUN #|=+$|-+$|Request Latency Distribution|Type +<= |.{1,99} +[\d.]+ +[\d.]+$|Thread \d+ |Restarting |"
    r"(?:Connection|TLS connection|read|write) error[:,] |connection dropped\.|[Cc]onnect(?: failed|: )|"
    r"Maximum reconnection attempts|Reconnection |failed to reconnect|Connection timeout|staircase: |"
    r"  (?:Step|Total|Minimum) |Writing |\[RUN \d+\] |Saving |Json file |$",
    fatal=r"(?:\S+:\d+: )?[Ee]rror: (.*)|((?:Failed to |cluster slot |database selection |prepare: failed ).*)",
    parser=SecondLines,
    like=r"\[RUN #\d+ +\d+%,",
    carriage_returns=True,
).tool(
    program="memtier_benchmark",
    advice="it reports each second:",
    example="memtier_benchmark --test-time=600",
    has_server=True,
    launcher=Options(recorded=OPTIONS, length="--test-time"),
)
