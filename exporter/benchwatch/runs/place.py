"""Where runs are: in a watched folder (a root), each folder is a run, as are the files of one name beside the folders.

While a root or the folder of a run cannot be read, its last content stays in memory.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..settings.record import SUFFIX
from .files import FileStatus, Folder, statuses
from .layout import group_name
from .unusable import Faults

_log = logging.getLogger(__name__)

RunKey = tuple[Path, str]
"""Folder and name of a run."""


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


class Roots:
    """All watched folders."""

    def __init__(self, paths: Sequence[Path], faults: Faults) -> None:
        once = {path.resolve(): path for path in reversed(paths)}  # even if they are spelled differently
        self.paths = list(reversed(once.values()))
        self._roots = [Folder(path) for path in self.paths]
        self._faults = faults
        self._folders: dict[Path, Folder] = {}  # of runs
        self._beside: dict[RunKey, list[str]] = {}  # the files of runs without a folder
        self._unlisted: dict[Path, str] = {}  # why each of these folders cannot be read
        self._elapsed = 0.0

    @property
    def lost(self) -> dict[Path, str]:
        """Why roots cannot be read, by root; only roots that cannot be read at the moment."""
        return {path: self._unlisted[path] for path in self.paths if path in self._unlisted}

    def look(self, elapsed: float) -> tuple[set[RunKey], list[RunKey]]:
        """The runs that have disappeared since the last look, and those that have appeared."""
        self._elapsed = elapsed
        gone: set[RunKey] = set()
        new: list[RunKey] = []
        for root in self._roots:
            path, before = root.path, root.folders
            if not self._list(root):
                continue
            beside: dict[RunKey, list[str]] = defaultdict(list)
            for file in root.files:
                name = group_name(file, root.files)
                beside[path, f"{name} (files)" if name in root.folders else name].append(file)
            gone |= {(path / name, name) for name in before - root.folders}
            gone |= {key for key in self._beside if key[0] == path and key not in beside}
            new += [(path / name, name) for name in root.folders - before]
            new += [key for key in beside if key not in self._beside]
            self._beside = {key: files for key, files in self._beside.items() if key not in gone} | beside
        for folder, _ in gone:
            self._folders.pop(folder, None)
        return gone, new

    def files(self, key: RunKey) -> Mapping[str, FileStatus] | None:
        """The files of a run; None if they are unknown."""
        folder, _ = key
        if beside := self._beside.get(key):
            return None if folder in self._unlisted else statuses(folder, beside)
        if (content := self._folders.get(folder)) is None:
            content = self._folders[folder] = Folder(folder)
        return None if self._list(content) is None else statuses(folder, content.files)

    def _list(self, folder: Folder) -> bool | None:
        """List a folder if necessary; returns whether its entries have changed, None if it cannot be read."""
        path = folder.path
        try:
            changed = folder.look(self._elapsed)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and path not in self.paths:
                return None  # the run was removed a moment ago
            if path not in self._unlisted:
                self._faults.say("folder", f"{path} cannot be read: {error.strerror}; expected a folder of runs")
            self._unlisted[path] = error.strerror or type(error).__name__
            return None
        if self._unlisted.pop(path, None) is not None:
            _log.info("%s can be read again", path)
        return changed
