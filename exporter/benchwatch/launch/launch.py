"""One run of a benchmark: everything between the decision to start it and its exit code.

Before the start a problem ends the command. From then on nothing does: what cannot be recorded is lost, and said once
the benchmark has ended.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.host import Host
from ..tools.invocation import Benchmark, recordable
from ..values.errors import ConfigError
from . import child, fio, pgbench, sinks
from .facts import ask_version, find_facts
from .files import OwnFiles, place_log
from .preparation import Preparation
from .record import Record
from .terminal import STDERR, STDOUT, Terminal

if TYPE_CHECKING:
    from .bar import Bar
    from .delivery import Delivery

_LEFT_BEHIND = 2.0
"""Seconds that the pipes may stay open after the benchmark's end, held by a process of its own."""
_SHOWN = 1.0
"""Seconds that a terminal may need, before the benchmark and after it, to show what there is before what follows."""


class Plan(NamedTuple):
    """What is asked of every run of a series."""

    benchmark: Benchmark
    percentiles: bool
    push: str
    """URL of an exporter elsewhere; empty for none."""
    content: dict[str, Any]
    """What the records say besides what is found out."""


class _Prepared(NamedTuple):
    command: list[str]
    preparation: Preparation
    hides_documents: bool


class _Running(NamedTuple):
    process: int
    reader: sinks.Reader
    recorded: dict[Path, sinks.Sink]
    bar: "Bar | None"


def check(benchmark: Benchmark) -> None:
    """Raises ConfigError if the command is no benchmark."""
    _read(benchmark, "")


def launch(plan: Plan, record: Record, terminal: Terminal) -> child.Ending:
    """Run the benchmark once. Raises ConfigError if it is not started."""
    record.create()
    host = Host()
    files = OwnFiles(record, host)
    with _nothing_started(record, files):
        prepared = _prepare(plan, record, files, host, terminal)
        delivery = _deliver(plan.push, record, terminal) if plan.push else None
        added = prepared.preparation.added
        terminal.say(f"records {record.folder / record.worker}.*" + (f", added {' '.join(added)}" if added else ""))
        terminal.wait(_SHOWN)
    with child.signals_held(), ExitStack() as opened:
        with _nothing_started(record, files):
            running = _start(prepared, record, terminal, opened)
        ending, wrong = _attend(running, record, files, delivery, plan.benchmark.elsewhere)
        terminal.wait(_SHOWN)
        if running.bar:
            running.bar.stop()
        for sentence in wrong:
            terminal.say(sentence)
    if prepared.hides_documents and (figures := fio.final_figures(record.file("out"), plan.content.get("warmup"))):
        terminal.say(figures)
    return ending


def _deliver(url: str, record: Record, terminal: Terminal) -> "Delivery":
    from .delivery import Delivery

    delivery = Delivery(url, record)
    if remark := delivery.start():
        terminal.say(remark)
    return delivery


@contextmanager
def _nothing_started(record: Record, files: OwnFiles) -> Iterator[None]:
    """Leaves nothing behind if it does not come to the start."""
    try:
        yield
    except BaseException as error:
        record.remove()
        files.keep()
        if isinstance(error, OSError):
            sentence = f"{record.folder} cannot be written to: {error.strerror}; nothing was started"
            raise ConfigError(sentence) from error
        raise


def _read(benchmark: Benchmark, version: str) -> pgbench.PgbenchCommand | fio.FioCommand | None:
    if benchmark.tool == "fio":
        return fio.read_command(benchmark.arguments, fio.read_version(version))
    return pgbench.read_command(benchmark.arguments, pgbench.read_version(version))


