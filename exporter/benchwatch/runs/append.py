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


class PushFile:
    """The file to which one push is appended.

    The file is opened for each piece, so a waiting push holds no open file. A piece raises NotStored if there is no
    room for it or the file system fails; all later pieces then raise the same.
    """

    def __init__(self, path: Path, room: Room) -> None:
        self._path = path
        self._room = room
        self._refusal: NotStored | None = None
        self._begun = False

    def append(self, data: bytes) -> None:
        """Append all of it; the first piece begins on a line of its own."""
        self._put(data, None)

    def place(self, data: bytes, offset: int) -> None:
        """Write the bytes at that offset, which may be at most the end. Bytes already there must be the same."""
        self._put(data, offset)

    def _put(self, data: bytes, offset: int | None) -> None:
        if self._refusal:
            raise self._refusal
        try:
            may_be_stored = offset is not None and self._path.exists()
            if not may_be_stored:
                self._room.need(self._path, len(data))
            descriptor = self._open()
            try:
                missing = (
                    self._on_a_line(descriptor, data) if offset is None else self._missing(descriptor, data, offset)
                )
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

    def _missing(self, descriptor: int, data: bytes, offset: int) -> bytes:
        """The part of the data at that offset that is not yet in the file."""
        name, size = f"{self._path.parent.name}/{self._path.name}", _size(descriptor)
        if offset > size:
            raise NotStored("gap", f"{name} has {size} bytes: expected an offset of at most {size}, got {offset}", size)
        present = os.pread(descriptor, len(data), offset)
        if not data.startswith(present):
            raise NotStored("other_content", f"{name} already exists, with other content: push under another name")
        return data[len(present) :]

    def _on_a_line(self, descriptor: int, data: bytes) -> bytes:
        """The data, after a newline if it is the first and the file does not end with one."""
        size = _size(descriptor)
        if not data or self._begun:
            return data
        self._begun = True
        return data if not size or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n" + data

    def _write(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            count = os.write(descriptor, rest)
            self._room.add(count)
            rest = rest[count:]


def _size(descriptor: int) -> int:
    status = os.fstat(descriptor)
    if stat.S_ISFIFO(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe")
    return status.st_size


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
