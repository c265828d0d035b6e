"""Recognises the files of a run by their first bytes: which tool wrote each of them, and what kind of output it is.

A file keeps its tool and kind until it is replaced or shrinks or, if no worker reads it, until it changes. A file that
no tool recognises is tried again when it changes, and reported when it stops growing.
"""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from zlib import crc32

from ..tools.registry import TOOLS, names
from .files import HEAD, FileStatus, read_head
from .layout import WatchedFile
from .prefix import find_prefix, first_tool

_ADVICE = "; let the exporter's user read it"
_UNRECOGNISED_AFTER = 30.0
"""Seconds without growth after which a file that no tool recognises is reported."""
_COARSE = 10.0
"""Resolution of a log's modification time, seconds: streams are planned again whenever that time changes."""

_ARCHIVE = re.compile(rb".{257}ustar|\x1f\x8b|BZh\d|PK\x03\x04|\xfd7zXZ|\x28\xb5\x2f\xfd", re.DOTALL)
_FOREIGN = {
    "an archive or compressed: unpack it": _ARCHIVE,
    "the output of iperf 2": re.compile(
        rb"^(?:Client connecting to |Server listening on (?:TCP|UDP) port )", re.MULTILINE
    ),
}
"""What files may be that no tool recognises."""
_UNKNOWN = WatchedFile((0, 0), 0.0, None, "")


class _Known:
    """What is known of one file."""

    def __init__(self) -> None:
        self.file = _UNKNOWN
        self.tried: FileStatus | None = None
        """The status at which its first bytes were looked at; None: look at them again."""
        self.unrecognised: int | None = None
        """The checksum of its first bytes, if no tool recognised them."""
        self.foreign = ""
        """What it is if no tool recognised it, a clause with a semicolon; empty if unknown."""
        self.problem = ""
        """What is wrong with it at the moment, a sentence."""


class Recognition:
    """The files of one run, except its records."""

    def __init__(self, folder: Path, say: Callable[..., None]) -> None:
        self._folder = folder
        self._say = say
        self._known: dict[str, _Known] = {}
        self.read: Collection[str] = ()
        """The files that a worker reads, which notices if they are rewritten; the others are looked at here."""

    @property
    def files(self) -> dict[str, WatchedFile]:
        """The files at the last look."""
        return {name: known.file for name, known in self._known.items()}

    @property
    def problems(self) -> list[str]:
        """Current problems, a sentence each."""
        return [known.problem for known in self._known.values() if known.problem]

    @property
    def unreadable(self) -> list[str]:
        """The files that cannot be read, a sentence each."""
        found = (known.problem for known in self._known.values() if known.tried is None)
        return [problem.removesuffix(_ADVICE) for problem in found if problem]

    @property
    def complete(self) -> bool:
        """Whether a tool has recognised each file, and none is to be looked at again."""
        return all(known.file.tool and known.tried for known in self._known.values())

    def forget(self, name: str) -> None:
        """The file was rewritten: its tool or kind may have changed too."""
        if known := self._known.get(name):
            known.tried = known.unrecognised = None

    def look(self, files: Mapping[str, FileStatus], now: float) -> bool:
        """Take the current files; returns whether the streams must be planned again."""
        changed = self._known.keys() != files.keys()
        self._known = {name: self._known.get(name) or _Known() for name in files}
        for name, known in self._known.items():
            before = known.file
            known.file = self._watch(name, known, files[name])
            changed |= known.file != before
            if known.file.tool is None:
                self._report_unrecognised(name, known, files, now)
        return changed

    def _watch(self, name: str, known: _Known, status: FileStatus) -> WatchedFile:
        found, tried = known.file, known.tried
        is_same = found.identity == status.identity and tried is not None and tried.size <= status.size
        if not is_same or not (name in self.read or (status == tried and status.settled)):
            found = _UNKNOWN
        if found.tool is None and status.size and not (status == tried and status.settled):
            found = self._recognise(name, known, status)
        modified = status.modified // _COARSE * _COARSE if found.is_log else 0.0
        if (found.identity, found.modified) == (status.identity, modified):
            return found
        return found._replace(identity=status.identity, modified=modified)

    def _recognise(self, name: str, known: _Known, status: FileStatus) -> WatchedFile:
        path = self._folder / name
        try:
            head = read_head(path)
        except OSError as error:
            sentence = f"{path} cannot be read: {error.strerror}"
            known.problem = f"{sentence}{_ADVICE}"
            known.tried = None  # so that it is read again
            self._say("unreadable", sentence, name)
            return _UNKNOWN
        known.tried = status
        checksum = crc32(head)
        if known.unrecognised == checksum:
            return _UNKNOWN
        known.problem = ""
        found = _recognised(head)
        known.unrecognised = None if found.tool else checksum
        foreign = (f"it is {what}; " for what, pattern in _FOREIGN.items() if pattern.search(head))
        known.foreign = "" if found.tool else next(foreign, "")
        return found

    def _report_unrecognised(self, name: str, known: _Known, files: Mapping[str, FileStatus], now: float) -> None:
        status = files[name]
        quiet = status.size >= HEAD or now - status.modified >= _UNRECOGNISED_AFTER
        part_of_another = name.rpartition(".")[0] in files
        if status.size and quiet and not part_of_another and known.tried:
            path = self._folder / name
            known.problem = f"{path} is ignored: {known.foreign}expected the output of {names()}"
            self._say("unrecognised", known.problem, name)


def _recognised(head: bytes) -> WatchedFile:
    """The tool and kind of a file that begins with these bytes."""
    if _ARCHIVE.match(head):
        return _UNKNOWN
    if known := first_tool(head, TOOLS):
        tool, kind = known
        first = next(tool.moments(kind, head), None) if tool.kinds[kind].is_log else None
        return _UNKNOWN._replace(tool=tool, kind=kind, begun=first.time if first else 0.0)
    if found := find_prefix(head, TOOLS):
        tool, kind, prefix = found
        return _UNKNOWN._replace(tool=tool, kind=kind, prefix=prefix)
    return _UNKNOWN
