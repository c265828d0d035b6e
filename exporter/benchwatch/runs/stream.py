"""One stream of a worker: files in the order in which they were written, read by one parser.

Usually this is one growing file; after a rotation, its older parts come first.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..tools.api import Begin
from .files import FileStatus, GrowingFile, Rewritten, birth
from .layout import Cut, StreamPlan


class Stream:
    """The files, their parser, and the number of the run that is being read."""

    def __init__(self, plan: StreamPlan, folder: Path) -> None:
        self.plan = plan
        self.errors: Counter[str] = Counter()
        """Misread input by reason."""
        self.unreadable = ""
        """Why the last attempt to read a file failed; empty if it did not."""
        self.in_older_part = False
        """Whether a newer file than the one being read has content."""
        self._folder = folder
        self._files = [GrowingFile(folder / name, identity) for name, identity in plan.parts]
        self._reading = 0
        self._gone = 0  # bytes read from files that are gone, or of a cut
        self.forget()

    def forget(self) -> None:
        """Parse from the start again."""
        self.parser = self.plan.parser()
        self.run = 0
        """Number of runs of the tool in this stream before the current one."""
        self.written: float | None = None
        """Modification time of the file when it was last read, Unix seconds; None if nothing was read."""
        self.settled = False
        """Whether the last line was counted although its newline is still missing."""
        self.errors.clear()

    def restart(self) -> None:
        """Read from the start again."""
        self._reading = self._gone = 0
        for file in self._files:
            file.restart()
        self.forget()

    def gather(self, records: Sequence[Any]) -> None:
        """Take what a replay collects from new records; live, nothing is collected."""

    def begun(self, recorded: float | None) -> tuple[float | None, bool]:
        """When the current run began to write, Unix seconds (None: unknown), and whether the run's record says so."""
        if self.run or (self.plan.cut and self.plan.cut.begin):  # earlier runs wrote to the same file
            return None, False
        return (self.born, False) if recorded is None else (recorded, True)

    @cached_property
    def born(self) -> float | None:
        """When its first file was created, Unix seconds; None if the file system does not say."""
        return birth(self._files[0].path)

    @property
    def file_time(self) -> float:
        """When its newest file was last written, Unix seconds; 0 if nothing was read."""
        return self.written or 0.0

    def written_since(self, files: Mapping[str, FileStatus]) -> float | None:
        """Modification time of the file, Unix seconds, if it changed after it was read."""
        status = files.get(self.plan.parts[self._reading][0])
        return status.modified if status and self.written is not None and status.modified > self.written else None

    @property
    def size(self) -> int:
        """Bytes read so far."""
        return self._gone + sum(file.offset for file in self._files)

    def follow(self, plan: StreamPlan) -> bool:
        """Continue with a new plan; returns False if that is impossible.

        Its files must be those read so far (possibly renamed), then newer ones. The oldest may be gone if they were
        read to their end.
        """
        known, found = [file.identity for file in self._files], [identity for _, identity in plan.parts]
        if plan._replace(name="", parts=()) != self.plan._replace(name="", parts=()):
            return False
        gone = known.index(found[0]) if found[0] in known else len(known)  # the oldest files, which rotation removed
        if gone > self._reading or found[: len(known) - gone] != known[gone:]:
            return False
        if any(file.is_there for file in self._files[:gone]):  # it has become something else, such as a log
            return False
        self._gone += sum(file.offset for file in self._files[:gone])
        self._reading -= gone
        del self._files[:gone]
        for file, (name, _) in zip(self._files, plan.parts, strict=False):
            file.path = self._folder / name
        more = plan.parts[len(self._files) :]
        self._files += [GrowingFile(self._folder / name, identity) for name, identity in more]
        self.plan = plan
        return True

    def read(self, limit: int, files: Mapping[str, FileStatus]) -> tuple[bytes, float]:
        """New bytes (none at the end) and when they were written, Unix seconds. Raises Rewritten or OSError."""
        if cut := self.plan.cut:  # all of it at once
            data = content(self.plan, self._folder)[cut.begin : cut.end] if not self._gone else b""
            self._gone += len(data)
            return data, files[self.plan.parts[-1][0]].modified
        found = [files.get(name) for name, _ in self.plan.parts]
        for file, status in zip(self._files[: self._reading], found, strict=False):
            _read(file, 0, status)
            if status and status.size > file.offset:
                raise Rewritten  # it grew after its rotation; the new text precedes what was read since
        while True:
            data, modified = _read(self._files[self._reading], limit, found[self._reading])
            self.in_older_part = any(status.size for status in found[self._reading + 1 :] if status)
            if data or not self.in_older_part:
                return data, modified
            self._reading += 1

    def reread(self, begin: int, end: int) -> bytes:
        """The bytes between two offsets, which were read before. Raises OSError."""
        found, before = b"", 0
        for file in self._files:
            if before < end and before + file.offset > begin:
                with file.path.open("rb", buffering=0) as opened:
                    first = max(0, begin - before)
                    found += os.pread(opened.fileno(), min(file.offset, end - before) - first, first)
            before += file.offset
        return found


def _read(file: GrowingFile, limit: int, status: FileStatus | None) -> tuple[bytes, float]:
    return (b"", 0.0) if status is None or file.rests(status) else file.read(limit)


def content(plan: StreamPlan, folder: Path) -> bytes:
    """The content of all files of a stream, one after the other. Raises OSError."""
    return b"".join((folder / name).read_bytes() for name, _ in plan.parts)


def cut_into_runs(plan: StreamPlan, folder: Path) -> list[StreamPlan]:
    """Splits a stream into one stream per run of the tool in it. Raises OSError.

    A run begins after the last line that was understood as part of the previous run.
    """
    parser, data = plan.parser(), content(plan, folder)
    borders = [0]
    understood = position = 0
    for line in data.splitlines(keepends=True):
        before = parser.records
        records = parser.feed(line)
        borders += [understood] * sum(isinstance(record, Begin) for record in records)
        position += len(line)
        if parser.records != before:
            understood = position
    cuts = pairwise([*borders, len(data)])
    return [plan._replace(cut=Cut(begin, end, number, len(borders))) for number, (begin, end) in enumerate(cuts, 1)]
