"""How many latencies were counted in each bin between two documents."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import FIO_BINS
from .snapshot import FioSnapshot, Integers


class Growth(NamedTuple):
    """The bins whose numbers changed: those of one series after the other, ascending."""

    bins: NDArray[np.uint16]
    numbers: Integers
    """How many more there are; fewer if fio counts from zero again."""
    borders: Integers
    """Where the bins of each series begin, and where those of the last end."""

    @property
    def rows(self) -> Integers:
        """Which series each bin is of."""
        return np.repeat(np.arange(len(self.borders) - 1), np.diff(self.borders))

    @property
    def fallen(self) -> tuple[int, ...]:
        """The series of which a number is lower than before."""
        fell = self.numbers < 0
        return tuple(np.unique(self.rows[fell]).tolist()) if fell.any() else ()


@lru_cache(maxsize=1)
def growth(before: FioSnapshot | None, after: FioSnapshot, anew: tuple[int, ...]) -> Growth:
    """Of each series of `after`; all that was counted, where there is no `before` and of the series `anew`."""
    counts = after.counts
    if before is not None:
        earlier = before.counts
        if before.series != after.series:
            places = {series: place for place, series in enumerate(before.series)}
            order = np.array([places.get(series, len(places)) for series in after.series], dtype=np.int64)
            earlier = np.concatenate([earlier, np.zeros((1, FIO_BINS), dtype=np.int64)])[order]
        counts = counts - earlier
        counts[list(anew)] = after.counts[list(anew)]
    flat = counts.ravel()
    changed = np.flatnonzero(flat != 0)
    borders = np.searchsorted(changed, np.arange(len(after.series) + 1) * FIO_BINS)
    return Growth((changed % FIO_BINS).astype(np.uint16), flat[changed], borders)
