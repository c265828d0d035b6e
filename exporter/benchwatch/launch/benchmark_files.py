"""Files that the benchmark itself writes: linked into the run's folder while they grow, and kept there afterwards.

A log that the launcher requests is written to memory (/dev/shm) if there is room; an output file and a log that the
user requests are written where the user put them. While they grow, the run's folder has links to them. When the
benchmark has ended, the links are replaced: by the logs themselves, and by a copy of the output file. So the folder has
everything, whoever tidies up or copies it. A log whose place the user named has a link there. Copies are on disk before
another run begins.

Each run has its own folder in memory. A file in it names the run's folder, and stays locked (flock) while the launcher
or the benchmark lives. The next launcher in the same folder of runs moves the logs of unlocked folders to their runs.
"""

import errno
import fcntl
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..machine.host import Host
from ..tools.launcher import ExtraLog, LogRoom
from ..values.errors import UserError
from .child import signals_held
from .worker_record import RunRecord

MEMORY = Path("/dev/shm")
_OWNER = ".run"
_SHARE_OF_MEMORY = 4
_SHARE_OF_DISK = 2
_NUMBER = re.compile(r"\.(\d+)(?:\.\d+)?")


class OwnFiles:
    """The files that one benchmark writes, and their links."""

    def __init__(self, record: RunRecord, host: Host) -> None:
        self._record = record
        self._host = host
        self._log: Path | None = None
        self._log_name = ""
        self._log_named = False
        self._memory: Memory | None = None
        self._outputs: dict[Path, tuple[str, tuple[int, ...]]] = {}  # suffixes, and what they were before
        self._found: dict[Path, str] = {}  # names of links by file

    def offer(self, log: ExtraLog) -> LogRoom:
        """A place for a log that the command does not request.

        It is in memory if the log takes at most a quarter of what is free there, otherwise in the run's folder.
        """
        folder = self._record.folder
        room = shutil.disk_usage(folder).free / _SHARE_OF_DISK
        with suppress(OSError):  # there is no such memory
            free = min(shutil.disk_usage(MEMORY).free, self._host.available_memory()) / _SHARE_OF_MEMORY
            if log.size <= free:
                with signals_held():  # until it is known what has to be removed
                    self._memory = Memory(self._record)
                folder, room = self._memory.folder, free
                self._log, self._log_name = folder / self._record.worker, log.name
        return LogRoom(folder.absolute() / self._record.worker, room)

    def expect_log(self, prefix: Path, name: str, *, named: bool) -> None:
        """Expect a log that the command requests; `name` is for messages. Raises UserError if it would count twice.

        `named`: whether the command names its place, so that somebody may look for it there.
        """
        self._check(prefix, self._record.folder / self._record.worker)
        self._log, self._log_name, self._log_named = prefix.absolute(), name, named

    def expect_output(self, path: Path, suffix: str) -> None:
        """Expect a file that the benchmark writes. Raises UserError if it would count twice.

        `suffix` is that of its copy in the run's folder.
        """
        self._check(path, self._record.file(suffix))
        self._outputs[path.absolute()] = suffix, _written(path)

    def _check(self, path: Path, own: Path) -> None:
        if path.parent.resolve() == own.parent.resolve() and path.name != own.name:
            why = "is in the run's folder and would count twice"
            raise UserError(f"{path} {why}: write to another folder, or to {own}")

    def link(self, process: int) -> None:
        """Link the files that have appeared, written by `process` or its descendants. Raises OSError."""
        found = []
        if self._log:
            for file in self._log.parent.glob(f"{glob.escape(self._log.name)}.*"):
                number = _NUMBER.fullmatch(file.name, len(self._log.name))
                if number and (self._memory or self._host.descends(int(number[1]), process)):
                    found.append((file, number[0][1:]))
        found += [
            (file, suffix)
            for file, (suffix, before) in self._outputs.items()
            if file.is_file() and _written(file) != before
        ]
        for file, suffix in found:
            if file not in self._found:
                link = self._record.file(suffix)
                if not link.exists():  # else it is the file itself
                    link.symlink_to(file)
                self._found[file] = link.name

    def missing(self) -> str:
        """A sentence if a log was expected and not found; otherwise empty."""
        if not self._log or self._found.keys() - self._outputs.keys():
            return ""
        return f"the {self._log_name} {self._log}.* was not found: no percentiles"

    def keep(self) -> str:
        """Replace the links with the files or, of an output file, with a copy; returns what went wrong."""
        wrong, folder = "", _found_again(self._record.folder, self._found)
        for file, name in self._found.items():
            link = folder / name
            if not link.is_symlink():
                continue
            try:
                if file in self._outputs:
                    _copy_to_disk(file, link)
                else:
                    _move(file, link, from_memory=self._memory is not None)
            except OSError as error:
                wrong = f"{file} cannot be copied to {folder} and stays in place: {error.strerror}"
                continue
            if self._log_named and file not in self._outputs:
                with suppress(OSError):  # a folder in which links cannot be made
                    file.symlink_to(link.absolute())
        if self._memory:
            self._memory.give_back()
        return wrong


