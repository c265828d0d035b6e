"""Reads one stream of iperf3: events, documents and text in any mixture, several tests one after the other.

A line that begins with `{` is an event or a whole document; one that is only `{` begins a document, which ends with the
next line that is only `}`, or is cut off where another begins. Its start and each interval are read where they end, so
that they are dated separately, and count even if the rest is lost. One that repeats the events before it
(--json-stream-full) says nothing new.

Another test begins with the start event, the document or the first line of text that belongs to it, when the test
before has gone beyond that. Errors of a server between two tests belong to neither.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..api import Begin, Misread, Moment, ReadLine
from ..lines import LIMIT, Overlong, WholeLines
from .document import of_document, of_event
from .records import Beginning, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result, Record
from .text import LISTENING, Iperf3Text, row_like, whole

_LONGEST = 1 << 26
"""Bytes of a document; longer ones are left out."""
_EXCERPT = 300
_START_ENDS, _INTERVAL_ENDS, _LAST_INTERVAL_ENDS = b"\t},", b"\t\t}, {", b"\t\t}],"
"""The lines that end the parts of a document, as iperf3 indents it."""
_INTERVALS = b'\t"intervals":\t[{'
_Line = Record | Begin | Misread


class Iperf3Parser:
    """See tools.Parser."""

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0
        self._document: list[bytes] = []
        self._size = 0
        self._started = self._skipping = False  # in the document
        self._undated = False
        self._start()

    def _start(self) -> None:
        self._text = Iperf3Text()
        self._role = ""
        self._beginning: Beginning | None = None  # of JSON
        self._omitted = 0.0  # seconds
        self._ended = self._done = False

    @property
    def undated(self) -> bool:
        """See tools.Parser."""
        return self._undated or bool(self._lines.rest)

    def feed(self, data: bytes) -> Sequence[_Line]:
        """See tools.Parser."""
        found: list[_Line] = []
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                found += self._misread("line_too_long", f"{_decoded(block.excerpt)} ... (more than {LIMIT} bytes)")
            else:
                found += (record for line in block[:-1].split(b"\n") for record in self._line(line))
        return found

    def settle(self) -> Sequence[_Line]:
        """See tools.Parser."""
        rest = self._lines.rest.rstrip()
        is_json = rest == b"}" or (rest[:1] == b"{" and rest[-1:] == b"}")
        if is_json if self._document or rest[:1] == b"{" else whole(_decoded(rest)):
            self._lines.close()
            found = self._line(rest)
            self._number -= 1  # its end is still to come, which makes an empty line
            return found
        return ()

    def close(self) -> Sequence[_Line]:
        """See tools.Parser."""
        found, rest = list(self.settle()), self._lines.close()
        if self._document:
            found += self._cut_off(rest)
        elif rest[:1] == b"{" or row_like(_decoded(rest)):
            found += self._misread("truncated_line", _decoded(rest))
        return found or (self._line(rest) if rest else [])

    def _line(self, line: bytes) -> list[_Line]:
        self._number += 1
        line = line.rstrip(b"\r")
        if not self._document and line != b"{":
            if line[:1] != b"{":
                return self._plain(_decoded(line).rstrip())
            return self._json(line, of_event if line.startswith(b'{"event"') else of_document)
        torn = self._cut_off(b"") if line == b"{" and self._document else []
        self._size += len(line)
        if self._size <= _LONGEST:
            self._document.append(line)
        if torn:
            return torn
        if line == b"}":
            return self._part(self._document, ended=True)
        if line == _START_ENDS and not self._started:
            return self._part([*self._document[:-1], b"}}"])
        if line == _INTERVAL_ENDS:
            return self._part([*self._document[:-1], b"}]}"], _INTERVALS)
        return self._part([*self._document[:-1], b"}]}"]) if line == _LAST_INTERVAL_ENDS else []

    def _cut_off(self, rest: bytes) -> list[_Line]:
        """Note that the end of a document is missing."""
        found = self._misread("truncated_document", _decoded(b"".join([*self._document[:3], rest])))
        self._document, self._size, self._started, self._skipping = [], 0, False, False
        return found

    def _part(self, lines: Sequence[bytes], *following: bytes, ended: bool = False) -> list[_Line]:
        """A part of a document; `following` begins the next one."""
        size, skipping = self._size, self._skipping
        self._document, self._size, self._started = [] if ended else [b"{", *following], 0, not ended
        found: list[_Line] = []
        if size > _LONGEST:
            found = self._misread("document_too_long", f"more than {_LONGEST} bytes")
        elif not skipping:
            found = self._json(b"\n".join(lines), of_document, whole=ended)
        self._skipping = not ended and (not found or isinstance(found[0], Misread))
        return found

    def _json(self, text: bytes, decode: Callable[[bytes], list[Record]], *, whole: bool = True) -> list[_Line]:
        try:
            found = decode(text)
        except (ValueError, RecursionError) as error:
            return self._misread("bad_document", f"{error}: {_decoded(text[:_EXCERPT])}")
        self._undated = False
        first = next(iter(found), None)
        if decode is of_document and first == self._beginning:
            return []
        begins = self._begins(first)
        self._beginning = first if isinstance(first, Beginning) else self._beginning
        return [*begins, *self._understood(found, whole)]

    def _plain(self, text: str) -> list[_Line]:
        self._done |= self._ended and LISTENING.search(text) is not None
        found = self._text.read(text) if text else []
        if found is None:
            self._undated = True
            return self._misread("other_text", text)
        if text:
            self._undated = not any(isinstance(record, Iperf3Interval | Iperf3Result | Iperf3Done) for record in found)
        begins = self._begins(next(iter(found), None))
        return [*begins, *self._understood((self._text.read(text) or []) if begins else found, bool(text))]

    def _begins(self, first: Record | None) -> list[_Line]:
        if isinstance(first, Beginning):
            begins = (self._ended and bool(first.version or first.role)) or bool(self._role and first.role)
        else:
            begins = isinstance(first, Iperf3Failure) and self._done and self._role != "server"
        if begins:
            self._start()
        return [Begin()] if begins else []

    def _understood(self, found: Sequence[Record], counts: bool = True) -> list[_Line]:
        self.records += counts
        out: list[_Line] = []
        for record in found:
            match record:
                case Iperf3Failure() if self._done:
                    continue
                case Beginning():
                    self._role = record.role or self._role
                case Iperf3Interval(omitted=True):
                    self._omitted = record.end
                case Iperf3Interval():
                    record = record._replace(start=self._omitted + record.start, end=self._omitted + record.end)
                case Iperf3Result(end=float(end)):
                    record = record._replace(end=self._omitted + end)
            self._ended |= isinstance(record, Iperf3Result | Iperf3Done | Iperf3Failure)
            self._done |= isinstance(record, Iperf3Done)
            out.append(record)
        return out

    def _misread(self, reason: str, text: str) -> list[_Line]:
        return [Misread(reason, f"line {self._number}", text[:_EXCERPT])]


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def moments(lines: Iterable[ReadLine]) -> Iterator[Moment]:
    """When the parts of a stream were written: see tools.Kind."""
    begun: float | None = None
    found: list[Moment] = []
    for offset, records in lines:
        time: float | None = None
        for record in records:
            match record:
                case Begin():
                    begun = None
                    found = [moment for moment in found if not moment.elapsed]
                case Beginning(time=float(unix)):
                    begun = unix
                case Iperf3Interval(end=end) | Iperf3Result(end=float(end)):
                    time = end
        if time is not None:
            found.append(Moment(offset, time if begun is None else begun + time, begun is None))
    yield from found
