"""Pushed bytes: appended to files of the push folder, as long as there is room for them.

Bytes for which there is no room are refused before they are written; bytes that have been written are never lost.
Everything here blocks on the disk; call it from one thread at a time.
"""

import errno
import glob
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ..settings.record import load_runfile
from ..settings.settings import PushSettings, RunsSettings
from ..values.errors import ConfigError

_log = logging.getLogger("benchwatch.server")

STREAM = re.compile(r"out|err|json|[0-9]{1,10}(\.[0-9]{1,5})?")
"""The suffix, after the worker's name and a dot, of a file that is sent in pieces."""
_SUFFIX = re.compile(r"[a-z]+|[0-9]+(\.[0-9]+)?")
"""The suffix of any file of a worker: `db.2.out` does not belong to `db`."""
LARGEST_PIECE = 1024 * 1024
"""Bytes accepted in one piece of a stream."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FILE = 4096
"""Bytes that a file takes besides its own."""
_TRUSTED = 60.0
"""Seconds after which a full folder is measured again: others may have removed files."""
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

Reason = Literal["no_room", "gap", "other_content", "taken", "invalid", "failed"]


class NotStored(Exception):
    """Bytes that are not stored: why, and a sentence for the client.

    no_room: the disk or the folder is as full as it may be. gap: the file has only `size` bytes, and the piece begins
    beyond them. other_content: the file has other bytes there. taken: the worker exists. invalid: no record that can be
    used. failed: the file system failed.
    """

    def __init__(self, reason: Reason, sentence: str, size: int | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.size = size


class Room:
    """The space that pushes may take: `max_folder_bytes`, and what leaves `keep_free_bytes` free.

    `count` is told the bytes of each write.
    """

    def __init__(self, settings: PushSettings, count: Callable[[int], None]) -> None:
        self._settings = settings
        self._count = count
        self._used = 0
        self._measured: float | None = None  # when the folder was measured, seconds of the monotonic clock

    def need(self, path: Path, size: int) -> None:
        """Check that there is room for `size` more bytes in a file of a run; the file may be new. Raises NotStored."""
        most, kept = self._settings.max_folder_bytes, self._settings.keep_free_bytes
        new = _FILE * (not path.exists())
        now = time.monotonic()
        if self._measured is None or (self._used + size + new > most and now - self._measured > _TRUSTED):
            self._used, self._measured = _size(path.parent.parent), now
        if self._used + size + new > most:
            sentence = f"the folder of pushes takes {self._used} bytes, and the limit is {most}"
            raise NotStored("no_room", f"{sentence} (push.max_folder_bytes)")
        free = free_bytes(path.parent)
        if free is not None and free - size < kept:
            sentence = f"the pushes' file system has {free} bytes free; {kept} must stay free"
            raise NotStored("no_room", f"{sentence} (push.keep_free_bytes)")
        self._used += new

    def add(self, size: int) -> None:
        """Note that so many bytes were written."""
        self._count(size)
        self._used += size


def _size(folder: Path) -> int:
    """Bytes that all files in a folder take."""
    found = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += _FILE + Path(above, name).lstat().st_size
    return found


def free_bytes(folder: Path) -> int | None:
    """Bytes that this process can still write to the file system of a folder, which need not exist; None if unknown."""
    for each in (folder, *folder.parents):
        with suppress(OSError):
            status = os.statvfs(each)
            return status.f_bavail * status.f_frsize
    return None


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
        self._before = before
        self._repeated = 0  # bytes of `before` that this push has repeated
        self._begun = False  # whether it has bytes of its own
        self.span = before
        """What the push has written to the file, including the beginning that it repeats; None if nothing."""

    @contextmanager
    def _opened(self, size: int) -> Iterator[int]:
        """Its descriptor, to write so many bytes if it is new."""
        if self._refusal:
            raise self._refusal
        try:
            if not self._path.exists():
                self._room.need(self._path, size)
                with suppress(FileExistsError):  # opening the file says what is in the way
                    self._path.parent.mkdir(parents=True)
            descriptor = os.open(self._path, _FLAGS, 0o666)
            try:
                if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EINVAL, "it is a pipe")
                yield descriptor
            finally:
                os.close(descriptor)
        except NotStored as refusal:
            self._refusal = refusal
            raise
        except OSError as error:
            self._refusal = cannot_write(self._path, error)
            raise self._refusal from error

    def append(self, data: bytes) -> None:
        """Append all of it; the first piece begins on a line of its own."""
        with self._opened(len(data)) as descriptor:
            before = self._before
            if before and os.fstat(descriptor).st_size == before.end:
                at = before.start + self._repeated
                present = os.pread(descriptor, min(len(data), before.end - at), at)
                if data.startswith(present):
                    self._repeated += len(present)
                    if at + len(present) == before.end:
                        self._before, self._begun = None, True
                    self._write(descriptor, data[len(present) :], check=True)
                    return
            self._room.need(self._path, len(data))
            self._begin(descriptor)
            self._write(descriptor, data)

    def finish(self) -> None:
        """End the push. If it has repeated only a part of `before`, append that part: it is another push."""
        if self._before and self._repeated:
            with self._opened(0) as descriptor:
                self._begin(descriptor)

    def _begin(self, descriptor: int) -> None:
        """Begin what is new on a line of its own, with what was taken for a repetition."""
        if self._begun:
            return
        before, self._before, self._begun, self.span = self._before, None, True, None
        size = os.fstat(descriptor).st_size
        if size > 0 and os.pread(descriptor, 1, size - 1) != b"\n":
            self._write(descriptor, b"\n")
            size += 1
        self.span = PushedPart(size, size)
        if before:
            end = before.start + self._repeated
            for at in range(before.start, end, LARGEST_PIECE):
                self._write(descriptor, os.pread(descriptor, min(LARGEST_PIECE, end - at), at), check=True)

    def place(self, data: bytes, offset: int) -> None:
        """Write the bytes at that offset, which may be at most the end. Bytes already there must be the same."""
        with self._opened(len(data)) as descriptor:
            name, size = f"{self._path.parent.name}/{self._path.name}", os.fstat(descriptor).st_size
            if offset > size:
                sentence = f"{name} has {size} bytes: expected an offset of at most {size}, got {offset}"
                raise NotStored("gap", sentence, size)
            present = os.pread(descriptor, len(data), offset)
            if not data.startswith(present):
                raise NotStored("other_content", f"{name} already exists, with other content: push under another name")
            self._write(descriptor, data[len(present) :], check=True)

    def _write(self, descriptor: int, data: bytes, *, check: bool = False) -> None:
        if data and check:
            self._room.need(self._path, len(data))
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


def put_record(
    path: Path, data: bytes, room: Room, failed_start: Callable[[Path, str], str | None] | None = None
) -> str:
    """Replace a worker's record; returns why the start failed that it replaces, or an empty text.

    Raises NotStored if the new record cannot be used.

    With `failed_start` (history.find), raises NotStored unless the worker has no files, only the same or an empty
    record, or a start that failed before anything was measured; the files of that start are removed.
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
    own = (file for file in found if file.stem not in others)
    return [file for file in own if _SUFFIX.fullmatch(file.name, len(worker) + 1)]


def _check_record(path: Path, name: str) -> None:
    try:
        load_runfile(path, RunsSettings())
    except ConfigError as error:
        raise NotStored("invalid", " ".join(str(error).replace(str(path), name).split())[:500]) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise NotStored("invalid", f"{name}: expected a record in YAML: {type(error).__name__}: {reason}") from error
