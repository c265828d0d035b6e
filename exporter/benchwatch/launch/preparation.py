"""The preparation of a benchmark: its reporting flags, the files that it will write, facts about its run.

Facts are parameters that its output does not contain: versions, server settings, the machine, the disks. One keeps its
plain name only if it describes the machine that does the measured work. Facts about this machine begin with `client.`
unless it is known to do that work: the server may be another machine. They are left out if the benchmark itself may run
elsewhere (through ssh, in a container).

`--before COMMAND` is run by the shell before each run, with the variant's name in BENCHWATCH_VARIANT; what it printed
is in the run's record.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from ..machine import question
from ..machine.disks import check as check_disks
from ..machine.host import Host
from ..tools.invocation import Benchmark, recordable
from ..tools.launcher import Command, CommandLine, Facts, Write
from ..tools.registry import named
from ..values.errors import FAILED, UserError
from ..values.printable import printable
from .benchmark_files import MEMORY, OwnFiles
from .setups import Setup
from .sinks import STDOUT, Terminal
from .worker_record import RunRecord

_KEPT = 10_000
"""Characters of the output of --before that are recorded."""
_PATIENCE = 3.0
"""Seconds to wait for the tool's version; ssh alone can take one second."""
_VERSION = re.compile(r"(?<![\d:.])\d+(?:\.\d+)+\S*|\d+(?:beta|rc|devel)\S*")


class Plan(NamedTuple):
    """One run of a benchmark, as the options ask for it, and its place in a series."""

    record: RunRecord
    setup: Setup
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
    display: Callable[[Write], Write] | None
    """What a terminal shows instead of documents; None if stdout is no terminal."""


def planned_length(benchmark: Benchmark) -> float | None:
    """How long it will take, seconds, as its command says; None: not known.

    Raises UserError if the command is no benchmark.
    """
    return _read(benchmark, CommandLine(benchmark.arguments)).length


def _read(benchmark: Benchmark, line: CommandLine) -> Command:
    tool = named(benchmark.tool)
    if tool and tool.launcher:
        return tool.launcher(line)
    return Command(remarks=("benchwatch knows no reporting flags for this tool, so it added none",))


def run_before(command: str, variant: str) -> dict[str, str]:
    """What `--before` is and printed. Raises UserError if it fails."""
    environment = {**os.environ, "BENCHWATCH_VARIANT": variant}
    with TemporaryFile() as file:  # a pipe would be open until a server ends that the command started
        done = subprocess.run(
            command, shell=True, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
        file.seek(0)
        output = file.read().decode("utf-8", "replace")
    if done.returncode:
        last = (output.strip().splitlines() or ["it printed nothing"])[-1]
        failed = f"--before failed for {variant} with exit code {done.returncode}"
        raise UserError(f"{failed}: {printable(last)}; the series ends", FAILED)
    return {"command": command, "output": output[:_KEPT]}


def prepare(plan: Plan, files: OwnFiles, host: Host, terminal: Terminal) -> Prepared:
    """Find out what the benchmark will do, and record that. Raises UserError if it cannot be started."""
    record, benchmark, content = plan.record, plan.setup.benchmark, plan.content
    record.write(**content)
    record.check()
    version = ask_version(benchmark)
    own = None
    if not (benchmark.elsewhere or benchmark.other_user):  # hidden, so that nobody takes it for a run
        own = record.folder.absolute() / f".{record.worker}"
    command = _read(benchmark, CommandLine(benchmark.arguments, version, plan.percentiles, own))
    remarks = [*command.remarks, *_expect_files(benchmark, command, files)]
    added, shown = command.added, [*command.added, *command.appended]
    log, note = command.log, ""
    if log and not log.prefix and plan.percentiles:
        if benchmark.elsewhere or benchmark.other_user:
            wrapper = benchmark.wrapper[0]
            remarks.append(f"no percentiles: {wrapper} may keep {benchmark.tool} from writing a {log.name} here")
        else:
            room = files.offer(log)
            added += log.flags(room)
            shown = [word for word in (*added, *command.appended) if str(room.prefix) not in word]
            size = ("up to about " if command.length else "") + f"{log.size / 1e6:,.0f} MB"
            note = f" (log: {size} in {MEMORY if room.prefix.is_relative_to(MEMORY) else record.folder})"
    planned = {}
    if command.length is not None:
        planned = {"planned_seconds": f"{command.length:g}"}
        if content["warmup"] is not None and content["warmup"] >= command.length:
            remarks.append(
                f"the warm-up covers all of its {command.length:g} s, so no results remain: use a shorter --warmup"
            )
    facts = find_facts(benchmark, command, version, host)
    terminal.say(*remarks, *facts.remarks, *_place_remarks(content, facts, host))
    words = [*benchmark.wrapper, benchmark.program, *added, *benchmark.arguments, *command.appended]
    record.write(
        command=recordable(words),
        found={"host": facts.host, "client": facts.client, "disks": dict(facts.disks)},
        parameters={**facts.parameters, **planned, **content["parameters"]},
    )
    display = command.display if os.isatty(STDOUT) else None
    return Prepared(words, f"adds {' '.join(shown)}{note}" if shown else "", display)


def _expect_files(benchmark: Benchmark, command: Command, files: OwnFiles) -> Iterator[str]:
    """Expect the files that the command makes the benchmark write; yields what the user should know."""
    if benchmark.elsewhere:
        if command.output:
            yield f"nothing will be shown: {benchmark.tool} may write {command.output} on another machine"
        return
    outputs = {"json": Path(command.output)} if command.output else {}
    for suffix, path in {**outputs, **command.writes}.items():
        files.expect_output(path, suffix)
    if command.log and command.log.prefix:
        files.expect_log(Path(command.log.prefix), command.log.name, named=command.log.named)


def _place_remarks(content: Mapping[str, Any], facts: Facts, host: Host) -> list[str]:
    """What is wrong or missing in what is known about the run's host and disks."""
    if not (content["host"] or facts.host):
        return ["the machine that does the work is not known: name it with --host to see its disks and processors"]
    own = content["host"] in (None, facts.host) and facts.host == host.name
    return [f"--disk: {fault}" for fault in (check_disks(content["disks"], host.storage)[1] if own else ())]


def ask_version(benchmark: Benchmark) -> str:
    """What the tool says of its version; empty without an answer. Raises UserError if the command cannot be started."""
    tool = named(benchmark.tool)
    if benchmark.makes_container or not (tool and tool.version_option):
        return ""
    command = [*benchmark.wrapper, benchmark.program, tool.version_option]
    try:
        return question.ask(command, _PATIENCE).out.strip()
    except OSError as error:
        raise UserError(f"{command[0]} cannot be started: {error.strerror}") from error


def find_facts(benchmark: Benchmark, command: Command, version: str, host: Host) -> Facts:
    """All facts about a benchmark that is about to start, as parameters."""
    number = _VERSION.search(version)
    found = command.facts(benchmark, host)
    machine = {} if benchmark.elsewhere else host.facts()
    if not found.here:
        machine = {f"client.{name}": value for name, value in machine.items()}
    own = {f"{benchmark.tool}_version": number[0]} if number else {}
    here = host.name if found.here and not benchmark.elsewhere else ""
    parameters = {**own, **found.parameters, **machine, **found.storage}
    return found._replace(parameters=parameters, host=found.host or here)
