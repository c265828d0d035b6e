"""One stream of a worker: files in the order in which they were written, read by one parser.

Usually that is one file that grows; where it was rotated, its older parts come first.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from .birth import birth
from .files import FileStatus, GrowingFile
from .layout import StreamPlan


class Stream:
    """Files, their parser, and which run of the tool within them is being read."""

    def __init__(self, plan: StreamPlan, folder: Path) -> None:
        self.plan = plan
        self.errors: Counter[str] = Counter()
        self.unreadable = ""
        """Why the file could not be read at the last try; else empty."""
        self._files = [GrowingFile(folder / name, identity) for name, identity in plan.parts]
        self.restart()

    def restart(self) -> None:
        """Read from the start again."""
        self.parser = self.plan.parser()
        self.run = 0
        """How many runs of the tool began in this stream before the present one."""
        self.written: float | None = None
        """When the file was written to that was read last, as of then, Unix seconds; None if nothing was read."""
        self.settled = False
        """Whether the last line counted without its end, which has not come."""
        self.errors.clear()
        self._reading = 0
        for file in self._files:
            file.offset = 0

    def begun(self, recorded: float | None) -> tuple[float | None, bool]:
        """When the present run began to write, Unix seconds, if that is known, and whether by the run's record."""
        if self.run:  # runs before wrote to the same file
            return None, False
        return (self._born, False) if recorded is None else (recorded, True)

    @cached_property
    def _born(self) -> float | None:
        return birth(self._files[0].path)

    @property
    def size(self) -> int:
        """How much was read of it."""
        return sum(file.offset for file in self._files)

    @property
    def in_older_part(self) -> bool:
        """Whether there are younger files than the one being read."""
        return self._reading + 1 < len(self._files)

    def follow(self, plan: StreamPlan, folder: Path) -> bool:
        """Go on with the files of a new plan, where they are the ones read so far (renamed, perhaps) and newer ones."""
        known = [file.identity for file in self._files]
        if plan._replace(name="", parts=()) != self.plan._replace(name="", parts=()):
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
        while True:
            file = self._files[self._reading]
            status = files.get(file.path.name)
            if status is not None and status.size != file.offset:
                data, modified = file.read(limit)
                if data:
                    return data, modified
            if not self.in_older_part:
                return b"", 0.0
            self._reading += 1
