"""Where the files of a run are: a folder of its own, or the files of one name in a folder of many."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..settings.record import SUFFIX
from .files import FileStatus


class RunPlace(NamedTuple):
    """One run on disk."""

    name: str
    """The label of the run."""
    folder: Path
    files: Mapping[str, FileStatus]
    """Its files by name, records included."""
    own: bool = True
    """Whether the folder is that of the run alone."""
    number: int | None = None
    """Which of several runs in a file is meant, from 1; None: the last."""
    asked: str = ""
    """What the user gave, if it has that number."""
    complete: frozenset[str] | None = None
    """The workers that have ended or fallen silent, so that all they wrote counts; None: all of them."""

    @property
    def paths(self) -> list[Path]:
        """What commands read the run from: its folder, or its files in a folder of many."""
        return [self.folder] if self.own else [self.folder / name for name in sorted(self.files)]

    @property
    def path(self) -> Path:
        """What it is called in messages."""
        return self.folder if self.own else self.folder / self.name

    @property
    def outputs(self) -> Mapping[str, FileStatus]:
        """Its files except records."""
        return {name: status for name, status in self.files.items() if not name.endswith(SUFFIX)}

    @property
    def modified(self) -> float:
        """When its output was last written, Unix seconds; 0 without output."""
        return max((status.modified for status in self.outputs.values()), default=0.0)
