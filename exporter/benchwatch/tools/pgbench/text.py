"""The text that pgbench writes, in any mixture: stderr, stdout, both in one file, several runs in one file.

A line may be a progress line (`progress`), a line of the final report (`summary`), a step of an initialisation, an
error or a notice (`messages`), or the line that 14 and later print immediately at the start:

    pgbench (15.18)        pgbench (18.6, server 15.18 (Debian 15.18-0+deb12u1))

Another run begins in the same stream with that line, `starting vacuum...`, a progress line, the first line of a report
or a step of `pgbench -i`, if the previous run is over or beyond that point. With a progress line it also begins if
elapsed seconds (from 15 on also Unix time) go back, or if Unix time follows elapsed seconds or the reverse. Steps of
`pgbench -i` after a complete report, as in a script that cleans up, belong to the next run but do not begin it. A start
that finds no server is not a run if another start follows: it prints nothing on standard output, which may be another
file, and a script that waits for the server tries often. Lines that pgbench does not print are `other_text`.
"""

import re
from copy import deepcopy
from typing import NamedTuple

from ..api import Begin, Misread
from ..lines import EXCERPT, LineParser
from .lifecycle import LifecycleEvent, event, initialisation, is_no_server, known, server_error
from .progress import PROGRESS, PROGRESS_START, Progress, progress
from .summary import REPORT_START, Complete, Entry, ReportReader, Statement


class Banner(NamedTuple):
    """The first line that 14 and later print; or that of `pgbench --version`, which scripts run before a benchmark."""

    tool_version: str
    server_version: str | None
    """None: of `pgbench --version`."""


Record = Banner | Progress | Entry | Statement | Complete | LifecycleEvent | Begin | Misread

_BANNER = re.compile(r"pgbench \((?!PostgreSQL\))(?P<version>.+?)(?:, server (?P<server>.+))?\)")
_VERSION = re.compile(r"pgbench \(PostgreSQL\) (?P<version>\d.*)")
_PROGRESS_LIKE = re.compile(r"progress(?: \d+)?: ")


class _Run:
    """How far the current run of the stream has come."""

    def __init__(self) -> None:
        self.banner = False
        self.time: float | None = None  # of the last progress line
        self.epoch = False
        self.keeps_time = True
        """Whether its times never go back: pgbench 14+ reads the time of day once (only lines of 15+ show that)."""
        self.report = ReportReader()
        self.failed = False
        self.fatal = False
        self.connected = False
        """Whether it printed something for which it needs a server."""
        self.initialising = False
        self.server_error_follows = False
        self.prepared: list[LifecycleEvent] = []  # steps after the report, for the next run

    @property
    def under_way(self) -> bool:
        return self.time is not None or self.report.begun or self.failed


