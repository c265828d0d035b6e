"""The text that sysbench prints: interval lines (`reports`), final reports (`summary`), options, errors.

    sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)   first; another one begins another run in the same stream
    Number of threads: 8
    Target transaction rate: 60/sec                     with --rate
    Report intermediate results every 1 second(s)
    Threads started!                                    the clock of the interval lines begins here
    FATAL: ...                                          what ends the run, or the process after a last report

A report that follows `Checkpoint report:` is of what was done so far, and is passed over. What a hook in Lua prints in
place of the interval lines is `other_text`.
"""

import re
from typing import NamedTuple

from ..api import Begin, Misread
from ..pgbench.lines import LIMIT, Overlong, WholeLines
from .reports import Checkpoint, Interval, Queue, report
from .summary import Complete, Entry, entries

_EXCERPT = 400
BANNER = re.compile(r"sysbench (?P<version>\d[\w.+~-]*)(?: \(using [^)]*\))?$")
_OPTIONS = (
    ("threads", re.compile(r"Number of threads: (\d{1,9})$")),
    ("report_interval", re.compile(r"Report intermediate results every (\d{1,9}) second\(s\)")),
    ("rate", re.compile(r"Target transaction rate: (\d{1,12})/sec")),
    ("block_size", re.compile(r"Block size (\S+)$")),
    ("block_size", re.compile(r"  block size: (\S+)$")),
    ("operation", re.compile(r"  operation: (\S+)$")),
    ("file_test_mode", re.compile(r"Doing (.+) test$")),
    ("total_file_size", re.compile(r"(\S+) total file size$")),
    ("io_mode", re.compile(r"Using (\S+) I/O mode$")),
)
_KNOWN = re.compile(
    r"Running the test with following options:|Initializing |Extra file open flags|\d+ files?, \S+ each|"
    r"Number of IO requests|Read/Write ratio|Periodic FSYNC|Calling fsync|Using |Doing |Running memory speed test|"
    r"  (?:block size|total size|operation|scope): |Prime numbers limit|Warming up for |Forcing shutdown in |"
    r"Report checkpoint\(s\)|(?:Creating|Inserting|Dropping|Removing|Prewarming|Preparing) |\d+ bytes written|"
    r"Debug mode|DEBUG: |Additional request validation|LuaJIT|Latency statistics|Time limit exceeded, exiting|"
    r"\(last message repeated \d+ times\)|Done\.|Random number generator seed|WARNING: "
)
_FATAL = re.compile(r"(?:FATAL|PANIC): (?P<message>.*)|invalid option: |Cannot find benchmark ")
_STARTED = "Threads started!"


class Banner(NamedTuple):
    """The first line."""

    version: str


class Option(NamedTuple):
    """A setting, as sysbench prints it."""

    name: str
    value: str


class Started(NamedTuple):
    """The threads began: elapsed seconds count from here."""


class Fatal(NamedTuple):
    """A message with which sysbench gives up."""

    message: str


Record = Banner | Option | Started | Interval | Queue | Entry | Fatal | Begin | Misread


class SysbenchParser:
    """Reads one stream of text."""

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0
        self._begun = False
        self._checkpoint = False
        self._after_fatal = False
        self._out: list[Record] = []

    def feed(self, data: bytes) -> list[Record]:
        """The records of the lines that these bytes complete."""
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                excerpt = block.excerpt.decode("utf-8", "replace")
                self._misread("line_too_long", f"{excerpt} ... (more than {LIMIT} bytes)")
                continue
            for line in block[:-1].split(b"\n"):
                self._line(line)
        return self._taken()

    def close(self) -> list[Record]:
        """The records of the last line, which may lack its end."""
        if rest := self._lines.close():
            self._line(rest)
        return self._taken()

    def _taken(self) -> list[Record]:
        out, self._out = self._out, []
        return out

    def _line(self, line: bytes) -> None:
        self._number += 1
        text = line.decode("utf-8", "replace").rstrip()
        if text and not self._understood(text):
            self._misread("interval_line" if text.startswith("[ ") else "other_text", text)

    def _understood(self, text: str) -> bool:
        after_fatal, self._after_fatal = self._after_fatal, False
        if banner := BANNER.match(text):
            if self._begun:
                self._out.append(Begin())
            self._begun, self._checkpoint = True, False
            return self._add(Banner(banner["version"]))
        if (found := report(text)) is not None:
            if isinstance(found, Checkpoint):
                self._checkpoint = True
                return self._add()
            return self._add(found)
        if (entry := entries(text)) is not None:
            over = any(isinstance(one, Complete) for one in entry)
            skipped, self._checkpoint = self._checkpoint, self._checkpoint and not over
            return self._add(*([] if skipped else entry))
        if fatal := _FATAL.match(text):
            self._after_fatal = True
            return self._add(Fatal(fatal["message"] or text))
        if text == _STARTED:
            return self._add(Started())
        options = [Option(name, match[1]) for name, pattern in _OPTIONS if (match := pattern.match(text))]
        if options or _KNOWN.match(text):
            return self._add(*options)
        # A server's message goes on in further lines, which have no form of their own.
        self._after_fatal = after_fatal
        return after_fatal

    def _add(self, *records: Record) -> bool:
        self.records += 1
        self._out += records
        return True

    def _misread(self, reason: str, text: str) -> None:
        self._out.append(Misread(reason, f"line {self._number}", text[:_EXCERPT]))
