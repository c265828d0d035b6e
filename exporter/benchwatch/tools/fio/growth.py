"""How many latencies were counted in each bin between two documents."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .snapshot import FioSnapshot, Integers


class Growth(NamedTuple):
    """The bins whose numbers changed: those of one series after the other, ascending."""

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
        earlier = before.counts[:, begin : begin + width]
        if before.series != after.series:
            places = {series: place for place, series in enumerate(before.series)}
            order = np.array([places.get(series, len(places)) for series in after.series], dtype=np.int64)
            earlier = np.concatenate([earlier, np.zeros((1, earlier.shape[1]), dtype=np.int64)])[order]
        fresh = list(restarted)
        known, counts = counts, counts - earlier
        counts[fresh] = known[fresh]
    flat = counts.ravel()
    changed = np.flatnonzero(flat != 0)
    borders = np.searchsorted(changed, np.arange(len(after.series) + 1) * counts.shape[1])
    return Growth((begin + changed % width).astype(np.uint16), flat[changed], borders)
