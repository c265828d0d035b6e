"""The text that pgbench writes, in any mixture: stderr, stdout, both in one file, several runs in one file.

A line may be a progress line (`progress`), a line of the final report (`summary`), a step of an initialisation, an
error or a notice (`lifecycle`), or the line that 14 and later print immediately at the start:

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
from typing import Any

from ..api import Begin
from ..lines import EXCERPT, LineParser
from .lifecycle import Banner, LifecycleEvent, event, is_no_server, known
from .progress import PROGRESS, PROGRESS_START, Progress, progress
from .summary import REPORT_START, Complete, Entry, ReportReader

Record = Banner | Progress | Entry | Complete | LifecycleEvent | Begin

_BANNER = re.compile(r"pgbench \((?!PostgreSQL\))(?P<version>.+?)(?:, server (?P<server>.+))?\)")
_VERSION = re.compile(r"pgbench \(PostgreSQL\) (?P<version>\d.*)")
_PROGRESS_LIKE = re.compile(r"progress(?: \d+)?: ")


class _Run:
    """How far the current run of the stream has come."""

    def __init__(self) -> None:
        self.banner = False
        self.last: Progress | None = None
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
        return self.last is not None or self.report.begun or self.failed


class TextParser(LineParser):
    """Reads one stream of text."""

    _TORN = (Entry,)

    def __init__(self) -> None:
        super().__init__()
        self._run = _Run()

    def settle(self) -> list[Any]:
        """See tools.Parser. More digits may follow a line that ends in one, unless it is a progress line."""
        rest = self._last_line.rstrip(b"\r")
        if not rest:
            return []
        trial = deepcopy(self)
        trial._end_last_line()
        trial._line(rest)
        found = trial._taken()
        if not found or not all(map(_is_whole, found)) or (rest[-1:].isdigit() and not isinstance(found[-1], Progress)):
            return []
        vars(self).update(vars(trial))
        return found

    def _line(self, line: bytes) -> None:
        for part in line.decode("utf-8", "replace").split("\r"):
            position = 0
            for match in PROGRESS.finditer(part) if PROGRESS_START in part else ():
                self._text(part[position : match.start()].rstrip())
                self._progress(progress(match))
                position = match.end()
            self._text(part[position:].rstrip())

    def _progress(self, line: Progress) -> None:
        run, last = self._run, self._run.last
        # pgbench 14+ reads the time of day once, so that its times never go back (only lines of 15+ show that).
        keeps_time = last is not None and (not last.epoch or last.failed is not None)
        again = last is not None and (line.epoch != last.epoch or (keeps_time and line.time < last.time))
        if run.report.begun or run.fatal or again:
            run = self._begin()
        run.last = line
        self._take([line])

    def _text(self, text: str) -> None:
        if not text:
            return
        run = self._run
        if text.startswith(REPORT_START) and (run.report.begun or run.fatal):
            run = self._begin()
        try:
            entries = run.report.read(text)
        except ValueError as error:
            self._misread("summary_line", f"{text[: EXCERPT // 2]} ({error})")
            return
        if entries is not None:
            before = self._undated
            self._take(entries)
            self._undated &= before or not run.report.complete  # figures of scripts follow the length of the run
            return
        if match := _BANNER.fullmatch(text):
            if run.banner or run.under_way:
                run = self._begin()
            run.banner = True
            self._take([Banner(match["version"], match["server"] or "")])
        elif match := _VERSION.fullmatch(text):
            self._take([Banner(match["version"], None)])
        elif found := self._event(text):
            self._tell(found, text)
        elif known(text):
            self._take([])
        else:
            self._misread("progress_line" if _PROGRESS_LIKE.match(text) else "other_text", text)

    def _event(self, text: str) -> LifecycleEvent | None:
        """What a line says, if pgbench prints it at this point."""
        run, found = self._run, event(text)
        if found and found.kind == "made" and not run.initialising:
            return None
        if found and found.kind == "server":
            return found._replace(kind="failed") if run.initialising or run.server_error_follows else None
        return found

    def _tell(self, found: LifecycleEvent, text: str) -> None:
        run, kind = self._run, found.kind
        if kind in ("step", "rows", "made"):
            if kind == "step" and run.under_way and not run.report.complete:
                run = self._begin()
            run.initialising = kind != "made"
            if run.report.complete:
                run.prepared.append(found)
            self._take([] if run.report.complete else [found])
            return
        is_error, begins = kind in ("failed", "fatal"), kind == "vacuum"
        if (run.report.complete and (is_error or kind == "aborted")) or (begins and run.under_way):
            run = self._begin()
        run.connected |= not (is_error and (is_no_server(found) or run.server_error_follows))
        if is_error:
            run.fatal |= kind == "fatal"
            run.failed |= kind == "fatal" or run.last is None
        elif kind in ("ignored", "aborted"):  # the previous error was this client's, or none
            run.failed = run.fatal
        run.server_error_follows = begins or text.endswith(":")
        self._take([found])
        if begins:
            self._text(text.partition("...")[2])

    def _begin(self) -> _Run:
        run = self._run
        is_retry = run.failed and not (run.connected or run.banner or run.last or run.report.begun)
        self._out += (LifecycleEvent("retried") if is_retry else Begin(), *run.prepared)
        self._run = _Run()
        return self._run

    def _is_dated(self, record: Record) -> bool:
        if isinstance(record, LifecycleEvent):
            return record.kind in ("rows", "made")
        return isinstance(record, Progress | Complete)


def _is_whole(record: Record) -> bool:
    """Whether its line's form shows that it is complete; names and texts may be cut off anywhere."""
    if isinstance(record, LifecycleEvent):
        return record.kind not in ("vacuum", "step", "ignored")
    if isinstance(record, Entry):
        return not isinstance(record.value, str) and len(record.labels) < 2  # a statement's text is a label
    return isinstance(record, Progress | Complete | Begin)
