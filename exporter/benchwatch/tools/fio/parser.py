"""Reads one stream of fio: documents, and the messages around them.

Records: Counters, also of a normal report without JSON beside it; Message, of terse output only before any document;
Begin before the documents of another run of fio. `elapsed` and the time of a document show to a second when its fio
was started: a document belongs to another run if its fio was started later, or has another version or other jobs, or if
its time is earlier than that of the previous document. fio counts `elapsed` from zero again when it has laid out its
files.
"""

import re
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from itertools import pairwise
from mmap import mmap
from typing import Any

from ..api import Begin, Misread, Moment
from ..lines import MARK
from .counters import Counters, count
from .document import FioDocument, decode, other_directions, strict_documents
from .framing import DOCUMENT_LIMIT, START, Framer, Piece, Printed, Text
from .report import NormalReport
from .text import INTRUSION, read

_EXCERPT = 200
_TERSE_LINES = 100
"""Lines of terse output after which no document is expected: it precedes the document, with one line per job."""
_CLOCK_SLACK = 2.0
"""Seconds by which the start times of two documents may differ: `elapsed` is rounded up."""
_BEGINS = re.compile(rb"\s*" + START.pattern)

NO_JSON = "fio prints no JSON here, so nothing can be measured: add --output-format=json+ --status-interval=1"


