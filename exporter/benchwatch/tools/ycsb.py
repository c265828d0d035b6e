"""YCSB: operations of key-value stores and databases.

With `-s -p status.interval=1` it prints a line for each interval to stderr, and the results of the whole
run to stdout:

    2026-11-22 08:11:02:858 2 sec: 3297 operations; 2286 current ops/sec; est completion in 16 hours
        [READ: Count=1154, Max=14431, Min=0, Avg=1726.95, 50=2057, 90=3097, 99=6867, 99.9=12287] [UPDATE: ...]
    [OVERALL], RunTime(ms), 5369
    [READ], AverageLatency(us), 1731.5128205128206

`operations` counts since the start. The brackets cover the time since the line before, in microseconds,
and are read a moment later, so that their counts are ahead of it by what ended meanwhile; at the end they
are equal. With `measurementtype=histogram` or `timeseries` they have a mean only, with `raw` there are no
brackets: `READ count: 105, average latency(us): 3202.81`. Of two types, as in `hdrhistogram+raw`, only HdrREAD
is read, not RawREAD or BucketREAD, which begin a line. The date, after the label of `-l`, is local time,
used for differences only: the line of second N is written when N seconds have passed. Numbers follow the
locale of the JVM (`Avg=3133,78`). CLEANUP is no operation of the workload, and Intended-READ (with
-target) the same as READ, from when it was due. READ-FAILED is a READ that failed. What `trackjvm` measures is no
operation. The results may be JSON, a line for each part: `"metric" : "READ",`.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from .kit import Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options
from .kit.templates import quantile
from .roles import Roles, Unit

US, OP, BOTH = 1e-6, ("operation",), ("operation", "quantile")
FAMILIES = Families(
    "ycsb",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure("Operations", "operations_per_second", labels=OP, rate=True),
        "done": ToolFigure("Operations (Count)", total="operations", labels=OP, added=True, number="number"),
        "failed": ToolFigure("Failed operations", total="failed_operations", labels=OP, added=True, number="broken"),
        "mean": ToolFigure("Mean latency, seconds (Avg)", "latency_average_seconds", labels=OP),
        "max": ToolFigure("Highest latency, seconds", "latency_max_seconds", labels=OP),
        "latency": ToolFigure("Latency, seconds", live="latency_window_seconds", result="latency_seconds", labels=BOTH),
        "number": ToolFigure("Operations", result="operations", labels=OP),
        "time": ToolFigure("How long YCSB measured, seconds (RunTime)", result="duration_seconds"),
        "all": ToolFigure("Operations of all kinds (current ops/sec)", live="current_operations_per_second", rate=True),
    },
)
KINDS = ("READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE")
ROLES: dict[str, Any] = {
    "labels": OP,
    "apart": frozenset({"CLEANUP", "READ-MODIFY-WRITE", *(f"Intended-{kind}" for kind in (*KINDS, "CLEANUP"))}),
    "lost": {"failed": FAMILIES.lost("failed", "done", "failed", bad=True)},
    "sources": {"window": "From YCSB's status lines."},
}

LINE = re.compile(
    r".{0,99}?(?P<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d):(?P<ms>\d{3}) (?P<second>\d{1,9}) sec: \d{1,15} operations; "
    r"(?:(?P<rate>[\d.,]{1,20}|∞) current ops/sec; )?(?:est completion in (?:\d{1,20} \w+ ?)+)?"
    r"(?P<groups>\[.*\]|[\w-]{1,60} count: .*)?\s*$"
)
MORE = re.compile(r"(?:\[Bucket|Raw)[\w-]{1,60} (?:count: \d|AverageLatency)")
RAW = re.compile(r"([\w-]{1,60}) count: (\d{1,15}), average latency\(us\): ([\d.,]{1,30})")
GROUP = re.compile(r"\[([\w-]{1,60}): Count=(\d{1,15}), ([^\]]*)\]")
RESULT = re.compile(r"\[([\w-]{1,60})\], ([\w()=%. -]+), (\d{1,15}(?:\.\d{1,30})?(?:E-?\d{1,2})?)$")
JSON = re.compile(r' *"(metric|measurement|value)" : "?(.{1,99}?)"?,?$')
NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{1,15})?")
FAILED = "-FAILED"
QUANTILE = re.compile(r"(\d\d(?:\.\d{1,3})?)$")
PERCENTILE = re.compile(r"p(\d\d(?:\.\d{1,3})?)$|(\d\d(?:\.\d{1,3})?)(?:th)?PercentileLatency\(us\)$")
NAMED = {"Avg": "mean", "Max": "max", "AverageLatency(us)": "mean", "MaxLatency(us)": "max", "Average": "mean"}
IGNORED = re.compile(r"(?:Bucket|Raw)[A-Z]|TOTAL_GC|THREAD_COUNT$|USED_MEM_MB$|SYS_LOAD_AVG$|GCS$|GCS_TIME$")
"""What is no operation, or one again."""


class StatusLines(KitParser):
    """Reads status lines and results."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._begun: float | None = None  # by the local clock
        self._before = self._length = 0.0  # the time of the last line, and since the one before
        self._seconds = 0.0  # of the whole run
        self._json: dict[str, str] = {}  # parts of a result

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if line := LINE.match(text):
            return [self._status(line)]
        if MORE.match(text):
            return [ToolReport(self._before, self._figures(text), length=self._length)]
        if part := JSON.match(text):
            self._json[part[1]] = part[2]
            if len(self._json) == 3:
                text = "[{metric}], {measurement}, {value}".format_map(self._json)
            if part[1] == "value":
                self._json = {}
        result = RESULT.match(text)
        return self._result(*result.groups()) if result else None

    def _status(self, line: re.Match[str]) -> ToolReport:
        now = datetime.fromisoformat(f"{line['date']}.{line['ms']}Z").timestamp()
        second = int(line["second"])
        if self._begun is None or second == 0 or not -1 <= now - self._begun - second <= 1:
            self._begun, self._before = now - second, 0.0 if second == 0 else second - 1.0
        self._begun = min(self._begun, now - second)
        time = max(now - self._begun, self._before)
        self._length, self._before = time - self._before, time
        figures = self._figures(line["groups"] or "")
        if not any(key[0] == "done" for key in figures) and line["rate"] != "∞":
            figures["all",] = _number(line["rate"] or "0")
        return ToolReport(time, figures)

    def _figures(self, groups: str) -> dict[Key, float]:
        figures: dict[Key, float] = {}
        for op, count, rest in GROUP.findall(RAW.sub(r"[\1: Count=\2, Avg=\3]", groups)):
            if not IGNORED.match(op):
                figures |= _group(op.removeprefix("Hdr"), int(count), rest, self._length)
        return figures

    def _result(self, op: str, name: str, text: str) -> Sequence[Record]:
        number = float(text)
        if op == "OVERALL":
            self._seconds = number / 1e3 if name == "RunTime(ms)" else self._seconds
            return [ToolResult({("time",): self._seconds}, self._seconds)] if name == "RunTime(ms)" else []
        if IGNORED.match(op):
            return []
        op = op.removeprefix("Hdr")
        figures: dict[Key, float] = {}
        is_number = name in ("Operations", "Total Operations")
        if is_number and op.endswith(FAILED):
            figures["broken", op.removesuffix(FAILED)] = number
        elif op.endswith(FAILED):
            return []
        elif is_number:
            figures["number", op] = number
            if self._seconds:
                figures["rate", op] = number / self._seconds
        elif name in NAMED:
            figures[NAMED[name], op] = number * US
        elif percent := PERCENTILE.match(name):
            figures["latency", op, quantile(percent[1] or percent[2])] = number * US
        return [ToolResult(figures)] if figures else []


