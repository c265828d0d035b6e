"""Whole lines out of arbitrary chunks, with a bound on memory.

NUL bytes are left out: a file that was truncated while a benchmark held it open begins with a hole of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

LIMIT = 1 << 20
"""Longest line that is kept, bytes without its end."""

_SLICE = 1 << 18  # well below LIMIT, so that a line above it always spans several slices; and it fits the cache
_EXCERPT = 200


class Overlong(NamedTuple):
    """Stands for one line of more than LIMIT bytes; `excerpt` is its beginning."""

    excerpt: bytes


class WholeLines:
    """Gives back the lines of a stream as soon as they are whole, in blocks that end with a newline."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | Overlong]:
        """Blocks of whole lines, and an Overlong in the place of each line that was dropped."""
        if b"\0" in data:
            data = data.replace(b"\0", b"")
        for position in range(0, len(data), _SLICE):
            yield from self._slice(data[position : position + _SLICE])

    @property
    def rest(self) -> bytes:
        """The last line as far as it is there, without its newline; empty if none has begun, or it is too long."""
        return b"" if self._dropping else b"".join(self._kept)

    def close(self) -> bytes:
        """The last line, which lacks its newline; empty if there is none."""
        rest = self.rest
        self._start_line(b"")
        return rest

    def _slice(self, data: bytes) -> Iterator[bytes | Overlong]:
        first = data.find(b"\n")
        if first < 0:
            if not self._dropping:
                self._kept.append(data)
                self._size += len(data)
                if self._size > LIMIT:
                    yield self._drop()
            return
        begin = 0
        if not self._dropping and self._size + first > LIMIT:
            self._kept.append(data[:first])
            yield self._drop()
        if self._dropping:
            begin = first + 1
        end = data.rfind(b"\n") + 1
        block = b"".join((*([] if begin else self._kept), data[begin:end]))
        self._start_line(data[end:])
        if block:
            yield block

    def _drop(self) -> Overlong:
        excerpt = b"".join(self._kept)[:_EXCERPT]
        self._kept = []
        self._dropping = True
        return Overlong(excerpt)

    def _start_line(self, begun: bytes) -> None:
        self._kept = [begun] if begun else []
        self._size = len(begun)
        self._dropping = False
