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
from .worker_record import RunRecord

if TYPE_CHECKING:
    from .delivery import Delivery

_LEFT_BEHIND = 2.0
"""Seconds to wait for pipes that a process left behind by the benchmark holds open."""
_SHOWN = 1.0
"""Seconds to wait for a terminal to catch up, before the benchmark starts and after it ends."""


class _Running(NamedTuple):
    process: int
    start: float
    """Unix seconds."""
    reader: threading.Thread
    recorded: dict[Path, Sink]
    bar: Bar | None


def launch(plan: Plan, terminal: Terminal) -> tuple[child.Ending, bool]:
    """Run the benchmark once; returns how it ended, and whether all that it wrote is in its run.

    Raises UserError if it is not started.
    """
    record, folder = plan.record, plan.record.folder
    for sentence in rescue(folder.parent):
        terminal.say(sentence)
    schedule = Schedule(plan.at) if plan.at is not None else None
    delivery = None
    if plan.push:  # imported only now, because it takes 10 MB
        from .delivery import Delivery

        delivery = Delivery(plan.push, record)
    host = Host()
    files = OwnFiles(record, host)
    with ExitStack() as opened:
        with ExitStack() as unless_started:
            with child.signals_held():
                replaced = record.create(plan.overwrite)
                unless_started.enter_context(_nothing_started(record, files, delivery))
            prepared = prepare(plan, files, host, terminal)
            sentences = [delivery.start() if delivery else "", replaced, record.joins()]
            opener = PageOpener(plan.push, plan.page) if plan.page is not None else None
            page = page_of(folder.name, folder.parent, plan.push) if opener is None else ""
            sentences.append(opener.announce() if opener else "")
            sentences.append(f"records {folder / record.worker}.*{f', live at {page}' if page else ''}")
            for sentence in filter(None, sentences):
                terminal.say(sentence)
            terminal.say_once(prepared.adds)
            opened.enter_context(child.signals_held())
            if schedule:
                record.write(scheduled={"at": schedule.at})
                terminal.say(schedule.announcement())
            terminal.wait(_SHOWN)
            running = _start(prepared, plan, terminal, opened, schedule)
            record.started()
        kept, exactness = schedule.kept(running.start) if schedule else ({}, "")
        with suppress(OSError):  # the end of the run says so
            record.write(start=round(running.start, 3), scheduled=kept)
        if opener:
            opener.start()

        def link() -> None:
            with suppress(OSError):
                files.link(running.process)

        ending = child.wait(running.process, link)
        end = round(time.time(), 3)
        link()
        running.reader.join(_LEFT_BEHIND)
        lost = []
        for path, sink in running.recorded.items():
            sink.close()
            if sink.lost:
                lost.append(f"{sink.lost} bytes of the output are not in {path}: {sink.reason}")
        if sentence := files.keep():
            lost.append(sentence)
        missing = "" if ending.exit_code else files.missing()
        cpu_seconds = None if plan.setup.benchmark.elsewhere else round(ending.cpu_seconds, 2)  # that of ssh or docker
        try:
            record.write(end=end, exit_code=ending.exit_code, signal=ending.signal, cpu_seconds=cpu_seconds)
        except OSError as error:
            lost.append(f"the end is not recorded in {record.path}: {error.strerror}")
        undelivered = delivery.finish() if delivery else ""
        terminal.wait(_SHOWN)
        if running.bar:
            running.bar.stop()
        record.release()
        for sentence in filter(None, (exactness, *lost, missing, undelivered)):
            terminal.say(sentence)
    if opener and (sentence := opener.finish()):
        terminal.say(sentence)
    return ending, not lost


def _start(
    prepared: Prepared, plan: Plan, terminal: Terminal, opened: ExitStack, schedule: Schedule | None
) -> _Running:
    # With 2>&1 the order matters: a parser takes a summary that precedes a progress line for that of an older run.
    paths = {STDERR: plan.record.file("err"), STDOUT: plan.record.file("out")}
    files = {number: opened.enter_context(path.open("ab", buffering=0)) for number, path in paths.items()}
    bar = None
    if os.isatty(STDERR) and os.environ.get("TERM") != "dumb":
        bar = Bar(plan)
        opened.callback(bar.stop)
    if schedule:
        schedule.wait()
    pipes = {number: sinks.pipe() for number in files}
    start = time.time()
    try:
        process = child.start(prepared.command, pipes[STDOUT][1], pipes[STDERR][1])
    finally:
        for _, writer in pipes.values():
            os.close(writer)
    if bar:
        bar.begin()
    recorded = {number: Sink(sinks.write_to(file.fileno())) for number, file in files.items()}
    together = _is_one_place() and not prepared.display
    outlets = {}
    for number, sink in recorded.items():
        write = bar.beside(number) if bar and os.isatty(number) else sinks.write_to(number)
        if number == STDOUT and prepared.display:
            write = prepared.display(write)
        outlets[pipes[number][0]] = (sink.put, terminal.outlet(STDERR if together else number, write))
    reader = sinks.forward(outlets)
    return _Running(process, start, reader, {paths[number]: sink for number, sink in recorded.items()}, bar)


@contextmanager
def _nothing_started(record: RunRecord, files: OwnFiles, delivery: "Delivery | None") -> Iterator[None]:
    """Leave nothing behind if the benchmark is not started."""
    try:
        yield
    except BaseException as error:
        if delivery:
            delivery.withdraw()
        record.remove()
        files.keep()
        if isinstance(error, OSError):
            raise record.unwritable(error) from error
        raise


def _is_one_place() -> bool:
    """Whether standard output and error go to the same terminal, file or pipe."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:  # one of them is closed
        return False
