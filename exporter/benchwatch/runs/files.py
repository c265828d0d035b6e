"""Files that grow while they are read: the content of a folder, and the new part of a file.

A watched file may be appended to, rotated (renamed `x` -> `x.1`, or copied and truncated), overwritten in place (fio's
`--output`), replaced, or removed. A change shows in the file's identity (device, inode), its size or its times. If none
of these has changed, the file has not changed either, provided that its times are old enough for another change to show
(SETTLED).

Only the content shows whether the bytes that were read are still there. When the status has changed, and once more when
it is old enough, another identity, or a size smaller than the number of bytes read, means another file; otherwise the
first and the last of these bytes are compared before anything more is read.

A file that was read to its end is opened again when its status changes, and otherwise once a second, because a remote
file system may report an old status for a file that nobody opens.

Holes are skipped, not read: a file that is truncated while a tool has it open may begin with one of any length.

Only regular files count, so nothing here blocks on a pipe or a socket.
"""

import ctypes
import errno
import math
import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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
_FIRST, _LAST = 16 * 1024, 4 * 1024
"""First bytes, by their checksum, and last bytes that are compared."""
_AT_FDCWD, _STATX_BTIME = -100, 0x800
_statx = getattr(ctypes.CDLL(None), "statx", None)


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
        links = [entry for entry in entries if entry.is_symlink()]
    gone = sorted(link.name for link in links if not os.path.exists(link.path))  # noqa: PTH110
    return {name: os.readlink(folder / name) for name in gone}  # noqa: PTH115


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


def birth(path: Path) -> float | None:
    """When a file was created, Unix seconds; None if it is gone or the system does not know.

    Linux knows it for most file systems, but Python cannot ask: statx(2), from <linux/stat.h>. With the mask
    STATX_BTIME the kernel puts the birth time at byte 80 of `struct statx`, seconds (signed, 64 bits) and nanoseconds
    (32 bits), and sets the same bit of the mask at byte 0 if it knows one.
    """
    if _statx is None:
        try:
            return getattr(path.stat(), "st_birthtime", None)
        except OSError:
            return None
    found = ctypes.create_string_buffer(256)
    if _statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        return None
    (known,) = struct.unpack_from("=I", found, 0)
    seconds, nanoseconds = struct.unpack_from("=qI", found, 80)
    return float(seconds + nanoseconds / 1e9) if known & _STATX_BTIME else None


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
        self._first = 0, 0  # how many of the first of these are compared, and their checksum
        self._last = b""  # the last of these
        self._compared: FileStatus | None = None  # the status at which they were compared
        self._settled = False  # whether that was settled
        self._at_end: FileStatus | None = None  # the status at which there was no more
        self._rests_until = 0.0

    @property
    def is_there(self) -> bool:
        """Whether the file is still where it was read."""
        status = _file_status(str(self.path))
        return status is not None and status.identity == self.identity

    def rests(self, status: FileStatus) -> bool:
        """Whether, according to its current status, nothing was written since the last read."""
        return status == self._at_end and time.monotonic() < self._rests_until

    def read(self, limit: int) -> tuple[bytes, float]:
        """Up to `limit` new bytes, and when the file was last written (Unix seconds).

        Raises Rewritten if the bytes read before are no longer there, OSError if the file cannot be read.
        """
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            found = _status(os.fstat(descriptor))
            if found.identity != self.identity or found.size < self.offset:
                raise Rewritten
            age = time.time_ns() - found.changed
            if found != self._compared or not self._settled:
                size, checksum = self._first
                if crc32(os.pread(descriptor, size, 0)) != checksum:
                    raise Rewritten
                if os.pread(descriptor, len(self._last), self.offset - len(self._last)) != self._last:
                    raise Rewritten
                self._compared, self._settled = found, found.settled
            data = os.pread(descriptor, limit, self.offset)
            if len(data) == limit and not data.strip(b"\0"):
                hole = min(_data_after(descriptor, self.offset), found.size) - self.offset
                if hole > _FIRST:
                    self._note(bytes(_FIRST), hole)
                    data = os.pread(descriptor, limit, self.offset)
        finally:
            os.close(descriptor)
        self._note(data, len(data))
        self._at_end = found if self.offset == found.size else None
        rest = _REST if age > _FINE_NS else 0.0
        self._rests_until = math.inf if self._settled and not data else time.monotonic() + rest
        return data, found.modified

    def _note(self, data: bytes, size: int) -> None:
        """Note that `size` bytes were read or skipped, and that `data` is how they begin and end."""
        if self.offset < _FIRST:
            first = data[: _FIRST - self.offset]
            self._first = self.offset + len(first), crc32(first, self._first[1])
        self._last = data[-_LAST:] if len(data) >= _LAST else (self._last + data)[-_LAST:]
        self.offset += size


def _data_after(descriptor: int, offset: int) -> int:
    """Where the next data of a file is, bytes: the offset, or the end of the hole that it is in."""
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:  # a hole to the end, or a file system without holes
        return sys.maxsize if error.errno == errno.ENXIO else offset
