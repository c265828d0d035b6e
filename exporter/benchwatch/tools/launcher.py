"""What `benchwatch run` needs from a tool: to parse its command line, and to say what that means.

A tool's launcher is anything with a function `read`: the module `tools/<name>/command.py`. The command that
it returns answers everything else; what a subclass of `Command` leaves out, the tool lacks.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ..machine.host import Host
from .invocation import Benchmark

_OWN = re.compile(r"$|/|@|localhost$|127\.|::1$")
"""A socket, or an address on loopback."""
Write = Callable[[memoryview], int]
"""Writes some bytes and returns how many."""


class ExtraLog(NamedTuple):
    """A log that the tool writes beside its output, to files named `<prefix>.<pid>[.<thread>]`."""

    name: str
    """For people: transaction log."""
    prefix: str
    """Where the command sends it; empty if the command does not ask for it."""
    size: float
    """How large it can become, bytes."""


class LogRoom(NamedTuple):
    """Where a log may go that the command did not request."""

    prefix: Path
    room: float
    """Bytes that it may take there."""


Display = Callable[[Write], Write]
"""What a terminal shows of documents on stdout that only the exporter reads: wraps a function that writes to the
terminal, so that the documents do not reach it."""


class Preparation(NamedTuple):
    """What is added to a command, and the consequences."""

    added: tuple[str, ...] = ()
    """Missing reporting flags. They precede all other arguments, so that whatever is given there overrides them."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user about what will not be seen."""
    uses_log: bool = False
    """Whether the log is written to the room that was offered."""
    display: Display | None = None
    """What a terminal shows if the added flags turn stdout into documents; None if stdout is for people."""

    def remark(self, sentence: str) -> "Preparation":
        """The same with another sentence."""
        return self._replace(remarks=(*self.remarks, sentence))


class Facts(NamedTuple):
    """Facts collected before the start and recorded as parameters, by name."""

    parameters: Mapping[str, str] = {}
    """What the tool's server reports about itself."""
    storage: Mapping[str, str] = {}
    """What the measured files lie on."""
    disks: Mapping[str, str] = {}
    """Roles of the disks that the measured files lie on, by the name that node_exporter has for them."""
    host: str = ""
    """The machine that does the measured work; empty: this one if `here`, else not known."""
    client: str = ""
    """The machine of the benchmark itself, if it works on a server; empty: not known."""
    here: bool = False
    """Whether this machine does the measured work. If not, or not known, its own facts begin with `client.`."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user about what could not be found out."""


class Command:
    """The parsed arguments of a tool."""

    @property
    def length(self) -> float | None:
        """How long the benchmark will measure, seconds; None if that is not known."""
        return None

    @property
    def output(self) -> str:
        """The file that the tool writes its output to instead of stdout; empty without."""
        return ""

    @property
    def log(self) -> ExtraLog | None:
        """The log of each operation that the tool can write; None if it has none."""
        return None

    def prepare(self, percentiles: bool, room: LogRoom | None) -> Preparation:
        """What to add to the command.

        `percentiles`: whether each operation's latency is wanted. `room`: where a log may go; None if none is wanted,
        the command has its own, or the tool could not write here.
        """
        return Preparation()

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What the server reports about itself, and the storage of its files; takes seconds at most."""
        return Facts()


class NotUnderstood(Command):
    """A command that cannot be parsed, so that nothing is added to it."""

    def prepare(self, percentiles: bool, room: LogRoom | None) -> Preparation:
        """See Command."""
        return not_understood()


class Launcher(Protocol):
    """Reads a tool's command line."""

    def read(self, arguments: Sequence[str], version: str) -> Command:
        """What the arguments say; `version` is the answer to --version, empty if not known.

        Arguments that the tool will reject are no error here: its own message is better. Raises UserError if
        they do not ask for a benchmark (--help, preparation of tables ...).
        """


def server_host(address: str, benchmark: Benchmark, host: Host) -> str:
    """The name of the machine that a benchmark finds at an address or socket: as given, unless it is this machine's.

    Empty where it is the benchmark's own, which is not known.
    """
    if _OWN.match(address):
        return "" if benchmark.elsewhere else host.name
    return host.name if host.owns(address) else address


def not_understood() -> Preparation:
    """Nothing is added to a command that cannot be parsed."""
    return Preparation(remarks=("cannot parse the options, so no reporting flags were added",))
