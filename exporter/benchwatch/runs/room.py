"""Room for pushes: one budget of bytes for their folder, and some of its file system stays free."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..settings.settings import PushSettings

_FILE = 4096
"""Bytes that a file takes besides its own."""
_TRUSTED = 60.0
"""Seconds after which a full folder is measured again: others may have removed files."""

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
        self._measured: float | None = None
        """When the folder was measured, seconds of the monotonic clock."""

    def need(self, path: Path, size: int) -> None:
        """Check that there is room for `size` more bytes in a file of a run; the file may be new. Raises NotStored."""
        new, most, kept = not path.exists(), self._settings.max_folder_bytes, self._settings.keep_free_bytes
        wanted = size + new * _FILE
        now = time.monotonic()
        if self._measured is None or (self._used + wanted > most and now - self._measured > _TRUSTED):
            self._used, self._measured = _size(path.parent.parent), now
        if self._used + wanted > most:
            sentence = f"the folder of pushes takes {self._used} bytes, and the limit is {most}"
            raise NotStored("no_room", f"{sentence} (push.max_folder_bytes)")
        free = free_bytes(path.parent)
        if free is not None and free - size < kept:
            sentence = f"the pushes' file system has {free} bytes free; {kept} must stay free"
            raise NotStored("no_room", f"{sentence} (push.keep_free_bytes)")
        self._used += new * _FILE

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
        try:
            status = os.statvfs(each)
        except OSError:
            continue
        return status.f_bavail * status.f_frsize
    return None
