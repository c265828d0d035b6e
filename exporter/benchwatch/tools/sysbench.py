"""sysbench 0.4 to 1.1: tests of databases, files, memory, processors and what else is in Lua.

With `--report-interval=N` it prints a line for each interval, flushed, with the rounded seconds since `Threads
started!`. A latency is that of the events that ended in the interval, one percentile in bins 1.8 % wide; with --rate it
counts from when an event was due, and a second line has the queue.

The final report covers the whole run; with --report-checkpoints, the time since the previous report, although 1.0
counts its `total time` from the start. In 0.4 and 0.5, the line after a checkpoint has wrong rates. The value of a bin
(--histogram=on) is its middle, 0.001 ms x 10^(8 i / 1023): several small bins share three decimals. 0.4.12 prints the
end of its scale, 10,000 s, as the percentile of few events. The hooks report_csv and report_json print a line or an
object for each interval and, with 0 threads, for the whole run; neither says which percentile its latency is.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..machine.disks import DATA, roles_of
from ..machine.host import Host
from ..values import numbers
from . import postgres
from .invocation import Benchmark
from .kit import Failed, Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import options, refuse, seconds
from .kit.templates import Template
from .launcher import Command, CommandLine, Facts, server_host
from .roles import Numbers, Roles, Unit

MS, MIB, OP, TIME = 1e-3, 1024.0**2, ("op",), ("time",)
RATE, BYTES = "throughput_bytes_per_second", "bandwidth_bytes_per_second"
FIGURES = {  # help; name of the gauges, name of the counter
    "transactions": ToolFigure("Transactions, the events of a database test", "tps", "transactions", number="done"),
    "events": ToolFigure("Events of other tests", "events_per_second", "events", number="all_events"),
    "bytes": ToolFigure("Bytes of fileio and memory", RATE, "bytes", scale=MIB, number="all_bytes"),
    "kind_bytes": ToolFigure("Bytes of fileio by kind", BYTES, labels=OP, scale=MIB, number="kind_size"),
    "queries": ToolFigure("Statements (r/w/o)", live="queries_per_second", total="queries", labels=OP, rate=True),
    "fsyncs": ToolFigure("fsync calls of fileio", live="fsyncs_per_second", rate=True),
    "iops": ToolFigure("Operations per second of fileio by kind", result="iops", labels=OP, number="kind_number"),
    "errors": ToolFigure("Ignored errors, after which an event is tried again", total="errors", rate=True),
    "reconnects": ToolFigure("Reconnects", total="reconnects", rate=True),
    "threads": ToolFigure("Threads at work (thds)", live="threads"),
    "queue": ToolFigure("Events that wait for a thread (--rate)", live="queue_length"),
    "latency": ToolFigure(
        "The percentile chosen by --percentile, seconds, in bins 1.8 % wide; absent with --report-checkpoints",
        live="latency_window_seconds",
        result="latency_seconds",
        labels=("quantile",),
        scale=MS,
        positive=True,
    ),
    "mean": ToolFigure("Mean latency, seconds (sum by events)", result="latency_average_seconds"),
    "min": ToolFigure("Lowest latency, seconds (min)", result="latency_min_seconds", scale=MS, positive=True),
    "max": ToolFigure("Highest latency, seconds (max)", result="latency_max_seconds", scale=MS, positive=True),
    "operations": ToolFigure("Events (transactions, operations of fileio)", result="transactions"),
    "time": ToolFigure("How long sysbench measured, seconds (total time)", result="duration_seconds"),
    "bins": ToolFigure("Latency of all events, seconds (--histogram=on)", bins="latency_seconds", labels=("le",)),
    "sum": ToolFigure("", scale=MS),
    "taken": ToolFigure(""),
}
FAMILIES = Families("sysbench", FIGURES)
REPORTS = (
    "thds: <threads> tps: <transactions> qps: <_> (r/w/o: <queries.read>/<queries.write>/<queries.other>) "
    "lat (ms,<quantile>%): <latency> err/s{:} <errors> reconn/s: <reconnects:2>",
    "thds: <threads> eps: <events> lat (ms,<quantile>%): <latency:2>",
    "reads: <kind_bytes.read> MiB/s writes: <kind_bytes.write> MiB/s fsyncs: <fsyncs>/s "
    "latency (ms,<quantile>%): <latency:3>",
    "<bytes> M{i}B/sec{,}",
    "queue length: <queue>",
    "queue length: <queue>{,} concurrency: <_>",
    "threads: <threads>, tps: <transactions>, reads: <queries.read>, writes: <queries.write>, "
    "response time: <latency>ms (<quantile>%), errors: <errors>, reconnects: <reconnects:2>",
    "{threads: |Intermediate results: }<threads>{ threads}, tps: <transactions>, reads/s: <queries.read>, "
    "writes/s: <queries.write>{,} response time: <latency>ms (<quantile>%)",
    "reads: <kind_bytes.read> MB/s writes: <kind_bytes.write> MB/s fsyncs: <fsyncs>/s "
    "response time: <latency>ms (<quantile>%)",
)
SUMMARY = (
    *(f" {op}: <queries.{op}>" for op in ("read", "write", "other")),
    " transactions: <done> (<transactions> per sec.)",
    " {ignored errors|deadlocks}: <errors> (<_> per sec.)",
    " reconnects: <reconnects> (<_> per sec.)",
    " {queries|read/write requests|other operations}: <_> (<_> per sec.)",
    " {total time|time elapsed}: <time>s",
    " total number of events: <all_events>",
    " total time taken by event execution: <taken>{s}",
    " {events per second|events/s (eps)}: <events>",
    *(f" {name}: <{name}>{{ms}}" for name in ("min", "max", "sum")),
    " {approx.}{ }<quantile>{st|nd|rd|th} percentile: <latency>{ms}",
    *(f" {name}/s: <iops.{op}>" for name, op in (("reads", "read"), ("writes", "write"), ("fsyncs", "sync"))),
    *(f" {name}, MiB/s: <kind_bytes.{op}>" for name, op in (("read", "read"), ("written", "write"))),
    "<_> M{i}B transferred (<bytes> M{i}B/sec)",
    "Operations performed: <kind_number.read> {Read|reads}, <kind_number.write> {Write|writes}, "
    "<kind_number.sync> Other = ...",
)
SETTINGS = {
    "threads": r"Number of threads: (\d{1,9})$",
    "report_interval": r"Report intermediate results every (\d{1,9}) second\(s\)",
    "rate": r"Target transaction rate: (\d{1,12})/sec",
    "block_size": r"(?:B|  b)lock size:? (\S+)$",
    "operation": r"  operation: (\S+)$",
    "file_test_mode": r"Doing ((?:random|sequential) .+) test$",
    "io_mode": r"Using (\S+) I/O mode$",
    "total_file_size": r"(\S+) total file size$",
}
KNOWN = (
    r"[A-Z][\w (),/-]*:$| *(?:queries performed|per-request statistics|response time|percentile stats|avg|total):"
    r"|[A-Z][a-z]+ing |(?:Latency|Debug|DEBUG:|WARNING:|Maximum|Additional|Memory) | *value  ---| *events \(avg"
    r"|Total operations: |\S+ Requests/sec|Operations performed: \d+ \(|Number of (?:unfinished|IO|random) |Extra file "
    r"|\d+ files?, \S+ each|Read/Write ratio|Periodic FSYNC|  (?:total size|scope): |Prime numbers |Report checkpoint"
    r"|\d+ bytes written|LuaJIT|Time limit |\(last message |Done\.|Random number |Thread yields |No DB drivers"
    r"|No bytes |'\w+' test does not |[][,]$| *[{}],?$| *\"qps\": \{$"
)
FATAL = r"(?:FATAL|PANIC): (.*)|invalid option: |Cannot find benchmark "
ALERT = re.compile(r"ALERT: (?:error: )?(.*)")
BIN, BIN_WIDTH = re.compile(r" *(\d{1,9}\.\d{3}) \|\**\s+(\d{1,18})$"), math.log(1e8) / 1023
SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([KMGTP]?)b")
HOOKED = "<time>,<threads>,<transactions>,<_>,<queries.read>,<queries.write>,<queries.other>,<_>,<errors>,<reconnects>"
HOOK, JSON = Template(HOOKED, FIGURES), re.compile(r' *"(\w+)": +(\d{1,15}(?:\.\d\d)?),?$')


class SysbenchParser(KitParser):
    """Reads what no template can express."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._fields: list[str] = []  # of an object of report_json, so far
        self._known_parts = 0  # when the last line was read
        self._alert = ""

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if field := JSON.match(text):
            self._fields = [*(self._fields if field[1] != "time" else ()), field[2]]
            text = ",".join(self._fields)  # once it is complete, the line of report_csv
        if row := HOOK.read(text):
            if row.figures["threads",]:
                return [ToolReport(row.time or 0.0, row.figures)]
            return [ToolResult({("transactions",): row.figures["transactions",]}, row.time)]  # means of the whole run
        if one := BIN.match(text):
            place = math.floor(math.log((float(one[1]) + 0.0005) / 0.001) / BIN_WIDTH)  # of those alike the last
            edge = 1e-6 * math.exp((place + 0.5) * BIN_WIDTH)
            return [ToolResult({("bins", repr(edge)): float(one[2])}, final=False)]
        if "  Total transferred " in text:
            sizes = [float(size) * 1024.0 ** " KMGTP".index(prefix or " ") for size, prefix in SIZE.findall(text)]
            self.entries["kind_size", "read"], self.entries["kind_size", "write"], _, self.entries["bytes",] = sizes
        elif alert := ALERT.match(text):
            self._alert, self.continues = alert[1], True
        elif self._alert and re.match(FATAL, text):
            return [Failed(self._alert)]
        elif not field:
            return None
        return []

    def derive(self, figures: dict[Key, float]) -> None:
        """See KitParser. A bin's middle may be above the highest latency."""
        events, most = figures.get(("all_events",)), figures.get(("max",), math.inf)
        if events is None and self.parts > self._known_parts and self.version.startswith("0."):
            for key in [key for key in figures if FAMILIES.figures[key[0]].rate]:
                del figures[key]
        self._known_parts = self.parts
        if ("kind_bytes", "read") in figures:
            figures["bytes",] = figures["kind_bytes", "read"] + figures.get(("kind_bytes", "write"), 0.0)
        if events is None:
            return
        figures["operations",] = events
        if ("bytes",) in figures:
            figures["all_bytes",] = figures["bytes",] * figures.get(TIME, 0.0)
        if ("bytes",) in figures or ("done",) in figures:  # their events have names of their own
            del figures["all_events",]
        if events:
            figures["mean",] = figures.get(("taken",), figures.get(("sum",), 0.0)) / events
        for key in [key for key in figures if key[0] == "latency"]:
            if (latency := figures.pop(key)) <= 1.02 * most + 1e-5:
                figures[key] = min(latency, most)

    def finish(self) -> Sequence[Record]:
        """See KitParser."""
        if self.version.startswith("0."):
            self.entries[TIME] = self.entries.get(TIME, 0.0) + self.before.get(TIME, 0.0)
        return super().finish()


