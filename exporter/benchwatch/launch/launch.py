"""One run of a benchmark: everything between the decision to start it and its exit code.

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
from ..tools.launcher import Write
from . import child, sinks
from .bar import Bar
from .benchmark_files import OwnFiles, rescue
from .browser import PageOpener, page_of
from .preparation import Plan, Prepared, prepare
from .printing import STDERR, STDOUT, Terminal
from .schedule import Schedule
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
    recorded: dict[Path, sinks.Sink]
    bar: Bar | None


def launch(plan: Plan, terminal: Terminal) -> tuple[child.Ending, bool]:
    """Run the benchmark once; returns how it ended, and whether all that it wrote is in its run.

    Raises UserError if it is not started.
    """
    record = plan.record
    for sentence in rescue(record.folder.parent):
        terminal.say(sentence)
    schedule = Schedule(plan.at) if plan.at is not None else None
    delivery, opener = None, None
    if plan.push:  # imported only now, because it takes 10 MB
        from .delivery import Delivery

        delivery = Delivery(plan.push, record)
    replaced = record.create(plan.overwrite)
    host = Host()
    files = OwnFiles(record, host)
    with _nothing_started(record, files, delivery):
        prepared = prepare(plan, files, host, terminal)
        if delivery and (remark := delivery.start()):
            terminal.say(remark)
        if plan.page is not None:
            opener = PageOpener(plan.push, plan.page)
        for sentence in filter(None, (replaced, record.joins())):
            terminal.say(sentence)
        if opener:
            terminal.say(opener.announce())
        page = "" if opener else page_of(record.folder.name, record.folder.parent, plan.push)
        terminal.say(f"records {record.folder / record.worker}.*{f', live at {page}' if page else ''}")
        terminal.say_once(prepared.adds)
    with child.signals_held(), ExitStack() as opened:
        with _nothing_started(record, files, delivery):
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
        ending, lost, wrong = _attend(running, record, files, delivery, plan.benchmark.elsewhere)
        terminal.wait(_SHOWN)
        if running.bar:
            running.bar.stop()
        record.release()
        for sentence in filter(None, (exactness, *lost, *wrong)):
            terminal.say(sentence)
    if opener and (sentence := opener.finish()):
        terminal.say(sentence)
    return ending, not lost


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


def _start(
    prepared: Prepared, plan: Plan, terminal: Terminal, opened: ExitStack, schedule: Schedule | None
) -> _Running:
    paths = {STDOUT: plan.record.file("out"), STDERR: plan.record.file("err")}
    files = {number: opened.enter_context(path.open("ab", buffering=0)) for number, path in paths.items()}
    bar = None
    if os.isatty(STDERR) and os.environ.get("TERM") != "dumb":
        bar = Bar(plan, prepared.length)
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
    writers = {number: _writer(number, bar) for number in files}
    if prepared.display:
        writers[STDOUT] = prepared.display(writers[STDOUT])
    recorded = {number: sinks.Sink(sinks.write_to(file.fileno())) for number, file in files.items()}
    # With 2>&1 the order matters: a parser takes a summary that precedes a progress line for that of an older run.
    outlets = {STDERR: terminal.outlet(STDERR, writers[STDERR])}
    together = _is_one_place() and not prepared.display
    outlets[STDOUT] = outlets[STDERR] if together else terminal.outlet(STDOUT, writers[STDOUT])
    reader = sinks.forward({pipes[number][0]: (recorded[number], outlets[number]) for number in (STDERR, STDOUT)})
    by_path = {paths[number]: sink for number, sink in recorded.items()}
    return _Running(process, start, reader, by_path, bar)


def _is_one_place() -> bool:
    """Whether standard output and error go to the same terminal, file or pipe."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:  # one of them is closed
        return False


def _writer(descriptor: int, bar: Bar | None) -> Write:
    return bar.beside(descriptor) if bar and os.isatty(descriptor) else sinks.write_to(descriptor)


def _attend(
    running: _Running, record: RunRecord, files: OwnFiles, delivery: "Delivery | None", elsewhere: bool
) -> tuple[child.Ending, list[str], list[str]]:
    """Wait for the end and complete the record.

    Returns the ending, sentences about what could not be brought into the run, and other sentences.

    `elsewhere`: the CPU time seen here would be that of ssh or docker.
    """

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
    lost.append(files.keep())
    wrong = [] if ending.exit_code else [files.missing()]
    try:
        cpu_seconds = None if elsewhere else round(ending.cpu_seconds, 2)
        record.write(end=end, exit_code=ending.exit_code, signal=ending.signal, cpu_seconds=cpu_seconds)
    except OSError as error:
        lost.append(f"the end is not recorded in {record.path}: {error.strerror}")
    if delivery:
        wrong.append(delivery.finish())
    return ending, list(filter(None, lost)), wrong
