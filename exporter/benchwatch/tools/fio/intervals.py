"""The interval at which fio prints its documents, estimated from the documents.

fio does not print its --status-interval. A document is late when a job is slow to answer (up to for ever), and the
next one then comes at once, about 2 ms later, or early by as much; so the median of the last gaps that are not tiny
is the interval.
"""

from collections import deque
from statistics import median

_GAPS = 31
_TINY = 0.05


class Interval:
    """Takes the gaps between documents, in seconds, and estimates the interval."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=_GAPS)

    def add(self, gap: float) -> None:
        """Take in the gap before a document that is not the last one."""
        if gap >= _TINY:
            self._gaps.append(gap)

    @property
    def seconds(self) -> float | None:
        """The interval, to the millisecond; None before there are two documents."""
        return round(median(self._gaps), 3) if self._gaps else None
