"""One run of a benchmark: everything between the decision to start it and its exit code.

Before the start, a problem ends the command. After it, nothing does: what cannot be recorded is lost, and reported once
the benchmark has ended.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.disks import check as check_disks
from ..machine.host import Host
from ..tools.invocation import Benchmark, recordable
from ..tools.launcher import Command, Display, Facts, LogRoom, Preparation, Write
from ..tools.registry import named
from . import child, sinks
from .facts import ask_version, find_facts
from .files import OwnFiles, place_log
from .memory import rescue
from .record import Place, RunRecord
from .schedule import Schedule
from .terminal import STDERR, STDOUT, Terminal

if TYPE_CHECKING:
    from .bar import Bar
    from .browser import PageOpener
    from .delivery import Delivery

_LEFT_BEHIND = 2.0
"""Seconds to wait for pipes that a process left behind by the benchmark holds open."""
_SHOWN = 1.0
"""Seconds to wait for a terminal to catch up, before the benchmark starts and after it ends."""


class Plan(NamedTuple):
    """What every run of a series shares."""

    benchmark: Benchmark
    percentiles: bool
    push: str
    """URL of an exporter elsewhere; empty for none."""
    content: dict[str, Any]
    """What the user's options put into the records."""
    overwrite: bool = False
    page: str | None = None
    """The run whose page is to be opened in a browser, empty for that of all runs; None: none."""


class _Prepared(NamedTuple):
    command: list[str]
    added: tuple[str, ...]
    length: float | None
    display: Display | None
    """What is shown in place of documents, if stdout is a terminal."""


class _Running(NamedTuple):
    process: int
    start: float
    """Unix seconds."""
    reader: sinks.Reader
    recorded: dict[Path, sinks.Sink]
    bar: "Bar | None"


def planned_length(benchmark: Benchmark) -> float | None:
    """How long it will take, seconds, if its command says so. Raises UserError if the command is no benchmark."""
    return _read(benchmark, "").length


def launch(plan: Plan, record: RunRecord, terminal: Terminal, place: Place, at: float | None = None) -> child.Ending:
    """Run the benchmark once, at that moment (Unix seconds) if given. Raises UserError if it is not started."""
    for sentence in rescue(record.folder.parent):
        terminal.say(sentence)
    schedule = Schedule(at) if at is not None else None
    delivery = _delivery(plan.push, record) if plan.push else None
    replaced = record.create(plan.overwrite)
    host = Host()
    files = OwnFiles(record, host)
    with _nothing_started(record, files, delivery):
        prepared = _prepare(plan, record, files, host, terminal)
        if delivery and (remark := delivery.start()):
            terminal.say(remark)
        opener = None if plan.page is None else _opener(plan.push, plan.page)
        added = f", added {' '.join(prepared.added)}" if prepared.added else ""
        if replaced:
            terminal.say(replaced)
        if opener:
            terminal.say(opener.announce())
        terminal.say(f"records {record.folder / record.worker}.*{added}")
    with child.signals_held(), ExitStack() as opened:
        with _nothing_started(record, files, delivery):
            if schedule:
                record.write(scheduled={"at": schedule.at})
                terminal.say(schedule.announcement())
            terminal.wait(_SHOWN)
            running = _start(prepared, record, terminal, opened, place, schedule)
            record.started()
        exactness = _record_start(running.start, record, schedule)
        if opener:
            opener.start()
        ending, wrong = _attend(running, record, files, delivery, plan.benchmark.elsewhere)
        terminal.wait(_SHOWN)
        if running.bar:
            running.bar.stop()
        record.release()
        for sentence in filter(None, (exactness, *wrong, opener.finish() if opener else "")):
            terminal.say(sentence)
    return ending


def _delivery(url: str, record: RunRecord) -> "Delivery":
    from .delivery import Delivery

    return Delivery(url, record)


def _opener(exporter: str, run: str) -> "PageOpener":
    from .browser import PageOpener

    return PageOpener(exporter, run)


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


class _NotKnown(Command):
    """The command of a tool without a launcher."""

    def prepare(self, percentiles: bool, room: LogRoom | None) -> Preparation:
        return Preparation(remarks=("no reporting flags are known for this tool, so none were added",))


def _read(benchmark: Benchmark, version: str) -> Command:
    tool = named(benchmark.tool)
    return tool.launcher.read(benchmark.arguments, version) if tool and tool.launcher else _NotKnown()


def _prepare(plan: Plan, record: RunRecord, files: OwnFiles, host: Host, terminal: Terminal) -> _Prepared:
    record.write(**plan.content)
    record.check()
    benchmark = plan.benchmark
    version = ask_version(benchmark)
    command = _read(benchmark, version)
    preparation = _expect_files(plan, command, record, files, host)
    facts = find_facts(benchmark, command, version, host)
    planned = {} if command.length is None else {"planned_seconds": f"{command.length:g}"}
    warmup = plan.content.get("warmup")
    if warmup is not None and command.length is not None and warmup >= command.length:
        preparation = preparation.remark(
            f"all of its {command.length:g} s is warm-up, so no results remain: give a shorter --warmup"
        )
    for remark in (*preparation.remarks, *facts.remarks, *_place_remarks(plan.content, facts, host)):
        terminal.say(remark)
    words = [*benchmark.wrapper, benchmark.program, *preparation.added, *benchmark.arguments]
    record.write(
        command=recordable(words),
        found={"host": facts.host, "client": facts.client, "disks": dict(facts.disks)},
        parameters={**facts.parameters, **planned, **plan.content.get("parameters", {})},
    )
    display = preparation.display if os.isatty(STDOUT) else None
    return _Prepared(words, preparation.added, command.length, display)


