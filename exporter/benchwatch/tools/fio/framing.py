"""Cuts fio's output stream into documents and the text between them.

fio (stat.c, json.c) prints a document as a line `{` followed by `  "fio version" : ...`, with every inner line
indented, up to a line `}` in column 0. `--status-interval` prints one after the other, to the stream to which fio also
writes notes, errors, ETA (ended by carriage returns) and, on request, normal and terse output. After a crash the `{` of
the next run may be in the middle of an old line, so a document may begin anywhere.

Other programs store documents differently: indented, on one line, with sorted keys, in an array or in an object. Such a
JSON value begins at the start of a line with `{` and a key, or with `[` and `{`, and ends with the bracket that closes
it. It is one piece if it has a "fio version" within its first LINE_LIMIT bytes, and text if not.
"""

import re
from typing import Literal, NamedTuple

DOCUMENT_LIMIT = 64 * 2**20
"""Bytes after which a document without an end is broken off."""
LINE_LIMIT = 2**16
"""Bytes after which a line without an end is cut."""

START = re.compile(rb'\{[ \t]{0,64}\r?\n[ \t]{1,64}"fio version"')
VERSION = re.compile(rb'"fio version"[ \t\r\n]{0,64}:')
_PERHAPS_START = re.compile(rb'\{[ \t]{0,64}\r?(?:\n[ \t]{0,64}(?:"[fio versn]{0,11})?)?\Z')
_VALUE = re.compile(rb'[ \t]{0,64}(?:\{[ \t]{0,64}(?:\r?\n[ \t]{0,64})?"|\[[ \t]{0,64}(?:\r?\n[ \t]{1,64})?\{)')
_VALUE_LATER = re.compile(rb"(?<=[\r\n])" + _VALUE.pattern)
_PERHAPS_VALUE = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]{0,64}(?:[\[{][ \t]{0,64}\r?(?:\n[ \t]{0,64})?)?\Z")
_TOKEN = re.compile(rb'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|["{}\[\]]')
_LONGEST_START = 220
_QUOTE = ord('"')
_END = re.compile(rb"\n\}")  # ten times as fast as bytearray.find
_LINE_END = re.compile(rb"[\r\n]")


class Text(NamedTuple):
    """A line outside the documents, without its end, never empty; `offset` is where it begins, bytes."""

    offset: int
    data: bytes


class Whole(NamedTuple):
    """A document from its `{` to its `}`."""

    offset: int
    data: bytes


class Stored(NamedTuple):
    """A JSON value with another layout than fio's that is a document or contains documents."""

    offset: int
    data: bytes


class Broken(NamedTuple):
    """A document without an end: `reason` is truncated_document or document_too_long."""

    offset: int
    data: bytes
    reason: str


Piece = Text | Whole | Stored | Broken


class Framer:
    """Cuts a stream that arrives in arbitrary chunks; it reads each byte a bounded number of times."""

    def __init__(self, limit: int = DOCUMENT_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._offset = 0
        self._scanned = 0
        self._inside: Literal["text", "document", "value"] = "text"
        self._depth = 0
        """Open brackets of the value."""
        self._line_begins = True
        """Whether the buffer begins at the start of a line."""

    @property
    def has_line(self) -> bool:
        """Whether it has the beginning of an incomplete line outside the documents."""
        return self._inside == "text" and bool(self._buffer)

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that these bytes complete."""
        self._buffer += data
        pieces: list[Piece] = []
        steps = {"text": self._text, "document": self._document, "value": self._value}
        while steps[self._inside](pieces):
            pass
        return pieces

    def close(self) -> list[Piece]:
        """The last piece of the stream: a line without its end, or a broken document."""
        pieces: list[Piece] = []
        if self._inside == "document":
            pieces += separate(Whole(self._offset, self._take(len(self._buffer))), ended=False)
        elif self._inside == "value":
            self._break_off(len(self._buffer), pieces)
        else:
            self._lines(len(self._buffer), pieces)
        self._inside = "text"
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

    def _text(self, pieces: list[Piece]) -> bool:
        """Add the complete lines; true if a document or value begins."""
        buffer = self._buffer
        value = self._begin_of_value()
        start = START.search(buffer, self._scanned, len(buffer) if value is None else value + _LONGEST_START)
        if value is not None and not (start and start.start() <= value):
            self._lines(value, pieces)
            self._inside, self._depth = "value", 0
            return True
        if start:
            self._lines(start.start(), pieces)
            self._inside = "document"
            self._scanned = start.end() - start.start()
            return True
        begin = max(self._scanned, len(buffer) - _LONGEST_START)
        tails = (_PERHAPS_START.search(buffer, begin), self._perhaps_value())
        held = min((tail.start() for tail in tails if tail), default=len(buffer))
        line_end = max(buffer.rfind(b"\n", 0, held), buffer.rfind(b"\r", 0, held)) + 1
        self._lines(line_end, pieces)
        held -= line_end
        while held >= LINE_LIMIT:
            self._lines(LINE_LIMIT, pieces)
            held -= LINE_LIMIT
        self._scanned = held
        return False

    def _begin_of_value(self) -> int | None:
        first = _VALUE.match(self._buffer) if self._line_begins and not self._scanned else None
        found = first or _VALUE_LATER.search(self._buffer, self._scanned)
        if found is None or _PERHAPS_START.match(self._buffer, found.start()):
            return None
        return found.start()

    def _perhaps_value(self) -> re.Match[bytes] | None:
        found = _PERHAPS_VALUE.search(self._buffer, max(0, len(self._buffer) - _LONGEST_START))
        return found if found and (found.start() or self._line_begins) else None

    def _lines(self, length: int, pieces: list[Piece]) -> None:
        offset = self._offset
        for line in _LINE_END.split(self._take(length)):
            cuts = range(0, len(line), LINE_LIMIT)
            pieces += [Text(offset + cut, line[cut : cut + LINE_LIMIT]) for cut in cuts]
            offset += len(line) + 1

    def _document(self, pieces: list[Piece]) -> bool:
        """Add the document at the start of the buffer; false if its end has not arrived yet."""
        buffer = self._buffer
        limit = min(len(buffer), self._limit)
        end = _END.search(buffer, self._scanned - 1, limit)
        if end:
            pieces.append(Whole(self._offset, self._take(end.end())))
            self._inside = "text"
        elif len(buffer) >= self._limit:
            pieces.append(Broken(self._offset, self._take(self._limit), "document_too_long"))
            self._inside = "text"
        else:
            self._scanned = limit
            return False
        return True

    def _value(self, pieces: list[Piece]) -> bool:
        """Add the value at the start of the buffer; false if its end has not arrived yet."""
        buffer = self._buffer
        head = min(LINE_LIMIT, self._limit)
        end, found = self._scan(min(len(buffer), head))
        is_fio = found == "open" and len(buffer) >= head and VERSION.search(buffer, 0, head) is not None
        if is_fio:
            end, found = self._scan(min(len(buffer), self._limit))
        limit = self._limit if is_fio else head
        if found == "end" and VERSION.search(buffer, 0, min(end, head)):
            pieces.append(Stored(self._offset, self._take(end)))
        elif found == "end":
            self._lines(end, pieces)
        elif found == "broken":
            self._break_off(end, pieces)
        elif len(buffer) < limit:
            return False
        elif is_fio:
            pieces.append(Broken(self._offset, self._take(limit), "document_too_long"))
        else:
            self._lines(limit, pieces)
        self._inside = "text"
        return True

    def _scan(self, limit: int) -> tuple[int, Literal["end", "broken", "open"]]:
        """Find the end of the value; a document in fio's own layout breaks it off."""
        buffer = self._buffer
        if self._scanned >= limit:
            return self._scanned, "open"
        for token in _TOKEN.finditer(buffer, self._scanned, limit):
            place, first = token.start(), buffer[token.start()]
            if first == _QUOTE:
                complete = token.end() - place > 1
                line_end = -1 if complete else buffer.find(b"\n", place, min(limit, place + LINE_LIMIT))
                if line_end >= 0:
                    return line_end + 1, "broken"
                if (token.end() if complete else limit) - place > LINE_LIMIT:
                    return place, "broken"  # fio has no such long strings
                if not complete:
                    self._scanned = place
                    return place, "open"
                continue
            if first in b"]}":
                self._depth -= 1
            elif self._depth and buffer[place - 1] in b"\r\n" and START.match(buffer, place, limit):
                return place, "broken"
            elif self._depth and buffer[place - 1] in b"\r\n" and _PERHAPS_START.match(buffer, place, limit):
                self._scanned = place
                return place, "open"
            else:
                self._depth += 1
            if not self._depth:
                return token.end(), "end"
        self._scanned = limit
        return limit, "open"

    def _break_off(self, length: int, pieces: list[Piece]) -> None:
        """Break off the value at the start of the buffer after `length` bytes."""
        if VERSION.search(self._buffer, 0, length):
            pieces.append(Broken(self._offset, self._take(length), "truncated_document"))
        else:
            self._lines(length, pieces)


def separate(piece: Whole, ended: bool = True) -> list[Whole | Broken]:
    """The documents in a piece that is not a document: each is cut off by the beginning of the next.

    The last one is whole if it has `ended`.
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
