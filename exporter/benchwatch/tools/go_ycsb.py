"""go-ycsb: operations of databases, YCSB's workloads in Go.

It prints a line for each operation every `--interval` seconds (10), after a signal, and at the end:

    READ   - Takes(s): 2.0, Count: 5323, OPS: 2702.0, Avg(us): 699, Min(us): 40, Max(us): 17887, 50th(us): 174, ...
    Run finished, takes 5.982891181s

or the same as a table or as JSON (`-p outputstyle=table|json`). All figures count since the operation was first used,
after the warm-up, and `Takes` is the time since then, rounded to 0.1 s. So an interval is the difference of two lines:
operations, and the mean latency, unless its microseconds are rounded more than 5 % of it; percentiles are those of the
whole run. READ_ERROR is a READ that failed; TOTAL is all that did not fail.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from .kit import Failed, Families, Key, KitParser, Record, Said, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options
from .kit.templates import quantile
from .roles import Unit

US, OP, BOTH = 1e-6, ("operation",), ("operation", "quantile")
FAMILIES = Families(
    "go_ycsb",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure("Operations (OPS)", "operations_per_second", labels=OP, rate=True),
        "done": ToolFigure("Operations (Count)", total="operations", labels=OP, added=True, number="number"),
        "failed": ToolFigure("Failed operations", total="failed_operations", labels=OP, added=True, number="broken"),
        "mean": ToolFigure("Mean latency, seconds (Avg)", "latency_average_seconds", labels=OP),
        "max": ToolFigure("Highest latency, seconds (Max)", result="latency_max_seconds", labels=OP),
        "latency": ToolFigure("Latency, seconds", result="latency_seconds", labels=BOTH),
        "number": ToolFigure("Operations (Count)", result="operations", labels=OP),
        "time": ToolFigure("How long go-ycsb took, with its warm-up, seconds", result="duration_seconds"),
    },
)
ROLES: dict[str, Any] = {
    "labels": OP,
    "apart": frozenset({"TOTAL", "READ_MODIFY_WRITE"}),
    "lost": {"failed": FAMILIES.lost("failed", "done", "failed", bad=True)},
}

COLUMNS = (
    *("Takes(s)", "Count", "OPS", "Avg(us)", "Min(us)", "Max(us)"),
    *("50th(us)", "90th(us)", "95th(us)", "99th(us)", "99.9th(us)", "99.99th(us)"),
)
NAME, NUMBER = r"[A-Z][A-Z_]{0,30}", r"\d{1,15}(?:\.\d{1,3})?"
PLAIN = re.compile(rf"({NAME}) *- " + ", ".join(rf"{re.escape(name)}: ({NUMBER})" for name in COLUMNS) + "$")
TABLE = re.compile(rf"\| ({NAME}) *\|" + "".join(rf" *({NUMBER}) *\|" for _ in COLUMNS) + "$")
JSON = '[{"50th(us)":"'
ROWS = msgspec.json.Decoder(list[dict[str, str]])
FINISHED = re.compile(r"Run finished, takes ((?:\d{1,9}h)?(?:\d{1,9}m)?(?:\d{1,15}(?:\.\d{1,9})?(?:s|ms|µs|ns))?)$")
DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|µs|ns)")
UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
PROPERTY = re.compile(r'"([\w.]{1,60})"="(.{0,200})"$')
RECORDED = frozenset(
    {"workload", "command", "threadcount", "target", "recordcount", "operationcount", "warmuptime"}
    | {"readproportion", "updateproportion", "requestdistribution"}
)
ERROR = "_ERROR"
ROUNDED, CERTAIN = 0.1, 0.05
"""Seconds to which it rounds Takes; the share of a mean by which the rounding of other means may change it."""


class OperationLines(KitParser):
    """Reads the lines of operations, and how long the run took."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._interval = 10.0
        self._warmup = 0.0
        self._forget()

    def _forget(self) -> None:
        self._known: dict[str, Mapping[str, float]] = {}  # the last line of each operation
        self._first: dict[str, float] = {}  # when each operation was first used, seconds since the start
        self._seen: set[str] = set()  # operations of the moment that is being read
        self._time = 0.0  # of that moment
        self._is_over = False

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if found := FINISHED.match(text):
            self._is_over = True
            seconds = sum(float(number) * UNITS[unit] for number, unit in DURATION.findall(found[1]))
            return [ToolResult({("time",): seconds}, seconds)]
        if re.match(r"Got signal \[\w+\] to exit\.$", text):
            return [Failed(text, interrupted=True)]
        if found := PROPERTY.match(text):
            return self._property(*found.groups())
        lines = list(_operations(text))
        if not lines:
            return None
        if self._is_over:
            return [ToolResult(_result(op, line)) for op, line in lines]
        return [self._report(op, line) for op, line in lines]

    def _property(self, name: str, value: str) -> Sequence[Record]:
        if name == "measurement.interval" and value.isdecimal() and 0 < int(value) < 1e6:
            self._interval = float(value)
            return [Said("report_interval", value)]
        if name == "warmuptime" and value.isdecimal():
            self._warmup = float(value[:9])
        return [Said(name, value)] if name in RECORDED else []

    def _report(self, op: str, line: Mapping[str, float]) -> ToolReport:
        before = self._known.get(op)
        if before and line["Count"] < before["Count"]:  # another run
            self._forget()
            before = None
        if op in self._seen or not self._seen:
            self._seen = set()
            expected = self._time + self._interval if self._known else self._warmup + line["Takes(s)"]
            self._time = self._first[op] + line["Takes(s)"] if op in self._first else expected
        self._seen.add(op)
        self._first.setdefault(op, self._time - line["Takes(s)"])
        self._known[op] = line
        return ToolReport(self._time, _interval(op, before, line, self._interval))


