"""Where runs are: in a watched folder (a root), each folder is a run, as are the files of one name beside the folders.

While a root or the folder of a run cannot be read, its last content stays in memory.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..settings.record import SUFFIX
from .files import FileStatus, Folder, listing, statuses
from .layout import group_name
from .unusable import Faults

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
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
        self._roots = {path: Folder(path) for path in reversed(once.values())}
        self.paths = list(self._roots)
        self._faults = faults
        self._beside: dict[RunKey, list[str]] = {}  # the files of runs without a folder
        self._unlisted: dict[Path, str] = {}  # why each of these folders cannot be read

    @property
    def lost(self) -> dict[Path, str]:
        """Why roots cannot be read, by root; only roots that cannot be read at the moment."""
        return {path: self._unlisted[path] for path in self._roots if path in self._unlisted}

    def look(self, elapsed: float) -> tuple[set[RunKey], list[RunKey]]:
        """The runs that have disappeared since the last look, and those that have appeared."""
        gone: set[RunKey] = set()
        new: list[RunKey] = []
        for path, root in self._roots.items():
            before = root.folders
            if not self._list(path, partial(root.look, elapsed)):
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
        return gone, new

    def files(self, key: RunKey, content: Folder | None, elapsed: float) -> Mapping[str, FileStatus] | None:
        """The files of a run; None if they are unknown. `content` is the folder of a run that is in memory."""
        folder, _ = key
        if beside := self._beside.get(key):
            return None if folder in self._unlisted else statuses(folder, beside)
        if content:
            listed = self._list(folder, partial(content.look, elapsed))
            return None if listed is None else statuses(folder, content.files)
        found = self._list(folder, partial(listing, folder))
        return found.files if found else None

    def _list(self, folder: Path, look: Callable[[], _T]) -> _T | None:
        try:
            found = look()
        except OSError as error:
            if isinstance(error, FileNotFoundError) and folder not in self._roots:
                return None  # the run was removed a moment ago
            if folder not in self._unlisted:
                self._faults.say("folder", f"{folder} cannot be read: {error.strerror}; expected a folder of runs")
            self._unlisted[folder] = error.strerror or type(error).__name__
            return None
        if self._unlisted.pop(folder, None) is not None:
            _log.info("%s can be read again", folder)
        return found
