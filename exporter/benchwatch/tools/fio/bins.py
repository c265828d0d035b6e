"""The latencies of fio by time and bin: the differences of consecutive json+ documents."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...metrics.buckets import UPPER_NS
from ...metrics.latencies import Group, Latencies, Piece, narrow
from ..api import Begin, Content
from .document import FioDocument
from .growth import growth
from .snapshot import FioSnapshot, take

_MOST = 2**53


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
                after = take(record, record.built or float(record.timestamp or 0))
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
