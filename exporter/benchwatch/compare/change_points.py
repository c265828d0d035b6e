"""Points at which a series of results rose or fell, such as those of a nightly job.

A window of at most 40 results ends at every fifth result and at the last one; it begins after the last change at the
earliest. In it, `statistics.shift` looks for the clearest step (ranks, against random orders), at a probability of
0.1 %, because there are many windows. The place of a step that was found is then sought again with the 20 results that
follow.

In 10,000 independent results it found none where there was none; if neighbours correlate by 0.3 or 0.6, 3 or 19 in
1,000. A step of 2 standard deviations was found in 88 % of series when 10 results followed it (in 100 % with 30, in 5 %
with 5), one of 1.5 in 43 % and 83 %, one of 1 in 5 % and 33 %.

apache-otava pins another numpy and needs BigQuery's client; ruptures needs scipy (134 MB) and has no test of whether
there is a change at all.
"""

from collections.abc import Sequence

import numpy as np

from .statistics import FEWEST_BATCHES, shift

_WINDOW = 40
_STEP = 5
_AFTER = 20
_PROBABILITY = 0.001


def change_points(values: Sequence[float]) -> list[int]:
    """The number of results before each change, rising."""
    array = np.asarray(values, dtype=np.float64)
    size, begin, end = len(array), 0, FEWEST_BATCHES
    found: list[int] = []
    while size >= begin + FEWEST_BATCHES:
        first = max(begin, end - _WINDOW)
        if place := _step(array[first:end]):
            begin = first + (_step(array[first : end + _AFTER]) or place)
            found.append(begin)
            end = max(end, begin + FEWEST_BATCHES)
        elif end == size:
            break
        else:
            end += _STEP
        end = min(end, size)
    return found


def _step(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int | None:
    found = shift(values, _WINDOW + _AFTER, _PROBABILITY)
    return found.place if found else None
