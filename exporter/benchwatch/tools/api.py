"""Benchmark tools: the interface that each of them implements.

A tool is a package here with its parsers and its state, and one line in `benchwatch.tools.registry`. Parsers turn the
bytes of one stream (a file, a pipe) into records and do no I/O; a state turns the records of one process, from all its
streams, into samples. Both depend on their input alone: the same bytes give the same records whatever the chunk
borders, and the same records give the same samples whether read while they were written or long after.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, Literal, NamedTuple, Protocol

from ..metrics.buckets import Buckets
from ..metrics.latencies import Group, Latencies
from ..metrics.limits import DEFAULT, Limits
from ..metrics.samples import Family, Sample
from ..values.durations import Duration
from .launcher import Launcher
from .roles import Roles

Outcome = Literal["", "finished", "failed", "interrupted"]

HISTORY = 300
"""Reports of a run that its state keeps for the small chart on the landing page."""


class Begin(NamedTuple):
    """Another run of the tool begins in this stream; not emitted for the first run."""


class Misread(NamedTuple):
    """Something that cannot be parsed: `reason` is a short constant (a label value), `text` an excerpt for the log."""

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
    """Whether it follows all other reports, although its time, which is rounded, may be earlier."""


class Written(NamedTuple):
    """When the part of a stream that was read was written, according to the file system and the run's record."""

    last: float
    """When it was last written to, Unix seconds."""
    begun: float | None = None
    """When the benchmark's output began, Unix seconds; None if not known."""
    recorded: bool = False
    """Whether that time comes from the record, not from the creation of the file."""
    undated: bool = False
    """Whether something follows the last record that says how long the benchmark has been running."""


class Report(NamedTuple):
    """One report of a tool: when (Unix seconds), operations per second, mean latency in seconds.

    The latency is None if nothing completed.
    """

    time: float
    throughput: float
    latency: float | None


class Figures(NamedTuple):
    """The main figures: from the last report while the benchmark runs, for the whole run once it has ended.

    None: not measured.
    """

    throughput: float | None
    """Operations per second."""
    latency: float | None
    """Mean latency, seconds."""
    p99: float | None
    """99th percentile of the latency, seconds."""
    operations: int | None
    """Operations completed since the start."""


class Times(NamedTuple):
    """When the intervals of the Figures ended, Unix seconds. None: not known, or the whole run."""

    report: float | None = None
    """That of throughput and mean latency."""
    p99: float | None = None
    """That of the percentile, if it has its own."""


class Parser(Protocol):
    """Reads one stream."""

    @property
    def records(self) -> int:
        """Number of records parsed: lines, documents, log entries."""

    @property
    def undated(self) -> bool:
        """Whether the stream ends with something that does not say how long the benchmark has been running."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """The records that these bytes complete."""

    def settle(self) -> Sequence[Any]:
        """The records of a last line that lacks only its newline; none if it may be incomplete.

        If there are any, the next bytes fed must begin with a newline.
        """

    def close(self) -> Sequence[Any]:
        """The records that the end of the stream completes: a line without its end, a cut-off document as Misread."""


class State(Protocol):
    """What all streams of one process of a benchmark show.

    Times are Unix seconds. A new State is made for each run of the tool.
    """

    @property
    def version(self) -> int:
        """Grows whenever a sample may have changed."""

    @property
    def tool_version(self) -> str:
        """As the tool prints it; empty while unknown."""

    @property
    def start(self) -> float | None:
        """When the benchmark began."""

    @property
    def end(self) -> float | None:
        """When it ended; None while it runs."""

    @property
    def last_report(self) -> float | None:
        """When the tool last reported: by its own clock if it prints one, else when the bytes arrived."""

    @property
    def report_interval(self) -> float | None:
        """The tool's own reporting interval, seconds."""

    @property
    def outcome(self) -> Outcome:
        """Whether a final summary or document (finished), an error that ended the run (failed), or what the tool says
        when it is told to stop (interrupted) was seen."""

    @property
    def reason(self) -> str:
        """Why it failed or was interrupted, one clause; else empty."""

    @property
    def idle_reports(self) -> int:
        """Number of latest consecutive reports that cover a whole interval in which nothing completed."""

    @property
    def history(self) -> deque[Report]:
        """The last reports, at most HISTORY."""

    @property
    def reporting(self) -> Collection[str]:
        """The streams that have reports: a process prints them to one."""

    @property
    def left_behind(self) -> Collection[str]:
        """Logs that an earlier run left in its folder, which are ignored."""

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """Apply one record (neither Begin nor Misread) of a stream, whose bytes arrived at that time."""

    def written(self, stream: str, times: Written) -> None:
        """Note that all records written by that time have been applied."""

    def tick(self, now: float) -> None:
        """Let time pass: close windows that have waited long enough."""

    def reached(self, time: float) -> None:
        """Close the windows that end by then: all streams have been read that far, as only a replay can know."""

    def over(self) -> None:
        """Nothing more will come, which otherwise only a silence shows; for readers of a complete file."""

    def parameters(self) -> Mapping[str, str]:
        """The tool's own settings: clients=10, bs=8k ..."""

    def figures(self) -> Figures:
        """The few figures of the landing page."""

    def times(self) -> Times:
        """The times of these figures."""

    def samples(self, current: bool) -> Iterator[Sample]:
        """The tool's metrics; with `current` false (ended or stalled) without the gauges of the last interval."""


