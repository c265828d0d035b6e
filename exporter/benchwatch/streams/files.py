"""Files that grow while they are read: what is in a folder, and what is new in a file.

A watched file may be appended to, rotated (renamed `x` -> `x.1`, or copied and truncated), truncated and written
anew in place (fio's `--output`), replaced, or removed. What can be told apart by looking is:

- identity (device, inode): another one is another file;
- a size below what was read, or other first bytes: the file was written anew.

Only regular files count: nothing here can block on a pipe or a socket.
"""

import os
import stat
from pathlib import Path
from typing import NamedTuple

HEAD = 64 * 1024
"""How much of a file's beginning is looked at to tell what it is, bytes."""
_FINGERPRINT = 256


class FileStatus(NamedTuple):
    """What the file system says of a file: identity, size in bytes, last modification in Unix seconds."""

    identity: tuple[int, int]
    size: int
    modified: float


class Rewritten(Exception):
    """The file no longer begins with what was read from it."""


class Listing(NamedTuple):
    """What is in a folder, hidden things left out."""

    folders: list[str]
    files: dict[str, FileStatus]


def listing(folder: Path) -> Listing:
    """The folders and the regular files in a folder, by name. Raises OSError when it cannot be read."""
    found = Listing([], {})
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                found.folders.append(entry.name)
            elif status := _status(entry):
                found.files[entry.name] = status
    return found


def _status(entry: os.DirEntry[str]) -> FileStatus | None:
    try:
        found = entry.stat()
    except OSError:  # gone since it was listed, or a link to nothing
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileStatus((found.st_dev, found.st_ino), found.st_size, found.st_mtime)


def read_head(path: Path) -> bytes:
    """The first HEAD bytes of a file, or what there is of them. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        return file.read(HEAD) or b""


class GrowingFile:
    """One file, read from its start as far as it goes, as often as it grows."""

    __slots__ = ("_fingerprint", "identity", "offset", "path")

    def __init__(self, path: Path, identity: tuple[int, int]) -> None:
        self.path = path
        self.identity = identity
        self.offset = 0
        """How much was read, bytes."""
        self._fingerprint = b""

    def read(self, limit: int) -> tuple[bytes, float]:
        """Up to `limit` new bytes, and when the file was last written to (Unix seconds).

        Raises Rewritten when what was read before is no longer there, OSError when the file cannot be read.
        """
        with self.path.open("rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if (found.st_dev, found.st_ino) != self.identity or found.st_size < self.offset:
                raise Rewritten
            self._check(file.fileno())
            data = os.pread(file.fileno(), limit, self.offset)
        self.offset += len(data)
        return data, found.st_mtime

    def _check(self, descriptor: int) -> None:
        head = os.pread(descriptor, _FINGERPRINT, 0)
        known = self._fingerprint
        # Zeros: a consumed log may be given back to the file system by punching a hole in it.
        if not head.startswith(known) and any(head[: len(known)]):
            raise Rewritten
        if len(head) > len(known):
            self._fingerprint = head
