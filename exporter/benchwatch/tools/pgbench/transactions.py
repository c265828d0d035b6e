"""pgbench's transaction log (-l): one line per transaction, one file per thread: `<prefix>.<pid>[.<thread>]`.

From `doLog()` of pgbench.c 9.3 - 19:

    client_id transaction_no time script_no epoch_s epoch_us [lag] [retries]

    transaction_no    per client, from 0 (up to 10) or 1
    time              latency in microseconds, or `skipped` (9.5+, -R -L), `failed`, or with --failures-detailed
                      `serialization` or `deadlock` (15+) or `other` (19+)
    epoch_s epoch_us  when it completed, Unix seconds and microseconds, not padded: `1795168289 48431` is ...289.048431
                      (seconds of the years 2001 to 2096)
    lag               only with -R: microseconds between the scheduled and the true start
    retries           only unless --max-tries=1 (15+): further tries

So a single seventh field is the lag or the retries, and the line does not say which; see `log.TransactionLog.retries`.
Lines with another number of fields than the file's first are misread. With --sampling-rate pgbench writes only some
transactions, which leaves gaps in transaction_no.

Files grow in blocks of 4096 bytes, cut anywhere, and end in a torn line when pgbench is killed.

Blocks in which all lines are digits are read at once; other lines (words, torn lines, foreign text) one by one.
"""

import re
from typing import NamedTuple

import numpy as np

from ...metrics.buckets import bins
from ..api import Misread
from ..lines import LineParser
from .decimals import MOST_DIGITS, DigitColumns, Integers

MOST_SCRIPTS = 128
"""How many scripts pgbench takes."""
EXAMINED = 4096
"""How many lines of a file are examined for gaps in the numbers of transactions."""

_LINE = re.compile(
    rb"(?P<client>\d{1,16}) (?P<number>\d{1,16}) (?P<time>\d{1,12}|skipped|failed|serialization|deadlock|other) "
    rb"(?P<script>\d{1,2}|1[01]\d|12[0-7]) (?P<second>[1-3]\d{9}) (?P<microsecond>\d{1,6})"
    rb"(?: (?P<extra>\d{1,12}))?(?: (?P<retries>\d{1,12}))?\r?"
)
_NUMBERED = re.compile(rb"(?m)^(\d{1,18}) (\d{1,18}) ")
_FIRST_SECOND, _LAST_SECOND = 1_000_000_000, 3_999_999_999
_PIECE = 1 << 13
_TIME, _SCRIPT, _SECOND, _MICROSECOND = range(2, 6)
_SHORTEST = (1, 1, 1, 1, 10, 1, 1, 1)
_LONGEST = (MOST_DIGITS, MOST_DIGITS, 12, 3, 10, 6, 12, 12)
"""How many digits the number in each field has."""


class Transactions(NamedTuple):
    """The content of a piece of a transaction log. The arrays have one element per transaction with a latency."""

    latency: Integers
    """Microseconds."""
    bins: Integers
    """Their bins (see benchwatch.metrics.buckets)."""
    script: Integers
    second: Integers
    """Unix second in which it completed."""
    microsecond: Integers
    """The rest of that time; empty unless the parser was asked for it."""
    skipped: int = 0
    failed: int = 0
    """All transactions that failed, for any reason."""
    fields: int = 6
    """How many each line has: with lag or retries 7, with both 8."""
    extra: Integers = np.zeros(0, np.int64)
    """The last field of each line without skipped ones, if there are more than 6."""
    lines: int = 0
    size: int = 0
    """Bytes of these lines."""
    begin: float | None = None
    """When the transaction of the file's first line began, Unix seconds; only in the file's first piece."""
    end: float = 0
    """When the last transaction of the latest second completed, Unix seconds; a clock may be set back."""
    examined: int = 0
    missing: int = 0
    """Transactions that should be among the examined lines and are not."""


_NONE = np.zeros(0, np.int64)
_NOTHING = Transactions(_NONE, _NONE, _NONE, _NONE, _NONE)


class LogParser(LineParser):
    """The common part of parsers of pgbench's logs. A line without its end is torn: it may lack digits."""

    def close(self) -> list[Misread]:
        """See tools.Parser."""
        if rest := self._lines.close():
            self._number += 1
            self._misread("truncated_line", rest.decode("utf-8", "replace"))
        return self._taken()


