"""Puts pushed bytes into files of the push folder, as long as there is room for them.

The size of one push, one run and the whole folder is bounded, as are the files of a run and the runs of the folder, and
some of the file system stays free (Limits). What does not fit is refused before it is written; nothing that was written
is lost. Everything here waits for the disk; call it from one thread at a time.
"""

import errno
import glob
import logging
import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..settings.record import load_runfile
from ..settings.settings import PushSettings, RunsSettings
from ..values.errors import ConfigError

_log = logging.getLogger("benchwatch.server")

STREAM = re.compile(r"out|err|json|[0-9]{1,10}(\.[0-9]{1,5})?")
"""What may follow a worker's name in the name of a file that is sent in pieces."""
_SUFFIX = re.compile(r"[a-z]+|[0-9]+(\.[0-9]+)?")
"""What may follow it in the name of any file of that worker."""
GAP = "so that none can be put at"
"""In the refusal of a piece whose predecessors are not there."""
LARGEST_PIECE = 1024 * 1024
"""Bytes accepted in one piece of a stream."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REMEMBERED = 1000
_TRUSTED = 60.0
"""Seconds after which a run is measured again: others may have added or removed files."""
_FREE_KNOWN = 1.0
"""Seconds for which a measurement of the free space is used, less what is written meanwhile."""


FailedStart = Callable[[Path, str], str | None]
"""How a worker of the run in a folder ended that has measured nothing; None if it may have (history.failed)."""


class Refused(Exception):
    """A push that is refused, or cut short: an HTTP status and a sentence for the client."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Taken(NamedTuple):
    """The size of a folder when it was measured, and what pushes have added."""

    bytes: int
    entries: int
    """Files of a run, or runs."""
    measured: float


class Room:
    """How full the push folder is, and whether it may take more."""

    def __init__(self, settings: PushSettings) -> None:
        self.settings = settings
        self.written = 0
        """Bytes written in total."""
        self._runs: OrderedDict[Path, _Taken] = OrderedDict()
        self._folders: dict[Path, _Taken] = {}
        self._free: int | None = None
        self._free_known = float("-inf")

    def need(self, path: Path, size: int) -> None:
        """Check that a file of a run, which may be new, can take further bytes. Raises Refused."""
        run, settings = path.parent, self.settings
        new_file = not path.exists()
        new_run = new_file and not run.exists()
        taken = self._run(run)
        if taken.bytes + size > settings.max_run_bytes or taken.entries + new_file > settings.max_run_files:
            taken = self._run(run, anew=True)
        if taken.bytes + size > settings.max_run_bytes:
            most = settings.max_run_bytes
            raise Refused(507, f"run {run.name} has {taken.bytes} bytes, and the limit is {most} (push.max_run_bytes)")
        if taken.entries + new_file > settings.max_run_files:
            raise Refused(507, f"run {run.name} has {taken.entries} files, which is the limit (push.max_run_files)")
        whole = self._folder(run.parent)
        if whole.bytes + size > settings.max_folder_bytes or whole.entries + new_run > settings.max_runs:
            whole = self._folder(run.parent, anew=True)
        if whole.bytes + size > settings.max_folder_bytes:
            most = settings.max_folder_bytes
            raise Refused(
                507, f"the folder of pushes has {whole.bytes} bytes, and the limit is {most} (push.max_folder_bytes)"
            )
        if whole.entries + new_run > settings.max_runs:
            raise Refused(507, f"the folder of pushes has {whole.entries} runs, which is the limit (push.max_runs)")
        now = time.monotonic()
        if now - self._free_known > _FREE_KNOWN:
            self._free, self._free_known = _free(run), now
        free = self._free
        if free is not None and free - size < settings.keep_free_bytes:
            kept = settings.keep_free_bytes
            raise Refused(
                507, f"the pushes' file system has {free} bytes free; {kept} must stay free (push.keep_free_bytes)"
            )
        self._free = None if free is None else free - size
        self._runs[run] = taken._replace(entries=taken.entries + new_file)
        self._folders[run.parent] = whole._replace(entries=whole.entries + new_run)

    def add(self, path: Path, size: int) -> None:
        """Note that this many bytes were written to that file."""
        self.written += size
        for known, folder in ((self._runs, path.parent), (self._folders, path.parent.parent)):
            taken = known.get(folder)
            if taken:
                known[folder] = taken._replace(bytes=taken.bytes + size)

    def _run(self, run: Path, *, anew: bool = False) -> _Taken:
        now = time.monotonic()
        taken = self._runs.get(run)
        if taken is None or anew or now - taken.measured > _TRUSTED:
            taken = self._runs[run] = _Taken(*_measure(run), now)
        self._runs.move_to_end(run)
        if len(self._runs) > _REMEMBERED:
            self._runs.popitem(last=False)
        return taken

    def _folder(self, folder: Path, *, anew: bool = False) -> _Taken:
        now = time.monotonic()
        taken = self._folders.get(folder)
        if taken is None or (anew and now - taken.measured > _TRUSTED):
            runs = [entry.path for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]
            taken = self._folders[folder] = _Taken(sum(_measure(Path(run))[0] for run in runs), len(runs), now)
        return taken


class PushedPart(NamedTuple):
    """A part of a file, as offsets in bytes."""

    start: int
    end: int