def _group(op: str, count: int, rest: str, length: float) -> dict[Key, float]:
    """The figures of one kind of operation; without any, its times of 0 mean nothing."""
    if op.endswith(FAILED):
        return {("failed", op.removesuffix(FAILED)): float(count)}
    figures: dict[Key, float] = {("done", op): float(count)}
    if length > 0:
        figures["rate", op] = count / length
    for name, _, text in (part.partition("=") for part in rest.split(", ") if count):
        if name in NAMED:
            figures[NAMED[name], op] = _number(text) * US
        elif percent := QUANTILE.match(name):
            figures["latency", op, quantile(percent[1])] = _number(text) * US
    return figures


def _number(text: str) -> float:
    """A number of any locale. Raises ValueError if it is none."""
    if not NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text.replace(",", "."))


RECORDED = ("recordcount", "operationcount", "readproportion", "updateproportion", "requestdistribution")
YCSB = TextTool(
    name="ycsb",
    families=FAMILIES,
    roles=[
        FAMILIES.roles(Unit("op/s"), "operations", **ROLES),
        Roles(Unit("op/s"), "operations", FAMILIES.family("live", "all"), FAMILIES.family("result", "rate")),
    ],
    banner=r"Command line: (?=(?:.*? -threads (?P<threads>\d{1,9}))?)(?=(?:.*? -target (?P<target>\d{1,12}))?)",
    begins=r"YCSB Client |Raw data measurement: |Command line: .* -db |\[OVERALL\], | *\"metric\" : \"OVERALL\"|"
    + LINE.pattern.removesuffix(r"\s*$"),
    settings={"version": r"YCSB Client (\d\S*)$"},
    known=r"YCSB Client|Loading workload|Starting test|Maximum |Stop requested|Still waiting|DBWrapper: |\[|[\]{} ,]+$|"
    r' *"(?:metric|measurement|value)" : |Raw data measurement: |[\w-]+ latency raw data: |[\w-]+,\d{13},\d+$|$',
    fatal=r"(?:site\.ycsb\.\w+Exception|java\.lang\.ClassNotFoundException): (.*)|Exception in thread \S+ (.*)"
    r"|((?:Unable to (?:initialize|open) |Unknown DB ).*)",
    parser=StatusLines,
    like=r".{0,99}?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} \d+ sec:",
).tool(
    advice="-s -p status.interval=1 gives",
    example="ycsb run basic -P workloads/workloada -s -p status.interval=1",
    has_server=True,
    launcher=Options(
        recorded={"-threads": "threads", "-target": "target", **{name: name for name in RECORDED}},
        missing={"-s": ["-s"], "-p status.interval=1": ["status.interval"]},
        length="maxexecutiontime",
        properties="-p",
    ),
)
