"""Room for pushes: they leave some of the file system of their folder free."""

import os
from pathlib import Path
from typing import Literal

Reason = Literal["no_room", "gap", "other_content", "taken", "invalid", "failed"]


class NotStored(Exception):
    """Bytes that are not stored: why, and a sentence for the client.

    no_room: the disk is full, or as full as it may be. gap: the file has only `size` bytes, and the piece begins beyond
    them. other_content: the file has other bytes there. taken: the worker exists. invalid: no record that can be used.
    failed: the file system failed.
    """

    def __init__(self, reason: Reason, sentence: str, size: int | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.size = size


class Room:
    """The space that pushes may take: all but `kept` bytes of what is free."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.written = 0
        """Bytes that pushes have written."""

    def need(self, path: Path, size: int) -> None:
        """Check that there is room for `size` more bytes in a file, which may be new. Raises NotStored."""
        free = free_bytes(path.parent)
        if free is not None and free - size < self._kept:
            sentence = f"the pushes' file system has {free} bytes free; {self._kept} must stay free"
            raise NotStored("no_room", f"{sentence} (push.keep_free_bytes)")


def free_bytes(folder: Path) -> int | None:
    """Bytes that this process can still write to the file system of a folder, which need not exist; None if unknown."""
    for each in (folder, *folder.parents):
        try:
            status = os.statvfs(each)
        except OSError:
            continue
        return status.f_bavail * status.f_frsize
    return None