def _interval(op: str, before: Mapping[str, float] | None, line: Mapping[str, float], usual: float) -> dict[Key, float]:
    """The figures of an operation between two of its lines; without the first, since the operation was first used."""
    count = line["Count"] - (before["Count"] if before else 0.0)
    if op.endswith(ERROR):
        return {("failed", op.removesuffix(ERROR)): count}
    figures: dict[Key, float] = {("done", op): count}
    if before is None:
        return figures | {("rate", op): line["OPS"], ("mean", op): line["Avg(us)"] * US}
    length = line["Takes(s)"] - before["Takes(s)"]
    if abs(length - usual) <= 1.5 * ROUNDED:
        length = usual
    if length > 0:
        figures["rate", op] = count / length
    if count:
        mean = (line["Count"] * line["Avg(us)"] - before["Count"] * before["Avg(us)"]) / count
        if (line["Count"] + before["Count"]) / 2 / count <= CERTAIN * mean:
            figures["mean", op] = mean * US
    return figures


def _result(op: str, line: Mapping[str, float]) -> dict[Key, float]:
    """The figures of an operation in the whole run."""
    if op.endswith(ERROR):
        return {("broken", op.removesuffix(ERROR)): line["Count"]}
    figures: dict[Key, float] = {("rate", op): line["OPS"], ("number", op): line["Count"]}
    figures |= {("mean", op): line["Avg(us)"] * US, ("max", op): line["Max(us)"] * US}
    return figures | {("latency", op, quantile(name.removesuffix("th(us)"))): line[name] * US for name in COLUMNS[6:]}


def _operations(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """The operations in a line, and their figures by the words of the tool; none if it is no such line."""
    if line := PLAIN.match(text) or TABLE.match(text):
        yield line[1], dict(zip(COLUMNS, map(float, line.groups()[1:]), strict=True))
    elif text.startswith(JSON):
        for one in ROWS.decode(text):
            figures = [one.get(name, "") for name in ("Operation", *COLUMNS)]
            if not (re.fullmatch(NAME, figures[0]) and all(re.fullmatch(NUMBER, figure) for figure in figures[1:])):
                raise ValueError(text)
            yield figures[0], dict(zip(COLUMNS, map(float, figures[1:]), strict=True))


GO_YCSB = TextTool(
    name="go-ycsb",
    families=FAMILIES,
    roles=[FAMILIES.roles(Unit("op/s"), "operations", **ROLES)],
    banner=r"Using request distribution '(?P<requestdistribution>\w+)'",
    begins=rf"Using request distribution '\w+' a keyrange of \[|\*{{17}} properties \*{{17}}|{NAME} *- Takes\(s\): \d"
    rf"|\| OPERATION \| TAKES\(S\) \||\| {NAME} *\| +{NUMBER} \| +\d+ \| +{NUMBER} \|"
    r'|\[\{"50th\(us\)":"|Run finished, takes \d|(?:create|init) (?:db|workload) \S+ failed ',
    known=r"\*+(?: properties \*+)?$|[+-]+$|\| OPERATION |Setting redis\.|Using the redis |operation,timestamp_us,|"
    rf"{NAME},\d{{16}},\d+$|$",
    fatal=r"(?:panic: |fatal error: )(.*)|((?:create|init|load) \w+ \S+ failed.*|can't find .*|\S+ is not registered$)",
    parser=OperationLines,
    like=rf"{NAME} *- Takes\(s\)",
).tool(
    advice="--interval 1 gives",
    example="go-ycsb run postgresql -P workloads/workloada --interval 1",
    has_server=True,
    launcher=Options(missing={"--interval 1": ["--interval", "measurement.interval"]}, properties="-p"),
)