def _prepare(plan: Plan, record: Record, files: OwnFiles, host: Host, terminal: Terminal) -> _Prepared:
    record.write(**plan.content)
    record.check()
    benchmark = plan.benchmark
    version = ask_version(benchmark)
    command = _read(benchmark, version)
    if isinstance(command, fio.FioCommand):
        preparation = fio.prepare(command, plan.percentiles)
        if command.output and benchmark.elsewhere:
            preparation = preparation.remark(f"nothing is seen of fio, as {command.output} may be elsewhere")
        elif command.output:
            files.expect_output(Path(command.output))
    elif command:
        preparation = _prepare_pgbench(plan, command, record, files, host)
    else:
        preparation = Preparation(remarks=("the options are not understood, so that none is added",))
    facts = find_facts(benchmark, command, version, host)
    planned = {} if preparation.length is None else {"planned_seconds": f"{preparation.length:g}"}
    warmup = plan.content.get("warmup")
    if warmup is not None and preparation.length is not None and warmup >= preparation.length:
        preparation = preparation.remark(f"all of its {preparation.length:g} s is warm-up, so nothing will be compared")
    for remark in (*preparation.remarks, *facts.remarks):
        terminal.say(remark)
    words = [*benchmark.wrapper, benchmark.program, *preparation.added, *benchmark.arguments]
    record.write(
        command=recordable(words),
        parameters=facts.parameters | planned | plan.content.get("parameters", {}),
    )
    asked = any("--output-format" in word for word in preparation.added)
    return _Prepared(words, preparation, asked and os.isatty(STDOUT))


def _prepare_pgbench(
    plan: Plan, command: pgbench.PgbenchCommand, record: Record, files: OwnFiles, host: Host
) -> Preparation:
    benchmark = plan.benchmark
    if command.log_prefix and not benchmark.elsewhere:
        files.expect_log(Path(command.log_prefix))
    if not plan.percentiles or command.log_prefix:
        return pgbench.prepare(command, None, 0)
    if benchmark.elsewhere or benchmark.other_user:
        preparation = pgbench.prepare(command, None, 0)
        wrapper = benchmark.wrapper[0]
        return preparation.remark(f"no transaction log, as {wrapper} may not let pgbench write here: no percentiles")
    place = place_log(record, command.log_size, host)
    prefix = place.folder / record.worker
    preparation = pgbench.prepare(command, prefix, place.room)
    if f"--log-prefix={prefix}" not in preparation.added:
        place.give_back()
        return preparation
    if place.in_memory:
        files.expect_log(prefix, place.folder)
    size = f"{command.log_size / 1e6:,.0f} MB" + (" at most" if command.length else "")
    return preparation.remark(f"the transaction log takes {size} and goes to {place.folder}")


def _start(prepared: _Prepared, record: Record, terminal: Terminal, opened: ExitStack) -> _Running:
    paths = {STDOUT: record.file("out"), STDERR: record.file("err")}
    files = {number: opened.enter_context(path.open("ab", buffering=0)) for number, path in paths.items()}
    pipes = {number: sinks.pipe() for number in files}
    make_bar = _bar_maker()
    record.write(start=round(time.time(), 3))
    try:
        process = child.start(prepared.command, pipes[STDOUT][1], pipes[STDERR][1])
    finally:
        for _, writer in pipes.values():
            os.close(writer)
    length = prepared.preparation.length
    bar = make_bar(record.run, length) if make_bar and length else None
    writers = {number: _writer(number, bar) for number in files}
    if prepared.hides_documents:
        writers[STDOUT] = fio.without_documents(writers[STDOUT])
    recorded = {number: sinks.Sink(sinks.write_to(file.fileno())) for number, file in files.items()}
    # With 2>&1 what came first stays first: a reader would take a summary before a progress line for an older run's.
    outlets = {STDERR: terminal.outlet(STDERR, writers[STDERR])}
    together = _is_one_place() and not prepared.hides_documents
    outlets[STDOUT] = outlets[STDERR] if together else terminal.outlet(STDOUT, writers[STDOUT])
    reader = sinks.Reader({pipes[number][0]: (recorded[number], outlets[number]) for number in (STDERR, STDOUT)})
    by_path = {paths[number]: sink for number, sink in recorded.items()}
    return _Running(process, reader, by_path, bar)


def _bar_maker() -> "type[Bar] | None":
    """The bar, where it can be shown: imported before the start, as that takes a while of CPU time."""
    if not os.isatty(STDERR):
        return None
    from .bar import Bar

    return Bar


def _is_one_place() -> bool:
    """Whether standard output and error go to the same terminal, file or pipe."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:  # one of them is closed
        return False


def _writer(descriptor: int, bar: "Bar | None") -> Callable[[memoryview], int]:
    return bar.beside(descriptor) if bar and os.isatty(descriptor) else sinks.write_to(descriptor)


def _attend(
    running: _Running, record: Record, files: OwnFiles, delivery: "Delivery | None", elsewhere: bool
) -> tuple[child.Ending, list[str]]:
    """Wait for the end, and see to it that all is recorded; sentences about what is not.

    `elsewhere`: its CPU time is that of ssh or docker.
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
