"""Whole lines out of arbitrary chunks, with a bound on memory, and the common part of parsers of lines.

NUL bytes are dropped: a file that was truncated while a benchmark held it open begins with a hole of them. So are byte
order marks, with which some programs on Windows begin a text.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .api import Begin, Misread, Moment, ReadLine

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
    """What a `Parser` of text does around each line; a subclass reads the line.

    It puts records into `_out`, and sees to `records` and `_undated`, see Parser. What its last line says is torn
    (`truncated_line`) if that lacks its end and gives any record of `_TORN`: more digits may have been to come.
    """

    _TORN: tuple[type, ...] = ()

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0
        self._undated = False
        self._out: list[Any] = []

    @property
    def undated(self) -> bool:
        """See Parser."""
        return self._undated or bool(self._lines.rest)

    def feed(self, data: bytes) -> list[Any]:
        """The records of the lines that these bytes complete."""
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                excerpt = block.excerpt.decode("utf-8", "replace")
                self._misread("line_too_long", f"{excerpt} ... (more than {LIMIT} bytes)")
                continue
            self._block(block)
        return self._taken()

    def settle(self) -> list[Any]:
        """See Parser: none, unless a subclass knows better."""
        return []

    def close(self) -> list[Any]:
        """The records of the last line, which may lack its end."""
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

    def _line(self, line: bytes) -> None:
        raise NotImplementedError

    def _taken(self) -> list[Any]:
        out, self._out = self._out, []
        return out

    def _misread(self, reason: str, text: str) -> None:
        self._undated = True
        self._out.append(Misread(reason, f"line {self._number}", text[:EXCERPT]))


def moments(lines: Iterable[ReadLine]) -> Iterator[Moment]:
    """When the lines of a text were written whose records have a `time`, seconds since the start of the run.

    Of several runs in one text only the last is dated.
    """
    found: list[Moment] = []
    for end, records in lines:
        for record in records:
            if isinstance(record, Begin):
                found.clear()
            elif (time := getattr(record, "time", None)) is not None:
                found.append(Moment(end, time, elapsed=True))
    yield from found
