"""Recognises the files of a run by their first bytes: which tool wrote each of them, and what kind of output it is.

A file keeps its tool and kind until it is replaced or shrinks. A file that no tool recognises is tried again when it
changes, and reported when it stops growing.
"""

from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

from ..tools.registry import TOOLS, names
from .files import HEAD, FileStatus, read_head
from .layout import WatchedFile
from .prefix import find_prefix
from .unusable import FaultsOfRun

_UNRECOGNISED_AFTER = 30.0
"""Seconds without growth after which a file that no tool recognises is reported."""
_COARSE = 10.0
"""Resolution of a log's modification time, seconds: streams are planned again whenever that time changes."""

_UNKNOWN = WatchedFile((0, 0), 0.0, None, "")


class Recognition:
    """The files of one run, except its records."""

    def __init__(self, folder: Path, faults: FaultsOfRun) -> None:
        self.files: dict[str, WatchedFile] = {}
        """A caller may remove a file that was rewritten: its tool or kind may have changed too."""
        self.problems: dict[tuple[str, str], str] = {}
        """Current problems, a sentence each, by kind and file."""
        self._folder = folder
        self._faults = faults
        self._tried: dict[str, FileStatus] = {}
        self._heads: dict[str, int] = {}  # checksums of the first bytes of files that no tool recognises

    def look(self, files: Mapping[str, FileStatus], now: float) -> bool:
        """Take the current files; returns whether the streams must be planned again."""
        if self.problems:
            self.problems = {what: text for what, text in self.problems.items() if what[1] in files}
        watched = {name: self._watch(name, status) for name, status in files.items()}
        for name, file in watched.items():
            if file.tool is None:
                self._report_unrecognised(name, files, now)
        changed = watched != self.files
        self.files = watched
        return changed

    def _watch(self, name: str, status: FileStatus) -> WatchedFile:
        found, tried = self.files.get(name, _UNKNOWN), self._tried.get(name)
        if found.tool and (found.identity != status.identity or tried is None or status.size < tried.size):
            found = _UNKNOWN
        if found.tool is None and status.size and not (status == tried and status.settled):
            found = self._recognise(name, status)
        modified = status.modified // _COARSE * _COARSE if found.is_log else 0.0
        if (found.identity, found.modified) == (status.identity, modified):
            return found
        return found._replace(identity=status.identity, modified=modified)

    def _recognise(self, name: str, status: FileStatus) -> WatchedFile:
        try:
            head = read_head(self._folder / name)
        except OSError as error:
            sentence = f"{self._folder / name} cannot be read: {error.strerror}"
            self.problems["unreadable", name] = f"{sentence}; let the exporter's user read it"
            self._faults.say("unreadable", sentence, name)
            self._tried.pop(name, None)  # so that it is read again
            return _UNKNOWN
        self._tried[name] = status
        self.problems.pop(("unreadable", name), None)
        checksum = crc32(head)
        if self._heads.get(name) == checksum:
            return _UNKNOWN
        found = _recognised(head)
        if found.tool is None:
            self._heads[name] = checksum
        else:
            self.problems.pop(("unrecognised", name), None)
        return found

    def _report_unrecognised(self, name: str, files: Mapping[str, FileStatus], now: float) -> None:
        status = files[name]
        quiet = status.size >= HEAD or now - status.modified >= _UNRECOGNISED_AFTER
        part_of_another = name.rpartition(".")[0] in files
        if status.size and quiet and not part_of_another and name in self._tried:
            text = f"{self._folder / name} is left alone: expected the output of {names()}"
            self.problems["unrecognised", name] = text
            self._faults.say("unrecognised", text, name)


def _recognised(head: bytes) -> WatchedFile:
    """The tool and kind of a file that begins with these bytes."""
    for tool in TOOLS:
        if kind := tool.recognise(head):
            first = next(tool.moments(kind, head), None) if tool.kinds[kind].is_log else None
            return _UNKNOWN._replace(tool=tool, kind=kind, begun=first.time if first else 0.0)
    if found := find_prefix(head, TOOLS):
        tool, kind, prefix = found
        return _UNKNOWN._replace(tool=tool, kind=kind, prefix=prefix)
    return _UNKNOWN
