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

So a single seventh field is the lag or the retries, and the line does not say which; see `log.Logs.counters`.
Lines with another number of fields than the file's first are misread. With --sampling-rate pgbench writes only some
transactions, which leaves gaps in transaction_no.

Files grow in blocks of 4096 bytes, cut anywhere, and end in a torn line when pgbench is killed.

A block is read at once if all its lines are digits, after words have become numbers that no time has. Other lines (torn
lines, foreign text) are taken out first.

The aggregated log (-l --aggregate-interval=S) has a line per interval, one file per thread; microseconds and their
squares:

    9.3         start count sum sum2 min max
    9.4         ... [sum_lag sum2_lag min_lag max_lag]              with -R: 6 or 10 fields
    9.5 - 14    ... [sum_lag sum2_lag min_lag max_lag [skipped]]    with -R, and -L: 6, 10 or 11 fields
    15+         ... sum_lag sum2_lag min_lag max_lag skipped
                    retried retries serialization_failures deadlock_failures    always 15 fields
    19+         ... other_failures                              16 fields

`start` is the Unix second in which the interval begins. `count` includes skipped transactions up to 14; from 15 on it
counts only successful ones. pgbench writes a line when the first transaction of a later interval completes, so it never
writes the last interval, and a file grows by 4096 bytes: the log serves to count what no other source counts, not to
show what happens now.
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
    rb"\d{1,16} \d{1,16} (?P<time>\d{1,12}|skipped|failed|serialization|deadlock|other) "
    rb"(?:\d{1,2}|1[01]\d|12[0-7]) (?P<second>[1-3]\d{9}) (?P<microsecond>\d{1,6})(?P<more>(?: \d{1,12}){0,2})\r?"
)
_INTERVAL = re.compile(rb"[1-3]\d{9} \d{1,12}(?: \d{1,30}){4}(?:(?: \d{1,30}){4}(?: \d{1,12}|(?: \d{1,12}){5,6})?)?\r?")
"""Unix time up to 2096; sums of squares are long, counts are not."""
_NUMBERED = re.compile(rb"(?m)^(\d{1,18}) (\d{1,18}) ")
_WORD = re.compile(rb" (?:(skipped)|failed|serialization|deadlock|other) ")
_SKIPPED, _FAILED = 10**12, 10**12 + 1
"""What stands for a word: a digit more than a time has."""
_FIRST_SECOND, _LAST_SECOND = 1_000_000_000, 3_999_999_999
_PIECE = 1 << 13
_TIME, _SCRIPT, _SECOND, _MICROSECOND = range(2, 6)
_SHORTEST = (1, 1, 1, 1, 10, 1, 1, 1)
_LONGEST = (MOST_DIGITS, MOST_DIGITS, 12, 3, 10, 6, 12, 12)
_LONGEST_WITH_WORDS = (MOST_DIGITS, MOST_DIGITS, 13, 3, 10, 6, 12, 12)
"""How many digits the number in each field has."""
_NONE = np.zeros(0, np.int64)


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
    skipped: int
    failed: int
    """All transactions that failed, for any reason."""
    fields: int
    """How many each line has: with lag or retries 7, with both 8."""
    extra: Integers
    """The last field of each line without skipped ones, if there are more than 6."""
    lines: int
    size: int
    """Bytes of these lines."""
    begin: float
    """When the transaction of the first line began, Unix seconds."""
    end: float
    """When the last transaction of the latest second completed, Unix seconds; a clock may be set back."""
    examined: int
    missing: int
    """Transactions that should be among the examined lines and are not."""


