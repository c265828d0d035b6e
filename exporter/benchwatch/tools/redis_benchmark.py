"""redis-benchmark: requests of Redis and its relatives, one test after the other.

    SET: rps=23088.0 (overall: 22996.0) avg_msec=0.366 (overall: 0.366)        a quarter of a second, ended by \\r
    ====== SET ======
      60000 requests completed in 1.25 seconds
      throughput summary: 47846.89 requests per second
              avg       min       p50       p95       p99       max            then the numbers, in milliseconds
    SET: 42134.83 requests per second, p50=0.119 msec                          instead, with -q
    "SET","19727.76","0.379","0.024","0.215","1.007","2.359","57.215"          instead, with --csv: nothing live

Of each pair, the first is that of the interval. Nothing says when an interval ended, so that reports are dated a
quarter of a second apart. Each test has clients and a length of its own, so each is a run; the last one is shown.
Before 6.2 the live line is the mean since the test began, and the report has a throughput only. Where a server has no
CONFIG, as managed ones, `ERROR: ERR unknown command 'CONFIG'` precedes a run like any other.
"""

import re
from collections.abc import Sequence

from .kit import Begin, Families, Key, KitParser, Record, Said, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options
from .kit.templates import milliseconds
from .roles import Unit

EVERY = 0.25
FAMILIES = Families(
    "redis_benchmark",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure("Requests (rps)", "requests_per_second", "requests", rate=True, number="number"),
        "mean": ToolFigure("Mean latency, seconds", "latency_average_seconds"),
        "min": ToolFigure("Lowest latency, seconds", result="latency_min_seconds"),
        "max": ToolFigure("Highest latency, seconds", result="latency_max_seconds"),
        "latency": ToolFigure("Latency, seconds", result="latency_seconds", labels=("quantile",)),
        "number": ToolFigure("Requests of the test", result="requests"),
        "time": ToolFigure("How long the test took, seconds", result="duration_seconds"),
    },
)

NUMBER, WAIT = r"\d{1,15}(?:\.\d{1,6})?", r"-?nan|inf"
LIVE = re.compile(
    rf" *(?P<test>\S.{{0,199}}?): rps=(?P<rate>{NUMBER}|{WAIT}) \(overall: (?:{NUMBER}|{WAIT})\) "
    rf"avg_msec=(?P<mean>{NUMBER}|{WAIT}) \(overall: (?:{NUMBER}|{WAIT})\)$"
)
TITLE = re.compile(r"====== (\S.{0,199}) ======$")
DONE = re.compile(rf"  (\d{{1,15}}) requests completed in ({NUMBER}) seconds$")
QUIET = re.compile(rf" *(\S.{{0,199}}?): ({NUMBER}) requests per second(?:, p50=({NUMBER}) msec)?$")
RATE = re.compile(rf"(?:  throughput summary: )?({NUMBER}) requests per second$")
SUMMARY = re.compile(rf" +({NUMBER}) +({NUMBER}) +({NUMBER}) +({NUMBER}) +({NUMBER}) +({NUMBER})$")
CSV = re.compile(rf'"([^"]{{1,200}})","({NUMBER})"' + "(?:" + rf',"({NUMBER})"' * 6 + ")?$")
COLUMNS: Sequence[Key] = (("mean",), ("min",), ("latency", "0.5"), ("latency", "0.95"), ("latency", "0.99"), ("max",))


