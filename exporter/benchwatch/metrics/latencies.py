"""Every latency of a run by time and bin: what pgbench's transaction log and fio's json+ documents hold.

Percentiles of any part of a run, and of several workers together, are read from the summed bins (see `buckets`) and
never from other percentiles. Pieces of time are whole seconds of a log, which can be divided where a part of the run is
to begin, and the time between two documents.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .buckets import BINS, Counts, bins

Group = tuple[str, ...]
"""Which operations: the values of the labels job and op for fio, nothing for pgbench."""

_GAPS = 0.01
"""Of the operations; a damaged line or two leave less, sampling leaves more."""
_NARROW = np.iinfo(np.uint16).max


class Dated(NamedTuple):
    """Operations of which each is dated: Unix seconds of their ends, latencies in microseconds."""

    times: NDArray[np.float64]
    latencies: NDArray[np.int64]


class Log(Protocol):
    """Where a second of a log can be read once more, to divide it."""

    def second(self, second: int) -> Dated:
        """The operations that completed in a second of Unix time."""


class Piece(NamedTuple):
    """What was counted in a short time."""

    begin: float
    """Unix seconds."""
    highest: float
    """The highest latency, seconds."""
    bins: NDArray[Any]
    """Those that are not empty."""
    counts: NDArray[Any]
    """By these."""
    total: float
    """The sum of the latencies, seconds; 0 where it is not known."""
    log: Log | None = None
    """Of a whole second of a log: that log."""


class Latencies:
    """Counts by bin and the highest latency of short pieces of time."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self.end: float | None = None
        """When the last operation completed, Unix seconds, where each is dated."""
        self._examined = self._missing = 0

    def add(self, begin: float, counts: Counts, highest: float, total: float = 0.0, log: Log | None = None) -> None:
        """Take in what was counted from `begin` to the next piece, and where it is known the sum of these latencies."""
        filled = np.flatnonzero(counts)
        if len(filled):
            numbers = counts[filled]
            narrow = numbers.astype(np.uint16) if numbers.max() <= _NARROW else numbers
            self._pieces.append(Piece(begin, highest, filled.astype(np.uint16), narrow, total, log))

    def dated(self, end: float, examined: int, missing: int) -> None:
        """Operations are dated, up to `end`; of some that were examined, others are missing."""
        self.end = max(end, self.end or 0.0) or None
        self._examined += examined
        self._missing += missing

    @property
    def whole(self) -> bool:
        """Whether every operation is in it, with its date and latency."""
        return self.end is not None and is_whole(self._examined, self._missing)

    def extend(self, other: "Latencies") -> None:
        """Take in those of another stream, or of another worker."""
        self._pieces += other._pieces
        if other.end is not None:
            self.dated(other.end, other._examined, other._missing)

    def divided(self, cuts: Collection[float]) -> "Latencies":
        """The same, with the seconds of a log divided at these times, Unix seconds, to the microsecond."""
        at = sorted(cuts)
        found = self._with([part for piece in self._pieces for part in _parts(piece, at)])
        found.end, found._examined, found._missing = self.end, self._examined, self._missing
        return found

    def within(self, begin: float, end: float = math.inf) -> "Latencies":
        """The pieces that begin in a span of time, Unix seconds, the end not included."""
        return self._with([piece for piece in self._pieces if begin <= piece.begin < end])

    def _with(self, pieces: list[Piece]) -> "Latencies":
        found = Latencies()
        found._pieces = pieces
        return found

    @property
    def count(self) -> int:
        """How many latencies there are."""
        return sum(int(piece.counts.sum()) for piece in self._pieces)

    @property
    def total(self) -> float:
        """The sum of the latencies, seconds, where it is known."""
        return math.fsum(piece.total for piece in self._pieces)

    def between(self, begin: float = -math.inf, end: float = math.inf) -> Counts:
        """The bins of the pieces that begin in a span of time."""
        counts = np.zeros(BINS, np.int64)
        for piece in self._pieces:
            if begin <= piece.begin < end:
                counts[piece.bins] += piece.counts
        return counts

    @property
    def highest(self) -> float:
        """The highest latency, seconds; 0 if there is none."""
        return max((piece.highest for piece in self._pieces), default=0.0)


def is_whole(examined: int, missing: int) -> bool:
    """Whether every operation is in a log, by those that were examined and those missing among them."""
    return missing <= _GAPS * (examined + missing)


def _parts(piece: Piece, cuts: Sequence[float]) -> Iterator[Piece]:
    inside = [cut for cut in cuts if piece.log is not None and piece.begin < cut < piece.begin + 1]
    if piece.log is None or not inside:
        yield piece
        return
    times, latencies = piece.log.second(int(piece.begin))
    found = Latencies()
    for begin, end in pairwise([piece.begin, *inside, piece.begin + 1]):
        own = latencies[(times >= begin) & (times < end)]
        if len(own):
            counts = np.bincount(bins(own * 1000), minlength=BINS)
            found.add(begin, counts, int(own.max()) / 1e6, int(own.sum()) / 1e6)
    yield from found._pieces
