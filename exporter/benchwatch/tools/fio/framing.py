"""Cuts fio's output into documents and the lines between them.

fio (stat.c, json.c) prints a document as a line `{` followed by `  "fio version" : ...`, with every inner line
indented, up to a line `}` in column 0. `--status-interval` prints one after the other, to the stream to which fio also
writes notes, errors, ETA (ended by carriage returns) and, on request, normal and terse output. After a crash the `{` of
the next run may be in the middle of an old line, so a document may begin anywhere.

Other programs store documents in other layouts. Such JSON begins a line with `{` and a key, or with `[` and `{`. It
ends with that line or, if more lines follow, with the bracket in the column in which it began, or before a line that
begins a document of fio's layout. It is text without a "fio version" within its first LINE_LIMIT bytes.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

DOCUMENT_LIMIT = 64 * 2**20
"""Bytes after which a document without an end is broken off."""
LINE_LIMIT = 2**16
"""Bytes after which a line without an end is cut."""

START = re.compile(rb'\{[ \t]{0,64}\r?\n([ \t]{1,64})"fio version"')
VERSION = re.compile(rb'"fio version"[ \t\r\n]{0,64}:')
_OTHER_START = re.compile(
    rb'(?:\A|(?<=[\r\n]))([ \t]{0,64})(?:\{[ \t]{0,64}(?:\r?\n[ \t]{0,64})?"|\[[ \t]{0,64}(?:\r?\n[ \t]{1,64})?\{)'
)
_PERHAPS_START = re.compile(rb'[ \t]{0,64}[\[{][ \t]{0,64}\r?(?:\n[ \t]{0,64}(?:"[fio versn]{0,11})?)?\Z')
_LONGEST_START = 284
_MOST_BLANKS = 64
_END = re.compile(rb"\n\}")  # ten times as fast as bytearray.find
_LINE_END = re.compile(rb"[\r\n]")


class Text(NamedTuple):
    """A line outside the documents, without its end, never empty; `offset` is where it begins, bytes."""

    offset: int
    data: bytes


class Whole(NamedTuple):
    """A document, or JSON in another layout that is one or contains some, from its first bracket to its last."""

    offset: int
    data: bytes


class Broken(NamedTuple):
    """A document without an end: `reason` is truncated_document or document_too_long."""

    offset: int
    data: bytes
    reason: str


Piece = Text | Whole | Broken


class Framer:
    """Cuts a stream that arrives in arbitrary chunks; it reads each byte a bounded number of times."""

    def __init__(self, limit: int = DOCUMENT_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._offset = 0
        self._scanned = 0
        self._end: re.Pattern[bytes] | None = None
        """What ends the document at the start of the buffer; None outside of documents."""
        self._is_fios = False
        """Whether that document has fio's own layout."""
        self._line_begins = True
        """Whether the buffer begins at the start of a line."""

    @property
    def has_line(self) -> bool:
        """Whether it has the beginning of an incomplete line."""
        return bool(self._buffer) and self._end in (None, _LINE_END)

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that these bytes complete."""
        self._buffer += data
        pieces: list[Piece] = []
        while self._text(pieces) if self._end is None else self._document(pieces):
            pass
        return pieces

    def close(self) -> list[Piece]:
        """The last piece of the stream: a line without its end, or a broken document."""
        pieces: list[Piece] = []
        length = len(self._buffer)
        if self._end is None:
            self._lines(length, pieces)
        elif self._is_fios:
            pieces += separate(Whole(self._offset, self._take(length)), ended=False)
        elif self._end is _LINE_END:
            self._one_line(length, pieces)
            self._lines(len(self._buffer), pieces)
        else:
            self._give(length, "truncated_document", pieces)
        self._end = None
        return pieces

    def _take(self, length: int) -> bytes:
        with memoryview(self._buffer) as view:
            data = bytes(view[:length])
        del self._buffer[:length]
        self._offset += length
        self._scanned = 0
        if data:
            self._line_begins = data[-1:] in b"\r\n"
        return data

    def _lines(self, length: int, pieces: list[Piece]) -> None:
        """Take that many bytes as text."""
        pieces += _split(self._offset, self._take(length))

    def _give(self, length: int, reason: str, pieces: list[Piece]) -> None:
        """Take that many bytes as a document, broken for this `reason` if there is one, or as text."""
        if not (self._is_fios or VERSION.search(self._buffer, 0, min(length, LINE_LIMIT))):
            self._lines(length, pieces)
        elif reason:
            pieces.append(Broken(self._offset, self._take(length), reason))
        else:
            pieces.append(Whole(self._offset, self._take(length)))
        self._end = None

    def _text(self, pieces: list[Piece]) -> bool:
        """Add the complete lines; true if a document begins."""
        buffer = self._buffer
        other = _OTHER_START.search(buffer, self._scanned)
        if other and not other.start() and not self._line_begins:
            other = _OTHER_START.search(buffer, 1)
        fios = START.search(buffer, self._scanned, other.end() + _LONGEST_START if other else len(buffer))
        if fios and not (other and _precedes(other, fios)):
            self._lines(fios.start(), pieces)
            self._end, self._is_fios = _END, True
            return True
        if other and not _PERHAPS_START.match(buffer, other.start()):
            self._lines(other.start(), pieces)
            self._end, self._is_fios = _LINE_END, False
            return True
        held = len(buffer)
        if perhaps := _PERHAPS_START.search(buffer, max(self._scanned, held - _LONGEST_START)):
            held = perhaps.start()
        line_end = max(buffer.rfind(b"\n", 0, held), buffer.rfind(b"\r", 0, held)) + 1
        self._lines(line_end, pieces)
        held -= line_end
        while held >= LINE_LIMIT:
            self._lines(LINE_LIMIT, pieces)
            held -= LINE_LIMIT
        self._scanned = held if held > _MOST_BLANKS else 0
        return False

    def _document(self, pieces: list[Piece]) -> bool:
        """Add the document at the start of the buffer; false if its end has not arrived yet."""
        buffer, end = self._buffer, self._end
        assert end
        known = self._is_fios or VERSION.search(buffer, 0, LINE_LIMIT)
        limit = self._limit if known else min(LINE_LIMIT, self._limit)
        found = end.search(buffer, max(0, self._scanned - _LONGEST_START), limit)
        if found and end is _LINE_END:
            self._one_line(found.start(), pieces)
        elif found:
            self._give(found.end(), "" if found[0].endswith((b"}", b"]")) else "truncated_document", pieces)
        elif len(buffer) >= limit:
            self._give(limit, "document_too_long", pieces)
        else:
            self._scanned = len(buffer)
            return False
        return True

    def _one_line(self, length: int, pieces: list[Piece]) -> None:
        """Add the JSON in a line of another layout, or look for its end in later lines."""
        line = bytes(self._buffer[:length])
        if line.rstrip(b" \t,").endswith((b"}", b"]")):
            self._give(length, "", pieces)
        elif VERSION.search(line):
            self._give(length, "truncated_document", pieces)
        else:
            column = line[: len(line) - len(line.lstrip(b" \t"))]
            closing = b"}" if line[len(column) :].startswith(b"{") else b"]"
            self._end = re.compile(b"\n(?:%b%b|(?=%b))" % (column, re.escape(closing), START.pattern))
            self._scanned = 0


def separate(piece: Whole, ended: bool = True) -> list[Piece]:
    """What is in a piece that is not a document: each document in it is cut off by the beginning of the next.

    The last one is whole if it has `ended`.
    """
    starts = [match.start() for match in START.finditer(piece.data)]
    pieces: list[Piece] = []
    for begin, end in pairwise(sorted({0, *starts, len(piece.data)})):
        offset, data = piece.offset + begin, piece.data[begin:end]
        if ended and starts and begin == starts[-1]:
            pieces.append(Whole(offset, data))
        elif VERSION.search(data):
            pieces.append(Broken(offset, data, "truncated_document"))
        else:
            pieces += _split(offset, data)
    return pieces


def _precedes(other: re.Match[bytes], fios: re.Match[bytes]) -> bool:
    """Whether a document in another layout begins before one in fio's own, or both are one that is indented."""
    if fios.start() == other.end(1):
        return 0 < len(other[1]) < len(fios[1])
    return other.start() < fios.start()


def _split(offset: int, data: bytes) -> Iterator[Text]:
    """The lines of a text; long ones are cut."""
    for line in _LINE_END.split(data):
        for cut in range(0, len(line), LINE_LIMIT):
            yield Text(offset + cut, line[cut : cut + LINE_LIMIT])
        offset += len(line) + 1
