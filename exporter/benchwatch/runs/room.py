"""How full the push folder is.

PushSettings limits the size of each run and of the whole folder, the number of files in a run and of runs in the
folder, and keeps some of the file system free. Measuring blocks on the disk.
"""

import os
import stat
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ..settings.settings import PushSettings

_REMEMBERED = 1000
"""Runs whose usage stays in memory."""
_TRUSTED = 60.0
"""Seconds after which a folder is measured again: others may have added or removed files."""


Reason = Literal["no_room", "gap", "other_content", "taken", "invalid", "failed"]


class NotStored(Exception):
    """Bytes that are not stored: why, and a sentence for the client.

    no_room: a limit, or the disk is full. gap: the file has only `size` bytes, and the piece begins beyond them.
    other_content: the file has other bytes there. taken: the worker exists. invalid: no record that can be used.
    failed: the file system failed.
    """

    def __init__(self, reason: Reason, sentence: str, size: int | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.size = size


def _no_room(sentence: str) -> NotStored:
    return NotStored("no_room", sentence)


class _Usage(NamedTuple):
    """What a folder held when it was measured, plus what pushes have added since."""

    bytes: int
    entries: int
    """Files in the folder of a run, or runs in the push folder."""
    measured: float
    """Seconds of the monotonic clock."""


class Room:
    """How full the push folder is, and whether there is room for more."""

    def __init__(self, settings: PushSettings) -> None:
        self.settings = settings
        self.written = 0
        """Bytes written in total."""
        self._runs: OrderedDict[Path, _Usage] = OrderedDict()
        self._folders: dict[Path, _Usage] = {}

    def need(self, path: Path, size: int) -> None:
        """Check that there is room for `size` more bytes in a file of a run; the file may be new. Raises NotStored."""
        run, settings = path.parent, self.settings
        new_file = not path.exists()
        new_run = new_file and not run.exists()
        usage = self._run(run)
        if usage.bytes + size > settings.max_run_bytes or usage.entries + new_file > settings.max_run_files:
            usage = self._run(run, remeasure=True)
        if usage.bytes + size > settings.max_run_bytes:
            most = settings.max_run_bytes
            raise _no_room(f"run {run.name} has {usage.bytes} bytes, and the limit is {most} (push.max_run_bytes)")
        if usage.entries + new_file > settings.max_run_files:
            raise _no_room(f"run {run.name} has {usage.entries} files, which is the limit (push.max_run_files)")
        whole = self._folder(run.parent)
        if whole.bytes + size > settings.max_folder_bytes or whole.entries + new_run > settings.max_runs:
            whole = self._folder(run.parent, remeasure=True)
        if whole.bytes + size > settings.max_folder_bytes:
            most = settings.max_folder_bytes
            raise NotStored(
                "no_room",
                f"the folder of pushes has {whole.bytes} bytes, and the limit is {most} (push.max_folder_bytes)",
            )
        if whole.entries + new_run > settings.max_runs:
            raise _no_room(f"the folder of pushes has {whole.entries} runs, which is the limit (push.max_runs)")
        free, kept = _free(run), settings.keep_free_bytes
        if free is not None and free - size < kept:
            raise NotStored(
                "no_room",
                f"the pushes' file system has {free} bytes free; {kept} must stay free (push.keep_free_bytes)",
            )
        self._runs[run] = usage._replace(entries=usage.entries + new_file)
        self._folders[run.parent] = whole._replace(entries=whole.entries + new_run)

    def add(self, path: Path, size: int) -> None:
        """Note that this many bytes were written to that file."""
        self.written += size
        for usages, folder in ((self._runs, path.parent), (self._folders, path.parent.parent)):
            if usage := usages.get(folder):
                usages[folder] = usage._replace(bytes=usage.bytes + size)

    def _run(self, run: Path, *, remeasure: bool = False) -> _Usage:
        now = time.monotonic()
        usage = self._runs.get(run)
        if usage is None or remeasure or now - usage.measured > _TRUSTED:
            usage = self._runs[run] = _Usage(*_measure(run), now)
        self._runs.move_to_end(run)
        if len(self._runs) > _REMEMBERED:
            self._runs.popitem(last=False)
        return usage

    def _folder(self, folder: Path, *, remeasure: bool = False) -> _Usage:
        now = time.monotonic()
        usage = self._folders.get(folder)
        if usage is None or (remeasure and now - usage.measured > _TRUSTED):
            runs = [entry.path for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]
            usage = self._folders[folder] = _Usage(sum(_measure(Path(run))[0] for run in runs), len(runs), now)
        return usage


def _free(folder: Path) -> int | None:
    """Bytes that this process can still write to the file system of a folder, which need not exist; None if unknown."""
    for each in (folder, *folder.parents):
        try:
            status = os.statvfs(each)
        except OSError:
            continue
        return status.f_bavail * status.f_frsize
    return None


def _measure(folder: Path) -> tuple[int, int]:
    """Bytes and number of the files in a folder; zeros if it does not exist."""
    sizes = []
    for entry in _entries(folder):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                sizes.append(status.st_size)
    return sum(sizes), len(sizes)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
