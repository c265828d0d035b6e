"""BenchBase (`java -jar benchbase.jar ... --execute=true -im 1000`): transactions of TPC-C, YCSB and others by JDBC.

With `-im N` a monitor prints a line to stdout every N milliseconds, and the end has the result:

    [INFO ] 2026-11-22 08:18:30,845 [Thread-4]  com...DatabaseMonitor run - Throughput: 738.0 txn/sec
    [INFO ] 2026-11-22 08:18:36,927 [main]  com...DBWorkload runWorkload - Rate limited reqs/s:
        Results(state=EXIT, nanoSeconds=7002916228, measuredRequests=9005) = 1285.89 requests/sec (throughput), ...

The rate is divided by the nominal interval. The first line comes at once, and a warm-up prints 0: lines count
from half an interval after `Warmup complete` on. Dates are local time; only their differences count. Goodput
exceeds throughput in real runs, so it is not read. Where a worker died, the results are those until then, and their
state is ERROR; other messages of the level ERROR, as of a collector, end nothing. There is no latency live; the files
in `results/` have it only after the end.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from .kit import Failed, Families, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .roles import Unit

FAMILIES = Families(
    "benchbase",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure("Transactions (Throughput)", "tps", "transactions", rate=True, number="number"),
        "number": ToolFigure("Transactions (measuredRequests)", result="transactions"),
        "time": ToolFigure("How long BenchBase measured, seconds (nanoSeconds)", result="duration_seconds"),
    },
)
LINE = re.compile(
    r"\[\w+ *\] (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \[[^\]]{1,60}\] +com\.oltpbenchmark\.\S+ \w+ - (.*)"
)
INTERVAL = re.compile(r"Starting MonitorThread Interval \[(\d{1,9})ms\]")
RATE = re.compile(r"Throughput: (\d{1,12}(?:\.\d{1,6})?) txn/sec$")
RESULT = re.compile(r".*Results\(state=(\w+), nanoSeconds=(\d{1,18}), measuredRequests=(\d{1,15})\)")


class Messages(KitParser):
    """Reads the messages of one stream."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._begun: float | None = None  # when the measurement began, by the local clock
        self._before = 0.0
        self._interval = 0.0  # seconds

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        line = LINE.match(text)
        if line is None or text.startswith("[ERROR]"):
            return None
        now = datetime.fromisoformat(f"{line[1]}Z").timestamp()
        if interval := INTERVAL.match(line[2]):
            self._interval = int(interval[1]) / 1e3
        elif "Warmup complete" in line[2]:
            self._begun, self._before = now, 0.0
        elif (rate := RATE.match(line[2])) and self._begun is not None:
            time = max(self._before, now - self._begun)
            length, self._before = time - self._before, time
            is_whole = length > self._interval / 2  # the first one after a warm-up is not
            return [ToolReport(time, {("rate",): float(rate[1])}, length=length)] if is_whole else []
        elif result := RESULT.match(line[2]):
            seconds, number = int(result[2]) / 1e9, float(result[3])
            failed = [Failed("a worker died")] if result[1] == "ERROR" else []
            return [*failed, ToolResult({("time",): seconds, ("number",): number}, seconds)]
        return []


BENCHBASE = TextTool(
    name="benchbase",
    families=FAMILIES,
    roles=[FAMILIES.roles(Unit("TPS"), "transactions", database=True)],
    banner=r"\[INFO \] .* com\.oltpbenchmark\.DBWorkload main - =+$",
    begins=LINE.pattern,
    settings={
        "benchmark": r"Benchmark: +(\w+) \{",
        "database": r"Type: +(\w+)$",
        "isolation": r"Isolation: +(\w+)$",
        "scale_factor": r"Scale Factor: +(\S+)$",
        "terminals": r"Terminals: +(\d+)$",
    },
    known=r"\[ERROR\] |\s+(?:at|\.\.\.) |(?:java|org|com)\.[\w.$]+(?:Exception|Error)\b|[A-Z][A-Za-z ]+: |"
    r"com\.oltpbenchmark\.|\x1b\[|<EMPTY>|-+$|=+$|$",
    fatal=r"\[ERROR\] .* com\.oltpbenchmark\.(?:DBWorkload \w+|ThreadBench uncaughtException) +- (.*)"
    r"|Exception in thread \S+ (.*)",
    parser=Messages,
).tool(
    advice="-im 1000 gives",
    example="java -jar benchbase.jar -b tpcc -c tpcc.xml --execute=true -im 1000",
    has_server=True,
)
