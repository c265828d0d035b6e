"""sysbench 0.4 to 1.1: tests of databases, files, memory, processors and what else is in Lua.

With `--report-interval=N` it prints a line for each interval, flushed, with the rounded seconds since
`Threads started!`. A latency is that of the events that ended in the interval, one percentile in bins
1.8 % wide; with --rate it counts from when an event was due, and a second line has the queue.

The final report covers the whole run; with --report-checkpoints, the time since the previous report,
although 1.0 counts its `total time` from the start. In 0.4 and 0.5, the line after a checkpoint has
wrong rates. The value of a bin (--histogram=on) is its middle, 0.001 ms x 10^(8 i / 1023): several
small bins share three decimals. 0.4.12 prints the end of its scale, 10,000 s, as the percentile of few
events. The hooks report_csv and report_json print a line or an object for each interval and, with
0 threads, for the whole run; neither says which percentile its latency is, so that it is left out.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..machine.disks import DATA, roles_of
from ..machine.host import Host
from ..values import numbers
from ..values.errors import UserError
from . import postgres
from .invocation import Benchmark
from .kit import Failed, Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options, OptionsCommand
from .launcher import Facts, Preparation, server_host
from .roles import Numbers, Roles, Unit

MS, MIB, OP = 1e-3, 1024.0**2, ("op",)
RATE, BYTES = "throughput_bytes_per_second", "bandwidth_bytes_per_second"
FIGURES = {  # help; names of the live gauge, the counter and the result
    "transactions": ToolFigure("Transactions, the events of a database test (tps)", "tps", "transactions", rate=True),
    "tps": ToolFigure("Transactions per second", result="tps"),
    "events": ToolFigure("Events of other tests (eps)", "events_per_second", "events", rate=True),
    "eps": ToolFigure("Events of other tests per second", result="events_per_second"),
    "bytes": ToolFigure("Bytes of fileio and memory", RATE, "bytes", RATE, rate=True, scale=MIB),
    "bandwidth": ToolFigure("Bytes of fileio by kind", BYTES, "", BYTES, labels=OP, rate=True, scale=MIB),
    "queries": ToolFigure("Statements (r/w/o)", "queries_per_second", "queries", labels=OP, rate=True),
    "fsyncs": ToolFigure("fsync calls of fileio", "fsyncs_per_second", rate=True),
    "iops": ToolFigure("Operations per second of fileio by kind", result="iops", labels=OP),
    "errors": ToolFigure("Ignored errors, after which an event is tried again", total="errors", rate=True),
    "reconnects": ToolFigure("Reconnects", total="reconnects", rate=True),
    "threads": ToolFigure("Threads at work (thds)", "threads"),
    "queue": ToolFigure("Events that wait for a thread (--rate)", "queue_length"),
    "latency": ToolFigure(
        "The percentile chosen by --percentile, seconds, in bins 1.8 % wide; absent with --report-checkpoints",
        *("latency_window_seconds", "", "latency_seconds"),
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
    **{
        "sum": ToolFigure("", scale=MS),
        "taken": ToolFigure(""),
        "moved": ToolFigure("", settles="bytes"),
        "number": ToolFigure("", labels=OP),
        "size": ToolFigure("", labels=OP),
    },
}
FAMILIES = Families("sysbench", FIGURES)
SOURCES = {"window": "From sysbench's lines: one percentile, in bins 1.8 % wide."}


def _roles(unit: Unit, operations: str, rate: str, result: str, **more: Any) -> Roles:
    named = {"rate": rate, "number": "operations"}
    more |= {"fixed_rate": (FAMILIES.family("live", "queue"),), "result_rate": FAMILIES.family("result", result)}
    return FAMILIES.roles(unit, operations, named, sources=SOURCES, bandwidth=None, result_bandwidth=None, **more)


def _of_files(finals: Sequence[Numbers], _: Mapping[str, str]) -> Iterator[str]:
    """Operations per second of fileio by kind."""
    each = [final.get("sysbench_result_iops", {}) for final in finals]
    kinds = {"reads": ("read",), "writes": ("write",), "fsyncs": ("sync",)}
    known = {word: op for word, op in kinds.items() if all(op in one for one in each)}
    if known:
        rates = (f"{word} {numbers.rate_in_full(sum(one[op] for one in each))}/s" for word, op in known.items())
        yield ", ".join(rates)


RETRIED = {"retried": FAMILIES.lost("errors")}
ROLES = (
    _roles(Unit("TPS"), "transactions", "transactions", "tps", lost=RETRIED, database=True),
    _roles(Unit("events/s"), "events", "events", "eps"),
    _roles(Unit("B/s", in_bytes=True), "events", "bytes", "bytes", further=_of_files),
)
REPORTS = (
    "[{ }<time>s{ }] thds: <threads> tps: <transactions> qps: <_> "
    "(r/w/o: <queries.read>/<queries.write>/<queries.other>) lat (ms,<quantile>%): <latency> "
    "err/s{:} <errors> reconn/s: <reconnects:2>",
    "[{ }<time>s{ }] thds: <threads> eps: <events> lat (ms,<quantile>%): <latency:2>",
    "[{ }<time>s{ }] reads: <bandwidth.read> MiB/s writes: <bandwidth.write> MiB/s fsyncs: <fsyncs>/s "
    "latency (ms,<quantile>%): <latency:3>",
    "[{ }<time>s{ }] <bytes> M{i}B/sec{,}",
    "[{ }<time>s{ }] queue length: <queue>",
    "[{ }<time>s{ }] queue length: <queue>, concurrency: <_>",
    "[{ }<time>s{ }] threads: <threads>, tps: <transactions>, reads: <queries.read>, writes: <queries.write>, "
    "response time: <latency>ms (<quantile>%), errors: <errors>, reconnects: <reconnects:2>",
    "[{ }<time>s{ }] {threads: }{Intermediate results: }<threads>{ threads}, tps: <transactions>, "
    "reads/s: <queries.read>, writes/s: <queries.write>{,} response time: <latency>ms (<quantile>%)",
    "[{ }<time>s{ }] reads: <bandwidth.read> MB/s writes: <bandwidth.write> MB/s fsyncs: <fsyncs>/s "
    "response time: <latency>ms (<quantile>%)",
)
SUMMARY = (
    *(f" {op}: <queries.{op}>" for op in ("read", "write", "other")),
    " transactions: <transactions> (<tps> per sec.)",
    *(f" {name}: <errors> (<_> per sec.)" for name in ("ignored errors", "deadlocks")),
    " reconnects: <reconnects> (<_> per sec.)",
    *(f" {name}: <_> (<_> per sec.)" for name in ("queries", "read/write requests", "other operations")),
    *(f" {name}: <time>s" for name in ("total time", "time elapsed")),
    " total number of events: <events>",
    " total time taken by event execution: <taken>{s}",
    *(f" {name}: <eps>" for name in ("events per second", "events/s (eps)")),
    *(f" {name}: <{name}>{{ms}}" for name in ("min", "max", "sum")),
    " <quantile>{st}{nd}{rd}{th} percentile: <latency>",
    " approx. <quantile> percentile: <latency>ms",
    *(f" {name}/s: <iops.{op}>" for name, op in (("reads", "read"), ("writes", "write"), ("fsyncs", "sync"))),
    *(f" {name}, MiB/s: <bandwidth.{op}>" for name, op in (("read", "read"), ("written", "write"))),
    "<_> M{i}B transferred (<bytes> M{i}B/sec)",
    "Operations performed: <number.read> {Read}{reads}, <number.write> {Write}{writes}, <number.sync> Other = ...",
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
    r"[A-Z]\w+ (?:statistics|speed|fairness|operations):$|Latency |Throughput:|queries performed:| *(?:avg|total):"
    r"| *(?:per-request statistics|response time|percentile stats|queries performed):| *value  ---| *events \(avg"
    r"|Total operations: |Test execution summary|OLTP test |\S+ Requests/sec|Operations performed: \d+ \("
    r"|Number of (?:unfinished|IO|random) |Running |Initializing |Extra file |\d+ files?, \S+ each|Read/Write ratio"
    r"|Periodic FSYNC|Calling |Using |Doing |  (?:total size|scope): |Prime numbers |Maximum |Warming up "
    r"|Forcing shutdown |Report checkpoint|(?:Cre|Insert|Dropp|Remov|Prewarm|Prepar|Reus|Extend)(?:at)?ing "
    r"|\d+ bytes written|Debug |DEBUG: |Additional |LuaJIT|Time limit |\(last message |Done\.|Random number "
    r"|WARNING: |Memory |Thread yields |Merging |No DB drivers|No bytes |'\w+' test does not "
)
LAST = r" *execution time \(avg/stddev\):\s+\d+\.\d{4}/\d+\.\d\d"
FATAL = r"(?:FATAL|PANIC): (.*)|invalid option: |Cannot find benchmark "
ALERT = re.compile(r"ALERT: (?:error: )?(.*)")
CHECKPOINT = re.compile(r"\[ *\d+s ?\] Checkpoint report:")
WIDTH = math.log(1e8) / 1023
BIN = re.compile(r" *(\d{1,9}\.\d{3}) \|\**\s+(\d{1,18})$")
SIZE = r"(\d{1,9}(?:\.\d{1,9})?)([KMGTP]?)b"
SIZES = re.compile(rf"Read {SIZE}  Written {SIZE}  Total transferred \S+  \({SIZE}/sec\)$")
SIZE_KEYS: Sequence[Key] = (("size", "read"), ("size", "write"), ("bytes",))
CSV = re.compile(r"(\d{1,9}),(\d{1,9})" + r",(\d{1,15}\.\d\d)" * 8 + "$")
COLUMNS = ("time", "threads", "tps", "total", "reads", "writes", "other", "latency", "errors", "reconnects")
JSON = re.compile(r' +"(\w+)": +(\d{1,15}(?:\.\d\d)?),?$|(\[|\]|,|  \{|  \},?|    "qps": \{|    \},)$')
HOOKED = {
    "threads": ("threads",),
    "tps": ("transactions",),
    **{f"{op}s": ("queries", op) for op in ("read", "write")},
    "other": ("queries", "other"),
    **{name: (name,) for name in ("errors", "reconnects")},
}


class Extras:
    """What no template can express: what hooks print, bins, sizes, checkpoints, alerts before a fatal message."""

    def __init__(self, parser: KitParser) -> None:
        self._parser = parser
        self._object: dict[str, str] = {}  # of report_json, so far
        self._parts: list[dict[Key, float]] = []  # reports of checkpoints
        self._at_checkpoint = False
        self._alert = ""

    def __call__(self, text: str) -> Sequence[Record] | None:
        """See Hook."""
        if text.startswith("sysbench "):
            self.__init__(self._parser)  # type: ignore[misc]
        elif csv := CSV.match(text):
            return self._hooked(dict(zip(COLUMNS, csv.groups(), strict=True)))
        elif (part := JSON.match(text)) and part[1]:
            self._object[part[1]] = part[2]
            return []
        elif part:
            found, self._object = self._object, {} if text.startswith("  }") else self._object
            is_whole = text.startswith("  }") and found.keys() >= {"time", "threads", "tps"}
            return self._hooked(found) if is_whole else []
        elif CHECKPOINT.match(text):
            self._at_checkpoint, self._parser.next_has_no_rates = True, self._parser.version.startswith("0.")
            return []
        elif re.match(LAST, text):
            return self._last()
        elif one := BIN.match(text):
            place = math.floor(math.log((float(one[1]) + 0.0005) / 0.001) / WIDTH)  # of those alike the last
            edge = 1e-6 * math.exp((place + 0.5) * WIDTH)
            return [ToolResult({("bins", repr(edge)): float(one[2])}, final=False)]
        elif sizes := SIZES.match(text):
            for key, size, prefix in zip(SIZE_KEYS, sizes.groups()[::2], sizes.groups()[1::2], strict=True):
                self._parser.entries[key] = float(size) * 1024.0 ** " KMGTP".index(prefix or " ")
            return []
        elif alert := ALERT.match(text):
            self._alert, self._parser.continues = alert[1], True
            return []
        elif self._alert and re.match(FATAL, text):
            message, self._alert = self._alert, ""
            return [Failed(message)]
        return None

    def _hooked(self, fields: Mapping[str, str]) -> Sequence[Record]:
        """An interval or, when no thread is left, the means of the whole run."""
        if not int(fields["threads"]):
            return [ToolResult({("tps",): float(fields["tps"])}, float(fields["time"]))]
        figures = {HOOKED[name]: float(text) for name, text in fields.items() if name in HOOKED}
        return [ToolReport(float(fields["time"]), figures)]

    def _last(self) -> Sequence[Record]:
        """The last line of a report: of the run, or of the time until a checkpoint."""
        entries = self._parser.entries
        ends = [part.get(("time",), 0.0) for part in self._parts]
        if self._parser.version.startswith("0."):  # it counts since the report before
            entries["time",] = entries.get(("time",), 0.0) + (ends[-1] if ends else 0.0)
        if not self._at_checkpoint:
            if self._parts:
                self._parser.entries = _joined([*self._parts, entries])
            return self._parser.finish()
        self._parts.append(entries)
        self._parser.entries, self._at_checkpoint = {}, False
        return [ToolResult({}, entries.get(("time",)), final=False)]


def _joined(parts: Sequence[dict[Key, float]]) -> dict[Key, float]:
    """One report for several: the sum of counts, the mean of rates, weighted by time; no percentile follows."""
    ends = [part.get(("time",), 0.0) for part in parts]
    lengths = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    whole: dict[Key, float] = {}
    for key in dict.fromkeys(chain(*parts)):
        known = [part[key] for part in parts if key in part]
        if key[0] in ("min", "max", "time"):
            whole[key] = min(known) if key[0] == "min" else max(known)
        elif key[0] in ("tps", "eps", "iops", "bandwidth", "bytes") and ends[-1]:
            whole[key] = (
                sum(part.get(key, 0.0) * length for part, length in zip(parts, lengths, strict=True)) / ends[-1]
            )
        elif key[0] != "latency":
            whole[key] = sum(known)
    for rate, count in (("tps", "transactions"), ("eps", "events")):  # the parts are not exactly as long as they say
        if (rate,) in whole and (count,) in whole and ends[-1]:
            whole[rate,] = whole[count,] / ends[-1]
    return whole


def _derive(figures: dict[Key, float]) -> None:
    """Add what follows from the figures of a report."""
    seconds = figures.get(("time",))
    if seconds:
        for counted, rate in (("number", "iops"), ("size", "bandwidth")):
            for key in [key for key in figures if key[0] == counted]:
                figures[rate, *key[1:]] = figures.pop(key) / seconds
    if ("bandwidth", "read") in figures:
        both = figures["bandwidth", "read"] + figures.get(("bandwidth", "write"), 0.0)
        figures.setdefault(("bytes",), both)
    if seconds is None:
        return
    if ("bytes",) in figures:
        figures["moved",] = figures["bytes",] * seconds
    if ("events",) not in figures:
        return
    events = figures["operations",] = figures["events",]
    if ("transactions",) in figures or ("bytes",) in figures:  # their events have names of their own
        del figures["events",]
    elif seconds:
        figures.setdefault(("eps",), events / seconds)
    if events:
        figures["mean",] = figures.get(("taken",), figures.get(("sum",), 0.0)) / events
    most = figures.get(("max",), math.inf)
    for key in [key for key in figures if key[0] == "latency"]:  # a bin's middle may be above the maximum
        if (seconds := figures.pop(key)) <= 1.02 * most + 1e-5:
            figures[key] = min(seconds, most)


OPTIONS = Options(
    recorded={
        f"--{name.replace('_', '-')}": name
        for name in ("time", "events", "percentile", "tables", "table_size", "db_driver")
    },
    length="--time",
)
OLD_OPTIONS = {
    "--num-threads": "--threads",
    "--max-time": "--time",
    "--max-requests": "--events",
    "--tx-rate": "--rate",
}
CONNECTION = {"host": "localhost", "port": "", "user": "sbtest", "db": "sbtest", "password": ""}


class SysbenchCommand(OptionsCommand):
    """sysbench's command line: `sysbench [--name=value ...] [test] [command]`; before 1.0, --test=NAME.

    0.4.12 has --report-interval only if it was built from a later source, under the same number; an
    unknown option ends it. There is no histogram without a percentile, nor before 1.0.
    """

    def __init__(self, arguments: Sequence[str], version: str) -> None:
        super().__init__(OPTIONS, arguments)
        self.given = {OLD_OPTIONS.get(name, name): value for name, value in self.given.items()}
        last = self.words[-1] if self.words else "without a test"
        for name in ("prepare", "cleanup", "prewarm", "help", "version", "without a test"):
            if name == last or f"--{name}" in self.given:
                raise UserError(f"sysbench {name} is not a benchmark: start it without `benchwatch run`")
        self.test = self.given.get("--test", self.words[0])
        self.version = version.removeprefix("sysbench ").strip()

    @property
    def length(self) -> float | None:
        """Seconds (--time; 10 unless given, 0 for no limit; before 1.0 no limit unless given)."""
        if self.test == "mutex":
            return None
        is_open = "--config-file" in self.given or self.version.startswith("0.")
        return super().length if is_open or "--time" in self.given else 10.0

    def prepare(self, percentiles: bool, room: object, own: object = None) -> Preparation:
        """See Command."""
        if self.version.startswith("0.4"):
            return Preparation(remarks=("sysbench 0.4 may lack --report-interval, so no reporting flags were added",))
        flags = {"--report-interval": "1"}
        if percentiles and "--config-file" not in self.given:
            flags["--percentile"] = "99"
            if self.given.get("--percentile") != "0" and not self.version.startswith("0."):
                flags["--histogram"] = "on"
        off = "with --report-interval=0, sysbench reports nothing before its end"
        remarks = (off,) if self.given.get("--report-interval") == "0" else ()
        return Preparation(tuple(f"{name}={value}" for name, value in flags.items() if name not in self.given), remarks)

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """Options of the command, and what the server reports, or the storage of the files."""
        given, said = self.given, self.recorded() | {"test": self.test}
        own = "" if benchmark.elsewhere else host.name
        if self.test == "fileio" and own:
            roles = roles_of([(Path.cwd(), DATA)], host.storage)
            return Facts(said, host.storage.facts(Path.cwd(), "target"), roles, client=own, here=True)
        if self.test in ("fileio", "cpu", "memory", "threads", "mutex"):
            return Facts(said, client=own, here=True)
        if given.get("--db-driver") != "pgsql":
            address = given.get("--mysql-host", "localhost").split(",")[0]
            return Facts(said, host=server_host(address, benchmark, host), client=own)
        words = {name: given.get(f"--pgsql-{name}", usual).split(",")[0] for name, usual in CONNECTION.items()}
        words["dbname"] = words.pop("db")
        quoted = (f"{name}='{value}'" for name, value in words.items() if value and "'" not in value)
        found = postgres.facts(benchmark, [f"--dbname={' '.join(quoted)}"], host)
        return found._replace(parameters={**found.parameters, **said})


SYSBENCH = TextTool(
    name="sysbench",
    families=FAMILIES,
    roles=ROLES,
    banner=r"sysbench (?P<version>\d[\w.+~-]*)(?: \(using [^)]*\)|: +multi-threaded system evaluation benchmark)?$",
    begins=r"sysbench \d",
    start="Threads started!",
    reports=REPORTS,
    like=r"\[ *\d+s ?\]",
    summary=SUMMARY,
    last=LAST,
    derive=_derive,
    settings=SETTINGS,
    known=KNOWN,
    fatal=FATAL,
    hooks=(Extras,),
    rounding=1.0,
    time_limit=r"(?:^|\s)--(?:max-)?time=(\d+)",
    advice="--report-interval=1 and --percentile=99 give",
    example="sysbench oltp_read_write --report-interval=1 --percentile=99 --time=600 run",
    has_server=True,
    launcher=SysbenchCommand,
).tool()
