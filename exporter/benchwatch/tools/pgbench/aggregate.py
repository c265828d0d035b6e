"""pgbench's aggregated log (-l --aggregate-interval=S): one line an interval, one file a thread.

From `doLog()` of pgbench.c; microseconds and their squares:

    9.3         start count sum sum2 min max
    9.4         ... [sum_lag sum2_lag min_lag max_lag]              with -R: 6 or 10 fields
    9.5 - 14    ... [sum_lag sum2_lag min_lag max_lag [skipped]]    with -R, and -L: 6, 10 or 11 fields
    15+         ... sum_lag sum2_lag min_lag max_lag skipped
                    retried retries serialization_failures deadlock_failures    always 15 fields
    19+         ... other_failures                              16 fields

`start` is the Unix second in which the interval begins. `count` includes the skipped up to 14, only successes from 15.
A line is written when a later interval's first transaction completes, so the last interval never is, and a file grows
by 4096 bytes: it serves to count what no other source counts, never to show what happens now.
"""

import re
from typing import NamedTuple

from ..api import Misread
from ..lines import LIMIT, Overlong, WholeLines

_FIELDS = frozenset([6, 10, 11, 15, 16])
_LINE = re.compile(rb"[1-3]\d{9} \d{1,12}(?: \d{1,30}){4}(?: \d{1,30}){0,4}(?: \d{1,12}){0,6}\r?")
"""Unix time to 2096; sums of squares are long, counts are not."""


class AggregateInterval(NamedTuple):
    """One interval of one thread. None: this format does not tell."""

    start: int
    """Unix seconds."""
    transactions: int
    """Those with a latency."""
    skipped: int | None
    retried: int | None
    retries: int | None
    failed: int | None


class AggregateParser:
    """Reads the aggregated log of one thread."""

    undated = False

    def __init__(self) -> None:
        self.records = 0
        self._lines = WholeLines()
        self._number = 0

    def feed(self, data: bytes) -> list[AggregateInterval | Misread]:
        """The intervals of the lines that these bytes complete."""
        out: list[AggregateInterval | Misread] = []
        for block in self._lines.feed(data):
            if isinstance(block, Overlong):
                self._number += 1
                out.append(self._misread("line_too_long", block.excerpt, f" ... (more than {LIMIT} bytes)"))
                continue
            for line in block[:-1].split(b"\n"):
                self._number += 1
                if (found := interval(line)) is not None:
                    self.records += 1
                    out.append(found)
                elif line.strip():
                    out.append(self._misread("log_line", line))
        return out

    def settle(self) -> list[AggregateInterval | Misread]:
        """None: a line without its end may lack digits."""
        return []

    def close(self) -> list[AggregateInterval | Misread]:
        """A line without its end is torn."""
        rest = self._lines.close()
        self._number += 1
        return [self._misread("truncated_line", rest)] if rest else []

    def _misread(self, reason: str, text: bytes, more: str = "") -> Misread:
        return Misread(reason, f"line {self._number}", text[:200].decode("utf-8", "replace") + more)


def interval(line: bytes) -> AggregateInterval | None:
    """What a line says; None if it is not of an aggregated log."""
    if not _LINE.fullmatch(line):
        return None
    numbers = [int(text) for text in line.split()]
    if len(numbers) not in _FIELDS:
        return None
    start, count, *rest = numbers
    if len(numbers) >= 15:
        skipped, retried, retries, *failed = rest[8:]
        return AggregateInterval(start, count, skipped, retried, retries, sum(failed))
    late = rest[-1] if len(numbers) == 11 else None
    if late is not None and late > count:  # the count includes them
        return None
    return AggregateInterval(start, count - (late or 0), late, None, None, None)
