"""vdbench 50406, 50407: block devices (SD, WD) and file systems (FSD, FWD), in run definitions (RD) one by one.

stdout has a line for each interval, flushed, and the mean of each run definition:

    08:02:51.129 Starting RD=run1; I/O rate: 500; elapsed=6 warmup=2; For loops: iorate=500
    Nov 22, 2026  interval        i/o   MB/sec   bytes   read     resp     read    write     resp ...
                                 rate  1024**2     i/o    pct     time     resp     resp      max ...
    08:02:52.122         1     313.00     1.22    4096  72.20    0.041    0.049    0.020    2.635 ...
    08:02:59.080   avg_3-8     500.57     1.96    4096  69.41    0.030    0.034    0.022    7.605 ...

The two lines of the header name the columns (50407 has `read max` and `write max` instead of `resp max`).
Times are in milliseconds. A rate is a count divided by the nominal interval, so that rate times interval
is exact. While a slave stands still the master prints nothing, and then all missing lines at once: a line
belongs to the end of its interval, counted from the start of its run definition. Without `warmup=` the
first interval counts as one. 50406 averages from one interval before the one that the label names; the
means are shown as printed.

The output folder (-o) has logfile.html, which repeats stdout, flatfile.html with the same intervals under longer
names, summary.html and totals.html, which are written when a run definition ends, and the same for each device and
host (sd1.html, localhost.html). Of all these, one is read. histogram.html has the latencies of each run definition,
warm-up included; its first table is of reads and writes together.

The result is the mean of all run definitions but preparations (`SD_format`, `format_for_...`), weighted by
their intervals; `vdbench_rd_...` has each of them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..values import numbers
from .api import Kind
from .kit import Failed, Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.templates import milliseconds
from .launcher import Command, CommandLine, Facts
from .roles import Numbers, Unit

MS, MIB = 1e-3, 1024.0**2
_MOST = 1e15  # figures beyond are no measurements
RD, OP, KIND, MODE = ("rd",), ("op",), ("operation",), ("mode",)
BYTES, RESPONSE = "bandwidth_bytes_per_second", "response_time_seconds"
FIGURES = {  # help; name of the gauges, name of the counter
    "iops": ToolFigure("I/Os (i/o rate)", "iops", "ios", rate=True),
    "ops": ToolFigure("Operations of file systems (ReqstdOps)", "fs_iops", "fs_ios", rate=True),
    "bytes": ToolFigure("Bytes moved (MB/sec)", BYTES, "bytes", rate=True),
    "response": ToolFigure("Mean response time, seconds (resp time)", RESPONSE),
    "most": ToolFigure("Highest response time, seconds", "response_time_max_seconds"),
    "stddev": ToolFigure("Standard deviation of response times, seconds", live="response_time_stddev_seconds"),
    "mean": ToolFigure("Mean response time by kind, seconds (resp)", live="latency_average_seconds", labels=OP),
    "max": ToolFigure("Highest response time by kind, seconds (max of 50407)", live="latency_max_seconds", labels=OP),
    "kind": ToolFigure("Operations by kind", live="operations_per_second", labels=KIND),
    "took": ToolFigure(
        "Mean time of operations by kind, seconds", live="operation_latency_average_seconds", labels=KIND
    ),
    "size": ToolFigure("Mean size of an I/O, bytes (bytes i/o, xfer size)", live="io_size_bytes"),
    "read": ToolFigure("Part of the I/Os that read (read pct)", live="read_ratio", scale=0.01),
    "depth": ToolFigure("I/Os under way (queue depth)", live="queue_depth"),
    "cpu": ToolFigure("Part of the processors that is busy (cpu%)", live="cpu_ratio", labels=MODE, scale=0.01),
    "number": ToolFigure("I/Os or operations in the intervals of the means", result="operations"),
    "bins": ToolFigure("Response times, seconds (histogram.html)", bins="latency_seconds", labels=("le",)),
    "rd": ToolFigure("Number of the run definition that runs", live="run_definition", labels=RD),
    "rd_iops": ToolFigure("I/Os or operations per second of a run definition (avg)", setting="rd_iops", labels=RD),
    "rd_bytes": ToolFigure("Bytes per second of a run definition (avg)", setting=f"rd_{BYTES}", labels=RD),
    "rd_response": ToolFigure(
        "Mean response time of a run definition, seconds (avg)", setting=f"rd_{RESPONSE}", labels=RD
    ),
    "rd_most": ToolFigure(
        "Highest response time of a run definition, seconds (avg)", setting="rd_response_time_max_seconds", labels=RD
    ),
}
FAMILIES = Families("vdbench", FIGURES)
NAMED = {"mean": "response", "bandwidth": "bytes"}

KINDS = ("mkdir", "rmdir", "create", "open", "close", "delete", "getattr", "setattr", "access", "copy", "move")
COLUMNS: Mapping[str, Key] = {
    **dict.fromkeys(("i/o rate", "rate"), ("iops",)),
    "reqstdops rate": ("ops",),
    **dict.fromkeys(("mb/sec 1024**2", "mb/sec 1000**2", "mb/sec", "mb/sec total"), ("bytes",)),
    **dict.fromkeys(("resp time", "resp", "reqstdops resp"), ("response",)),
    "resp max": ("most",),
    **dict.fromkeys(("resp stddev", "resp std"), ("stddev",)),
    **{f"{op} resp": ("mean", op) for op in ("read", "write")},
    **{f"{op} max": ("max", op) for op in ("read", "write")},
    **dict.fromkeys(("bytes i/o", "bytes/io", "xfer size", "xfersize"), ("size",)),
    **dict.fromkeys(("read pct", "read%"), ("read",)),
    "queue depth": ("depth",),
    **dict.fromkeys(("cpu% sys+u", "cpu% total"), ("cpu", "all")),
    **dict.fromkeys(("cpu% sys", "cpu kernel"), ("cpu", "system")),
    "cpu user": ("cpu", "user"),
    **{f"{kind} rate": ("kind", kind) for kind in KINDS},
    **{f"{kind} resp": ("took", kind) for kind in KINDS},
}
"""By the name of a column, in stdout or flatfile.html, where `_` stands for a blank."""
TIMES = frozenset({"response", "most", "stddev", "mean", "max", "took"})
CLOCK = r"(\d\d):(\d\d):(\d\d\.\d{3})"
START = re.compile(rf"(?:<a name=.{{1,60}}<b>)?{CLOCK} Starting RD=([^;\s]{{1,100}})(?:;(.*?))?(?:</b></i>)?$")
LOOPS = re.compile(r"For loops: (?!None)(.{1,200}?)\s*$")
HEAD = re.compile(r"[A-Z][a-z]{2} \d\d, \d{4}\s+(?=\.*[Ii]nterval)")
FLAT = re.compile(r" *tod +timestamp +Run +Interval ")
ROW = re.compile(
    rf" *{CLOCK}\s+(?:\S+-\S+\s+(\S{{1,100}})\s+)?(?:(\d{{1,9}})|avg_(\d{{1,9}})-(\d{{1,9}}))((?:\s+\S+)+)\s*$"
)
PREPARES = re.compile(r"SD_format|format_for_")
DAY = 86400.0


class Console(KitParser):
    """Reads the run definitions, headers and rows of one stream."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._first: float | None = None  # the time of day at which it began, seconds
        self._last = 0.0  # seconds since then
        self._top: list[tuple[int, str]] = []  # the upper line of a header: where words end
        self._columns: list[Key | None] = []
        self._scales: list[float] = []
        self._rd = ""
        self._label = ""
        self._rd_number = 0  # of the run definition
        self._begun = 0.0  # when it began
        self._length = 0.0  # of its intervals
        self._row = 0
        self._means: list[tuple[float, dict[Key, float]]] = []  # seconds and means of the run definitions

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if start := START.match(text):
            loops = LOOPS.search(start[5] or "")
            self._start(self._seconds(start), start[4], f"{start[4]} {loops[1]}" if loops else start[4])
            return []
        if head := HEAD.match(text):
            self._top = [
                (word.end(), word[0].strip(".").lower())
                for word in re.finditer(r"\S+", text)
                if word.start() >= head.end()
            ]
            return []
        if self._top:
            self._name([(word.end(), word[0]) for word in re.finditer(r"\S+", text)])
            return []
        if FLAT.match(text):
            self._named(text.split()[4:])
            return []
        if row := ROW.match(text):
            return self._interval(row)
        if "Vdbench execution completed successfully" in text:
            return [self._result()]
        if "CTRL-C requested" in text:
            return [Failed("CTRL-C requested", interrupted=True)]
        return None

    def _seconds(self, match: re.Match[str]) -> float:
        """The time of a line, seconds since the first one; after midnight the next day's."""
        clock = 3600.0 * int(match[1]) + 60.0 * int(match[2]) + float(match[3])
        self._first = clock if self._first is None else self._first
        passed = clock - self._first
        self._last = passed + DAY * max(0, math.ceil((self._last - passed) / DAY - 0.5))
        return self._last

    def _start(self, time: float, name: str, label: str) -> None:
        is_repeated = label == self._label and not self._row  # as logfile.html does
        self._rd, self._label, self._begun, self._length, self._row = name, label, time, 0.0, 0
        self._rd_number += not is_repeated

    def _name(self, words: Sequence[tuple[int, str]]) -> None:
        """Name the columns: a word of the lower line stands below the first word that ends where it ends, or later."""
        top, self._top = self._top[1:], []
        self._named([f"{next((name for end, name in top if end >= place), '')} {word}" for place, word in words])

    def _named(self, names: Sequence[str]) -> None:
        columns = [COLUMNS.get(name.lower().replace("_", " ")) for name in names]
        self._columns = [("ops",) if key == ("iops",) and ("kind", "mkdir") in columns else key for key in columns]
        self._scales = [
            1e6 if "1000**2" in name else MIB if key == ("bytes",) else 1.0
            for name, key in zip(names, self._columns, strict=True)
        ]

    def _interval(self, row: re.Match[str]) -> Sequence[Record]:
        time, flat, number, first, last, rest = self._seconds(row), row[4], row[5], row[6], row[7], row[8]
        values = rest.split()
        if len(values) != len(self._columns):
            return []
        figures = dict(self._figures(values))
        if number is None:
            return self._mean(int(last) - int(first) + 1, figures)
        place = max(1, int(number))
        if flat and (flat != self._rd or place <= self._row):
            self._start(time - place, flat, flat)
        # Intervals begin up to a second after the start, and a row may be written a moment too early.
        length = max(1.0, math.floor((time - self._begun) / place + 0.1))
        self._length, self._row = min(length, self._length or length), place
        is_preparation = bool(PREPARES.match(self._rd))
        if self._label:
            figures["rd", self._label] = float(self._rd_number)
        return [ToolReport(self._begun + place * self._length, figures, not is_preparation, self._length)]

    def _figures(self, values: Sequence[str]) -> Iterator[tuple[Key, float]]:
        """The figures of a row; times of 0 mean that there was nothing to measure."""
        for key, scale, text in zip(self._columns, self._scales, values, strict=True):
            try:
                value = float(text)
            except ValueError:
                continue
            if key is None or not 0 <= value < _MOST or (key[0] in TIMES and not value):
                continue
            yield key, value * (MS if key[0] in TIMES else scale * FIGURES[key[0]].scale)

    def _mean(self, intervals: int, figures: Mapping[Key, float]) -> Sequence[Record]:
        """The mean of a run definition."""
        if PREPARES.match(self._rd):
            return []
        known = dict(figures)
        if ("most",) not in known and (highest := [value for key, value in figures.items() if key[0] == "max"]):
            known["most",] = max(highest)
        self._means.append((max(1, intervals) * (self._length or 1.0), known))
        rate = known.get(("iops",), known.get(("ops",), 0.0))
        said: dict[Key, float] = {("rd_iops", self._label): rate}
        said |= {
            (f"rd_{key[0]}", self._label): n
            for key, n in known.items()
            if f"rd_{key[0]}" in FIGURES and len(key) == 1 and key[0] != "iops"
        }
        return [ToolResult(said, final=False)]

    def _result(self) -> ToolResult:
        """The mean of all run definitions: response times by their operations, rates by their time."""
        means, self._means = self._means, []
        seconds = sum(length for length, _ in means)
        figures: dict[Key, float] = {}
        for rate in (("iops",), ("ops",)):
            done = [(length * mean.get(rate, 0.0), mean) for length, mean in means]
            if number := sum(count for count, _ in done):
                timed = [(count, mean["response",]) for count, mean in done if ("response",) in mean]
                figures |= {("number",): number, rate: number / seconds}
                if whole := sum(count for count, _ in timed):
                    figures["response",] = sum(count * time for count, time in timed) / whole
        if moved := sum(length * mean.get(("bytes",), 0.0) for length, mean in means):
            figures["bytes",] = moved / seconds
        if most := [mean["most",] for _, mean in means if ("most",) in mean]:
            figures["most",] = max(most)
        return ToolResult(figures)


