"""When the parts of pgbench's logs were written, according to the logs themselves. This drives a replay.

- transaction log: each second when it is over; the last one at its last transaction. The border between two seconds is
  found by bisection: lines are in the order of their completion.
- aggregated log: an interval is complete when the next one begins.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from mmap import mmap

from ..api import Moment
from .transactions import completed, interval

_EMPTY_SECONDS = 2
"""How many consecutive seconds without a transaction are reported: more would repeat the same."""
_STEP = 256
_NEAR = 64
"""Bytes within which a line is found one by one."""


def of_log(data: bytes | mmap) -> Iterator[Moment]:
    """The seconds of a transaction log."""
    begin, time = _line_at(data, 0)
    step = _STEP
    while begin < len(data):
        border = math.floor(time) + 1
        begun, (begin, time) = begin, _first_after(data, begin, border, step)
        step = max(_STEP, (begin - begun) * 5 // 4)  # most seconds are about as long as the one before
        if begin == len(data):
            times = (_completed(line) for line in reversed(data[begun:].split(b"\n")[:-1]))
            yield Moment(begin, next(time for time in times if time is not None))
            return
        for second in range(border, min(border + _EMPTY_SECONDS, math.floor(time)) + 1):
            yield Moment(begin, second)


def of_aggregate(data: bytes | mmap) -> Iterator[Moment]:
    """The intervals of an aggregated log."""
    offset, found = 0, []
    for line in data[:].splitlines(keepends=True):
        offset += len(line)
        if line.endswith(b"\n") and (read := interval(line[:-1])) is not None:
            found.append((offset, read.start))
    for (end, start), (_, following) in pairwise(found):
        yield Moment(end, max(start, following))
    if len(found) > 1:
        yield Moment(found[-1][0], 2 * found[-1][1] - found[-2][1])


def _first_after(data: bytes | mmap, low: int, border: int, step: int) -> tuple[int, float]:
    """The first line from the offset `low` on whose transaction completed at `border` or later, see _line_at.

    `step`: within how many bytes it is looked for first.
    """

    def is_after(offset: int) -> bool:
        return _line_at(data, offset)[1] >= border

    while low + step < len(data) and not is_after(low + step):
        low, step = low + step, 2 * step
    offsets = range(low, min(low + step, len(data)), _NEAR)
    place = bisect_left(offsets, True, key=is_after)
    begin, time = _line_at(data, offsets[max(0, place - 1)])
    while time < border:
        begin, time = _line_at(data, begin + 1)
    return begin, time


def _line_at(data: bytes | mmap, offset: int) -> tuple[int, float]:
    """Where the first line of a transaction begins at `offset` or later, and its time; at the end infinite."""
    begin = data.find(b"\n", offset - 1) + 1 if offset else 0
    while begin or not offset:
        end = data.find(b"\n", begin)
        if end < 0:
            break
        time = _completed(data[begin:end])
        if time is not None:
            return begin, time
        begin = offset = end + 1
    return len(data), math.inf


def _completed(line: bytes) -> float | None:
    """See transactions.completed; NUL bytes are dropped, as the parser does."""
    return completed(line.replace(b"\0", b""))
