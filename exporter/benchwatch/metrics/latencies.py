"""Every latency of a run by time and bin, from pgbench's transaction log and fio's json+ documents.

Percentiles of a part of a run, or of several workers together, come from summed bins (see `buckets`), never from other
percentiles. A piece of time is the time between two documents or a whole second of a log, which can be divided where a
part of the run begins.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .buckets import BINS, Counts, bins

Group = tuple[str, ...]
"""Which operations: the values of the labels job and op for fio, empty for pgbench."""

_GAPS = 0.01
"""The fraction of operations that may be missing: a damaged line or two leave less, sampling leaves more."""
LOST = 0.01
"""The fraction of a run's operations that a log may lack."""
_NARROW = np.iinfo(np.uint16).max


def narrow(counts: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which are not negative, in two bytes each if they fit."""
    return counts.astype(np.uint16) if counts.max(initial=0) <= _NARROW else counts


class Dated(NamedTuple):
    """Dated operations: Unix seconds of their ends, latencies in microseconds."""

    times: NDArray[np.float64]
    latencies: NDArray[np.int64]


class Piece(NamedTuple):
    """Latencies in a short time."""

    begin: float
    """Unix seconds."""
    highest: float
    """The highest latency, seconds."""
    bins: NDArray[Any]
    """The bins that are not empty."""
    counts: NDArray[Any]
    """The number of latencies in each of these bins."""
    total: float
    """The sum of the latencies, seconds; 0 if it is not known."""
    second: Callable[[int], Dated] | None = None
    """For a whole second of a log: reads the operations of a Unix second again, to divide it."""

    @classmethod
    def of(
        cls,
        begin: float,
        filled: Counts,
        microseconds: NDArray[np.int64],
        second: Callable[[int], Dated] | None = None,
    ) -> "Piece":
        """A piece with latencies whose bins are `filled`."""
        counts = np.bincount(filled, minlength=BINS)
        (places,) = counts.nonzero()
        highest, total = int(microseconds.max()) / 1e6, int(microseconds.sum()) / 1e6
        return cls(begin, highest, places.astype(np.uint16), narrow(counts[places]), total, second)


class Latencies:
    """Counts by bin and the highest latency of short pieces of time."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self.end: float | None = None
        """When the last operation completed, Unix seconds; None if they are not dated."""
        self._examined = self._missing = 0

    def add(self, piece: Piece) -> None:
        """Add the counts of a short time."""
        self._pieces.append(piece)

    def dated(self, end: float, examined: int, missing: int) -> None:
        """Note that operations up to `end` are dated, and how many were examined and missing among these."""
        self.end = max(end, self.end or 0.0) or None
        self._examined += examined
        self._missing += missing

    @property
    def whole(self) -> bool:
        """Whether it has every operation with its date and latency."""
        return self.end is not None and is_whole(self._examined, self._missing)

    def extend(self, other: "Latencies") -> None:
        """Add the latencies of another stream or worker."""
        self._pieces += other._pieces
        if other.end is not None:
            self.dated(other.end, other._examined, other._missing)

    def divided(self, cuts: Collection[float]) -> "Latencies":
        """The same latencies, with the seconds of a log divided at these Unix times, to the microsecond."""
        at = sorted(cuts)
        found = self._with([part for piece in self._pieces for part in _parts(piece, at)])
        found.end, found._examined, found._missing = self.end, self._examined, self._missing
        return found

    def within(self, begin: float, end: float = math.inf) -> "Latencies":
        """The latencies of the pieces that begin in a span of time, Unix seconds, `end` excluded."""
        return self._with([piece for piece in self._pieces if begin <= piece.begin < end])

    def _with(self, pieces: list[Piece]) -> "Latencies":
        found = Latencies()
        found._pieces = pieces
        return found

    @property
    def count(self) -> int:
        """The number of latencies."""
        return int(np.concatenate([piece.counts for piece in self._pieces]).sum()) if self._pieces else 0

    @property
    def total(self) -> float:
        """The sum of the latencies, seconds, if it is known."""
        return math.fsum(piece.total for piece in self._pieces)

    def between(self, begin: float = -math.inf, end: float = math.inf) -> Counts:
        """The bins of the pieces that begin in a span of time."""
        chosen = [piece for piece in self._pieces if begin <= piece.begin < end]
        if not chosen:
            return np.zeros(BINS, np.int64)
        filled, counts = (
            np.concatenate(parts) for parts in zip(*((one.bins, one.counts) for one in chosen), strict=True)
        )
        return np.bincount(filled, counts, minlength=BINS).astype(np.int64)  # exact: far below 2**53

    @property
    def highest(self) -> float:
        """The highest latency, seconds; 0 without any."""
        return max((piece.highest for piece in self._pieces), default=0.0)


def is_whole(examined: int, missing: int) -> bool:
    """Whether a log has every operation, judging by those that were examined and those missing among them."""
    return missing <= _GAPS * (examined + missing)


def is_cut_off(count: int, done: float) -> bool:
    """Whether a log with `count` operations lacks a part of those that the run has `done`.

    Its disk was full, or a thread's file is missing: its percentiles are not those of the run.
    """
    return count < (1 - LOST) * done


def _parts(piece: Piece, cuts: Sequence[float]) -> Iterator[Piece]:
    inside = [cut for cut in cuts if piece.begin < cut < piece.begin + 1]
    if piece.second is None or not inside:
        yield piece
        return
    times, latencies = piece.second(int(piece.begin))
    for begin, end in pairwise([piece.begin, *inside, piece.begin + 1]):
        own = latencies[(times >= begin) & (times < end)]
        if len(own):
            yield Piece.of(begin, bins(own * 1000), own)
