"""The preparation of a benchmark: its reporting flags, the files that it will write, facts about its run."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..machine.disks import check as check_disks
from ..machine.host import Host
from ..tools.invocation import Benchmark, recordable
from ..tools.launcher import Command, CommandLine, Facts, LogRoom, Write
from ..tools.registry import named
from .benchmark_files import MEMORY, OwnFiles
from .facts import ask_version, find_facts
from .printing import STDOUT, Terminal
from .worker_record import RunRecord


class Plan(NamedTuple):
    """One run of a benchmark, as the options ask for it, and its place in a series."""

    record: RunRecord
    benchmark: Benchmark
    content: dict[str, Any]
    """What the options put into the record."""
    percentiles: bool
    push: str
    """URL of an exporter elsewhere; empty: none."""
    overwrite: bool
    length: float | None = None
    """Seconds that it will take; None: not known."""
    done: bool = False
    """Whether an earlier start of the same sweep finished it."""
    variant: str = ""
    """The name of its variant."""
    number: int = 1
    of: int = 1
    after: float | None = 0.0
    """Seconds that the runs after it take, pauses included; None: not known."""
    at: float | None = None
    """When it starts, Unix seconds; None: at once."""
    page: str | None = None
    """The run whose page is opened in a browser; empty: the page of all runs; None: no page."""


class Prepared(NamedTuple):
    """A command that is ready to be started."""

    command: list[str]
    adds: str
    """The options that were added, and where a log goes: a clause; empty if there are none."""
    length: float | None
    """How long it will take, seconds, if known."""
    display: Callable[[Write], Write] | None
    """What a terminal shows instead of documents; None if stdout is no terminal."""


def planned_length(benchmark: Benchmark) -> float | None:
    """How long it will take, seconds, as its command says; None: not known.

    Raises UserError if the command is no benchmark.
    """
    return _read(benchmark.tool, CommandLine(benchmark.arguments)).length


def _read(name: str, line: CommandLine) -> Command:
    tool = named(name)
    if tool and tool.launcher:
        return tool.launcher(line)
    return Command(remarks=("benchwatch knows no reporting flags for this tool, so it added none",))


def prepare(plan: Plan, files: OwnFiles, host: Host, terminal: Terminal) -> Prepared:
    """Find out what the benchmark will do, and record that. Raises UserError if it cannot be started."""
    record, benchmark = plan.record, plan.benchmark
    record.write(**plan.content)
    record.check()
    version = ask_version(benchmark)
    own = None if benchmark.elsewhere or benchmark.other_user else record.own_folder
    read = _read(benchmark.tool, CommandLine(benchmark.arguments, version, plan.percentiles, own))
    command, room = _expect_files(plan, read, files)
    facts = find_facts(benchmark, command, version, host)
    planned = {} if command.length is None else {"planned_seconds": f"{command.length:g}"}
    warmup = plan.content.get("warmup")
    if warmup is not None and command.length is not None and warmup >= command.length:
        command = command.remark(
            f"the warm-up covers all of its {command.length:g} s, so no results remain: use a shorter --warmup"
        )
    for remark in (*command.remarks, *facts.remarks, *_place_remarks(plan.content, facts, host)):
        terminal.say(remark)
    words = [*benchmark.wrapper, benchmark.program, *command.added, *benchmark.arguments, *command.appended]
    record.write(
        command=recordable(words),
        found={"host": facts.host, "client": facts.client, "disks": dict(facts.disks)},
        parameters={**facts.parameters, **planned, **plan.content.get("parameters", {})},
    )
    display = command.display if os.isatty(STDOUT) else None
    return Prepared(words, _adds(command, room, record), command.length, display)


def _adds(command: Command, room: LogRoom | None, record: RunRecord) -> str:
    """What is added to the command; of a log its size and folder instead of the option with its path."""
    words = [*command.added, *command.appended]
    log = ""
    if room and command.log:
        words = [word for word in words if str(room.prefix) not in word]
        size = f"{command.log.size / 1e6:,.0f} MB" + (" at most" if command.length else "")
        log = f" (log: {size} in {MEMORY if room.prefix.is_relative_to(MEMORY) else record.folder})"
    return f"adds {' '.join(words)}{log}" if words else ""


def _place_remarks(content: Mapping[str, Any], facts: Facts, host: Host) -> list[str]:
    """What is wrong or missing in what is known about the run's host and disks."""
    if not (content["host"] or facts.host):
        return ["the machine that does the work is not known: name it with --host to see its disks and processors"]
    own = content["host"] in (None, facts.host) and facts.host == host.name
    return [f"--disk: {fault}" for fault in (check_disks(content["disks"], host.storage)[1] if own else ())]


def _expect_files(plan: Plan, command: Command, files: OwnFiles) -> tuple[Command, LogRoom | None]:
    """The command with its log, and where that goes; also expects the files that the benchmark will write."""
    benchmark, output, log = plan.benchmark, command.output, command.log
    if benchmark.elsewhere:
        if output:
            command = command.remark(f"nothing will be shown: {benchmark.tool} may write {output} on another machine")
    else:
        for suffix, path in {**({"json": Path(output)} if output else {}), **command.writes}.items():
            files.expect_output(path, suffix)
        if log and log.prefix:
            files.expect_log(Path(log.prefix), log.name, named=log.named)
    if not log or log.prefix or not plan.percentiles:
        return command, None
    if benchmark.elsewhere or benchmark.other_user:
        wrapper = benchmark.wrapper[0]
        return command.remark(
            f"no percentiles: {wrapper} may keep {benchmark.tool} from writing a {log.name} here"
        ), None
    room = files.offer(log)
    return command._replace(added=(*command.added, *log.flags(room))), room
