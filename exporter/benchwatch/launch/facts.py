"""The parameters of a run that its output does not tell: versions, the server's settings, the machine, the disks.

A fact is recorded under its plain name only if it is of the machine that does the work measured. The benchmark may run
elsewhere than its server: where the server is not known to be on this machine, this machine's facts begin with
`client.`. Of a benchmark that may run elsewhere (through ssh, in a container) this machine's facts say nothing.
"""

import re

from ..machine import question
from ..machine.host import Host
from ..tools.invocation import Benchmark
from ..tools.launcher import Command, Facts
from ..values.errors import UserError

_PATIENCE = 3.0
"""Seconds for the tool's version. ssh alone may take one."""
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*|\d+(?:beta|rc|devel)\S*")


def ask_version(benchmark: Benchmark) -> str:
    """What the tool answers to --version; empty if it does not.

    Raises UserError if its command cannot be started: that is to be known before anybody is told of the run.
    """
    if benchmark.makes_container:
        return ""
    command = [*benchmark.wrapper, benchmark.program, "--version"]
    try:
        return question.ask(command, _PATIENCE).out.strip()
    except OSError as error:
        raise UserError(f"{command[0]} cannot be started: {error.strerror}") from error


def find_facts(benchmark: Benchmark, command: Command, version: str, host: Host) -> Facts:
    """All facts of a benchmark that is about to start, as parameters."""
    number = _VERSION.search(version)
    found = command.facts(benchmark, host)
    machine = {} if benchmark.elsewhere else host.facts()
    if not found.here:
        machine = {f"client.{name}": value for name, value in machine.items()}
    parameters = {
        **({f"{benchmark.tool}_version": number[0]} if number else {}),
        **found.parameters,
        **machine,
        **found.storage,
    }
    return Facts(parameters, here=found.here, remarks=found.remarks)
