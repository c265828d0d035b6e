"""Appends pushed bytes to files of the push folder, as long as there is room for them (see room).

Bytes for which there is no room are refused before they are written; bytes that have been written are never lost.
Everything here blocks on the disk; call it from one thread at a time.
"""

import errno
import glob
import logging
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..settings.record import load_runfile
from ..settings.settings import RunsSettings
from ..values.errors import ConfigError
from .room import NotStored, Room

_log = logging.getLogger("benchwatch.server")

STREAM = re.compile(r"out|err|json|[0-9]{1,10}(\.[0-9]{1,5})?")
"""The suffix, after the worker's name and a dot, of a file that is sent in pieces."""
_SUFFIX = re.compile(r"[a-z]+|[0-9]+(\.[0-9]+)?")
"""The suffix of any file of a worker: `db.2.out` does not belong to `db`."""
LARGEST_PIECE = 1024 * 1024
"""Bytes accepted in one piece of a stream."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


FailedStart = Callable[[Path, str], str | None]
"""Says how a worker of the run in a folder failed before it measured anything; None if it may have measured something.

See history.find.failed_start.
"""


class PushedPart(NamedTuple):
    """A part of a file, as offsets in bytes."""

    start: int
    end: int


class PushFile:
    """The file to which one push is appended.

    The file is opened for each piece, so a waiting push holds no open file. A piece raises NotStored if there is no
    room for it or the file system fails; all later pieces then raise the same.

    `before` is what the previous push wrote to the end of the file before it broke off. If this push begins with the
    same bytes, it repeats them, and they are not appended again. If it ends before it has repeated all of them, it is
    another push, and is stored.
    """

    def __init__(self, path: Path, room: Room, before: PushedPart | None = None) -> None:
        self._path = path
        self._room = room
        self._refusal: NotStored | None = None
        self._begun = False
        """Whether the push has appended something, and so no longer repeats `before`."""
        self._before = before
        self._repeated = 0
        """Bytes of `before` that this push has repeated."""
        self._ended = False
        self.span = before
        """What the push has written to the file, including the beginning that it repeats; None if nothing."""

    def append(self, data: bytes) -> None:
        """Append all of it; the first piece begins on a line of its own."""
        self._put(data, None)

    def finish(self) -> None:
        """End the push. If it has repeated only a part of `before`, append that part: it is another push."""
        if self._before and self._repeated:
            self._ended = True
            self._put(b"", None)

    def place(self, data: bytes, offset: int) -> None:
        """Write the bytes at that offset, which may be at most the end. Bytes already there must be the same."""
        self._put(data, offset)

    def _put(self, data: bytes, offset: int | None) -> None:
        if self._refusal:
            raise self._refusal
        try:
            may_be_stored = (offset is not None or self._before is not None) and self._path.exists()
            if not may_be_stored:
                self._room.need(self._path, len(data))
            descriptor = self._open()
            try:
                missing = self._missing(descriptor, data, offset)
                if may_be_stored and missing:
                    self._room.need(self._path, len(missing))
                self._write(descriptor, missing)
            finally:
                os.close(descriptor)
        except NotStored as refusal:
            self._refusal = refusal
            raise
        except OSError as error:
            self._refusal = cannot_write(self._path, error)
            raise self._refusal from error

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        try:
            return os.open(self._path, flags, 0o666)
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, flags, 0o666)

    def _missing(self, descriptor: int, data: bytes, offset: int | None) -> bytes:
        """The part of the data that is not yet in the file."""
        status = os.fstat(descriptor)
        if stat.S_ISFIFO(status.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe")
        if offset is None:
            return self._unrepeated(descriptor, data, status.st_size)
        name = f"{self._path.parent.name}/{self._path.name}"
        if offset > status.st_size:
            size = status.st_size
            raise NotStored("gap", f"{name} has {size} bytes: expected an offset of at most {size}, got {offset}", size)
        present = os.pread(descriptor, len(data), offset)
        if not data.startswith(present):
            raise NotStored("other_content", f"{name} already exists, with other content: push under another name")
        return data[len(present) :]

    def _unrepeated(self, descriptor: int, data: bytes, size: int) -> bytes:
        """The part of the next piece that does not repeat `before`. What is new begins on a line of its own."""
        before, repeated = self._before, self._repeated
        if before and size == before.end and not self._ended:
            at = before.start + repeated
            present = os.pread(descriptor, min(len(data), before.end - at), at)
            if data.startswith(present):
                self._repeated += len(present)
                if at + len(present) == before.end:
                    self._before, self._begun = None, True
                return data[len(present) :]
        if not self._begun:
            self._begun, self._before, self.span = True, None, None
            if size > 0 and os.pread(descriptor, 1, size - 1) != b"\n":
                self._write(descriptor, b"\n")
                size += 1
            self.span = PushedPart(size, size)
            if before:  # another push that began in the same way
                for at in range(before.start, before.start + repeated, LARGEST_PIECE):
                    again = os.pread(descriptor, min(LARGEST_PIECE, before.start + repeated - at), at)
                    self._room.need(self._path, len(again))
                    self._write(descriptor, again)
        return data

    def _write(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            count = os.write(descriptor, rest)
            self._room.add(count)
            if self.span:
                self.span = self.span._replace(end=self.span.end + count)
            rest = rest[count:]


def cannot_write(path: Path, error: OSError) -> NotStored:
    """The refusal of a push that cannot be written; it is logged too."""
    _log.error("a push cannot be written to %s: %s", path, error.strerror)
    where = f"{path.parent.name}/{path.name}"
    return NotStored("no_room" if error.errno in _FULL else "failed", f"{where} cannot be written: {error.strerror}")


def put_record(path: Path, data: bytes, room: Room, failed_start: FailedStart | None = None) -> str:
    """Replace a worker's record; returns why the start failed that it replaces, or an empty text.

    Raises NotStored if the new record cannot be used.

    With `failed_start`, raises NotStored unless the worker has no files, only the same or an empty record, or a start
    that failed; the files of that start are removed.
    """
    run, worker, replaced = path.parent.name, path.stem, ""
    beside = path.with_name(f".{path.name}.pushed")
    try:
        room.need(path, len(data))
        path.parent.mkdir(parents=True, exist_ok=True)
        present = path.read_bytes() if path.exists() else b""
        own = [file for file in files_of(path.parent, worker) if file != path]
        if failed_start and present != data and (present or own):
            why = failed_start(path.parent, worker)
            if why is None:
                raise NotStored("taken", f"worker {worker} of run {run} already exists: push under another name")
            replaced = why
        try:
            beside.write_bytes(data)
            _check_record(beside, f"{run}/{path.name}")
            for file in own if replaced else ():
                if STREAM.fullmatch(file.name, len(worker) + 1):
                    file.unlink(missing_ok=True)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        room.add(len(data))
    except OSError as error:
        raise cannot_write(path, error) from error
    return replaced


def files_of(folder: Path, worker: str) -> list[Path]:
    """All files of a worker, by name. `db.2.out` and, beside it, the log `db.2.7` belong to `db.2`, not to `db`."""
    found = sorted(folder.glob(f"{glob.escape(worker)}.*"))
    others = {file.stem for file in found if file.suffix[1:].isalpha()} - {worker}
    return [file for file in found if _SUFFIX.fullmatch(file.name, len(worker) + 1) and file.stem not in others]


def _check_record(path: Path, name: str) -> None:
    try:
        load_runfile(path, RunsSettings())
    except ConfigError as error:
        raise NotStored("invalid", " ".join(str(error).replace(str(path), name).split())[:500]) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise NotStored("invalid", f"{name}: expected a record in YAML: {type(error).__name__}: {reason}") from error