BIN = re.compile(r" *\d{1,9}\.\d{3} < +(\d{1,9}\.\d{3}|max) +([\d,]{1,20}) ")


class Histogram(KitParser):
    """Reads histogram.html: the first table of each run definition that is no preparation."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._tables = 2  # of the run definition

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if start := START.match(text):
            self._tables = 2 if PREPARES.match(start[4]) else 0
        elif text.startswith("  min(ms) <"):
            self._tables += 1
        elif (one := BIN.match(text)) and self._tables == 1:
            edge = math.inf if one[1] == "max" else milliseconds(one[1])
            return [ToolResult({("bins", repr(edge)): float(one[2].replace(",", ""))}, final=False)]
        return []


def read(line: CommandLine) -> Command:
    """See Launcher: `vdbench -f job.parm [-o folder]`. Without -o, it empties ./output and writes there."""
    given = re.search(r"\0-o\0?([^\0]+)", "\0".join(("", *line.arguments)))
    folder = Path(given[1]) if given else line.own or Path("output")
    is_known = not folder.name.endswith(("+", ".tod"))  # else vdbench numbers or dates it
    return Command(
        appended=("-o", str(line.own)) if line.own and not given else (),
        writes={"histogram": folder / "histogram.html"} if is_known else {},
        facts=lambda benchmark, host: Facts(client=benchmark.machine(host)),
    )


def _further(finals: Sequence[Numbers], _: Mapping[str, str]) -> Iterator[str]:
    """Each run definition, if there are several."""
    for final in finals:
        rates = final.get("vdbench_rd_iops", {})
        if len(rates) < 2:
            continue
        times, highest = (final.get(f"vdbench_rd_response_time{part}_seconds", {}) for part in ("", "_max"))
        for rd, rate in rates.items():
            mean, most = numbers.latency(times.get(rd)), numbers.latency(highest.get(rd))
            yield f"{rd[0]}: {numbers.rate_in_full(rate)}/s, mean {mean}, max {most}"


ABORTED = r"java\.lang\.RuntimeException: "
TOOL = TextTool(
    name="vdbench",
    families=FAMILIES,
    roles=[
        FAMILIES.roles(Unit("IOPS"), "I/Os", NAMED | {"rate": "iops", "max": "most"}, further=_further),
        FAMILIES.roles(Unit("op/s"), "operations", NAMED | {"rate": "ops", "max": ""}, further=_further),
    ],
    banner=r"Copyright \(c\) 2000, .*Oracle",
    begins=rf"Vdbench distribution|{ABORTED}[^\n]*\n\s+at Vdb\.|Copyright \(c\) 2000, .*Oracle|{CLOCK} Starting RD="
    rf"|<title>Vdbench |{FLAT.pattern}",
    settings={"version": r"Vdbench distribution: vdbench(\d\S*)"},
    known=rf"Copyright |For documentation|<title>Vdbench|\*|{CLOCK}\s*$|\s+at |{ABORTED}|$"
    rf"|{CLOCK} +(?!Slave \S+ (?:abort|term|prem))",
    fatal=rf"{ABORTED}(?!Slave )(.*)"
    rf"|(?:{CLOCK} )?\**\s*(Slave \S+ (?:aborting: .*?|terminated unexpectedly|prematurely terminated))\.?[ *]*$",
    parser=Console,
    like=rf"{CLOCK} +\d+ +\d",
)
OUTPUT = ("logfile", "flatfile", "summary", "totals")  # in the order of preference
TITLE = re.compile(r"<title>Vdbench .*?([^/]*)\.html</title>")


def _recognise(head: bytes) -> str:
    """The kind of a file, which the title of those in the output folder names."""
    title = TITLE.match(head.decode("utf-8", "replace"))
    if title is None:
        return TOOL.recognise(head)
    return title[1] if title[1] in (*OUTPUT, "histogram") else "part"


VDBENCH = TOOL.tool(
    recognise=_recognise,
    kinds={
        "text": Kind(lambda: Console(TOOL), rank=1),
        **{name: Kind(lambda: Console(TOOL), file=f"{name}.html", rank=rank) for rank, name in enumerate(OUTPUT, 2)},
        "part": Kind(lambda: Console(TOOL), file="*.html", rank=9),
        "histogram": Kind(lambda: Histogram(TOOL), file="histogram.html"),
    },
    advice="interval=1 in the run definition gives",
    example="vdbench -f job.parm",
    version_option="",
    launcher=read,
)
