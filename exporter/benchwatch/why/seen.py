"""Raw samples of some series, and what they were in a window of time. Times are Unix seconds."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Samples(NamedTuple):
    """One series: labels, times in ascending order, values; without NaN."""

    labels: Mapping[str, str]
    times: Array
    values: Array

    def within(self, begin: float, end: float) -> Array:
        """The values in the window."""
        first, last = np.searchsorted(self.times, (begin, end), side="right")
        return self.values[first:last]

    def mean(self, begin: float, end: float) -> float | None:
        """Mean of the samples in the window."""
        values = self.within(begin, end)
        return float(values.mean()) if len(values) else None

    def rate(self, begin: float, end: float) -> float | None:
        """Increase of a counter by second; a fall is a restart from 0. None with fewer than two samples."""
        first, last = np.searchsorted(self.times, (begin, end), side="right") - 1
        first = max(int(first), 0)
        if last <= first or self.times[last] < begin:
            return None
        steps = np.diff(self.values[first : last + 1])
        again = self.values[first + 1 : last + 1][steps < 0]
        return float(steps[steps > 0].sum() + again.sum()) / float(self.times[last] - self.times[first])


class Seen:
    """Samples by the name of their metric."""

    def __init__(self, series: Iterable[Samples] = ()) -> None:
        self._series: dict[str, dict[tuple[tuple[str, str], ...], Samples]] = {}
        self.add(series)

    def add(self, series: Iterable[Samples], kept: float = np.inf) -> None:
        """Add samples that are newer than those known, and forget what is `kept` seconds older than the newest."""
        for one in series:
            known = self._series.setdefault(one.labels.get("__name__", ""), {})
            key = tuple(sorted(one.labels.items()))
            if (old := known.get(key)) is not None:
                new = int(np.searchsorted(one.times, old.times[-1], side="right"))
                begin = int(np.searchsorted(old.times, (one.times[-1]) - kept))
                times = np.concatenate((old.times[begin:], one.times[new:]))
                values = np.concatenate((old.values[begin:], one.values[new:]))
                one = Samples(old.labels, times, values) if len(times) else old
            known[key] = one

    def of(self, name: str, **labels: str) -> Iterator[Samples]:
        """The series of a metric with these labels; one that is missing equals an empty one."""
        for one in self._series.get(name, {}).values():
            if all(one.labels.get(label, "") == value for label, value in labels.items()):
                yield one

    def all(self) -> Iterator[Samples]:
        """All series."""
        return (one for series in self._series.values() for one in series.values())
