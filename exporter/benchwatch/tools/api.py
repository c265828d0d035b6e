"""Benchmark tools: the interface that each of them implements.

A tool is a package here with its parsers and its state, and one line in `benchwatch.tools.registry`. Parsers turn the
bytes of one stream (a file, a pipe) into records and do no I/O; a state turns the records of one process, from all its
streams, into samples. Both depend on their input alone: the same bytes give the same records whatever the chunk
borders, and the same records give the same samples whether read while they were written or long after.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, NamedTuple, Protocol

from ..metrics.buckets import Buckets
from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family
from ..values.durations import Duration
from .launcher import Launcher
from .roles import Roles
from .states import State


class Begin(NamedTuple):
    """Another run of the tool begins in this stream; not emitted for the first run."""


class Misread(NamedTuple):
    """Input that cannot be parsed: `reason` is a short constant (a label value), `text` an excerpt for the log."""

    reason: str
    where: str
    text: str


class Moment(NamedTuple):
    """How far a stream had been written at some time, according to its content."""

    offset: int
    """Bytes."""
    time: float
    """Unix seconds; if `elapsed`, seconds since the start of the run."""
    elapsed: bool = False
    final: bool = False
    """Whether it follows all other reports although its rounded time may be earlier."""


class Parser(Protocol):
    """Reads one stream."""

    @property
    def records(self) -> int:
        """Number of records parsed: lines, documents, log entries."""

    @property
    def undated(self) -> bool:
        """Whether the end of the stream does not say how long the benchmark has been running."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """The records that end in these bytes."""

    def settle(self) -> Sequence[Any]:
        """The records of a last line that lacks only its newline; none if it may be incomplete.

        If there are any, the next bytes must begin with a newline.
        """

    def close(self) -> Sequence[Any]:
        """The records that end with the stream: a line without its newline, a cut-off document as Misread."""


Content = Callable[[int, int], bytes]
"""Returns the bytes of a stream from one offset to another."""


class Bins(Protocol):
    """Collects all latencies of a stream by time and bin while its parser reads it from the start."""

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """Apply the next records, which end in the bytes between these offsets: whole lines of a log."""

    def found(self) -> Mapping[Group, Latencies]:
        """The result, by group."""


LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
ReadLine = tuple[int, Sequence[Any]]
"""The offset at which a line ends, bytes, and the records that end in it."""


def read_lines(parser: Parser, data: bytes | mmap) -> Iterator[ReadLine]:
    """The records of a stream, by line."""
    for line in LINE.finditer(data):
        yield line.end(), parser.feed(line[0])
    yield len(data), parser.settle()


def dated(lines: Iterable[ReadLine]) -> Iterator[Moment]:
    """When lines were written whose records have a `time`: seconds since the start of the run or, if its `epoch` is
    true, Unix seconds. At the end of the stream is the whole run if a record says how long it `lasted`.

    Of several runs in one stream without Unix times, only the last is dated.
    """
    moments: list[Moment] = []
    lasted: float | None = None
    end = 0
    for end, records in lines:
        last: Any = None
        for record in records:
            if isinstance(record, Begin):
                moments, lasted = [moment for moment in moments if not moment.elapsed], None
            if getattr(record, "time", None):
                last = record
            lasted = getattr(record, "lasted", lasted)
        if last is not None:
            moments.append(Moment(end, last.time, elapsed=not getattr(last, "epoch", False)))
    yield from moments
    if lasted is not None:
        yield Moment(end, lasted, elapsed=True, final=True)


@dataclass(frozen=True)
class Kind:
    """One kind of a tool's output."""

    parser: Callable[[], Parser]
    moments: Callable[[bytes | mmap], Iterator[Moment]] | None = None
    """When the parts of a whole stream were written: one moment per report, at its end.

    Offsets grow; bytes after the last one have no time of their own. This finds them without parsing every byte; if it
    is None, they are found among the parsed records (see `dated`).
    """
    piecewise: bool = False
    """Whether the rest of a stream after any moment has the same moments as it has in the whole stream."""
    is_log: bool = False
    """Whether it is in files named `<prefix>.<pid>[.<thread>]`, one per thread, which all belong to one process."""
    file: str = ""
    """The name (a glob pattern) that the tool itself gives to such a file in a folder of its own; empty: the user names
    it. All files with such names in a folder are those of one process."""
    rank: int = 0
    """Streams of a process with a rank repeat each other: only that of the lowest rank is read; 0: says something else.
    """
    bins: Callable[[Content], Bins] | None = None
    """Collects its latencies for compare and report; None if it does not contain every latency."""


@dataclass(frozen=True, eq=False)
class Tool:
    """One benchmark tool: everything that the rest of the package knows about it."""

    name: str
    families: Sequence[Family]
    roles: Sequence[Roles]
    """The role of each family; if there are several Roles, see `roles.roles_of`."""
    kinds: Mapping[str, Kind]
    recognise: Callable[[bytes], str]
    """The kind of a stream, from its first bytes; empty if not (yet) recognised."""
    state: Callable[[Buckets], State]
    """Makes an empty state, with these buckets for its histograms."""
    program: str = ""
    """Name of its program, if it is not that of the tool."""
    log_prefix: str = ""
    """The default prefix of its log files; empty if it has none."""
    time_limit: re.Pattern[str] | None = None
    """Finds the planned duration in its command, in the first group."""
    rate_limit: re.Pattern[str] | None = None
    """Finds in its command that it sets the rate, where the output does not always say so (see Roles.fixed_rate)."""
    warnings: Mapping[str, str] = field(default_factory=dict)
    """The meaning of each value of the label `warning`, one clause each."""
    advice: str = ""
    """The options that make it report while it runs, with their verb: `-P 1 and -l give`."""
    example: str = ""
    """A command that reports: `pgbench -P 1 -T 600 mydb`."""
    version_option: str = "--version"
    """Makes its program print its version and do nothing else; empty: it has none."""
    has_server: bool = False
    """Whether it is the client of a server, which may be on another machine."""
    launcher: Launcher | None = None
    """What `benchwatch run` knows of its command line; None: no flags are added."""

    def planned(self, parameters: Mapping[str, str], *, alone: bool = True) -> float | None:
        """How long a run with these parameters should take, seconds: from the run's record, or else from its command.

        If it is not `alone`, one of several jobs, which may wait for each other, only the record is reliable.
        """
        text = parameters.get("planned_seconds", "")
        if not text and alone:
            found = self.time_limit.search(parameters.get("command", "")) if self.time_limit else None
            text = parameters.get("runtime", "") or (found[1] if found else "")
        try:
            return Duration.read(float(text) if text.isdecimal() else text) or None
        except ValueError:
            return None

    def sets_rate(self, parameters: Mapping[str, str]) -> bool:
        """Whether the command among these parameters sets the rate, as far as `rate_limit` knows."""
        return self.rate_limit is not None and self.rate_limit.search(parameters.get("command", "")) is not None

    def parser(self, kind: str) -> Parser:
        """A new parser for a stream of that kind."""
        return self.kinds[kind].parser()

    def moments(self, kind: str, data: bytes | mmap, lines: Iterable[ReadLine] | None = None) -> Iterator[Moment]:
        """When the parts of a whole stream of that kind were written; `lines` are its records, if already parsed."""
        known = self.kinds[kind]
        if known.moments:
            return known.moments(data)
        return dated(read_lines(known.parser(), data) if lines is None else lines)