class PushFile:
    """The file that one push is appended to. Raises Refused when there is no room or the file system refuses.

    It is opened for every piece, so that a waiting push has no file open; after a failed piece, no other is written.
    `before` is what the previous push wrote to the end of the file before it broke off: if this push begins with the
    same bytes, it repeats them, and they are not appended again. One that ends before it has repeated all of them is
    another push, and is stored.
    """

    def __init__(self, path: Path, room: Room, before: PushedPart | None = None) -> None:
        self._path = path
        self._room = room
        self._refusal: Refused | None = None
        self._begun = False
        self._before = before
        self._repeated = 0
        """Bytes of `before` that this push has repeated."""
        self._whole = False
        self.span = before
        """What it has written to the file, including the beginning that it repeats; None if nothing."""

    def append(self, data: bytes) -> None:
        """Append all of it; the first piece begins on a line of its own."""
        self._put(data, None)

    def finish(self) -> None:
        """End the push. If it repeated only a part of `before`, that part is appended as its own."""
        if self._before and self._repeated:
            self._whole = True
            self._put(b"", None)

    def place(self, data: bytes, offset: int) -> None:
        """Write these bytes at that offset, which is at the end, or within the file if it has the same bytes there."""
        self._put(data, offset)

    def _put(self, data: bytes, offset: int | None) -> None:
        if self._refusal:
            raise self._refusal
        try:
            self._put_now(data, offset)
        except Refused as refusal:
            self._refusal = refusal
            raise

    def _put_now(self, data: bytes, offset: int | None) -> None:
        try:
            self._room.need(self._path, len(data))
            descriptor = self._open()
            try:
                self._write(descriptor, self._new(descriptor, data, offset))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        try:
            return os.open(self._path, flags, 0o666)
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, flags, 0o666)

    def _new(self, descriptor: int, data: bytes, offset: int | None) -> bytes:
        """The part of it that has to be appended."""
        found = os.fstat(descriptor)
        if stat.S_ISFIFO(found.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe")
        if offset is None:
            return self._appended(descriptor, data, found.st_size)
        name = f"{self._path.parent.name}/{self._path.name}"
        there = os.pread(descriptor, len(data), offset)
        if offset > found.st_size:
            raise Refused(409, f"{name} has {found.st_size} bytes, {GAP} {offset}")
        if there != data[: len(there)]:
            raise Refused(409, f"{name} already exists, with other content: push under another name")
        return data[len(there) :]

    def _appended(self, descriptor: int, data: bytes, size: int) -> bytes:
        """The new part of the next piece; the first new bytes begin on a line of their own."""
        before, repeated = self._before, self._repeated
        if before and size == before.end and not self._whole:
            at = before.start + repeated
            there = os.pread(descriptor, min(len(data), before.end - at), at)
            if data.startswith(there):
                self._repeated += len(there)
                if at + len(there) == before.end:
                    self._before, self._begun = None, True
                return data[len(there) :]
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
                self._room.need(self._path, len(data))
        return data

    def _write(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            count = os.write(descriptor, rest)
            self._room.add(self._path, count)
            if self.span:
                self.span = self.span._replace(end=self.span.end + count)
            rest = rest[count:]


def cannot_write(path: Path, error: OSError) -> Refused:
    """The refusal of a push that the file system does not take."""
    _log.error("a push cannot be written to %s: %s", path, error.strerror)
    where = f"{path.parent.name}/{path.name}"
    return Refused(507 if error.errno in _FULL else 500, f"{where} cannot be written: {error.strerror}")


def put_record(path: Path, data: bytes, room: Room, failed_start: FailedStart | None = None) -> str:
    """Replace the record; returns a sentence about it. Raises Refused if the new one cannot be used.

    With `failed_start`, only where there is nothing of the worker yet, just that record or an empty one, or a start
    that failed, whose files go.
    """
    run, worker, replaced = path.parent.name, path.stem, ""
    beside = path.with_name(f".{path.name}.pushed")
    try:
        room.need(path, len(data))
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        there = [file for file in files_of(path.parent, worker) if file != path]
        if failed_start and before != data and (before or there):
            why = failed_start(path.parent, worker)
            if why is None:
                raise Refused(412, f"worker {worker} of run {run} already exists: push under another name")
            replaced = f", and replaces a start that failed before anything was measured ({why})"
        try:
            beside.write_bytes(data)
            _check_record(beside, f"{run}/{path.name}")
            for file in there if replaced else ():
                if STREAM.fullmatch(file.name, len(worker) + 1):
                    file.unlink(missing_ok=True)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        room.add(path, len(data))
    except OSError as error:
        raise cannot_write(path, error) from error
    return f"{run}/{path.name} is stored{replaced}"


def files_of(folder: Path, worker: str) -> list[Path]:
    """All files of a worker, by name. `db.2.out` and, beside it, the log `db.2.7` belong to `db.2`, not to `db`."""
    found = sorted(folder.glob(f"{glob.escape(worker)}.*"))
    others = {file.stem for file in found if file.suffix[1:].isalpha()} - {worker}
    return [file for file in found if _SUFFIX.fullmatch(file.name, len(worker) + 1) and file.stem not in others]


def _check_record(path: Path, name: str) -> None:
    try:
        load_runfile(path, RunsSettings())
    except ConfigError as error:
        raise Refused(400, " ".join(str(error).replace(str(path), name).split())[:500]) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise Refused(400, f"{name}: expected a record in YAML: {type(error).__name__}: {reason}") from error


def _free(folder: Path) -> int | None:
    """Bytes available to us on the file system of a folder, which need not exist yet; None if unknown."""
    for each in (folder, *folder.parents):
        try:
            found = os.statvfs(each)
        except OSError:
            continue
        return found.f_bavail * found.f_frsize
    return None


def _measure(folder: Path) -> tuple[int, int]:
    """Bytes and number of the files in a folder; zeros if it does not exist."""
    sizes = []
    for entry in _entries(folder):
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            sizes.append(found.st_size)
    return sum(sizes), len(sizes)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
