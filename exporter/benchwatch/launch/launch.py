"""One run of a benchmark: prepare, start, forward the output, wait for the end, complete the record.

A problem before the start ends the command. After the start, nothing does: what cannot be recorded is lost, and
reported when the benchmark has ended.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..machine.host import Host
from . import child, sinks
from .bar import Bar
from .benchmark_files import OwnFiles, rescue
from .browser import PageOpener, page_of
from .preparation import Plan, Prepared, prepare
from .schedule import Schedule
from .sinks import STDERR, STDOUT, Sink, Terminal

if TYPE_CHECKING:
    from .delivery import Delivery

_LEFT_BEHIND = 2.0
"""Seconds to wait for pipes that a process left behind by the benchmark holds open."""
_SHOWN = 1.0
"""Seconds to wait for a terminal to catch up, before the benchmark starts and after it ends."""


def launch(plan: Plan, terminal: Terminal) -> tuple[child.Ending, bool]:
    """Run the benchmark once; returns how it ended, and whether all that it wrote is in its run.

    Raises UserError if it is not started.
    """
    for sentence in rescue(plan.record.folder.parent):
        terminal.say(sentence)
    run = _Launch(plan, terminal)
    with ExitStack() as opened:
        running = run.start(opened)
        ending = run.wait(running)
        is_complete = run.complete(running, ending)
    if run.opener:
        terminal.say(run.opener.finish())
    return ending, is_complete


class _Running(NamedTuple):
    """A benchmark that has been started."""

    process: int
    start: float
    """Unix seconds."""
    reader: threading.Thread
    recorded: dict[Path, Sink]
    bar: Bar | None


class _Launch:
    """A run and its helpers; those that its options do not ask for are None."""

    def __init__(self, plan: Plan, terminal: Terminal) -> None:
        self.plan = plan
        self.terminal = terminal
        self.record = plan.record
        self.host = Host()
        self.files = OwnFiles(plan.record, self.host)
        self.schedule = Schedule(plan.at) if plan.at is not None else None
        self.opener = PageOpener(plan.push, plan.page) if plan.page is not None else None
        self.delivery: Delivery | None = None
        if plan.push:
            from . import delivery  # only now, because it takes 10 MB

            self.delivery = delivery.Delivery(plan.push, plan.record)
        self.exactness = ""  # how exactly it started at the time that was asked for, a sentence

    def start(self, opened: ExitStack) -> _Running:
        """Take the name, prepare, wait for the time and start; `opened` holds what is open until the end."""
        with ExitStack() as unless_started:
            with child.signals_held():
                replaced = self.record.create(self.plan.overwrite)
                unless_started.enter_context(self._nothing_started())
            prepared = prepare(self.plan, self.files, self.host, self.terminal)
            self._announce(prepared, replaced)
            opened.enter_context(child.signals_held())
            if self.schedule:
                self.record.write(scheduled={"at": self.schedule.at})
                self.terminal.say(self.schedule.announcement())
            self.terminal.wait(_SHOWN)
            running = self._spawn(prepared, opened)
            self.record.started()
        return running

    def _announce(self, prepared: Prepared, replaced: str) -> None:
        """Say what will happen, after telling the exporter to which the run is sent."""
        folder = self.record.folder
        delivered = self.delivery.start() if self.delivery else ""
        joins = self.record.joins()
        opens = self.opener.announce() if self.opener else ""
        page = "" if self.opener else page_of(folder.name, folder.parent, self.plan.push)
        live = f", live at {page}" if page else ""
        self.terminal.say(delivered, replaced, joins, opens, f"records {folder / self.record.worker}.*{live}")
        self.terminal.say_once(prepared.adds)

    @contextmanager
    def _nothing_started(self) -> Iterator[None]:
        """Leave nothing behind if the benchmark is not started."""
        try:
            yield
        except BaseException as error:
            if self.delivery:
                self.delivery.withdraw()
            self.record.remove()
            self.files.keep()
            if isinstance(error, OSError):
                raise self.record.unwritable(error) from error
            raise

    def _spawn(self, prepared: Prepared, opened: ExitStack) -> _Running:
        """Start the threads that forward its output, wait for the time, and start the process."""
        bar = None
        if os.isatty(STDERR) and os.environ.get("TERM") != "dumb":
            bar = Bar(self.plan)
            opened.callback(bar.stop)
        recorded, outlets, writers = {}, {}, {}
        together = _is_one_place() and not prepared.display
        # With 2>&1 the order matters: a parser takes a summary that precedes a progress line for that of an older run.
        for number, suffix in ((STDERR, "err"), (STDOUT, "out")):
            path = self.record.file(suffix)
            file = opened.enter_context(path.open("ab", buffering=0))
            recorded[path] = Sink(sinks.write_to(file.fileno()))
            write = bar.beside(number) if bar and os.isatty(number) else sinks.write_to(number)
            if number == STDOUT and prepared.display:
                write = prepared.display(write)
            shown = self.terminal.outlet(STDERR if together else number, write)
            reader, writers[number] = sinks.pipe()
            outlets[reader] = (recorded[path].put, shown)
        if self.schedule:
            self.schedule.wait()
        start = time.time()
        try:
            process = child.start(prepared.command, writers[STDOUT], writers[STDERR])
        finally:
            for writer in writers.values():
                os.close(writer)
        if bar:
            bar.begin()
        return _Running(process, start, sinks.forward(outlets), recorded, bar)

    def wait(self, running: _Running) -> child.Ending:
        """Record the start, and wait for the end while files that the benchmark writes are linked."""
        scheduled: dict[str, float] = {}
        if self.schedule:
            scheduled, self.exactness = self.schedule.kept(running.start)
        with suppress(OSError):  # the end of the run says so
            self.record.write(start=round(running.start, 3), scheduled=scheduled)
        if self.opener:
            self.opener.start()

        def link() -> None:
            with suppress(OSError):
                self.files.link(running.process)

        return child.wait(running.process, link)

    def complete(self, running: _Running, ending: child.Ending) -> bool:
        """Record the end and say what went wrong; returns whether all output is in the run."""
        end = round(time.time(), 3)
        with suppress(OSError):
            self.files.link(running.process)
        running.reader.join(_LEFT_BEHIND)
        lost = []
        for path, sink in running.recorded.items():
            sink.close()
            if sink.lost:
                lost.append(f"{sink.lost} bytes of the output are not in {path}: {sink.reason}")
        lost += filter(None, [self.files.keep()])
        missing = "" if ending.exit_code else self.files.missing()
        elsewhere = self.plan.setup.benchmark.elsewhere  # the processor time would be that of ssh or docker
        cpu_seconds = None if elsewhere else round(ending.cpu_seconds, 2)
        try:
            self.record.write(end=end, exit_code=ending.exit_code, signal=ending.signal, cpu_seconds=cpu_seconds)
        except OSError as error:
            lost.append(f"the end is not recorded in {self.record.path}: {error.strerror}")
        undelivered = self.delivery.finish() if self.delivery else ""
        self.terminal.wait(_SHOWN)
        if running.bar:
            running.bar.stop()
        self.record.release()
        self.terminal.say(self.exactness, *lost, missing, undelivered)
        return not lost


def _is_one_place() -> bool:
    """Whether standard output and error go to the same terminal, file or pipe."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:  # one of them is closed
        return False
