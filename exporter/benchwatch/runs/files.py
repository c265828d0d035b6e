"""Files that grow while they are read: the content of a folder, and the new part of a file.

A watched file may be appended to, rotated (renamed `x` -> `x.1`, or copied and truncated), overwritten in place (fio's
`--output`), replaced, or removed. A change shows in the file's identity (device, inode), its size or its times. If none
of these has changed, the file has not changed either, provided that its times are old enough for another change to show
(SETTLED).

Only the content shows whether the bytes that were read are still there, so a checksum of each block is kept. When the
status has changed,

- another identity, or a size smaller than the number of bytes read, means another file;
- the first block and the last two are compared before anything more is read;
- the other blocks are compared in turn: some at each read while the file grows, all of them when it has stopped.

A file that was read to its end is opened again when its status changes, and otherwise once a second, because a remote
file system may report an old status for a file that nobody opens.

New zeros match anything: a log that was read may be released to the file system by punching a hole in it. Holes are
skipped, not read: a file that is truncated while a tool has it open may begin with one of any length.

Only regular files count, so nothing here blocks on a pipe or a socket.
"""

import errno
import os
import stat
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from ..tools.lines import MARK

HEAD = 64 * 1024
"""Bytes at the beginning of a file by which it is recognised."""
SETTLED = 2.0
"""Seconds after which another change shows in a file's times; some file systems are that coarse."""
_FINE_NS = 20_000_000
"""Nanoseconds after which another change shows in a file's times on most file systems."""
_REST = 1.0
"""Seconds after a read during which the status alone says whether there is more."""
_LISTED_AFRESH = 30.0
"""Seconds after which a folder is listed anyway: its times do not show everything, such as a new target of a link."""
_BLOCK = 16 * 1024
"""Bytes per checksum."""
_COMPARED_GROWING = 4
_COMPARED_QUIET = 256
"""Blocks compared at each read, besides the first and last ones."""
_SPARSE = bytes(512)
_ZEROS = bytes(_BLOCK)


class FileStatus(NamedTuple):
    """A file's identity, size in bytes, and last modification in Unix seconds.

    `changed` is when its content or attributes last changed, in nanoseconds of the file system's clock; no program can
    set it.
    """

    identity: tuple[int, int]
    size: int
    modified: float
    changed: int

    @property
    def settled(self) -> bool:
        """Whether another change would show in this status."""
        return abs(time.time_ns() - self.changed) > SETTLED * 1e9


class Rewritten(Exception):
    """The file no longer holds the bytes that were read from it."""


class Listing(NamedTuple):
    """The content of a folder, without hidden entries."""

    folders: frozenset[str]
    files: dict[str, FileStatus]


def listing(folder: Path) -> Listing:
    """The folders and the regular files in a folder, by name. Raises OSError when it cannot be read."""
    content = Folder(folder)
    content.look(0.0)
    return Listing(content.folders, statuses(folder, content.files))


def statuses(folder: Path, names: Iterable[str]) -> dict[str, FileStatus]:
    """The status of each of these files in an existing folder."""
    path = str(folder)
    found = ((name, _file_status(f"{path}/{name}")) for name in names)  # making a Path takes longer than asking
    return {name: status for name, status in found if status}


def dangling(folder: Path) -> dict[str, str]:
    """The links in a folder to files that are gone, and where these were. Raises OSError."""
    with os.scandir(folder) as entries:
        gone = [entry.name for entry in entries if entry.is_symlink() and not _is(partial(os.path.exists, entry.path))]
    return {name: os.readlink(folder / name) for name in sorted(gone)}  # noqa: PTH115


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:  # a link to itself, or to a place that may not be read
        return False


def _file_status(file: str) -> FileStatus | None:
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError:  # gone since it was listed, or a link to nothing
        return None
    return _status(found) if stat.S_ISREG(found.st_mode) else None


def _status(found: os.stat_result) -> FileStatus:
    return FileStatus((found.st_dev, found.st_ino), found.st_size, found.st_mtime, found.st_ctime_ns)


class Folder:
    """A folder, which is listed again only when its own times show that an entry was added or removed.

    While an entry is neither a file nor a folder, the folder is always listed: a link's target may appear later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders: frozenset[str] = frozenset()
        self.files: Sequence[str] = ()
        """Names, sorted."""
        self._seen: tuple[FileStatus, float] | None = None

    def look(self, elapsed: float) -> bool:
        """List it if necessary; returns whether its entries have changed. `elapsed` only grows. Raises OSError."""
        found = _status(self.path.stat())
        if self._seen is not None and self._seen[0] == found and elapsed - self._seen[1] < _LISTED_AFRESH:
            return False
        folders, files, may_come = [], [], False
        with os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if _is(entry.is_dir):
                    folders.append(entry.name)
                elif _is(entry.is_file):
                    files.append(entry.name)
                else:
                    may_come = True
        self._seen = None if may_come or not found.settled else (found, elapsed)
        before = self.folders, self.files
        self.folders, self.files = frozenset(folders), sorted(files)
        return before != (self.folders, self.files)


def read_head(path: Path) -> bytes:
    """Up to HEAD bytes from the beginning of a file, after any hole and byte order mark. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        with suppress(OSError):  # only a hole, or a file system without holes
            file.seek(0, os.SEEK_DATA)
        return (file.read(HEAD) or b"").lstrip(b"\0").removeprefix(MARK)


