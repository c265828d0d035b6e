"""Cuts fio's output into documents and the lines between them.

fio (stat.c, json.c) prints a document as a line `{` followed by `  "fio version" : ...`, with every inner line
indented, up to a line `}` in column 0. `--status-interval` prints one after the other, to the stream to which fio also
writes notes, errors, ETA (ended by carriage returns) and, on request, normal and terse output. After a crash the `{` of
the next run may be in the middle of an old line, so a document may begin anywhere.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from mmap import mmap
from typing import NamedTuple

from ..api import Moment

DOCUMENT_LIMIT = 64 * 2**20
"""Bytes after which a document without an end is broken off."""
LINE_LIMIT = 2**16
"""Bytes after which a line without an end is cut."""

START = re.compile(rb'\{\r?\n  "fio version"')
VERSION = re.compile(rb'"fio version"\s{0,64}:')
_PERHAPS_START = re.compile(rb'\{\r?(?:\n(?: {0,2}|  "[fio versn]{0,11}))?\Z')
_LONGEST_START = 20
_END = re.compile(rb"\n\}")  # three times as fast as bytearray.find
_LINE_END = re.compile(rb"[\r\n]")
_TIMESTAMP = re.compile(rb'"timestamp(_ms)?"\s?:\s?(\d{1,15})(?!\d)')
_HEAD = 1024


class Text(NamedTuple):
    """A line outside the documents, without its end, never empty; `offset` is where it begins, bytes."""

    offset: int
    data: bytes


class Printed(NamedTuple):
    """A document from its first bracket to its last, behind those that were cut off by the beginning of the next.

    Without an end, `fault` is truncated_document or document_too_long.
    """

    offset: int
    data: bytes
    fault: str = ""


Piece = Text | Printed


class Framer:
    """Cuts a stream that arrives in arbitrary chunks; it reads each byte a bounded number of times."""

    def __init__(self, limit: int = DOCUMENT_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self.offset = 0
        """Where the unfinished piece begins, bytes."""
        self._scanned = 0
        self._in_document = False

    @property
    def is_empty(self) -> bool:
        """Whether no piece is unfinished."""
        return not self._buffer

    @property
    def has_line(self) -> bool:
        """Whether it has the beginning of an incomplete line."""
        return bool(self._buffer) and not self._in_document

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that these bytes complete."""
        buffer = self._buffer
        buffer += data
        pieces: list[Piece] = []
        while True:
            if self._in_document:
                if end := _END.search(buffer, self._scanned, self._limit):
                    self._take(end.end(), pieces)
                elif len(buffer) >= self._limit:
                    self._take(self._limit, pieces, "document_too_long")
                else:
                    self._scanned = len(buffer) - 1
                    return pieces
            elif start := START.search(buffer, self._scanned):
                self._take(start.start(), pieces)
                self._in_document = True
            else:
                perhaps = _PERHAPS_START.search(buffer, max(self._scanned, len(buffer) - _LONGEST_START))
                held = perhaps.start() if perhaps else len(buffer)
                line_end = max(buffer.rfind(b"\n", 0, held), buffer.rfind(b"\r", 0, held)) + 1
                self._take(line_end + (held - line_end) // LINE_LIMIT * LINE_LIMIT, pieces)
                self._scanned = max(0, len(buffer) - _LONGEST_START)
                return pieces

    def close(self) -> list[Piece]:
        """The last piece of the stream: a line without its end, or a broken document."""
        pieces: list[Piece] = []
        self._take(len(self._buffer), pieces, "truncated_document")
        return pieces

    def _take(self, length: int, pieces: list[Piece], fault: str = "") -> None:
        """Add a document of that many bytes, or text."""
        data = bytes(self._buffer[:length])
        if self._in_document:
            pieces.append(Printed(self.offset, data, fault))
        else:
            place = self.offset
            for line in _LINE_END.split(data):
                parts = (line[cut : cut + LINE_LIMIT] for cut in range(0, len(line), LINE_LIMIT))
                pieces += (Text(place + number * LINE_LIMIT, part) for number, part in enumerate(parts))
                place += len(line) + 1
        del self._buffer[:length]
        self.offset += length
        self._scanned = 0
        self._in_document = False


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """When the documents of a stream were written: they begin with `timestamp_ms`, in 3.0 with `timestamp`.

    The document of a client has no such time (see `document`).
    """
    begins = [match.start() for match in START.finditer(data)]
    for begin, following in pairwise([*begins, len(data)]):
        end = data.rfind(b"\n}", begin, following) + 2  # near the end, as text between documents is short
        times = dict(_TIMESTAMP.findall(data[begin : min(end, begin + _HEAD)]))
        if times and data.find(b'"client_stats"', begin, end) < 0:
            yield Moment(end, int(times[b"_ms"]) / 1000 if b"_ms" in times else float(times[b""]))
