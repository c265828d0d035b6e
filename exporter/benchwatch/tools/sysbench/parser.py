"""The text that sysbench prints: interval lines, final reports (`summary`), and around them:

sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)   first; begins another run in the same stream, as does an interval
                                                    line that is earlier than the previous one
Number of threads: 8
Target transaction rate: 60/sec                     with --rate
Report intermediate results every 1 second(s)
Threads started!                                    the clock of the interval lines begins here
FATAL: ...                                          ends the run, sometimes after a last report

With `--report-interval=N` it prints lines while it runs, on stdout, flushed one by one. They have the forms in _FORMS,
after the rounded elapsed seconds: `[ 3s ] `. Every figure covers the interval since the previous line. With `--rate`, a
second line with the same time has the length of the queue. The percentile is a whole number; 0 means that it is off
(SQL then prints 0.00, fileio 0.001). The latency is that of the events that ended in the interval, in bins 1.8 % wide;
0.00 means that none did. There is no mean, no maximum and no count.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..api import Begin, Misread
from ..lines import LineParser
from .summary import LAST, Bin, Entry, SysbenchFigure, base, entries, quantile_label

_FORMS = (
    "thds: <threads> tps: <transactions> qps: <_> (r/w/o: <queries_read>/<queries_write>/<queries_other>) "
    "lat (ms,<percentile>%): <latency> err/s: <errors> reconn/s: <reconnects>",
    "thds: <threads> eps: <events> lat (ms,<percentile>%): <latency>",
    "reads: <bytes_read> MiB/s writes: <bytes_write> MiB/s fsyncs: <fsyncs>/s latency (ms,<percentile>%): <latency_>",
    "<bytes> MiB/sec",
    "queue length: <queue>",
)
_NUMBERS = {"latency_": r"\d{1,12}\.\d{3}"} | dict.fromkeys(("threads", "percentile", "queue"), r"\d{1,12}")
_RATE = r"\d{1,15}\.\d\d"
_RATES = ("transactions", "queries", "errors", "reconnects", "events", "fsyncs", "bytes")
_BANNER = re.compile(r"sysbench (\d[\w.+~-]*)(?: \(using [^)]*\))?$")
_OPTIONS = {
    "threads": re.compile(r"Number of threads: (\d{1,9})$"),
    "report_interval": re.compile(r"Report intermediate results every (\d{1,9}) second\(s\)"),
    "rate": re.compile(r"Target transaction rate: (\d{1,12})/sec"),
    **{"block_size": re.compile(r"(?:B|  b)lock size:? (\S+)$"), "operation": re.compile(r"  operation: (\S+)$")},
    **{"file_test_mode": re.compile(r"Doing (.+) test$"), "io_mode": re.compile(r"Using (\S+) I/O mode$")},
    "total_file_size": re.compile(r"(\S+) total file size$"),
}
_KNOWN = re.compile(
    r"Running the test with following options:|Initializing |Extra file open flags|\d+ files?, \S+ each|"
    r"Number of IO requests|Read/Write ratio|Periodic FSYNC|Calling fsync|Using |Doing |Running memory speed test|"
    r"  (?:total size|scope): |Prime numbers limit|Warming up for |Forcing shutdown in |Report checkpoint\(s\)|"
    r"(?:Creating|Inserting|Dropping|Removing|Prewarming|Preparing) |\d+ bytes written|Debug mode|DEBUG: |"
    r"Additional request validation|LuaJIT|Latency statistics|Time limit exceeded, exiting|"
    r"\(last message repeated \d+ times\)|Done\.|Random number generator seed|WARNING: "
)
_FATAL = re.compile(r"(?:FATAL|PANIC): (.*)|invalid option: |Cannot find benchmark ")


def _pattern(form: str) -> re.Pattern[str]:
    def number(field: re.Match[str]) -> str:
        return f"({'' if field[1] == '_' else f'?P<{field[1]}>'}{_NUMBERS.get(field[1], _RATE)})"

    return re.compile(r"\[ (?P<time>\d{1,9})s \] " + re.sub(r"<(\w+)>", number, re.escape(form)))


_LINES = tuple(map(_pattern, _FORMS))


class Said(NamedTuple):
    """Its `version`, an option, or a `fatal` message."""

    name: str
    value: str


class Queue(NamedTuple):
    """How many events wait for a thread."""

    length: int


class SysbenchInterval(NamedTuple):
    """The end of an interval (seconds since the start, rounded), and rates per second by the names in _FORMS.

    `bytes` includes reads and writes. The latency is in seconds, None if none was measured; `quantile` is like "0.99".
    """

    time: float
    rates: dict[str, float]
    threads: float | None
    quantile: str
    latency: float | None


def report(line: str) -> SysbenchInterval | Queue | None:
    """The content of a line; None if it has none of the forms."""
    found = next((match for pattern in _LINES if (match := pattern.match(line))), None)
    if found is None:
        return None
    fields = found.groupdict()
    if "queue" in fields:
        return Queue(int(fields["queue"]))
    rates = {name: base(name, number) for name, number in fields.items() if name.startswith(_RATES)}
    if "bytes_read" in rates:
        rates["bytes"] = rates["bytes_read"] + rates["bytes_write"]
    quantile = quantile_label(fields.get("percentile", "0"))
    latency = base("latency", fields.get("latency") or fields.get("latency_") or "0") if quantile else 0.0
    threads = float(fields["threads"]) if "threads" in fields else None
    return SysbenchInterval(float(fields["time"]), rates, threads, quantile, latency or None)


class SysbenchComplete(NamedTuple):
    """The last line of a report: seconds since the start, and whether it is that of a checkpoint: the run continues."""

    time: float
    checkpoint: bool


class Started(NamedTuple):
    """The clock of the interval lines starts."""


Record = Said | Started | SysbenchInterval | Queue | Entry | SysbenchComplete | Begin | Misread


class SysbenchParser(LineParser):
    """Reads one stream of text."""

    _DATED = (Started, SysbenchInterval, Queue, SysbenchComplete)
    _WHOLE = (SysbenchInterval, SysbenchComplete)  # their last number has all its decimals
    _TORN = (SysbenchFigure, Bin, Said, Queue)
    _time = 0.0
    _reported = 0.0  # seconds of the last interval line
    _checkpoint = False
    _after_fatal = False

    def _read(self, text: str) -> Sequence[Record] | None:
        if (found := self._known(text)) is None:
            return [] if self._after_fatal else None  # a server's message continues in further lines of any form
        self._after_fatal = any(isinstance(record, Said) and record.name == "fatal" for record in found)
        return found

    def _misread(self, reason: str, text: str) -> None:
        super()._misread("interval_line" if reason == "other_text" and text.startswith("[ ") else reason, text)

    def _known(self, text: str) -> Sequence[Record] | None:
        if banner := _BANNER.match(text):
            self._checkpoint, self._reported = False, 0.0
            return [*([Begin()] if self.records else []), Said("version", banner[1])]
        if interval := report(text):
            before, self._reported = self._reported, getattr(interval, "time", self._reported)
            return [*([Begin()] if self._reported < before else []), interval]
        if LAST.match(text):
            checkpoint, self._checkpoint = self._checkpoint, False
            return [SysbenchComplete(self._time, checkpoint)]
        if (entry := entries(text)) is not None:
            self._time = next((each[1] for each in entry if each[0] == "time"), self._time)
            return entry
        if text.startswith("[ ") and text.endswith(" Checkpoint report:"):
            self._checkpoint = True
            return []
        if fatal := _FATAL.match(text):
            return [Said("fatal", fatal[1] or text)]
        if text == "Threads started!":
            return [Started()]
        settings = [Said(name, match[1]) for name, pattern in _OPTIONS.items() if (match := pattern.match(text))]
        return settings if settings or _KNOWN.match(text) else None
