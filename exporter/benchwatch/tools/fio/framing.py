"""Cuts fio's output stream into documents and the text between them.

fio (stat.c, json.c) prints a document as a line `{` followed by `  "fio version" : ...`, with every inner line
indented, up to a line `}` in column 0; `--status-interval` concatenates such documents on the stream to which fio
also writes its notes, errors, ETA (ended by carriage returns) and, on request, normal and terse output. After a crash
the `{` of the next run may stand in the middle of an old line, so a document is looked for everywhere, not at line
starts only.
"""

import re
from typing import NamedTuple

DOCUMENT_LIMIT = 64 * 2**20
"""Bytes after which a document that has no end is given up."""
LINE_LIMIT = 2**16
"""Bytes after which a line that has no end is cut."""

START = re.compile(rb'\{[ \t]{0,64}\r?\n[ \t]{1,64}"fio version"')
_PERHAPS_START = re.compile(rb'\{[ \t]{0,64}\r?(?:\n[ \t]{0,64}(?:"[fio versn]{0,11})?)?\Z')
_LONGEST_START = 160
_END = b"\n}"
_LINE_END = re.compile(rb"[\r\n]")


class Text(NamedTuple):
    """A line outside the documents, without its end, never empty; `offset` is its place in the stream, bytes."""

    offset: int
    data: bytes


class Whole(NamedTuple):
    """A document from its `{` to its `}`."""

    offset: int
    data: bytes


class Broken(NamedTuple):
    """A document without an end: `reason` is truncated_document or document_too_long."""

    offset: int
    data: bytes
    reason: str


Piece = Text | Whole | Broken


class Framer:
    """Takes a stream in arbitrary chunks and gives its pieces, each byte looked at a bounded number of times."""

    def __init__(self, limit: int = DOCUMENT_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._offset = 0
        self._scanned = 0
        self._inside = False

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that these bytes complete."""
        self._buffer += data
        pieces: list[Piece] = []
        while self._document(pieces) if self._inside else self._text(pieces):
            pass
        return pieces

    def close(self) -> list[Piece]:
        """What is left at the end of the stream: a line without its end, or a broken document."""
        pieces: list[Piece] = []
        if self._inside:
            pieces += separate(Whole(self._offset, self._take(len(self._buffer))), ended=False)
            self._inside = False
        else:
            self._lines(len(self._buffer), pieces)
        return pieces

    def _take(self, length: int) -> bytes:
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._offset += length
        self._scanned = 0
        return data

    def _text(self, pieces: list[Piece]) -> bool:
        """Give the complete lines; true if a document begins."""
        buffer = self._buffer
        start = START.search(buffer, self._scanned)
        if start:
            self._lines(start.start(), pieces)
            self._inside = True
            self._scanned = start.end() - start.start()
            return True
        tail = _PERHAPS_START.search(buffer, max(self._scanned, len(buffer) - _LONGEST_START))
        held = tail.start() if tail else len(buffer)
        line_end = max(buffer.rfind(b"\n", 0, held), buffer.rfind(b"\r", 0, held)) + 1
        self._lines(line_end, pieces)
        held -= line_end
        while held >= LINE_LIMIT:
            self._lines(LINE_LIMIT, pieces)
            held -= LINE_LIMIT
        self._scanned = held
        return False

    def _lines(self, length: int, pieces: list[Piece]) -> None:
        offset = self._offset
        for line in _LINE_END.split(self._take(length)):
            cuts = range(0, len(line), LINE_LIMIT)
            pieces += [Text(offset + cut, line[cut : cut + LINE_LIMIT]) for cut in cuts]
            offset += len(line) + 1

    def _document(self, pieces: list[Piece]) -> bool:
        """Give the document at the start of the buffer; false if its end has not come yet."""
        buffer = self._buffer
        limit = min(len(buffer), self._limit)
        end = buffer.find(_END, self._scanned - 1, limit)
        if end >= 0:
            pieces.append(Whole(self._offset, self._take(end + len(_END))))
            self._inside = False
        elif len(buffer) >= self._limit:
            pieces.append(Broken(self._offset, self._take(self._limit), "document_too_long"))
            self._inside = False
        else:
            self._scanned = limit
            return False
        return True


def separate(piece: Whole, ended: bool = True) -> list[Whole | Broken]:
    """What a piece really is if it is no document: documents cut off, each by the beginning of the next.

    The last of them is cut off too if the stream `ended` before it did.
    """
    starts = [match.start() for match in START.finditer(piece.data)]
    parts: list[Whole | Broken] = []
    for start, following in zip(starts, [*starts[1:], len(piece.data)], strict=True):
        offset, data = piece.offset + start, piece.data[start:following]
        if ended and start == starts[-1]:
            parts.append(Whole(offset, data))
        else:
            parts.append(Broken(offset, data, "truncated_document"))
    return parts
