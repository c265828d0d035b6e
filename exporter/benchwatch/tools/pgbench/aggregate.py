"""pgbench's aggregated log (-l --aggregate-interval=S): one line per interval, one file per thread.

From `doLog()` of pgbench.c; microseconds and their squares:

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

from .transactions import LogParser

_LINE = re.compile(rb"[1-3]\d{9} \d{1,12}(?: \d{1,30}){4}(?:(?: \d{1,30}){4}(?: \d{1,12}|(?: \d{1,12}){5,6})?)?\r?")
"""Unix time up to 2096; sums of squares are long, counts are not."""


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
    if not _LINE.fullmatch(line):
        return None
    start, count, *rest = map(int, line.split())
    if len(rest) >= 13:
        skipped, retried, retries, *failed = rest[8:]
        return AggregateInterval(start, count, skipped, retried, retries, sum(failed))
    late = rest[8] if len(rest) == 9 else 0
    return AggregateInterval(start, count - late, late) if late <= count else None  # the count includes them
