"""The common part of parsers of text: splits a stream in arbitrary chunks into whole lines, with bounded memory.

It drops NUL bytes, as a file that is truncated while a benchmark has it open begins with a hole of them, and byte order
marks, with which some programs on Windows begin a text.
"""

from collections.abc import Sequence
from typing import Any

from .api import Misread

LIMIT = 1 << 20
"""Longest line that is kept, bytes without its end."""

_SLICE = 1 << 18  # well below LIMIT, so that a line above it always spans several slices; and it fits the cache
_BEGINNING = 200  # of a line that is too long
MARK = b"\xef\xbb\xbf"
"""The byte order mark in UTF-8."""
EXCERPT = 400
"""Longest quotation of a line, characters."""


class LineParser:
    """The common part of parsers of text. A subclass reads each line in `_read`."""

    _DATED: tuple[type, ...] = ()
    """Records of lines that say how long the benchmark has been running (see Parser.undated)."""
    _TORN: tuple[type, ...] = ()
    """Records of lines whose last digits may be missing if the stream ends without a newline: `truncated_line`."""

    def __init__(self) -> None:
        self.records = 0
        self._incomplete = bytearray()  # the incomplete last line
        self._is_dropping = False  # whether that is too long
        self._number = 0
        self._undated = False
        self._out: list[Any] = []

    def _read(self, text: str) -> Sequence[Any] | None:
        """The records of a line, which is not empty; None if the tool does not print such lines."""
        raise NotImplementedError

    @property
    def undated(self) -> bool:
        """See Parser."""
        return self._undated or bool(self._last_line)

    @property
    def _last_line(self) -> bytes:
        """The incomplete last line; empty if none has begun, or if it is too long."""
        return bytes(self._incomplete).replace(MARK, b"")

    def _end_last_line(self) -> bytes:
        """The same; it is taken as a line."""
        rest, self._incomplete, self._is_dropping = self._last_line, bytearray(), False
        return rest

    def feed(self, data: bytes) -> list[Any]:
        """See Parser."""
        if b"\0" in data:
            data = data.replace(b"\0", b"")
        for position in range(0, len(data), _SLICE):
            self._slice(data[position : position + _SLICE])
        return self._taken()

    def _slice(self, data: bytes) -> None:
        first = data.find(b"\n")
        if len(self._incomplete) + (first if first >= 0 else len(data)) > LIMIT:
            self._number += 1
            excerpt = (self._incomplete + data)[:_BEGINNING].decode("utf-8", "replace")
            self._misread("line_too_long", f"{excerpt} ... (more than {LIMIT} bytes)")
            self._incomplete, self._is_dropping = bytearray(), True
        if self._is_dropping:
            if first < 0:
                return
            data, self._is_dropping = data[first + 1 :], False
        if end := data.rfind(b"\n") + 1:
            block = b"".join((self._incomplete, data[:end]))
            self._incomplete = bytearray(data[end:])
            self._block(block.replace(MARK, b"") if MARK in block else block)
        else:
            self._incomplete += data

    def settle(self) -> list[Any]:
        """See Parser."""
        rest = self._last_line.rstrip()
        if not rest or not self._is_whole(rest):
            return []
        self._end_last_line()
        self._line(rest)
        return self._taken()

    def close(self) -> list[Any]:
        """See Parser."""
        if (found := self.settle()) or not (rest := self._end_last_line()):
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
