"""What `benchwatch run` needs from a tool: the meaning of its command line."""

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


class LogRoom(NamedTuple):
    """A place for a log that the command does not request."""

    prefix: Path
    room: float
    """Bytes that it may occupy."""


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
    flags: Callable[[LogRoom], tuple[str, ...]] = lambda _: ()
    """What asks for it at a place."""


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


class CommandLine(NamedTuple):
    """The command line of a benchmark, and what the user wants of it."""

    arguments: Sequence[str]
    version: str = ""
    """The tool's answer to --version; empty if unknown."""
    percentiles: bool = True
    """Whether the user wants the latency of every operation."""
    own: Path | None = None
    """A folder in the run's folder that the tool may make and fill; None if it cannot write here."""


class Command(NamedTuple):
    """What a command line asks for, and what to add to it."""

    length: float | None = None
    """How long the benchmark will measure, seconds; None if unknown."""
    output: str = ""
    """The file to which the tool writes its output instead of stdout; empty if there is none."""
    log: ExtraLog | None = None
    """The log of every operation, if it is asked for or can be."""
    added: tuple[str, ...] = ()
    """Missing reporting flags. They precede all other arguments, which therefore override them."""
    appended: tuple[str, ...] = ()
    """Missing reporting flags that must follow all other arguments."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user about what views will lack."""
    display: Callable[[Write], Write] | None = None
    """Wraps a function that writes to the terminal, if the added flags turn stdout into documents, so that these, which
    only the exporter reads, do not appear there."""
    writes: Mapping[str, Path] = {}
    """Files that the tool will write, by their suffix in the run's folder: `histogram` becomes `<worker>.histogram`."""
    facts: Callable[[Benchmark, Host], Facts] = lambda *_: Facts()
    """What the server reports about itself, and the storage of its files; takes a few seconds at most."""

    def remark(self, *sentences: str) -> "Command":
        """The same with more sentences."""
        return self._replace(remarks=(*self.remarks, *sentences))


Launcher = Callable[[CommandLine], Command]
"""Reads a tool's command line.

Arguments that the tool will reject are not an error here: its own message is better. Raises UserError if they do not
start a benchmark (--help, preparation of tables ...).
"""
NOT_UNDERSTOOD = Command(remarks=("cannot parse the options, so no reporting flags were added",))


def server_host(address: str, benchmark: Benchmark, host: Host) -> str:
    """The machine at an address or socket: this machine's name if the address is its own, otherwise the address.

    Empty if it is the benchmark's own machine, and that is unknown.
    """
    if _OWN.match(address):
        return benchmark.machine(host)
    return host.name if host.owns(address) else address
