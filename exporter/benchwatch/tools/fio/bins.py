"""The latencies of fio by time and bin: the differences of consecutive json+ documents."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import UPPER_NS
from ...metrics.latencies import Group, Latencies, Piece, narrow
from ..api import Begin, Content
from .document import FioDocument
from .snapshot import FioSnapshot, Integers, aligned, take

_MOST = 2**53


class Growth(NamedTuple):
    """The bins whose numbers changed between two documents: those of one series after the other, ascending."""

    bins: NDArray[np.uint16]
    numbers: Integers
    """How many more there are; negative if fio counts from zero again."""
    borders: Integers
    """Where the bins of each series begin, and where those of the last series end."""

    @property
    def rows(self) -> Integers:
        """The series of each bin."""
        return np.arange(len(self.borders) - 1).repeat(self.borders[1:] - self.borders[:-1])

    @property
    def fallen(self) -> tuple[int, ...]:
        """The series with a number that is lower than before."""
        fell = self.numbers < 0
        return tuple(np.unique(self.rows[fell]).tolist()) if fell.any() else ()


@lru_cache(maxsize=1)
def growth(before: FioSnapshot | None, after: FioSnapshot, restarted: tuple[int, ...]) -> Growth:
    """The growth of each series of `after`; those that `restarted`, or have no `before`, grew from zero."""
    begin, end = after.used.start, after.used.stop
    if before is not None:
        begin, end = min(begin, before.used.start), max(end, before.used.stop)
    width = max(end - begin, 1)
    counts = after.counts[:, begin : begin + width]
    if before is not None:
        fresh = list(restarted)
        known = counts
        counts = known - aligned(before.counts[:, begin : begin + width], before.series, after.series)
        counts[fresh] = known[fresh]
    flat = counts.ravel()
    changed = np.flatnonzero(flat != 0)
    borders = np.searchsorted(changed, np.arange(len(after.series) + 1) * counts.shape[1])
    return Growth((begin + changed % width).astype(np.uint16), flat[changed], borders)


class DocumentBins:
    """See tools.Bins."""

    def __init__(self, _: Content) -> None:
        self._found: dict[Group, Latencies] = defaultdict(Latencies)
        self._before: FioSnapshot | None = None

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        for record in records:
            if isinstance(record, Begin):  # of several runs in a file, the last one counts
                self._found.clear()
                self._before = None
            elif isinstance(record, FioDocument):
                after = take(record, record.built or float(record.timestamp))
                self._add(after)
                self._before = after

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return self._found

    def _add(self, after: FioSnapshot) -> None:
        grown = growth(self._before, after, ())
        if restarted := grown.fallen:  # fio counts from zero again, as at the end of ramp_time
            for row in restarted:
                self._found[tuple(after.series[row])] = Latencies()
            grown = growth(self._before, after, restarted)
        begun = self._before.time if self._before else -math.inf
        numbers, highest = narrow(grown.numbers), after.highest(after.maxima).tolist()
        for series, longest, (begin, end) in zip(after.series, highest, pairwise(grown.borders.tolist()), strict=True):
            if begin < end:
                edge = min(int(UPPER_NS[grown.bins[end - 1]]), longest or _MOST) / 1e9
                piece = Piece(begun, edge, grown.bins[begin:end], numbers[begin:end], 0.0)
                self._found[tuple(series)].add(piece)
