"""Which files of a run form one stream, and which streams form one worker.

- `<worker>.<suffix>`: what one process printed. Several such files (db1.out, db1.err) are one worker; files named just
  `stdout` and `stderr`, or a pair such as out.txt and err.txt, are a worker named after the run. A number is not a
  suffix: out.1 and out.2 are two workers.
- `<name>.<N>` beside `<name>`, N below 100, unless `<name>` is the log of a process: an older part of the same stream,
  renamed by rotation; N = 1 is the most recent.
- `<prefix>.<process>[.<thread>]`: logs, one per thread (thread 0 has no number). They belong to the worker `<prefix>`;
  with the tool's default prefix, they belong to the only worker of the run. If a process was started again under the
  same name, it has another number, and only the most recent process counts: the one whose log was written last or, if
  several were written within a minute, the one with the highest number. In a container it may have the same number;
  then files last written before the others begin are left out. If it is unclear whose logs they are, each process is a
  worker of its own: `<prefix>.<process>`.
- Files named by the tool itself (vdbench's flatfile.html): those of one process in a folder. They belong to the only
  worker of that tool, or are a worker named after the run. What another of its streams says already is left out.

`names.label` turns the names of files into names of workers.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import PurePath
from typing import NamedTuple

from ..tools.api import Kind, Parser, Tool
from ..values.names import label
from .prefix import Prefix, Unprefixed

STANDARD_STREAMS = frozenset({"stdout", "stderr"})
_PAIRS = (STANDARD_STREAMS, frozenset({"out", "err"}))
_LOG = re.compile(r"\d+(\.\d+)?", re.ASCII)
_SAME_TIME = 60.0
"""Seconds within which two files count as written at the same time."""


class WatchedFile(NamedTuple):
    """A file, and the tool that wrote it; None if no tool has recognised it (yet)."""

    identity: tuple[int, int]
    modified: float
    """When a log was last written, Unix seconds; 0 for other files, because nothing depends on it."""
    tool: Tool | None
    kind: str
    prefix: Prefix | None = None
    """The prefix of each line."""
    begun: float = 0.0
    """The first time in a log, Unix seconds; 0 if there is none."""

    @property
    def is_log(self) -> bool:
        """Whether it is a log that belongs to a process which reports elsewhere."""
        return self.tool is not None and self.tool.kinds[self.kind].is_log


class Cut(NamedTuple):
    """The part of a stream that holds one of several runs."""

    begin: int
    """Offset in bytes."""
    end: int
    """Offset in bytes."""
    number: int
    """Of the run, from 1."""
    of: int
    """Number of runs in the stream."""


class StreamPlan(NamedTuple):
    """One stream of a worker."""

    name: str
    tool: Tool
    kind: str
    parts: tuple[tuple[str, tuple[int, int]], ...]
    """Name and identity of each file, oldest first."""
    prefix: Prefix | None = None
    cut: Cut | None = None
    """The part of the concatenated files to read; None: all."""

    def parser(self) -> Parser:
        """A new parser for the stream."""
        parser = self.tool.parser(self.kind)
        return Unprefixed(parser, self.prefix) if self.prefix else parser

    @property
    def kind_of(self) -> Kind:
        """The kind, as its tool declares it."""
        return self.tool.kinds[self.kind]

    @property
    def is_log(self) -> bool:
        """Whether it is a log that belongs to a process which reports elsewhere."""
        return self.kind_of.is_log


_Logs = dict[str, list[tuple[str, WatchedFile, StreamPlan]]]
"""The logs of each prefix: number of the process, file, stream."""


def worker_name(file: str, run: str) -> str:
    """The worker that printed this file of this run."""
    if file in STANDARD_STREAMS:
        return run
    path = PurePath(file)
    return label(file if _is_number(path.suffix[1:]) else path.stem)


def missing(links: Mapping[str, str], worker: str) -> list[str]:
    """A clause for each file of a worker that is gone; `links` are those that lead to nothing, and where they lead."""
    begin = f"{worker}."
    own = {name.removeprefix(begin): target for name, target in links.items() if name.startswith(begin)}
    logs = [f"transaction log missing: {target}" for suffix, target in own.items() if _LOG.fullmatch(suffix)]
    return logs + [f"output missing: {target}" for suffix, target in own.items() if suffix.isalpha()]


def group_name(file: str, files: Iterable[str]) -> str:
    """The run to which a file beside the folders of runs belongs: the files of one worker form one run."""
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
    fixed: dict[str, list[StreamPlan]] = {}  # by tool
    names = {worker_name(file, run) for file in files}
    paired = {name for pair in _PAIRS if pair <= names for name in pair}

    def add(name: str, streams: list[StreamPlan]) -> None:
        if name in workers and workers[name][0].tool is not streams[0].tool:
            name = label(streams[0].name)
        workers.setdefault(name, []).extend(streams)

    for stream in texts:
        name = worker_name(stream.name, run)
        if fnmatch(stream.name, stream.kind_of.file):
            fixed.setdefault(stream.tool.name, []).append(stream)
        else:
            add(run if name in paired else name, [stream])
    for tool, streams in fixed.items():
        workers |= _of_one_process(streams, tool, workers, run)
    for name, streams in _owners(logs, workers).items():
        add(name, streams)
    return {name: tuple(streams) for name, streams in sorted(workers.items())}


def _of_one_process(
    fixed: list[StreamPlan], tool: str, workers: Mapping[str, list[StreamPlan]], run: str
) -> dict[str, list[StreamPlan]]:
    """The streams of the worker to which these files belong; if several workers may own them, they are left out."""
    owners = {name: streams for name, streams in workers.items() if streams[0].tool.name == tool}
    if len(owners) > 1:
        return {}
    ((name, streams),) = owners.items() or [(run if run not in workers else tool, [])]
    ranked = sorted((one for one in fixed if one.kind_of.rank), key=lambda one: one.kind_of.rank)
    if any(stream.kind_of.rank for stream in streams):
        ranked = []
    elif not ranked or (len(ranked) > 1 and ranked[0].kind == ranked[1].kind):  # one file for each device
        return {worker_name(one.name, run): [one] for one in fixed}
    return {name: streams + ranked[:1] + [one for one in fixed if not one.kind_of.rank]}


def _streams(files: Mapping[str, WatchedFile]) -> tuple[list[StreamPlan], _Logs]:
    logs: _Logs = {}
    older: dict[str, list[tuple[int, str]]] = {}
    taken = set()
    for name, file in sorted(files.items()):
        left, _, number = name.rpartition(".")
        if not _is_number(number):
            continue
        base = files.get(left)
        of_process = _is_number(left.rpartition(".")[2])
        is_older = base is not None and int(number) < 100 and not (base.is_log and of_process)
        if file.tool and file.is_log and not (is_older and base and base.is_log):
            # The first thread's file may still be empty when another thread's is not.
            thread = base is not None and of_process and (base.tool is None or base.is_log)
            prefix, _, process = left.rpartition(".") if thread else (left, "", number)
            stream = StreamPlan(name, file.tool, file.kind, ((name, file.identity),))
            logs.setdefault(prefix, []).append((process, file, stream))
        elif is_older:
            older.setdefault(left, []).append((int(number), name))
        else:
            continue
        taken.add(name)
    texts = []
    for name in sorted(files.keys() - taken):
        names = [part for _, part in sorted(older.get(name, []), reverse=True)] + [name]
        known = next((files[part] for part in names if files[part].tool), None)
        if known and known.tool:
            parts = tuple((part, files[part].identity) for part in names)
            texts.append(StreamPlan(name, known.tool, known.kind, parts, known.prefix))
    return texts, logs


def _owners(logs: _Logs, workers: Mapping[str, list[StreamPlan]]) -> dict[str, list[StreamPlan]]:
    """The streams of logs, by the name of their worker."""
    owners: dict[str, list[StreamPlan]] = {}
    for prefix, mine in sorted(logs.items()):
        tool = mine[0][2].tool
        candidates = [name for name, streams in workers.items() if streams[0].tool is tool]
        own = label(prefix)
        owner = own if own in candidates else ""
        if prefix == tool.log_prefix and len(candidates) == 1:
            owner = candidates[0]
        processes: dict[str, list[WatchedFile]] = {}
        for process, file, _ in mine:
            processes.setdefault(process, []).append(file)
        if not owner and len(processes) == 1:
            owner = own
        written = {process: max(file.modified for file in each) for process, each in processes.items()}
        newest = max(written.values())
        youngest = max((process for process in written if written[process] > newest - _SAME_TIME), key=int)
        for process, file, stream in mine:
            latest = max(one.begun for one in processes[process])
            if file.begun <= file.modified < latest - _SAME_TIME:
                continue  # an earlier process had this number, and more threads
            if not owner or process == youngest:
                owners.setdefault(owner or f"{own}.{process}", []).append(stream)
    return owners
