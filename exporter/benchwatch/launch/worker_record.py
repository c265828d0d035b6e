"""A worker's record, `runs/<run>/<worker>.yaml` (see settings.record): created before the start, completed at the end.

The launcher that creates the file owns the name, so two launchers cannot record the same worker. The output file stays
locked (flock) while its launcher lives, so nothing replaces what is still being recorded.
"""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from ..runs.append import files_of
from ..settings.record import SUFFIX, Record, load_runfile, read_record
from ..settings.settings import RunsSettings
from ..values.errors import UserError

_FULL = (errno.ENOSPC, errno.EDQUOT)


class _Dumper(yaml.SafeDumper):
    """Writes an object twice instead of an alias, which readers refuse."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class RunRecord:
    """A worker's record, and the paths of its other files."""

    def __init__(self, runs: Path, run: str, worker: str) -> None:
        self.folder = runs / run
        self.run = run
        self.worker = worker
        self._content: dict[str, Any] = {}
        self._lock: int | None = None
        self._replaced: dict[Path, Path] = {}  # files of an earlier run, and their names until this run starts

    @property
    def path(self) -> Path:
        """The file."""
        return self.file(SUFFIX.lstrip("."))

    def file(self, suffix: str) -> Path:
        """Another file of the worker."""
        return self.folder / f"{self.worker}.{suffix}"

    def check_is_new(self, overwrite: bool = False) -> str:
        """Raises UserError if this worker has files already that may not be replaced.

        Those of a start that failed or was never made, which measured nothing, may be; with `overwrite`, all may be,
        unless they are still being recorded. Returns a sentence about what will be replaced; empty if nothing is there.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} already exists and is not a folder: choose another --name")
        taken = files_of(self.folder, self.worker)
        if not taken:
            return ""
        output = self.file("out")
        with suppress(OSError), output.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(f"{self.path} is still being recorded: choose another --name or --worker") from None
        from ..history.find import failed_start

        replaces = f"replaces {self.folder / self.worker}.*"
        if overwrite:
            return replaces
        if (why := failed_start(self.folder, self.worker)) is not None:
            return f"{replaces}: that start failed before anything was measured ({why})"
        record = recorded(self.path)
        empty = all(file == self.path or (file.exists() and not file.stat().st_size) for file in taken)
        if empty and output in taken and record and record.start is None:
            return f"{replaces}: that launcher ended before it started the benchmark"
        raise UserError(f"{taken[0]} already exists: choose another --name or --worker, or add --overwrite")

    def create(self, overwrite: bool = False) -> str:
        """Take the name; returns what was replaced (see check_is_new).

        Raises UserError if it is taken, or the folder cannot be written to.
        """
        replaced = self.check_is_new(overwrite)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for file in files_of(self.folder, self.worker):
                self._replaced[file] = file.replace(file.with_name(f".{file.name}.replaced"))
            self.path.open("x").close()
            self._lock = os.open(self.file("out"), os.O_WRONLY | os.O_CREAT, 0o666)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileExistsError as error:
            if Path(error.filename) != self.path:  # such as a link to nothing
                why = f"{error.filename} already exists and is not a folder: choose another --name or --runs.path"
                raise UserError(why) from None
            raise UserError(f"{self.path} already exists: choose another --name or --worker") from None
        except OSError as error:
            self._restore()
            raise self.unwritable(error) from error
        return replaced

    def joins(self) -> str:
        """A sentence if the run has workers that have ended, which this one only follows; otherwise empty."""
        others = {path.stem: recorded(path) for path in self.folder.glob(f"*{SUFFIX}") if path != self.path}
        ended = sorted(name for name, one in others.items() if one and one.end is not None)
        before = f"{self.folder} has {', '.join(ended)}, which had already ended"
        return f"{before}: results will not add {self.worker} to theirs" if ended else ""

    def unwritable(self, error: OSError) -> UserError:
        """The error that says why nothing was started, and what to do."""
        why = f"{self.folder} cannot be written to: {error.strerror}"
        return UserError(f"{why}; nothing was started; choose another folder with --runs.path")

    def started(self) -> None:
        """The benchmark runs: delete what it replaces."""
        for kept in self._replaced.values():
            kept.unlink(missing_ok=True)
        self._replaced = {}

    def release(self) -> None:
        """Nothing more will be recorded."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write(self, **content: Any) -> None:
        """Add to the content and replace the file atomically or, on a full disk, append to it. Raises OSError."""
        self._content |= {name: value for name, value in content.items() if value not in (None, "", {}, [])}
        beside = self.folder / f".{self.path.name}"
        text = yaml.dump(self._content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.write(text)
            beside.replace(self.path)
        except BaseException as error:  # Ctrl-C too: what is left here would keep `remove` from removing the folder
            beside.unlink(missing_ok=True)
            if not (isinstance(error, OSError) and error.errno in _FULL and self._append(text.encode())):
                raise

    def _append(self, content: bytes) -> bool:
        """Append what is new, if there is room in the file's last block; returns whether there was. Raises OSError."""
        with self.path.open("r+b", buffering=0) as file:
            present = file.read()
            if not content.startswith(present):
                return False
            try:
                if file.write(content[len(present) :]) == len(content) - len(present):
                    return True
            except OSError as error:
                if error.errno not in _FULL:
                    raise
            file.truncate(len(present))
        return False

    def check(self) -> None:
        """Raises UserError if the exporter would reject it."""
        load_runfile(self.path, RunsSettings())

    def remove(self) -> None:
        """Release the name: nothing was started, so nothing is replaced."""
        self.release()
        for file in (self.path, self.file("out"), self.file("err")):
            file.unlink(missing_ok=True)
        self._restore()
        with suppress(OSError):  # other workers' files remain
            self.folder.rmdir()

    def _restore(self) -> None:
        for file, kept in self._replaced.items():
            kept.replace(file)
        self._replaced = {}


def recorded(path: Path) -> Record | None:
    """The content of a record; None if it cannot be read."""
    try:
        return read_record(path)
    except (UserError, OSError):
        return None