class LogParser(LineParser):
    """The common part of parsers of pgbench's logs. A line without its end is torn: it may lack digits."""

    def close(self) -> list[Misread]:
        """See tools.Parser."""
        if rest := self._end_last_line():
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
        self._examined = 0
        self._last_numbers: dict[int, int] = {}

    def _block(self, block: bytes) -> None:
        """Reads a block at once; if that fails, its halves, and small pieces without the lines that are not a log's."""
        if not self._fields:
            first = next(filter(None, map(_LINE.fullmatch, block[:-1].split(b"\n"))), None)
            self._fields = _fields(first) if first else 0
        if self._fields and (lines := self._at_once(block)):
            self._number += lines
            return
        half = len(block) // 2
        middle = block.find(b"\n", half) + 1
        if middle == len(block):  # the last line is the longer half
            middle = block.rfind(b"\n", 0, half) + 1
        if len(block) > _PIECE and middle:
            self._block(block[:middle])
            self._block(block[middle:])
            return
        whole = []
        for line in block[:-1].split(b"\n"):
            self._number += 1
            match = _LINE.fullmatch(line)
            if match and _fields(match) == self._fields:
                whole.append(line.rstrip(b"\r") + b"\n")
            elif line.strip():
                self._misread("log_line", line.decode("utf-8", "replace"))
        if whole:
            self._at_once(b"".join(whole))

    def _at_once(self, block: bytes) -> int:
        """Reads a block if each line has the expected number of fields; returns how many lines it has, 0 if not."""
        piece = self._transactions(block, block, 0)
        if piece is None:
            numbers, words = _WORD.subn(lambda match: b" %d " % (_SKIPPED if match[1] else _FAILED), block)
            piece = self._transactions(block, numbers, words) if words else None
        if piece is None:
            return 0
        self.records += piece.lines
        self._out.append(piece)
        return piece.lines

    def _transactions(self, block: bytes, numbers: bytes, words: int) -> Transactions | None:
        """The transactions in a block, given with so many words as numbers; None if another line is in it."""
        longest = _LONGEST_WITH_WORDS if words else _LONGEST
        columns = DigitColumns.of(numbers, _SHORTEST[: self._fields], longest[: self._fields])
        if columns is None:
            return None
        seconds, counts = columns.in_turn(_SECOND)
        last, script, latency = max(seconds), columns.numbers(_SCRIPT), columns.numbers(_TIME)
        if min(seconds) < _FIRST_SECOND or last > _LAST_SECOND or script.max() >= MOST_SCRIPTS:
            return None
        second = np.repeat(seconds, counts)
        in_last = columns.numbers(_MICROSECOND, np.flatnonzero(second == last))
        microsecond = columns.numbers(_MICROSECOND) if self._microseconds else _NONE
        extra = columns.numbers(-1) if self._fields > 6 else _NONE
        lines, skipped, failed = len(second), 0, 0
        first = block[: block.find(b"\n")].split()
        begin = int(first[_SECOND]) + int(first[_MICROSECOND]) / 1e6
        if first[_TIME].isdigit():
            begin -= int(first[_TIME]) / 1e6
        if words:
            is_word = columns.lengths[_TIME] > _LONGEST[_TIME]
            skipped, failed = (int(np.count_nonzero(latency == word)) for word in (_SKIPPED, _FAILED))
            if not np.count_nonzero(is_word) == skipped + failed == words:
                return None
            extra = extra[latency != _SKIPPED] if self._fields > 6 else _NONE
            microsecond = microsecond[~is_word] if self._microseconds else _NONE
            latency, script, second = latency[~is_word], script[~is_word], second[~is_word]
        examined, missing = self._examine(block)
        return Transactions(
            latency=latency,
            bins=bins(latency * 1000),
            script=script,
            second=second,
            microsecond=microsecond,
            skipped=skipped,
            failed=failed,
            fields=self._fields,
            extra=extra,
            lines=lines,
            size=len(block),
            begin=begin,
            end=last + int(in_last.max()) / 1e6,
            examined=examined,
            missing=missing,
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


def completed(line: bytes) -> float | None:
    """When the transaction of a line, without its end, completed, Unix seconds; None if it is not a line of a log."""
    match = _LINE.fullmatch(line)
    return int(match["second"]) + int(match["microsecond"]) / 1e6 if match else None


def _fields(match: re.Match[bytes]) -> int:
    return 6 + match["more"].count(b" ")


class AggregateInterval(NamedTuple):
    """One interval of one thread. A number that this format does not have is 0."""

    start: int
    """Unix seconds."""
    transactions: int
    """Those with a latency."""
    skipped: int = 0
    retried: int = 0
    retries: int = 0
    failed: int = 0


class AggregateParser(LogParser):
    """Reads the aggregated log of one thread."""

    def _line(self, line: bytes) -> None:
        if found := interval(line):
            self.records += 1
            self._out.append(found)
        elif line.strip():
            self._misread("log_line", line.decode("utf-8", "replace"))


def interval(line: bytes) -> AggregateInterval | None:
    """The content of a line; None if it is not a line of an aggregated log."""
    if not _INTERVAL.fullmatch(line):
        return None
    start, count, *rest = map(int, line.split())
    if len(rest) >= 13:
        skipped, retried, retries, *failed = rest[8:]
        return AggregateInterval(start, count, skipped, retried, retries, sum(failed))
    late = rest[8] if len(rest) == 9 else 0
    return AggregateInterval(start, count - late, late) if late <= count else None  # the count includes them
