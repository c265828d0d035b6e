"""The text that sysbench prints: interval lines (`reports`), final reports (`summary`), options, errors.

    sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)   first; another one begins another run in the same stream
    Number of threads: 8
    Target transaction rate: 60/sec                     with --rate
    Report intermediate results every 1 second(s)
    Threads started!                                    the clock of the interval lines begins here
    FATAL: ...                                          what ends the run, or the process after a last report

What a hook in Lua prints in place of the interval lines is `other_text`.
"""

import re
from typing import NamedTuple

from ..api import Begin, Misread
from ..lines import LIMIT, Overlong, WholeLines
from .reports import LINES, Interval, Queue, report
from .summary import LAST, Bin, Entry, Figure, entries

_EXCERPT = 400
BANNER = re.compile(r"sysbench (\d[\w.+~-]*)(?: \(using [^)]*\))?$")
_OPTIONS = {
    "threads": re.compile(r"Number of threads: (\d{1,9})$"),
    "report_interval": re.compile(r"Report intermediate results every (\d{1,9}) second\(s\)"),
    "rate": re.compile(r"Target transaction rate: (\d{1,12})/sec"),
    "block_size": re.compile(r"(?:Block size|  block size:) (\S+)$"),
    "operation": re.compile(r"  operation: (\S+)$"),
    "file_test_mode": re.compile(r"Doing (.+) test$"),
    "total_file_size": re.compile(r"(\S+) total file size$"),
    "io_mode": re.compile(r"Using (\S+) I/O mode$"),
}
_KNOWN = re.compile(
    r"Running the test with following options:|Initializing |Extra file open flags|\d+ files?, \S+ each|"
    r"Number of IO requests|Read/Write ratio|Periodic FSYNC|Calling fsync|Using |Doing |Running memory speed test|"
    r"  (?:total size|scope): |Prime numbers limit|Warming up for |Forcing shutdown in |Report checkpoint\(s\)|"
    r"(?:Creating|Inserting|Dropping|Removing|Prewarming|Preparing) |\d+ bytes written|Debug mode|DEBUG: |"
    r"Additional request validation|LuaJIT|Latency statistics|Time limit exceeded, exiting|"
    r"\(last message repeated \d+ times\)|Done\.|Random number generator seed|WARNING: "
)
_CHECKPOINT = re.compile(r"\[ \d{1,9}s \] Checkpoint report:")
_FATAL = re.compile(r"(?:FATAL|PANIC): (.*)|invalid option: |Cannot find benchmark ")
_LINE_LIKE = re.compile(r"\[ +\d+s ?\] ")


class Setting(NamedTuple):
    """What sysbench prints of itself: `version`, and its options."""

    name: str
    value: str


class Started(NamedTuple):
    """The threads began: elapsed seconds count from here."""

    time: float = 0.0


class Complete(NamedTuple):
    """The last line of a report; the run goes on if it was that of a checkpoint."""

    time: float
    """How long the run has taken, seconds."""
    checkpoint: bool


class Fatal(NamedTuple):
    """A message with which sysbench gives up."""

    message: str


Record = Setting | Started | Interval | Queue | Entry | Complete | Fatal | Begin | Misread
_TIMED = Started | Interval | Queue | Complete


class SysbenchParser:
    """Reads one stream of text."""

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0
        self._undated = False
        self._time = 0.0
        self._checkpoint = False
        self._after_fatal = False
        self._out: list[Record] = []

    @property
    def undated(self) -> bool:
        """See tools.Parser."""
        return self._undated or bool(self._lines.rest)

    def feed(self, data: bytes) -> list[Record]:
        """The records of the lines that these bytes complete."""
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                self._misread("line_too_long", f"{_decode(block.excerpt)} ... (more than {LIMIT} bytes)")
                continue
            for line in block[:-1].split(b"\n"):
                self._line(line)
        return self._taken()

    def settle(self) -> list[Record]:
        """See tools.Parser. Only lines whose last number has all its decimals are whole without their end."""
        rest = _decode(self._lines.rest)
        if not any(pattern.fullmatch(rest) for pattern in (*LINES[:4], LAST)):
            return []
        self._line(self._lines.close())
        self._number -= 1  # its end is still to come
        return self._taken()

    def close(self) -> list[Record]:
        """The records of the last line, which may lack its end; what may lack more is torn."""
        if (found := self.settle()) or not (rest := self._lines.close()):
            return found
        self._line(rest)
        taken = self._taken()
        if any(isinstance(record, Figure | Bin | Setting | Queue) for record in taken):
            return [Misread("truncated_line", f"line {self._number}", _decode(rest)[:_EXCERPT])]
        return taken

    def _taken(self) -> list[Record]:
        out, self._out = self._out, []
        return out

    def _line(self, line: bytes) -> None:
        self._number += 1
        if not (text := _decode(line)):
            return
        found = self._read(text)
        # A server's message goes on in further lines, which have no form of their own.
        self._after_fatal = self._after_fatal if found is None else any(isinstance(each, Fatal) for each in found)
        if found is None and not self._after_fatal:
            self._misread("interval_line" if _LINE_LIKE.match(text) else "other_text", text)
            return
        self.records += 1
        self._out += found or []
        self._undated = not any(isinstance(each, _TIMED) for each in found or [])

    def _read(self, text: str) -> list[Record] | None:
        if banner := BANNER.match(text):
            self._checkpoint = False
            return [*([Begin()] if self.records else []), Setting("version", banner[1])]
        if interval := report(text):
            return [interval]
        if LAST.match(text):
            checkpoint, self._checkpoint = self._checkpoint, False
            return [Complete(self._time, checkpoint)]
        if (found := entries(text)) is not None:
            for figure in found:
                self._time = figure.value if isinstance(figure, Figure) and figure.name == "time" else self._time
            return [*found]
        if _CHECKPOINT.match(text):
            self._checkpoint = True
            return []
        if fatal := _FATAL.match(text):
            return [Fatal(fatal[1] or text)]
        if text == "Threads started!":
            return [Started()]
        settings = [Setting(name, match[1]) for name, pattern in _OPTIONS.items() if (match := pattern.match(text))]
        return [*settings] if settings or _KNOWN.match(text) else None

    def _misread(self, reason: str, text: str) -> None:
        self._undated = True
        self._out.append(Misread(reason, f"line {self._number}", text[:_EXCERPT]))


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "replace").lstrip("\r").rstrip()
