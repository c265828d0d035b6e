"""The parameters of a run that its output does not contain: versions, server settings, the machine, the disks.

A fact keeps its plain name only if it describes the machine that does the measured work. Facts about this machine begin
with `client.` unless it is known to do that work: the server may be another machine. They are left out if the benchmark
itself may run elsewhere (through ssh, in a container).
"""

import re

from ..machine import question
from ..machine.host import Host
from ..tools.invocation import Benchmark
from ..tools.launcher import Command, Facts
from ..tools.registry import named
from ..values.errors import UserError

_PATIENCE = 3.0
"""Seconds to wait for the tool's version; ssh alone can take one second."""
_VERSION = re.compile(r"(?<![\d:.])\d+(?:\.\d+)+\S*|\d+(?:beta|rc|devel)\S*")


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
    parameters = {
        **({f"{benchmark.tool}_version": number[0]} if number else {}),
        **found.parameters,
        **machine,
        **found.storage,
    }
    own = host.name if found.here and not benchmark.elsewhere else ""
    return found._replace(parameters=parameters, host=found.host or own)
