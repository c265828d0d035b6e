"""Logs in memory (/dev/shm) while a benchmark runs, and logs that a killed launcher left there.

Each run has its own folder there. A file in it names the run's folder, and stays locked (flock) while the launcher or
the benchmark lives. The next launcher in the same folder of runs moves the logs of unlocked folders to their runs.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from .record import RunRecord

MEMORY = Path("/dev/shm")
_OWNER = ".run"


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


def _remove(folder: Path) -> None:
    if os.listdir(folder) == [_OWNER]:  # noqa: PTH208
        (folder / _OWNER).unlink()
        folder.rmdir()


def rescue(runs: Path) -> list[str]:
    """Move the logs of killed launchers from memory to their runs in this folder; returns sentences about it."""
    done, runs = [], runs.absolute()
    for folder in sorted(MEMORY.glob("benchwatch-*")):
        with suppress(OSError):  # it belongs to another user, or its launcher is alive
            if folder.lstat().st_uid != os.geteuid():
                continue
            with (folder / _OWNER).open("rb") as owner:
                run = Path(os.fsdecode(owner.read()))
                if run.parent == runs:  # else a lock would disturb its own launcher
                    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    done += _bring(folder, run)
                    _remove(folder)
    return done


def _bring(folder: Path, run: Path) -> list[str]:
    """Move the logs of one run; if the run was removed, delete them."""
    logs = [file for file in folder.iterdir() if file.name != _OWNER]
    for file in logs:
        there = run / file.name
        try:
            if run.is_dir() and (there.is_symlink() or not there.exists()):
                copy_to_disk(file, there)
            file.unlink()
        except OSError as error:
            return [
                f"{file}, of a launcher that was killed, cannot be copied to {run}: {error.strerror}; it stays there"
            ]
    return [f"{run} now has its log, which a launcher that was killed left in memory"] if logs and run.is_dir() else []


def copy_to_disk(file: Path, to: Path) -> None:
    """Put a copy on disk in place of a link. Raises OSError."""
    beside = to.with_name(f".{to.name}")
    try:
        shutil.copyfile(file, beside)
        shutil.copystat(file, beside)
        with beside.open("rb") as copy:
            os.fsync(copy.fileno())
        beside.replace(to)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
