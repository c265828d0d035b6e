"""The latencies of fio by time and bin: what json+ documents have more than those before them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...metrics.buckets import BINS, UPPER_NS
from ...metrics.latencies import Group, Latencies, Piece, narrow
from ..api import Begin, Content
from .document import FioDocument
from .snapshot import FioSnapshot, Integers, take

_MOST = 2**53


class DocumentBins:
    """See tools.Bins."""

    def __init__(self, _: Content) -> None:
        self._found: dict[Group, Latencies] = defaultdict(Latencies)
        self._before: FioSnapshot | None = None

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        for record in records:
            if isinstance(record, Begin):  # another run of fio in the same file: the last one counts
                self._found.clear()
                self._before = None
            elif isinstance(record, FioDocument):
                after = take(record, record.built or float(record.timestamp or 0))
                self._add(after)
                self._before = after

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return self._found

    def _add(self, after: FioSnapshot) -> None:
        before = self._before
        counts = after.counts - _earlier(before, after)
        flat = counts.ravel()
        places = np.flatnonzero(flat != 0)
        for row in np.unique(places[flat[places] < 0] // BINS).tolist():
            # fio counts from zero again, as at the end of ramp_time
            self._found[tuple(after.series[row])] = Latencies()
            counts[row] = after.counts[row]
            places = np.flatnonzero(flat != 0)
        borders = np.searchsorted(places, np.arange(len(after.series) + 1) * BINS).tolist()
        numbers, filled = flat[places], (places % BINS).astype(np.uint16)
        highest = after.highest(after.maxima).tolist()
        for series, longest, (begin, end) in zip(after.series, highest, pairwise(borders), strict=True):
            if begin < end:
                edge = min(int(UPPER_NS[filled[end - 1]]), longest or _MOST) / 1e9
                piece = Piece(
                    before.time if before else -math.inf, edge, filled[begin:end], narrow(numbers[begin:end]), 0.0
                )
                self._found[tuple(series)].add(piece)


def _earlier(before: FioSnapshot | None, after: FioSnapshot) -> Integers:
    """The bins that the series of `after` had before."""
    if before is None:
        return np.zeros_like(after.counts)
    if before.series == after.series:
        return before.counts
    earlier = dict(zip(before.series, before.counts, strict=True))
    nothing = np.zeros(BINS, np.int64)
    return np.array([earlier.get(series, nothing) for series in after.series]).reshape(after.counts.shape)
