"""One stream of a worker: files in the order in which they were written, read by one parser.

Usually that is one file that grows; where it was rotated, its older parts come first.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from .files import FileStatus, GrowingFile, Rewritten
from .layout import StreamPlan


class Stream:
    """Files, their parser, and which run of the tool within them is being read."""

    def __init__(self, plan: StreamPlan, folder: Path) -> None:
        self.plan = plan
        self.errors: Counter[str] = Counter()
        self.unreadable = ""
        """Why the file could not be read at the last try; else empty."""
        self._files = [GrowingFile(folder / name, identity) for name, identity in plan.parts]
        self.in_older_part = False
        """Whether there is something in younger files than the one being read."""
        self.compared = 0
        """How much was compared with what is known in the last read, bytes, as `GrowingFile` does."""
        self.restart()

    def restart(self) -> None:
        """Read from the start again."""
        self.parser = self.plan.tool.parser(self.plan.kind)
        self.run = 0
        """How many runs of the tool began in this stream before the present one."""
        self.errors.clear()
        self._reading = 0
        for file in self._files:
            file.restart()

    @property
    def size(self) -> int:
        """How much was read of it."""
        return sum(file.offset for file in self._files)

    def follow(self, plan: StreamPlan, folder: Path) -> bool:
        """Go on with the files of a new plan, where they are the ones read so far (renamed, perhaps) and newer ones."""
        known = [file.identity for file in self._files]
        if plan.tool is not self.plan.tool or plan.kind != self.plan.kind:
            return False
        if [identity for _, identity in plan.parts[: len(known)]] != known:
            return False
        for file, (name, _) in zip(self._files, plan.parts, strict=False):
            file.path = folder / name
        self._files += [GrowingFile(folder / name, identity) for name, identity in plan.parts[len(known) :]]
        self.plan = plan
        return True

    def read(self, limit: int, files: Mapping[str, FileStatus]) -> tuple[bytes, float]:
        """New bytes and when they were written, empty at the end. Raises Rewritten or OSError."""
        self.compared = 0
        for file in self._files[: self._reading]:
            self._read_file(file, 0, files)
            if (status := files.get(file.path.name)) and status.size > file.offset:
                raise Rewritten  # it went on after it had been put away, and what it says comes before the rest
        while True:
            data, modified = self._read_file(self._files[self._reading], limit, files)
            younger = (files.get(file.path.name) for file in self._files[self._reading + 1 :])
            self.in_older_part = any(status.size for status in younger if status)
            if data or not self.in_older_part:
                return data, modified
            self._reading += 1

    def _read_file(self, file: GrowingFile, limit: int, files: Mapping[str, FileStatus]) -> tuple[bytes, float]:
        status = files.get(file.path.name)
        if status is None or status == file.seen:
            return b"", 0.0
        data, modified = file.read(limit)
        self.compared += file.compared
        return data, modified