def _written(path: Path) -> tuple[int, ...]:
    """A fingerprint that changes when the file is written; empty if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Memory:
    """A folder in memory for the logs of one run."""

    def __init__(self, record: RunRecord) -> None:
        """Raises OSError."""
        self.folder = Path(tempfile.mkdtemp(prefix=f"benchwatch-{record.run}-", dir=MEMORY))
        self.folder.chmod(0o755)  # the exporter may be another user
        owner = self.folder / ".new"
        self._lock = os.open(owner, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.set_inheritable(self._lock, True)  # the benchmark may outlive the launcher
        os.write(self._lock, os.fsencode(record.folder.absolute()))
        owner.rename(self.folder / _OWNER)

    def give_back(self) -> None:
        """Remove the folder if it has no logs."""
        os.close(self._lock)
        with suppress(OSError):
            _remove(self.folder)


def rescue(runs: Path) -> Iterator[str]:
    """Move the logs of killed launchers from memory to their runs in this folder; yields sentences about it."""
    for folder in sorted(MEMORY.glob("benchwatch-*")):
        with suppress(OSError):  # it belongs to another user, or its launcher is alive
            if folder.lstat().st_uid != os.geteuid():
                continue
            with (folder / _OWNER).open("rb") as owner:
                run = Path(os.fsdecode(owner.read()))
                if run.parent == runs.absolute():  # else a lock would disturb its own launcher
                    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield from _bring(folder, run)
                    _remove(folder)


def _bring(folder: Path, run: Path) -> Iterator[str]:
    """Move the logs of one run; if the run was removed, delete them."""
    logs = [file for file in folder.iterdir() if file.name != _OWNER]
    run = _found_again(run, {file: file.name for file in logs})
    for file in logs:
        there = run / file.name
        try:
            if run.is_dir() and (there.is_symlink() or not there.exists()):
                _copy_to_disk(file, there)
            file.unlink()
        except OSError as error:
            left = f"{file}, which an earlier launcher left in memory"
            yield f"{left}, cannot be copied to {run}: {error.strerror}; it stays there"
            return
    if logs and run.is_dir():
        yield f"{run} now has its log, which an earlier launcher left in memory"


def _found_again(run: Path, links: Mapping[Path, str]) -> Path:
    """The folder of a run or, if it was renamed, the one beside it that has a link (`links`: its name) to a file."""
    if not run.is_dir():
        for file, name in links.items():
            for link in run.parent.glob(f"*/{glob.escape(name)}"):
                if link.is_symlink() and link.readlink() == file:
                    return link.parent
    return run


def _remove(folder: Path) -> None:
    if os.listdir(folder) == [_OWNER]:  # noqa: PTH208
        (folder / _OWNER).unlink()
        folder.rmdir()


def _move(file: Path, link: Path, *, from_memory: bool) -> None:
    """Put a file in the place of a link to it. Raises OSError."""
    if not from_memory:
        try:
            file.replace(link)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    _copy_to_disk(file, link)
    file.unlink()


def _copy_to_disk(file: Path, link: Path) -> None:
    """Put a copy on disk in place of a link. Raises OSError."""
    beside = link.with_name(f".{link.name}")
    try:
        shutil.copyfile(file, beside)
        shutil.copystat(file, beside)
        with beside.open("rb") as copy:
            os.fsync(copy.fileno())
        beside.replace(link)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
