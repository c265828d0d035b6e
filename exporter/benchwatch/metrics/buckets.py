"""The one bucket scheme: fio's log-linear bins of whole nanoseconds, their quantiles and histograms.

fio (stat.h, unchanged 3.0 - 3.42) counts a latency of v nanoseconds in bin
`v` if v < 128, else with e = floor(log2 v) - 6 in bin `min(1855, 64 (e + 1) + ((v >> e) & 63))`:
64 bins to an octave, 1856 in all, each at most 1/64 of its value wide; the last, from 17.0 s on, has no upper end.
For latencies that are binned here, the scheme continues to 2.4 hours: 2432 bins.
fio prints the midpoint of a bin, `lo + 2^(e-1)`, which is a value in the bin. The inclusive upper edges
`(64 + j) 2^e - 1` ns are exact and include the histograms' edges 2^k {1, 1.25, 1.5, 1.75} - 1 ns, so every count is in
the right bucket.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .samples import HistogramValue

FIO_BINS = 1856
"""How many bins fio has."""
BINS = 2432
Counts = NDArray[np.int64]
"""Counts by bin, shape (BINS,)."""

_FLOAT_BIAS = (1023 + 5) << 6


def bins(nanoseconds: NDArray[Any]) -> NDArray[np.int64]:
    """The bin of each latency, given in whole nanoseconds from 0 to 2^53."""
    # A float64 holds exponent and leading mantissa bits side by side: shifted right, it is the bin plus a constant.
    values = np.ascontiguousarray(nanoseconds, dtype=np.float64)
    index = (values.view(np.int64) >> 46) - _FLOAT_BIAS
    small = values < 64
    if small.any():
        index[small] = values[small].astype(np.int64)
    clipped: Counts = np.minimum(index, BINS - 1)
    return clipped


def _edges() -> tuple[Counts, Counts]:
    index = np.arange(BINS, dtype=np.int64)
    shift = np.maximum((index >> 6) - 1, 0)
    low = np.where(index < 128, index, ((index & 63) + 64) << shift)
    return low, low + (np.int64(1) << shift) - 1


LOWER_NS, UPPER_NS = _edges()
"""Inclusive lower and upper edges of the bins, nanoseconds; the last bin has in fact no upper edge."""

MIDPOINT_SECONDS: NDArray[np.float64] = (LOWER_NS + UPPER_NS + (UPPER_NS > LOWER_NS)) / 2e9
"""The value of a bin, seconds: the midpoint that fio prints."""


def quantiles(counts: Counts, wanted: Iterable[float]) -> list[float]:
    """Nearest-rank quantiles in seconds; empty if nothing was counted.

    Each is the midpoint of its bin, within 0.8 % of the exact value.
    """
    cumulative = np.cumsum(counts)
    total = int(cumulative[-1])
    if not total:
        return []
    ranks = [max(1, min(total, int(np.ceil(round(q * total, 6))))) for q in wanted]
    return [float(MIDPOINT_SECONDS[i]) for i in np.searchsorted(cumulative, ranks)]


class Buckets:
    """Prometheus buckets from about 1 us to about 15 s whose edges are edges of bins too.

    `per_octave` is 4 (96 finite buckets), 2 or 1. Raises ValueError for another number.
    """

    def __init__(self, per_octave: int = 4) -> None:
        if per_octave not in (1, 2, 4):
            raise ValueError(f"buckets per octave: expected 1, 2 or 4, got {per_octave}")
        step = 4 // per_octave
        edges = [(2**k // 4) * (4 + j) - 1 for k in range(10, 34) for j in range(0, 4, step)]
        self._last_bins = np.append(np.searchsorted(UPPER_NS, edges), -1)
        self.bounds: Sequence[str] = (*(repr(edge / 1e9) for edge in edges), "+Inf")

    def value(self, counts: Counts, total_seconds: float) -> HistogramValue:
        """A histogram for exposition, from counts by bin and the sum of what was counted."""
        return HistogramValue(self.bounds, counts.cumsum()[self._last_bins].tolist(), total_seconds)