def _of_files(finals: Sequence[Numbers], _: Mapping[str, str]) -> Iterator[str]:
    """Operations per second of fileio by kind."""
    each = [final.get("sysbench_result_iops", {}) for final in finals]
    words = {"read": "reads", "write": "writes", "sync": "fsyncs"}
    known = {word: sum(one[op,] for one in each) for op, word in words.items() if all((op,) in one for one in each)}
    if known:
        yield ", ".join(f"{word} {numbers.rate_in_full(rate)}/s" for word, rate in known.items())


OLD = {"--num-threads": "--threads", "--max-time": "--time", "--max-requests": "--events", "--tx-rate": "--rate"}
NO_BENCHMARK = ("prepare", "cleanup", "prewarm", "help", "version", "without a test")
RECORDED = ("time", "events", "percentile", "tables", "table-size", "db-driver")
CONNECTION = {"host": "localhost", "port": "", "user": "sbtest", "db": "sbtest", "password": ""}


def read(line: CommandLine) -> Command:
    """See Launcher: `sysbench [--name=value ...] [test] [command]`; before 1.0, --test=NAME.

    0.4.12 has --report-interval only if it was built from a later source, under the same number; an unknown option ends
    it. There is no histogram without a percentile, nor before 1.0. It measures 10 s unless told otherwise; before 1.0,
    without a limit.
    """
    given, words = options(line.arguments, names=OLD), [word for word in line.arguments if word[:1] != "-"]
    last = words[-1] if words else "without a test"
    refuse("sysbench", {*given, f"--{last}"}, NO_BENCHMARK)
    test, version, has_file = given.get("--test", words[0]), line.version.partition(" ")[2], "--config-file" in given
    is_old = version.startswith("0.")
    lasts = "" if test == "mutex" else given.get("--time", "" if has_file or is_old else "10")
    command = Command(length=seconds(lasts), facts=partial(_facts, given, test))
    if version.startswith("0.4"):
        return command.remark("sysbench 0.4 may lack --report-interval, so no reporting flags were added")
    if given.get("--report-interval") == "0":
        command = command.remark("with --report-interval=0, sysbench reports nothing before its end")
    flags = ["--report-interval=1"]
    if line.percentiles and not has_file:
        flags.append("--percentile=99")
        if given.get("--percentile") != "0" and not is_old:
            flags.append("--histogram=on")
    return command._replace(added=tuple(flag for flag in flags if flag.partition("=")[0] not in given))


