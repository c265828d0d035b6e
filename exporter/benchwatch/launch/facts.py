"""The parameters of a run that its output does not tell: versions, the server's settings, the machine, the disks.

A fact is recorded under its plain name only if it is of the machine that does the work measured. pgbench may run
elsewhere than its server: where the server is not known to be on this machine, this machine's facts begin with
`client.`. Of a benchmark that may run elsewhere (through ssh, in a container) this machine's facts say nothing.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from ..machine import question
from ..machine.host import Host
from ..tools import postgres
from ..tools.invocation import Benchmark
from ..values.errors import ConfigError
from . import fio, pgbench

_PATIENCE = 3.0
"""Seconds for each of two questions: the tool's version, the server. ssh alone may take one."""
_SERVER = "postgres"
_TO_START = {False: 5.0, True: 60.0}
"""Seconds that a server may need to set up its memory (huge pages take long) before the start that it tells.

Where its address does not speak for this machine (it may be in a container), more would be taken for another's.
"""
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*|\d+(?:beta|rc|devel)\S*")


class Facts(NamedTuple):
    """Parameters by name, and sentences about what could not be found out."""

    parameters: dict[str, str]
    remarks: tuple[str, ...] = ()


def ask_version(benchmark: Benchmark) -> str:
    """What the tool answers to --version; empty if it does not.

    Raises ConfigError if its command cannot be started: that is to be known before anybody is told of the run.
    """
    if benchmark.makes_container:
        return ""
    command = [*benchmark.wrapper, benchmark.program, "--version"]
    try:
        return question.ask(command, _PATIENCE).out.strip()
    except OSError as error:
        raise ConfigError(f"{command[0]} cannot be started: {error.strerror}") from error


def find_facts(
    benchmark: Benchmark, command: pgbench.PgbenchCommand | fio.FioCommand | None, version: str, host: Host
) -> Facts:
    """All facts of a benchmark that is about to start."""
    number = _VERSION.search(version)
    parameters = {f"{benchmark.tool}_version": number[0]} if number else {}
    machine = {} if benchmark.elsewhere else host.facts()
    if isinstance(command, fio.FioCommand):
        if command.on_servers:
            return Facts(parameters | _of_client(machine))
        target = {} if benchmark.elsewhere else host.storage.facts(command.target, "target")
        return Facts(parameters | machine | target)
    try:
        said = postgres.ask(benchmark, command.connection if command else [], _PATIENCE)
    except postgres.Silent as silent:
        reason = f"the server's settings are not recorded: {silent}"
        return Facts(parameters | _of_client(machine), (reason,))
    parameters |= said.facts
    process = None
    if machine and said.start is not None:
        process = host.process_started_at(_SERVER, said.start, _TO_START[said.together])
    if process is None:
        return Facts(parameters | _of_client(machine))
    return Facts(parameters | machine | _of_disks(process, said.facts.get("data_directory", ""), host))


def _of_disks(process: int, told: str, host: Host) -> dict[str, str]:
    """What the server's files lie on, if their folder is known, and is found here under its name."""
    folder = host.working_folder(process) or (Path(told) if told else None)
    if folder is None or not host.has_our_root(process):
        return {}
    disks = host.storage.facts(folder, "data")
    if os.access(folder, os.X_OK):  # else its links cannot be followed
        disks |= host.storage.facts(folder / "pg_wal", "wal")
    return disks


def _of_client(machine: dict[str, str]) -> dict[str, str]:
    return {f"client.{name}": value for name, value in machine.items()}
