"""One series of the page over time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.exposition import Family

Floats = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]


class Series(NamedTuple):
    """One series of the page."""

    family: Family
    name: str
    """Of its samples: the family's, or with _bucket, _sum or _count."""
    labels: Pairs
    """All of them, run and worker included."""
    times: Floats
    """Unix seconds, strictly increasing."""
    values: Floats