def _facts(given: Mapping[str, str], test: str, benchmark: Benchmark, host: Host) -> Facts:
    """Options of the command, and what the server reports, or the storage of the files."""
    said = {name.replace("-", "_"): given[f"--{name}"] for name in RECORDED if f"--{name}" in given} | {"test": test}
    own = benchmark.machine(host)
    if test == "fileio" and own:
        roles = roles_of([(Path.cwd(), DATA)], host.storage)
        return Facts(said, host.storage.facts(Path.cwd(), "target"), roles, client=own, here=True)
    if test in ("fileio", "cpu", "memory", "threads", "mutex"):
        return Facts(said, client=own, here=True)
    if given.get("--db-driver") != "pgsql":
        address = given.get("--mysql-host", "localhost").split(",")[0]
        return Facts(said, host=server_host(address, benchmark, host), client=own)
    words = {name: given.get(f"--pgsql-{name}", usual).split(",")[0] for name, usual in CONNECTION.items()}
    return postgres.facts_at(words, said, benchmark, host)


def _roles(unit: Unit, operations: str, rate: str, **more: Any) -> Roles:
    more["sources"] = {"window": "From sysbench's lines: one percentile, in bins 1.8 % wide."}
    more["fixed_rate"] = (FAMILIES.family("live", "queue"),)
    return FAMILIES.roles(unit, operations, {"rate": rate, "number": "operations"}, **more)