Content = Callable[[int, int], bytes]
"""Gives what is in a stream from one offset to another, bytes."""


class Bins(Protocol):
    """Gathers all latencies of a stream by time and bin, as its parser reads it from the start."""

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """Apply the next records, completed by the bytes between these offsets: whole lines of a log."""

    def found(self) -> Mapping[Group, Latencies]:
        """The result, by group."""


LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
ReadLine = tuple[int, Sequence[Any]]
"""Where a line of a stream ends, bytes, and the records that it completes."""


def read_lines(parser: Parser, data: bytes | mmap) -> Iterator[ReadLine]:
    """What the lines of a stream say to a new parser."""
    for line in LINE.finditer(data):
        yield line.end(), parser.feed(line[0])
    yield len(data), parser.settle()


def dated(lines: Iterable[ReadLine]) -> Iterator[Moment]:
    """When lines were written whose records have a `time`, seconds since the start of the run.

    A record may have `begun` as well, the time of that start, Unix seconds. Of several runs in one stream that do not
    say when they began, only the last is dated.
    """
    begun: float | None = None
    moments: list[Moment] = []
    for end, records in lines:
        time: float | None = None
        for record in records:
            if isinstance(record, Begin):
                begun, moments = None, [moment for moment in moments if not moment.elapsed]
            begun = begun or getattr(record, "begun", None)
            time = getattr(record, "time", None) or time
        if time is not None:
            moments.append(Moment(end, time + (begun or 0.0), elapsed=begun is None))
    yield from moments


@dataclass(frozen=True)
class Kind:
    """One kind of a tool's output."""

    parser: Callable[[], Parser]
    moments: Callable[[bytes | mmap], Iterator[Moment]] | None = None
    """When the parts of a whole stream were written: one moment per report, at its end.

    Offsets grow; bytes after the last one have no time of their own. This finds them without parsing every byte; if it
    is None, they are found among the parsed records:
    """
    dated: Callable[[Iterable[ReadLine]], Iterator[Moment]] = dated
    piecewise: bool = False
    """Whether the moments of what follows any moment are those that it has in the whole stream."""
    is_log: bool = False
    """Whether it is in files named `<prefix>.<pid>[.<thread>]`, one a thread, all of which belong to one process."""
    bins: Callable[[Content], Bins] | None = None
    """Gathers its latencies for compare and report; None: it has none by time and bin."""


@dataclass(frozen=True, eq=False)
class Tool:
    """One benchmark tool. Everything outside its package learns about it from here."""

    name: str
    families: Sequence[Family]
    roles: Sequence[Roles]
    """The role of each family; if there are several Roles, see `roles.roles_of`."""
    kinds: Mapping[str, Kind]
    recognise: Callable[[bytes], str]
    """The kind of a stream, from its first bytes; empty if not (yet) recognised."""
    new_state: Callable[[Buckets, Limits], State]
    """A new, empty state, with the scheme for its histograms and what it keeps of each kind."""
    log_prefix: str = ""
    """The default prefix of its log files; empty if it has none."""
    time_limit: re.Pattern[str] | None = None
    """Finds the planned duration in its command, in the first group."""
    warnings: Mapping[str, str] = field(default_factory=dict)
    """The meaning of each value of the label `warning`, one clause each."""
    advice: str = ""
    """Which options make it report while it runs, and their verb: `-P 1 and -l give`."""
    example: str = ""
    """A command that reports, without its output: `pgbench -P 1 -T 600 mydb`."""
    has_server: bool = False
    """Whether it works on a server, so that this may be another machine than its own."""
    launcher: Launcher | None = None
    """What `benchwatch run` knows of its command line; None: the tool is started without added flags."""

    @property
    def unit(self) -> str:
        """What its throughput counts where nothing more is known, for people."""
        return self.roles[0].unit.name

    def planned(self, parameters: Mapping[str, str], *, alone: bool = True) -> float | None:
        """How long a run with these parameters is to take, seconds: as `benchwatch run` recorded, or by its command.

        Of several jobs, not `alone`, which may wait for each other, only the record is reliable.
        """
        text = parameters.get("planned_seconds", "")
        if not text and alone:
            found = self.time_limit.search(parameters.get("command", "")) if self.time_limit else None
            text = parameters.get("runtime", "") or (found[1] if found else "")
        try:
            return Duration.read(float(text) if text.isdecimal() else text) or None
        except ValueError:
            return None

    def parser(self, kind: str) -> Parser:
        """A new parser for a stream of that kind."""
        return self.kinds[kind].parser()

    def moments(self, kind: str, data: bytes | mmap, lines: Iterable[ReadLine] | None = None) -> Iterator[Moment]:
        """When the parts of a whole stream of that kind were written; `lines` is what it says, if that is read."""
        known = self.kinds[kind]
        if known.moments:
            return known.moments(data)
        return known.dated(read_lines(known.parser(), data) if lines is None else lines)

    def state(self, buckets: Buckets, limits: Limits = DEFAULT) -> State:
        """A new, empty state."""
        return self.new_state(buckets, limits)