class GrowingFile:
    """One file, which is read on to its current end each time that it grows."""

    def __init__(self, path: Path, identity: tuple[int, int]) -> None:
        self.path = path
        self.identity = identity
        self.restart()

    def restart(self) -> None:
        """Read from the start again."""
        self.offset = 0
        """Bytes read so far."""
        self.seen: FileStatus | None = None
        """The status at which the file was read and compared to its end; None until then."""
        self.compared = 0
        """Bytes compared at the last read, except those of the first and last blocks."""
        self._blocks = array("I")  # checksums of whole blocks
        self._begins = array("Q")  # where they begin
        self._zeros: dict[int, int] = {}  # how many zeros are in a block that begins there; none in the others
        self._holes: list[tuple[int, int]] = []  # begin and end of each hole that was skipped; whole blocks
        self._last = 0  # checksum of the part read of the block that contains the offset
        self._last_zeros = 0  # the zeros in that part
        self._compared: FileStatus | None = None  # the status at the last read
        self._rests: FileStatus | None = None  # the same, if the file was read to its end and another change would show
        self._rests_until = 0.0
        self._settled = False  # whether that status was settled when the comparison began
        self._owed = 0  # number of blocks yet to be compared
        self._next = 0  # the block compared last

    @property
    def is_there(self) -> bool:
        """Whether the file is still where it was read."""
        status = _file_status(str(self.path))
        return status is not None and status.identity == self.identity

    def rests(self, status: FileStatus) -> bool:
        """Whether, according to its current status, nothing was written since the last read."""
        return status == self.seen or (status == self._rests and time.monotonic() < self._rests_until)

    def read(self, limit: int) -> tuple[bytes, float]:
        """Up to `limit` new bytes, and when the file was last written (Unix seconds).

        Raises Rewritten if the bytes read before are no longer there, OSError if the file cannot be read.
        """
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            found = _status(os.fstat(descriptor))
            if found.identity != self.identity or found.size < self.offset:
                raise Rewritten
            is_fine = time.time_ns() - found.changed > _FINE_NS
            if found != self._compared:
                self._compare_ends(descriptor)
                self._begin(found)
            data = os.pread(descriptor, limit, self.offset)
            if len(data) == limit and not data.strip(b"\0") and self._skip_hole(descriptor, found.size):
                data = os.pread(descriptor, limit, self.offset)
            number = _COMPARED_QUIET if self._settled and not data else _COMPARED_GROWING
            self.compared = self._compare_some(descriptor, min(number, self._owed))
        finally:
            os.close(descriptor)
        self._rests = found if is_fine and self.offset + len(data) == found.size else None
        self._rests_until = time.monotonic() + _REST
        if data:
            self._add(data)
        elif not self._owed:
            if self._settled:
                self.seen = found
            elif found.settled:
                self._begin(found)
        return data, found.modified

    def _begin(self, status: FileStatus) -> None:
        """Begin to compare all blocks, starting where the last comparison stopped."""
        self.seen = None
        self._compared, self._settled = status, status.settled
        self._owed = len(self._blocks)

    def _compare_ends(self, descriptor: int) -> None:
        whole = len(self._blocks)
        for block in {0, whole - 1} if whole else ():
            self._compare(descriptor, block)
        rest = self.offset % _BLOCK
        _check(os.pread(descriptor, rest, self.offset - rest), self._last, self._last_zeros)
        if any(_data_after(descriptor, begin) < end for begin, end in self._holes):
            raise Rewritten

    def _compare_some(self, descriptor: int, number: int) -> int:
        for _ in range(number):
            self._next = self._next + 1 if self._next + 1 < len(self._blocks) else 0
            self._owed -= 1
            self._compare(descriptor, self._next)
        return number * _BLOCK

    def _compare(self, descriptor: int, block: int) -> None:
        begin = self._begins[block]
        _check(os.pread(descriptor, _BLOCK, begin), self._blocks[block], self._zeros.get(begin, 0))

    def _skip_hole(self, descriptor: int, size: int) -> bool:
        """Go on after the hole at the offset; returns whether there is one."""
        end = min(_data_after(descriptor, self.offset), size)
        if end < self.offset + _BLOCK:
            return False
        self._add(_ZEROS[: -self.offset % _BLOCK])
        begin, self.offset = self.offset, end - end % _BLOCK
        self._holes.append((begin, self.offset))
        self._add(_ZEROS[: end - self.offset])
        return True

    def _add(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            room = _BLOCK - self.offset % _BLOCK
            self._last = crc32(rest[:room], self._last)
            self._last_zeros += bytes(rest[:room]).count(0)
            self.offset += len(rest[:room])
            rest = rest[room:]
            if self.offset % _BLOCK == 0:
                begin = self.offset - _BLOCK
                if self._last_zeros:
                    self._zeros[begin] = self._last_zeros
                self._begins.append(begin)
                self._blocks.append(self._last)
                self._last = self._last_zeros = 0


def _data_after(descriptor: int, offset: int) -> int:
    """Where the next data of a file is, bytes: the offset, or the end of the hole that it is in."""
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:  # a hole to the end, or a file system without holes
        return sys.maxsize if error.errno == errno.ENXIO else offset


def _check(data: bytes, known: int, zeros: int) -> None:
    """Raises Rewritten unless the data has the known checksum, or a hole that it did not have with so many zeros."""
    if crc32(data) != known and not (data.count(0) > zeros and _has_hole(data)):
        raise Rewritten


def _has_hole(data: bytes) -> bool:
    """Whether these bytes are in or next to a hole: no benchmark prints zeros."""
    return data.startswith(b"\0") or data.endswith(b"\0") or _SPARSE in data