class TextParser(LineParser):
    """Reads one stream of text."""

    _TORN = (Entry, Statement)

    def __init__(self) -> None:
        super().__init__()
        self._run = _Run()

    def settle(self) -> list[Record]:
        """See tools.Parser. More digits may follow a line that ends in one, unless it is a progress line."""
        rest = self._lines.rest.rstrip(b"\r")
        if not rest:
            return []
        trial = deepcopy(self)
        trial._line(rest)
        found = trial._taken()
        whole = all(map(_is_whole, found))
        if not (found and whole) or (rest[-1:].isdigit() and not isinstance(found[-1], Progress)):
            return []
        trial._lines.close()
        vars(self).update(vars(trial))
        return found

    def _line(self, line: bytes) -> None:
        for part in _decode(line).split("\r"):
            position = 0
            for match in PROGRESS.finditer(part) if PROGRESS_START in part else ():
                self._text(part[position : match.start()])
                self._progress(progress(match))
                position = match.end()
            self._text(part[position:])

    def _progress(self, line: Progress) -> None:
        run = self._run
        again = run.time is not None and (line.epoch != run.epoch or (line.time < run.time and run.keeps_time))
        if run.report.begun or run.fatal or again:
            run = self._begin()
        run.time, run.epoch, run.keeps_time = line.time, line.epoch, not line.epoch or line.failed is not None
        self._understood(line)

    def _text(self, text: str) -> None:
        text = text.rstrip()
        if not text:
            return
        if text.startswith("pgbench (") and self._banner(text):
            self._undated = True
            return
        if text.startswith(REPORT_START) and (self._run.report.begun or self._run.fatal):
            self._begin()
        try:
            entries = self._run.report.read(text)
        except ValueError as error:
            self._undated = True
            self._misread("summary_line", f"{text[: EXCERPT // 2]} ({error})")
            return
        if entries is not None:
            self._undated |= not self._run.report.complete
            self._understood(*entries)
            return
        self._undated = True
        if (step := self._step(text)) is not None:
            self._initialisation(step)
        elif (found := self._found(text)) is not None:
            self._message(found, text)
        elif known(text):
            self._understood()
        elif _PROGRESS_LIKE.match(text):
            self._misread("progress_line", text)
        else:
            self._misread("other_text", text)

    def _banner(self, text: str) -> bool:
        if match := _BANNER.fullmatch(text):
            if self._run.banner or self._run.under_way:
                self._begin()
            self._run.banner = True
            self._understood(Banner(match["version"], match["server"] or ""))
        elif match := _VERSION.fullmatch(text):
            self._understood(Banner(match["version"], None))
        return match is not None

    def _initialisation(self, step: LifecycleEvent) -> None:
        if step.kind == "step" and self._run.under_way and not self._run.report.complete:
            self._begin()
        self._run.initialising = step.kind != "made"
        if self._run.report.complete:
            self._run.prepared.append(step)
            self._understood()
        else:
            self._understood(step)

    def _step(self, text: str) -> LifecycleEvent | None:
        step = initialisation(text)
        return None if step and step.kind == "made" and not self._run.initialising else step

    def _found(self, text: str) -> LifecycleEvent | None:
        found = event(text)
        if found is None and (self._run.initialising or self._run.server_error_follows):
            return server_error(text)
        return found

    def _message(self, found: LifecycleEvent, text: str) -> None:
        run, kind = self._run, found.kind
        is_error, begins = kind in ("failed", "fatal"), kind == "vacuum"
        if (run.report.complete and (is_error or kind == "aborted")) or (begins and run.under_way):
            run = self._begin()
        run.connected |= not (is_error and (is_no_server(found) or run.server_error_follows))
        if is_error:
            run.fatal |= kind == "fatal"
            run.failed |= kind == "fatal" or run.time is None
        elif kind in ("ignored", "aborted"):  # the previous error was this client's, or none
            run.failed = run.fatal
        run.server_error_follows = begins or text.endswith(":")
        self._understood(found)
        if begins:
            self._text(text.partition("...")[2])

    def _begin(self) -> _Run:
        run = self._run
        is_retry = run.failed and not (run.connected or run.banner or run.time is not None or run.report.begun)
        self._out += (LifecycleEvent("retried") if is_retry else Begin(), *run.prepared)
        self._run = _Run()
        return self._run

    def _understood(self, *records: Record) -> None:
        self.records += 1
        self._out += records
        if any(map(_is_timed, records)):
            self._undated = False


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _is_timed(record: Record) -> bool:
    """Whether it says how long the run has taken."""
    return isinstance(record, Progress | Complete) or (
        isinstance(record, LifecycleEvent) and record.kind in ("rows", "made")
    )


def _is_whole(record: Record) -> bool:
    """Whether its line's form shows that it is complete; names and texts may be cut off anywhere."""
    if isinstance(record, LifecycleEvent):
        return record.kind not in ("vacuum", "step", "ignored")
    if isinstance(record, Entry):
        return not isinstance(record.value, str)
    return isinstance(record, Progress | Complete | Begin)