class TransactionParser(LogParser):
    """Reads the transaction log of one thread; with `microseconds`, the time of each transaction to the microsecond.

    `fields` is the number of fields in each line, if known. A record has some thousands of lines.
    """

    def __init__(self, *, microseconds: bool = False, fields: int = 0) -> None:
        super().__init__()
        self._microseconds = microseconds
        self._fields = fields  # in each line of this file, 0 while unknown
        self._begun = False
        self._examined = 0
        self._last_numbers: dict[int, int] = {}

    def _block(self, block: bytes) -> None:
        """Reads a block at once; if that fails, its halves, and small pieces line by line."""
        self._fields = self._fields or _fields(block)
        if self._fields and self._at_once(block):
            return
        half = len(block) // 2
        middle = block.find(b"\n", half) + 1
        if middle == len(block):  # the last line is the longer half
            middle = block.rfind(b"\n", 0, half) + 1
        if len(block) <= _PIECE or not middle:
            self._by_line(block)
            return
        self._block(block[:middle])
        self._block(block[middle:])

    def _at_once(self, block: bytes) -> bool:
        """Reads a block if each line has the expected number of fields, all digits; returns whether it did."""
        columns = DigitColumns.of(block, _SHORTEST[: self._fields], _LONGEST[: self._fields])
        piece = self._numbers(columns) if columns else None
        if piece is None:
            return False
        examined, missing = self._examine(block)
        self._number += piece.lines
        self._emit(piece._replace(size=len(block), examined=examined, missing=missing), block)
        return True

    def _numbers(self, columns: DigitColumns) -> Transactions | None:
        """The transactions in lines of digits; None if one has an impossible time or script."""
        seconds, counts = columns.in_turn(_SECOND)
        last, script = max(seconds), columns.numbers(_SCRIPT)
        if min(seconds) < _FIRST_SECOND or last > _LAST_SECOND or script.max() >= MOST_SCRIPTS:
            return None
        second = np.repeat(seconds, counts)
        in_last = columns.numbers(_MICROSECOND, np.flatnonzero(second == last))
        latency = columns.numbers(_TIME)
        return Transactions(
            latency=latency,
            bins=bins(latency * 1000),
            script=script,
            second=second,
            microsecond=columns.numbers(_MICROSECOND) if self._microseconds else _NONE,
            fields=self._fields,
            extra=columns.numbers(-1) if self._fields > 6 else _NONE,
            lines=len(second),
            end=last + int(in_last.max()) / 1e6,
        )

    def _by_line(self, block: bytes) -> None:
        """Reads the lines of digits at once, the others one by one."""
        digits: list[bytes] = []
        extra: list[int] = []
        first, end, size, skipped, failed = b"", 0.0, 0, 0, 0
        examined, missing = self._examine(block)
        for line in block[:-1].split(b"\n"):
            self._number += 1
            match = _LINE.fullmatch(line)
            if match is None or _count_fields(match) != self._fields:
                if line.strip():
                    self._misread("log_line", line.decode("utf-8", "replace"))
                continue
            first, size = first or line, size + len(line) + 1
            if match["time"].isdigit():
                digits.append(line.rstrip(b"\r") + b"\n")
                continue
            end = max(end, _epoch(match))
            if match["time"] == b"skipped":
                skipped += 1
                continue
            failed += 1
            if match["extra"]:
                extra.append(int(match["retries"] or match["extra"]))
        shortest, longest = _SHORTEST[: self._fields], _LONGEST[: self._fields]
        columns = DigitColumns.of(b"".join(digits), shortest, longest) if digits else None
        piece = (self._numbers(columns) if columns else None) or _NOTHING
        self._emit(
            piece._replace(
                skipped=skipped,
                failed=failed,
                fields=self._fields,
                extra=np.append(piece.extra, np.array(extra, np.int64)),
                lines=len(digits) + skipped + failed,
                size=size,
                end=max(end, piece.end),
                examined=examined,
                missing=missing,
            ),
            first,
        )

    def _examine(self, block: bytes) -> tuple[int, int]:
        """Looks for gaps between the transaction numbers of each client; how many lines that were, and are missing."""
        left, last, missing = EXAMINED - self._examined, self._last_numbers, 0
        if not left:
            return 0, 0
        lines = block[:-1].split(b"\n", left)[:left]
        for text in _NUMBERED.findall(b"\n".join(lines)):
            client, number = map(int, text)
            if (gap := number - last.get(client, 0) - 1) > 0:
                missing += gap
            last[client] = number
        self._examined += len(lines)
        if self._examined == EXAMINED:
            last.clear()
        return len(lines), missing

    def _emit(self, piece: Transactions, text: bytes) -> None:
        """Complete a record; `text` begins with its first line."""
        if text and not self._begun:
            self._begun = True
            first = _LINE.fullmatch(text.partition(b"\n")[0])
            assert first
            latency = int(first["time"]) / 1e6 if first["time"].isdigit() else 0.0
            piece = piece._replace(begin=_epoch(first) - latency)
        self.records += piece.lines
        self._out.append(piece)


def transaction(line: bytes) -> bool:
    """Whether a line, without its end, belongs to a transaction log."""
    return _LINE.fullmatch(line) is not None


def completed(line: bytes) -> float | None:
    """When the transaction of a line, without its end, completed, Unix seconds; None if it is not a line of a log."""
    match = _LINE.fullmatch(line)
    return None if match is None else _epoch(match)


def _fields(block: bytes) -> int:
    """The number of fields in the first line of a log in a block; 0 without one."""
    for line in block[:-1].split(b"\n"):
        if match := _LINE.fullmatch(line):
            return _count_fields(match)
    return 0


def _count_fields(match: re.Match[bytes]) -> int:
    return 6 + (match["extra"] is not None) + (match["retries"] is not None)


def _epoch(match: re.Match[bytes]) -> float:
    return int(match["second"]) + int(match["microsecond"]) / 1e6
