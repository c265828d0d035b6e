"""The values of one sample over time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.samples import Family

Floats = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]


class Series(NamedTuple):
    """One metric over time."""

    family: Family
    labels: Pairs
    """All labels, including run and worker."""
    times: Floats
    """Unix seconds, strictly increasing."""
    values: Floats
    """Shape (times,). Of a summary (times, 2): sum and count. Of a histogram (times, bounds + 2): the counts up to each
    bound, then sum and count."""
    bounds: Sequence[str] = ()
    """Of a histogram, as HistogramValue has them."""

    def after(self, moment: float) -> "Series":
        """The part after that moment."""
        later = self.times > moment
        return self._replace(times=self.times[later], values=self.values[later])
