"""The latencies of fio by time and bin: what json+ documents have more than those before them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...metrics.buckets import UPPER_NS
from ...metrics.latencies import Group, Latencies
from ..api import Begin, Content
from .document import Document
from .snapshot import Snapshot, take

_MOST = 2**53


class DocumentBins:
    """See tools.Bins."""

    def __init__(self, _: Content) -> None:
        self._found: dict[Group, Latencies] = defaultdict(Latencies)
        self._before: Snapshot | None = None

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        for record in records:
            if isinstance(record, Begin):  # another run of fio in the same file: the last one counts
                self._found.clear()
                self._before = None
            elif isinstance(record, Document):
                after = take(record, record.built or float(record.timestamp or 0))
                self._add(after)
                self._before = after

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return self._found

    def _add(self, after: Snapshot) -> None:
        before = self._before
        earlier = dict(zip(before.series, before.counts, strict=True)) if before else {}
        highest = after.highest(after.maxima).tolist()
        for series, total, longest in zip(after.series, after.counts, highest, strict=True):
            counts = total - earlier[series] if series in earlier else total
            if counts.min() < 0:  # fio counts from zero again, as at the end of ramp_time
                self._found[tuple(series)] = Latencies()
                counts = total
            if counts.any():
                edge = min(int(UPPER_NS[np.flatnonzero(counts)[-1]]), longest or _MOST) / 1e9
                self._found[tuple(series)].add(before.time if before else -math.inf, counts, edge)
