"""Splits a stream in arbitrary chunks into whole lines, with bounded memory; and the common part of parsers of text.

It drops NUL bytes, as a file that is truncated while a benchmark has it open begins with a hole of them, and byte order
marks, with which some programs on Windows begin a text.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .api import Misread

LIMIT = 1 << 20
"""Longest line that is kept, bytes without its end."""

_SLICE = 1 << 18  # well below LIMIT, so that a line above it always spans several slices; and it fits the cache
_BEGINNING = 200  # of a line that is too long
MARK = b"\xef\xbb\xbf"
"""The byte order mark in UTF-8."""
EXCERPT = 400
"""Longest quotation of a line, characters."""


class Overlong(NamedTuple):
    """Stands for one line of more than LIMIT bytes; `excerpt` is its beginning."""

    excerpt: bytes


class WholeLines:
    """Returns the lines of a stream as soon as they are complete, in blocks that end with a newline."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | Overlong]:
        """Blocks of complete lines, with an Overlong in place of each dropped line."""
        if b"\0" in data:
            data = data.replace(b"\0", b"")
        for position in range(0, len(data), _SLICE):
            yield from self._slice(data[position : position + _SLICE])

    @property
    def rest(self) -> bytes:
        """The incomplete last line; empty if none has begun, or if it is too long."""
        return b"" if self._dropping else b"".join(self._kept).replace(MARK, b"")

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
        if MARK in block:
            block = block.replace(MARK, b"")
        self._start_line(data[end:])
        if block:
            yield block

    def _drop(self) -> Overlong:
        excerpt = b"".join(self._kept)[:_BEGINNING]
        self._kept = []
        self._dropping = True
        return Overlong(excerpt)

    def _start_line(self, begun: bytes) -> None:
        self._kept = [begun] if begun else []
        self._size = len(begun)
        self._dropping = False


class LineParser:
    """The common part of parsers of text. A subclass reads each line in `_read`."""

    _DATED: tuple[type, ...] = ()
    """Records of lines that say how long the benchmark has been running (see Parser.undated)."""
    _TORN: tuple[type, ...] = ()
    """Records of lines whose last digits may be missing if the stream ends without a newline: `truncated_line`."""

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0
        self._undated = False
        self._out: list[Any] = []

    def _read(self, text: str) -> Sequence[Any] | None:
        """The records of a line, which is not empty; None if the tool does not print such lines."""
        raise NotImplementedError

    @property
    def undated(self) -> bool:
        """See Parser."""
        return self._undated or bool(self._lines.rest)

    def feed(self, data: bytes) -> list[Any]:
        """See Parser."""
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                excerpt = block.excerpt.decode("utf-8", "replace")
                self._misread("line_too_long", f"{excerpt} ... (more than {LIMIT} bytes)")
                continue
            self._block(block)
        return self._taken()

    def settle(self) -> list[Any]:
        """See Parser."""
        rest = self._lines.rest.rstrip()
        if not rest or not self._is_whole(rest):
            return []
        self._lines.close()
        self._line(rest)
        return self._taken()

    def close(self) -> list[Any]:
        """See Parser."""
        if (found := self.settle()) or not (rest := self._lines.close()):
            return found
        self._number += 1
        before = self.records
        self._line(rest)
        if any(isinstance(record, self._TORN) for record in self._out):
            self.records = before
            self._out.clear()
            self._misread("truncated_line", rest.decode("utf-8", "replace"))
        return self._taken()

    def _block(self, block: bytes) -> None:
        for line in block[:-1].split(b"\n"):
            self._number += 1
            self._line(line)

    def _is_whole(self, line: bytes) -> bool:
        """Whether the form of the last line shows that it lacks nothing but its newline."""
        return False

    def _line(self, line: bytes) -> None:
        if text := line.decode("utf-8", "replace").strip("\r").rstrip():
            if (found := self._read(text)) is None:
                self._misread("other_text", text)
            else:
                self._take(found)

    def _is_dated(self, record: Any) -> bool:
        """Whether it says how long the benchmark has been running."""
        return isinstance(record, self._DATED)

    def _take(self, found: Sequence[Any]) -> None:
        """Note the records of a line or document."""
        self.records += 1
        self._undated = not any(map(self._is_dated, found))
        self._out += found

    def _taken(self) -> list[Any]:
        out, self._out = self._out, []
        return out

    def _misread(self, reason: str, text: str) -> None:
        self._undated = True
        self._out.append(Misread(reason, f"line {self._number}", text[:EXCERPT]))
