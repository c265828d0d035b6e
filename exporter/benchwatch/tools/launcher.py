"""What `benchwatch run` needs from a tool: the meaning of its command line.

A tool's launcher is a function (or a class) that reads the arguments. The command that it returns answers everything
else; a method that its class does not override says that the tool lacks the ability.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..machine.host import Host
from .invocation import Benchmark

_OWN = re.compile(r"$|/|@|localhost$|127\.|::1$")
"""A socket, or an address on loopback."""
Write = Callable[[memoryview], int]
"""Writes bytes and returns how many it wrote."""


class ExtraLog(NamedTuple):
    """A log that the tool writes beside its output, to files named `<prefix>.<pid>[.<thread>]`."""

    name: str
    """For people: transaction log."""
    prefix: str
    """Its place according to the command; empty if the command does not ask for it."""
    size: float
    """Its expected size, bytes."""
    named: bool = False
    """Whether the command names the place; otherwise, it is the tool's default."""


class LogRoom(NamedTuple):
    """A place for a log that the command does not request."""

    prefix: Path
    room: float
    """Bytes that it may occupy."""


Display = Callable[[Write], Write]
"""Wraps a function that writes to the terminal, so that documents on stdout, which only the exporter reads, do not
appear there."""


class Preparation(NamedTuple):
    """What to add to a command, and the consequences."""

    added: tuple[str, ...] = ()
    """Missing reporting flags. They precede all other arguments, which therefore override them."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user about what views will lack."""
    uses_log: bool = False
    """Whether the log goes to the offered place."""
    display: Display | None = None
    """What a terminal shows if the added flags turn stdout into documents; None if stdout stays readable."""
    appended: tuple[str, ...] = ()
    """Missing reporting flags that must follow all other arguments."""
    writes: Mapping[str, Path] = {}
    """Files that the tool will write, by their suffix in the run's folder: `histogram` becomes `<worker>.histogram`."""

    def remark(self, sentence: str) -> "Preparation":
        """The same with one more sentence."""
        return self._replace(remarks=(*self.remarks, sentence))


class Facts(NamedTuple):
    """Facts collected before the start and recorded as parameters, by name."""

    parameters: Mapping[str, str] = {}
    """What the tool's server reports about itself."""
    storage: Mapping[str, str] = {}
    """File systems and devices of the measured files."""
    disks: Mapping[str, str] = {}
    """Roles of the disks of the measured files, by node_exporter's name of the disk."""
    host: str = ""
    """The machine that does the measured work; empty: this machine if `here`, otherwise unknown."""
    client: str = ""
    """The machine of the benchmark itself, if it is the client of a server; empty: unknown."""
    here: bool = False
    """Whether this machine does the measured work. If not, or if unknown, its own facts begin with `client.`."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user about facts that could not be determined."""


class Command:
    """The parsed arguments of a tool."""

    @property
    def length(self) -> float | None:
        """How long the benchmark will measure, seconds; None if unknown."""
        return None

    @property
    def output(self) -> str:
        """The file to which the tool writes its output instead of stdout; empty if there is none."""
        return ""

    @property
    def log(self) -> ExtraLog | None:
        """The log of every operation, if the tool can write one."""
        return None

    def prepare(self, percentiles: bool, room: LogRoom | None, own: Path | None = None) -> Preparation:
        """What to add to the command.

        `percentiles`: whether the user wants the latency of every operation. `room`: a place for a log; None if the
        user wants none, the command has its own, or the tool cannot write here. `own`: a folder in the run's folder
        that the tool may make and fill; None if it cannot write here.
        """
        return Preparation()

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What the server reports about itself, and the storage of its files; takes a few seconds at most."""
        return Facts()


class NotUnderstood(Command):
    """A command that cannot be parsed, so that nothing is added to it."""

    def prepare(self, percentiles: bool, room: LogRoom | None, own: Path | None = None) -> Preparation:
        """See Command."""
        return not_understood()


Launcher = Callable[[Sequence[str], str], Command]
"""Reads a tool's arguments, and the tool's answer to --version, which is empty if unknown.

Arguments that the tool will reject are not an error here: its own message is better. Raises UserError if they do not
start a benchmark (--help, preparation of tables ...).
"""


def server_host(address: str, benchmark: Benchmark, host: Host) -> str:
    """The machine at an address or socket: this machine's name if the address is its own, otherwise the address.

    Empty if it is the benchmark's own machine, and that is unknown.
    """
    if _OWN.match(address):
        return "" if benchmark.elsewhere else host.name
    return host.name if host.owns(address) else address


def not_understood() -> Preparation:
    """Nothing is added to a command that cannot be parsed."""
    return Preparation(remarks=("cannot parse the options, so no reporting flags were added",))