class RequestLines(KitParser):
    """Reads the lines of a test."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._test = ""
        self._is_over = False  # whether the test has a result
        self._reports = 0
        self._done: dict[Key, float] = {}  # requests and seconds, which precede the throughput

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if live := LIVE.match(text):
            return [*self._name(live["test"]), self._report(live["rate"], live["mean"])]
        if title := TITLE.match(text):
            return self._name(title[1])
        if done := DONE.match(text):
            self._done = {("number",): float(done[1]), ("time",): float(done[2])}
            return []
        if rate := RATE.match(text):
            self._is_over = True
            return [ToolResult({("rate",): float(rate[1]), **self._done}, self._done.get(("time",)))]
        if summary := SUMMARY.match(text):
            return [ToolResult(_latencies(summary.groups()), self._done.get(("time",)))]
        if quiet := QUIET.match(text):
            p50: dict[Key, float] = {("latency", "0.5"): milliseconds(quiet[3])} if quiet[3] else {}
            return self._whole(quiet[1], {("rate",): float(quiet[2]), **p50})
        if row := CSV.match(text):
            latencies = _latencies(row.groups()[2:]) if row[3] else {}
            return self._whole(row[1], {("rate",): float(row[2]), **latencies})
        return None

    def _whole(self, test: str, figures: dict[Key, float]) -> Sequence[Record]:
        """The result of a test in one line."""
        named = self._name(test)
        self._is_over = True
        return [*named, ToolResult(figures)]

    def _name(self, test: str) -> Sequence[Record]:
        """Note whose line it is; another test, or the same again (`-l`), is another run."""
        if test == self._test and not self._is_over:
            return []
        begin: Sequence[Record] = [Begin()] if self._test else []
        self._test, self._is_over, self._reports, self._done = test, False, 0, {}
        return [*begin, Said("test", test)]

    def _report(self, rate: str, mean: str) -> ToolReport:
        time = self._reports * EVERY
        self._reports += 1
        figures: dict[Key, float] = {("rate",): float(rate) if rate[-1].isdigit() else 0.0}
        if mean[-1].isdigit() and figures["rate",]:
            figures["mean",] = milliseconds(mean)
        return ToolReport(time, figures)


def _latencies(numbers: Sequence[str]) -> dict[Key, float]:
    return {key: milliseconds(number) for key, number in zip(COLUMNS, numbers, strict=True)}


ABORTED = (
    r"Could not (?:connect to Redis at |negotiate a TLS )|All clients disconnected|"
    r"Failed to fetch cluster configuration|Invalid cluster: "
)
REPLIED = r"(?:Cluster n|N)ode \S+ replied with error"
NO_CONFIG = r"ERROR: (?:ERR unknown command .CONFIG|failed to fetch CONFIG)"
OPTIONS = {
    "-c": "clients",
    "-n": "requests",
    "-P": "pipeline",
    "-d": "payload",
    "-r": "keyspace",
    "--threads": "threads",
}


REDIS_BENCHMARK = TextTool(
    name="redis-benchmark",
    families=FAMILIES,
    roles=[FAMILIES.roles(Unit("req/s"), "requests")],
    begins=LIVE.pattern
    + r"|====== .* ======$|  \d{1,15} requests completed in |"
    + QUIET.pattern
    + r'|"test","rps","avg_latency_ms"|Error: Connection reset by peer$|WARN(?:ING)?: [Cc]ould not fetch server CONFIG'
    rf"|ERROR: failed to fetch CONFIG from |{REPLIED}|{ABORTED}",
    settings={"clients": r"  (\d{1,9}) parallel clients$", "payload": r"  (\d{1,12}) bytes payload$"},
    known=r" *\d{1,3}\.\d+% <= |  (?:keep alive|host configuration|multi-thread|threads|cluster mode|node \[)|$|"
    r"Latency by percentile|Cumulative distribution|Summary:|  latency summary| +avg +min +p50|"
    r'"test","rps"|WARN(?:ING)?: | *\S.{0,199}?: (?:[\d.]+|-?nan)$|Cluster has \d|Master \d|'
    rf"Writing to socket: |Error writing to the server: |{REPLIED}|{NO_CONFIG}",
    fatal=rf"(?!{NO_CONFIG})(?:Error|ERROR|FATAL|Error from server(?: \S+)?): (.*)|"
    rf"((?:NOAUTH|WRONGPASS|NOPERM|ERR) .*)|((?:{ABORTED}).*)",
    parser=RequestLines,
    like=r" *\S.{0,199}?: rps=",
    carriage_returns=True,
).tool(
    advice="without --csv, it reports four times a second:",
    example="redis-benchmark -t set,get -n 1000000",
    has_server=True,
    launcher=Options(recorded=OPTIONS),
)