SYSBENCH = TextTool(
    name="sysbench",
    families=FAMILIES,
    roles=[
        _roles(Unit("TPS"), "transactions", "transactions", lost={"retried": FAMILIES.lost("errors")}, database=True),
        _roles(Unit("events/s"), "events", "events"),
        _roles(Unit("B/s", in_bytes=True), "events", "bytes", further=_of_files),
    ],
    banner=r"sysbench (?P<version>\d[\w.+~-]*)(?: \(using [^)]*\)|: +multi-threaded system evaluation benchmark)?$",
    begins=r"sysbench \d",
    start="Threads started!",
    reports=[f"[{{ }}<time>s{{ }}] {form}" for form in REPORTS],
    like=r"\[ *\d+s ?\]",
    summary=SUMMARY,
    part=r"\[ *\d+s ?\] Checkpoint report:",
    last=r" *execution time \(avg/stddev\):\s+\d+\.\d{4}/\d+\.\d\d",
    settings=SETTINGS,
    known=KNOWN,
    fatal=FATAL,
    parser=SysbenchParser,
    rounding=1.0,
).tool(
    time_limit=r"(?:^|\s)--(?:max-)?time=(\d+)",
    advice="--report-interval=1 and --percentile=99 give",
    example="sysbench oltp_read_write --report-interval=1 --percentile=99 --time=600 run",
    has_server=True,
    launcher=read,
)
