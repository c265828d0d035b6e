"""Reads one stream of fio: documents, and the messages around them.

Records: FioDocument, also for a normal report without JSON beside it; Fatal, Interrupted, DepthNote and, before any
document, TextResults (see `text`); Begin before the documents of another run of fio. `elapsed` and the time of a
document show to a second when its fio was started: a document belongs to another run if its fio was started later, or
has another version or other jobs, or if its time is earlier than that of the previous document. fio counts `elapsed`
from zero again when it has laid out its files.
"""

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

from ..api import Begin, Misread
from ..lines import MARK
from .document import FioDocument, decode, from_report, note_others, stored_documents, unknown_directions
from .framing import Broken, Framer, Piece, Text, Whole, separate
from .report import NormalReport
from .text import INTRUSION, Interrupted, TextResults, read

_EXCERPT = 200
_TERSE_LINES = 100
"""Lines of terse output after which no document is expected: it precedes the document, with one line per job."""
_CLOCK_SLACK = 2.0
"""Seconds by which the start times of two documents may differ: `elapsed` is rounded up."""

NO_JSON = "fio prints no JSON here, so nothing can be measured: add --output-format=json+ --status-interval=1"


class FioParser:
    """Parser of the only kind of stream, `text`."""

    undated = False

    def __init__(self) -> None:
        self.records = 0
        self._framer = Framer()
        self._report = NormalReport()
        self._last: FioDocument | None = None
        self._no_json = "awaited"
        self._terse = 0
        self._known = False
        self._reported = False
        self._others: Sequence[str] = ()
        """The names of directions that only a fork of fio has."""
        self._interrupted = False
        """Whether a signal stopped fio after the last document."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
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
        if self._terse:
            self._no_document(records, "at the end")
        return records

    def _read(self, pieces: Sequence[Piece]) -> list[Any]:
        records: list[Any] = []
        for piece in pieces:
            where = f"byte {piece.offset}"
            if isinstance(piece, Text):
                self._line(piece.data, where, records)
                continue
            self._no_json, self._terse = "not needed", 0
            self._known, self._reported = True, False
            if isinstance(piece, Whole):
                self._document(piece, where, records)
            else:
                self._broken(piece, where, records)
        return records

    def _line(self, data: bytes, where: str, records: list[Any]) -> None:
        line = data.replace(b"\0", b"").replace(MARK, b"").decode("utf-8", "replace")  # see lines
        if not line.strip(" \t[]{},"):  # empty, or what joins documents to a list
            return
        if self._report.ends(line):
            self._end_report(records, where)
        found, message = read(line)
        if self._report.read(line):
            found = "known" if found in ("unknown", "continued") else found
        if found == "unknown" or (found == "continued" and not self._known):
            # One misreading for many lines, such as the rest of a document whose beginning is lost.
            if not self._reported:
                records.append(Misread("other_text", where, line[:_EXCERPT]))
            self._known, self._reported = False, True
            return
        self._known, self._reported = True, False
        self.records += 1
        self._terse += found == "terse" and self._no_json == "awaited"
        if self._terse and (found != "terse" or self._terse > _TERSE_LINES):
            self._no_document(records, where)
        self._interrupted |= isinstance(message, Interrupted)
        if message is not None and not (isinstance(message, TextResults) and self._no_json == "not needed"):
            records.append(message)

    def _no_document(self, records: list[Any], where: str) -> None:
        if self._no_json == "awaited":
            records.append(Misread("no_json_output", where, NO_JSON))
            self._no_json = "reported"
        self._terse = 0

    def _end_report(self, records: list[Any], where: str) -> None:
        """Add the report so far, unless its numbers are in a document too."""
        data = self._report.complete()
        if not data or (self._last and not self._last.of_report and not self._report.has_header):
            return
        self._terse = 0
        try:
            self._add(from_report(data), data, where, records)
        except ValueError as error:
            records.append(Misread("bad_document", where, str(error)[:_EXCERPT]))

    def _document(self, piece: Whole, where: str, records: list[Any]) -> None:
        try:
            self._add(decode(piece.data), piece.data, where, records)
            return
        except ValueError as error:
            reason = str(error)
        documents = stored_documents(INTRUSION.sub(b"", piece.data))
        if documents:
            for message in INTRUSION.findall(piece.data):
                self._line(message.strip(), where, records)
        else:
            documents = stored_documents(piece.data)
        for data in documents:
            try:
                self._add(decode(data), data, where, records)
            except ValueError as error:
                records.append(Misread("bad_document", where, str(error)[:_EXCERPT]))
        if documents:
            return
        parts = separate(piece)
        if len(parts) > 1:  # a document that was cut off, and the next one right after it
            records += self._read(parts)
        else:
            records.append(Misread("bad_document", where, reason[:_EXCERPT]))

    def _add(self, document: FioDocument, data: bytes, where: str, records: list[Any]) -> None:
        if self._last is None or not self._is_same_run(self._last, document):
            if self._last is not None:
                records.append(Begin())
            self._others = unknown_directions(data)
            if self._others:
                text = f"{', '.join(self._others)}: left out; expected read, write, trim, mixed and sync"
                records.append(Misread("unknown_direction", where, text[:_EXCERPT]))
        if self._others:
            note_others(document, data, self._others)
        self._last, self._interrupted, self._report.has_header = document, False, False
        self.records += 1
        records.append(document)

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

    def _broken(self, piece: Broken, where: str, records: list[Any]) -> None:
        records.append(Misread(piece.reason, where, piece.data[:_EXCERPT].decode("utf-8", "replace")))
        for line in piece.data.splitlines()[1:]:
            if line[:1].strip():  # the lines of a document are indented
                self._line(line, where, records)
