"""Which files of a run are one stream, and which streams are one worker.

- `<worker>.<suffix>`: what one process printed. Several (db1.out, db1.err) are one worker; files named just `stdout`
  and `stderr` are the worker named after the run. A number is no suffix: out.1 and out.2 are two workers.
- `<name>.<N>` beside `<name>`, N below 100: an older part of the same stream, moved away by rotation; N = 1 is the
  most recent.
- `<prefix>.<process>[.<thread>]`: logs, one a thread (thread 0 has no number). They belong to the worker called
  `<prefix>`; under the tool's default prefix, to the run's only worker. A process that was started again under the same
  name has another number: the most recent counts (the last one written to; of those written to within a minute, the
  highest number). In a container it may have the same number: a file that was last written before the others begin is
  left out. If the worker is unclear, each process is one: `<prefix>.<process>`.

Names of files become names of workers by `names.label`.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from ..tools.api import Kind, Parser, Tool
from ..values.names import label
from .prefix import Prefix, Unprefixed

STANDARD_STREAMS = frozenset({"stdout", "stderr"})
_SAME_TIME = 60.0
"""Seconds within which two files count as written at the same time."""


class WatchedFile(NamedTuple):
    """A file and what its content was recognised as (tool None: not or not yet)."""

    identity: tuple[int, int]
    modified: float
    """When a log was last written to, Unix seconds; nothing depends on that of another file: 0."""
    tool: Tool | None
    kind: str
    prefix: Prefix | None = None
    """The prefix of each line."""
    begun: float = 0.0
    """When the first of a log was written, as that says itself, Unix seconds; 0 if it does not."""

    @property
    def is_log(self) -> bool:
        """Whether it is a log that belongs to a process which reports elsewhere."""
        return self.tool is not None and self.tool.kinds[self.kind].is_log


class Cut(NamedTuple):
    """The part of a stream that is one of several runs in it."""

    begin: int
    """Bytes; and where it ends."""
    end: int
    number: int
    """Which run it is, from 1."""
    of: int


class StreamPlan(NamedTuple):
    """One stream: its parts in the order in which they were written, each a file's name and identity."""

    name: str
    tool: Tool
    kind: str
    parts: tuple[tuple[str, tuple[int, int]], ...]
    prefix: Prefix | None = None
    cut: Cut | None = None
    """The part of the concatenated files that is read; None: all."""

    def parser(self) -> Parser:
        """A new parser for it."""
        parser = self.tool.parser(self.kind)
        return Unprefixed(parser, self.prefix) if self.prefix else parser

    @property
    def kind_of(self) -> Kind:
        """What its tool says of such output."""
        return self.tool.kinds[self.kind]

    @property
    def is_log(self) -> bool:
        """Whether it is a log that belongs to a process which reports elsewhere."""
        return self.kind_of.is_log


class _Log(NamedTuple):
    prefix: str
    process: str
    modified: float
    begun: float
    stream: StreamPlan


def worker_name(file: str, run: str) -> str:
    """The worker that printed a file of that name in that run."""
    if file in STANDARD_STREAMS:
        return run
    path = PurePath(file)
    return label(file if _is_number(path.suffix[1:]) else path.stem)


def group_name(file: str, files: Iterable[str]) -> str:
    """The run of a file beside the folders of runs: the files of one worker make one run."""
    names = frozenset(files)
    while True:
        left, _, number = file.rpartition(".")
        if not (left and _is_number(number)):
            return PurePath(file).stem
        if left not in names:
            return left
        file = left


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def plan(files: Mapping[str, WatchedFile], run: str) -> dict[str, tuple[StreamPlan, ...]]:
    """The streams of each worker, by the worker's name."""
    texts, logs = _streams(files)
    workers: dict[str, list[StreamPlan]] = {}
    for stream in texts:
        name = worker_name(stream.name, run)
        if name in workers and workers[name][0].tool is not stream.tool:
            name = label(stream.name)
        workers.setdefault(name, []).append(stream)
    for name, streams in _owners(logs, workers).items():
        workers.setdefault(name, []).extend(streams)
    return {name: tuple(streams) for name, streams in sorted(workers.items())}


def _streams(files: Mapping[str, WatchedFile]) -> tuple[list[StreamPlan], list[_Log]]:
    texts, logs = [], []
    older: dict[str, list[tuple[int, str]]] = {}
    for name, file in files.items():
        left, _, number = name.rpartition(".")
        base = files.get(left)
        if not _is_number(number):
            continue
        if file.tool and file.is_log:
            # The file of the first thread may still be empty when another's is not.
            first = base is not None and base.tool is None and _is_number(left.rpartition(".")[2])
            thread = base is not None and (first or base.is_log)
            prefix, _, process = left.rpartition(".") if thread else (left, "", number)
            stream = StreamPlan(name, file.tool, file.kind, ((name, file.identity),))
            logs.append(_Log(prefix, process, file.modified, file.begun, stream))
        elif base is not None and not base.is_log and int(number) < 100:
            older.setdefault(left, []).append((int(number), name))
    taken = {name for parts in older.values() for _, name in parts} | {log.stream.name for log in logs}
    for name in sorted(files.keys() - taken):
        names = [part for _, part in sorted(older.get(name, []), reverse=True)] + [name]
        known = next((files[part] for part in names if files[part].tool), None)
        if known and known.tool:
            texts.append(
                StreamPlan(
                    name, known.tool, known.kind, tuple((part, files[part].identity) for part in names), known.prefix
                )
            )
    return texts, sorted(logs, key=lambda log: log.stream.name)


def _owners(logs: list[_Log], workers: Mapping[str, list[StreamPlan]]) -> dict[str, list[StreamPlan]]:
    owners: dict[str, list[StreamPlan]] = {}
    for prefix in sorted({log.prefix for log in logs}):
        mine = [log for log in logs if log.prefix == prefix]
        tool = mine[0].stream.tool
        candidates = [name for name, streams in workers.items() if streams[0].tool is tool]
        own = label(prefix)
        owner = own if own in candidates else ""
        if prefix == tool.log_prefix and len(candidates) == 1:
            owner = candidates[0]
        started: dict[str, float] = {}
        for log in mine:
            started[log.process] = max(log.modified, started.get(log.process, 0.0))
        if not owner and len(started) == 1:
            owner = own
        newest = max(started.values())
        youngest = max((process for process in started if started[process] > newest - _SAME_TIME), key=int)
        for log in mine:
            latest = max(one.begun for one in mine if one.process == log.process)
            if log.begun <= log.modified < latest - _SAME_TIME:
                continue  # of an earlier process of that number, which had more threads
            if not owner:
                owners.setdefault(f"{own}.{log.process}", []).append(log.stream)
            elif log.process == youngest:
                owners.setdefault(owner, []).append(log.stream)
    return owners