def _place_remarks(content: Mapping[str, Any], facts: Facts, host: Host) -> list[str]:
    """What is wrong or missing in the run's location (host, disks)."""
    if not (content["host"] or facts.host):
        return ["it is not known which machine does the work: name it with --host to see its disks and processors"]
    own = content["host"] in (None, facts.host) and facts.host == host.name
    return [f"--disk: {fault}" for fault in (check_disks(content["disks"], host.storage)[1] if own else ())]


def _expect_files(plan: Plan, command: Command, record: RunRecord, files: OwnFiles, host: Host) -> Preparation:
    """What to add to the command; also expects the files that it will write itself."""
    benchmark, output, log = plan.benchmark, command.output, command.log
    if output and not benchmark.elsewhere:
        files.expect_output(Path(output))
    if log and log.prefix and not benchmark.elsewhere:
        files.expect_log(Path(log.prefix), name=log.name)
    no_log = command.prepare(plan.percentiles, None)
    if output and benchmark.elsewhere:
        no_log = no_log.remark(f"nothing will be shown: {benchmark.tool} may write {output} on another machine")
    if not log or log.prefix or not plan.percentiles:
        return no_log
    if benchmark.elsewhere or benchmark.other_user:
        wrapper = benchmark.wrapper[0]
        return no_log.remark(
            f"no {log.name}, because {wrapper} may not let {benchmark.tool} write here: no percentiles"
        )
    place = place_log(record, log.size, host)
    prefix = place.folder / record.worker
    preparation = command.prepare(plan.percentiles, LogRoom(prefix, place.room))
    if not preparation.uses_log:
        if place.memory:
            place.memory.give_back()
        return preparation
    if place.memory:
        files.expect_log(prefix, place.memory, log.name)
    size = f"{log.size / 1e6:,.0f} MB" + (" at most" if command.length else "")
    return preparation.remark(f"the {log.name} takes {size} and goes to {place.folder}")


def _start(
    prepared: _Prepared,
    record: RunRecord,
    terminal: Terminal,
    opened: ExitStack,
    place: Place,
    schedule: Schedule | None,
) -> _Running:
    paths = {STDOUT: record.file("out"), STDERR: record.file("err")}
    files = {number: opened.enter_context(path.open("ab", buffering=0)) for number, path in paths.items()}
    make_bar = _bar_maker()
    bar = make_bar(record, prepared.length, place, schedule.at if schedule else 0.0) if make_bar else None
    if bar:
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
    # With 2>&1 the order matters: a reader attributes a summary before a progress line to an older run.
    outlets = {STDERR: terminal.outlet(STDERR, writers[STDERR])}
    together = _is_one_place() and not prepared.display
    outlets[STDOUT] = outlets[STDERR] if together else terminal.outlet(STDOUT, writers[STDOUT])
    reader = sinks.Reader({pipes[number][0]: (recorded[number], outlets[number]) for number in (STDERR, STDOUT)})
    by_path = {paths[number]: sink for number, sink in recorded.items()}
    return _Running(process, start, reader, by_path, bar)


def _record_start(start: float, record: RunRecord, schedule: Schedule | None) -> str:
    """Returns a sentence on how exactly a scheduled run started; empty for another."""
    kept, sentence = schedule.kept(start) if schedule else ({}, "")
    with suppress(OSError):  # the end of the run says so
        record.write(start=round(start, 3), scheduled=kept)
    return sentence


def _bar_maker() -> "type[Bar] | None":
    """The bar if it can be shown; imported before the start, because that takes CPU time."""
    if not os.isatty(STDERR) or os.environ.get("TERM") == "dumb":
        return None
    from .bar import Bar

    return Bar


def _is_one_place() -> bool:
    """Whether standard output and error go to the same terminal, file or pipe."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:  # one of them is closed
        return False


def _writer(descriptor: int, bar: "Bar | None") -> Write:
    return bar.beside(descriptor) if bar and os.isatty(descriptor) else sinks.write_to(descriptor)


def _attend(
    running: _Running, record: RunRecord, files: OwnFiles, delivery: "Delivery | None", elsewhere: bool
) -> tuple[child.Ending, list[str]]:
    """Wait for the end and complete the record; returns the ending, and sentences about what was not recorded.

    `elsewhere`: the CPU time seen here would be that of ssh or docker.
    """

    def link() -> None:
        with suppress(OSError):
            files.link(running.process)

    ending = child.wait(running.process, link)
    end = round(time.time(), 3)
    link()
    running.reader.join(_LEFT_BEHIND)
    wrong = []
    for path, sink in running.recorded.items():
        sink.close()
        if sink.lost:
            wrong.append(f"{sink.lost} bytes of the output are not in {path}: {sink.reason}")
    wrong.append(files.keep())
    if not ending.exit_code:
        wrong.append(files.missing())
    try:
        cpu_seconds = None if elsewhere else round(ending.cpu_seconds, 2)
        record.write(end=end, exit_code=ending.exit_code, signal=ending.signal, cpu_seconds=cpu_seconds)
    except OSError as error:
        wrong.append(f"the end is not recorded in {record.path}: {error.strerror}")
    if delivery:
        wrong.append(delivery.finish())
    return ending, list(filter(None, wrong))