class FioParser:
    """Parser of the kind `text`: what fio itself prints."""

    undated = False

    def __init__(self) -> None:
        self.records = 0
        self._framer = Framer()
        self._report = NormalReport()
        self._last: FioDocument | None = None
        self._json_awaited = True
        """Whether a document may still come, or it must be said that there is none."""
        self._has_json = False
        self._terse = 0
        """Lines of terse output that no document has followed."""
        self._known = self._reported = False
        self._others: list[str] = []
        """The names of directions that only a fork of fio has."""
        self._interrupted = False
        """Whether a signal stopped fio after the last document."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        # Most often the bytes are one document, which needs no framing.
        if self._framer.is_empty and data[-3:].rstrip().endswith(b"\n}") and _BEGINS.match(data):
            records: list[Any] = []
            if not self._add(data, f"byte {self._framer.offset}", records):
                self._note_json()
                self._framer.offset += len(data)
                return records
        return self._read(self._framer.feed(data))

    def settle(self) -> Sequence[Any]:
        """See tools.Parser."""
        if not self._framer.has_line and not self._report.has_jobs:
            return ()
        trial = copy(self)
        trial._framer, trial._report = deepcopy((self._framer, self._report))
        records = trial.close()
        if all(isinstance(record, Misread) for record in records):
            return ()
        vars(self).update(vars(trial))
        return records

    def close(self) -> Sequence[Any]:
        """See tools.Parser. A document ends with its bracket: only a line of text may lack its end."""
        records = self._read(self._framer.close())
        self._end_report(records, "at the end")
        self._no_document(records, "at the end")
        return records

    def _read(self, pieces: Sequence[Piece]) -> list[Any]:
        records: list[Any] = []
        for piece in pieces:
            if isinstance(piece, Text):
                self._line(piece.data, f"byte {piece.offset}", records)
            else:
                self._document(piece, records)
        return records

    def _line(self, data: bytes, where: str, records: list[Any]) -> None:
        line = data.replace(b"\0", b"").replace(MARK, b"").decode("utf-8", "replace")  # see lines
        if not line.strip(" \t[]{},"):  # empty, or what joins documents to a list
            return
        if self._report.ends(line):
            self._end_report(records, where)
        message = read(line)
        self._report.read(line)
        if self._report.has_header and self._last is not None and self._last.of_report:
            records.append(Begin())  # where its output begins; a run with documents begins with the first of them
            self._last = None
        if message.meaning == "unknown" or (message.meaning == "continued" and not self._known):
            # One misreading for many lines, such as the rest of a document whose beginning is lost.
            if not self._reported:
                records.append(Misread("other_text", where, line[:_EXCERPT]))
            self._known, self._reported = False, True
            return
        self._known, self._reported = True, False
        self.records += 1
        self._terse += message.meaning == "terse" and self._json_awaited
        if message.meaning != "terse" or self._terse > _TERSE_LINES:
            self._no_document(records, where)
        self._interrupted |= message.meaning == "interrupted"
        has_results = message.meaning == "terse" and message.number is not None and not self._has_json
        if has_results or message.meaning in ("fatal", "interrupted", "depth_note"):
            records.append(message)

    def _no_document(self, records: list[Any], where: str) -> None:
        """Say that no document follows the terse output, if there is any."""
        if self._terse:
            records.append(Misread("no_json_output", where, NO_JSON))
            self._json_awaited, self._terse = False, 0

    def _end_report(self, records: list[Any], where: str) -> None:
        """Add the report so far, unless its numbers are in a document too."""
        data = self._report.complete()
        if data and (self._last is None or self._last.of_report or self._report.has_header):
            self._terse = 0
            self._checked(data, where, records)

    def _note_json(self) -> None:
        """Note that there is JSON, and that lines after it were not yet misread."""
        self._json_awaited, self._has_json, self._terse = False, True, 0
        self._known, self._reported = True, False

    def _document(self, piece: Printed, records: list[Any]) -> None:
        self._note_json()
        data = piece.data
        if not piece.fault and not self._add(data, f"byte {piece.offset}", records):
            return
        begins = [start.start() for start in START.finditer(data)]
        for begin, end in pairwise([*begins, len(data)]):
            part, place = data[begin:end], f"byte {piece.offset + begin}"
            if end < len(data) or piece.fault:  # it was cut off
                fault = piece.fault or "truncated_document"
                records.append(Misread(fault, place, part[:_EXCERPT].decode("utf-8", "replace")))
                for line in part.splitlines()[1:]:
                    if line[:1].strip():  # the lines of a document are indented
                        self._line(line, place, records)
                continue
            for line in INTRUSION.findall(part):
                self._line(line.strip(), place, records)
            self._stored(INTRUSION.sub(b"", part), place, records)

    def _stored(self, data: bytes, where: str, records: list[Any]) -> None:
        """Add the documents in JSON that is not strict, or has another layout than fio's."""
        try:
            for document in strict_documents(data):
                self._checked(document, where, records)
        except ValueError as error:
            records.append(Misread("bad_document", where, str(error)[:_EXCERPT]))

    def _checked(self, data: bytes, where: str, records: list[Any]) -> None:
        if fault := self._add(data, where, records):
            records.append(Misread("bad_document", where, fault[:_EXCERPT]))

    def _add(self, data: bytes, where: str, records: list[Any]) -> str:
        """Add a document; returns why it is none, or an empty text."""
        try:
            document = decode(data)
            counters = count(document)
        except ValueError as error:
            return str(error)
        if self._last is None or not self._is_same_run(self._last, document):
            if self._last is not None:
                records.append(Begin())
            self._others = sorted(set().union(*other_directions(data)))
            if self._others:
                text = f"{', '.join(self._others)}: left out; expected read, write, trim, mixed and sync"
                records.append(Misread("unknown_direction", where, text[:_EXCERPT]))
        if self._others:
            for job, others in zip(document.jobs, other_directions(data), strict=False):
                job.other_runtime = max(others.values(), default=0)
        self._last, self._interrupted, self._report.has_header = document, False, False
        self.records += 1
        records.append(counters)
        return ""

    def _is_same_run(self, before: FioDocument, after: FioDocument) -> bool:
        """Whether a document is of the same run as the previous one."""
        if before.version != after.version or before.of_clients or after.of_clients:
            return False
        both = list(zip(before.jobs, after.jobs, strict=False))
        if len(before.jobs) != len(after.jobs) or any(
            (old.jobname, old.groupid, old.pid) != (new.jobname, new.groupid, new.pid) for old, new in both
        ):
            return False
        if before.of_report or after.of_report:
            return before.of_report and after.of_report and not self._report.has_header
        if any(old.job_start and old.job_start == new.job_start for old, new in both):
            return True
        built = (after.built or 0.0) - (before.built or 0.0)
        elapsed = both[0][1].elapsed - both[0][0].elapsed if both else 0
        if elapsed < 0 and not before.has_begun and not self._interrupted:
            # `elapsed` began again after the last document, which is one status interval ago.
            return both[0][1].elapsed - 1 <= built <= both[0][0].elapsed + _CLOCK_SLACK
        return built >= 0 and elapsed >= 0 and built - elapsed < _CLOCK_SLACK


class StoredParser(FioParser):
    """Parser of the kind `stored`: documents as another program has written them, which are read once all are there."""

    def __init__(self) -> None:
        super().__init__()
        self._data = bytearray()

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        if len(self._data) < DOCUMENT_LIMIT:
            self._data += data
        return ()

    def settle(self) -> Sequence[Any]:
        """See tools.Parser."""
        if not self._data.rstrip().endswith((b"}", b"]")):
            return ()
        trial = copy(self)
        records = trial.close()
        if any(isinstance(record, Misread) for record in records):
            return ()
        vars(self).update(vars(trial))
        return records

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        records: list[Any] = []
        data, self._data = bytes(self._data), bytearray()
        self._stored(data, "byte 0", records)
        return records


def stored_moments(data: bytes | mmap) -> Iterator[Moment]:
    """When stored documents were written: all of them count at the end of the stream."""
    parser = StoredParser()
    parser.feed(data[:])
    times = [record.time for record in parser.close() if isinstance(record, Counters)]
    if times and times[-1]:
        yield Moment(len(data), times[-1])
