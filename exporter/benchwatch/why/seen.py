"""The raw samples of a run and of what is around it."""

from collections.abc import Iterable, Iterator

import numpy as np

from ..metrics.prometheus import Samples


class Seen:
    """Samples by the name of their metric, without what is `kept` seconds older than the newest of a series."""

    def __init__(self, series: Iterable[Samples] = (), kept: float = np.inf) -> None:
        self._kept = kept
        self._series: dict[str, dict[frozenset[tuple[str, str]], Samples]] = {}
        self.add(series)

    def add(self, series: Iterable[Samples]) -> None:
        """Add samples that are newer than those known."""
        for one in series:
            known = self._series.setdefault(one.labels.get("__name__", ""), {})
            key = frozenset(one.labels.items())
            if (old := known.get(key)) is not None:
                last, newest = old.times[-1], one.times[-1]
                if newest <= last:
                    continue
                new = int(one.times.searchsorted(last, side="right"))
                begin = int(old.times.searchsorted(newest - self._kept))
                times = np.concatenate((old.times[begin:], one.times[new:]))
                values = np.concatenate((old.values[begin:], one.values[new:]))
                one = Samples(old.labels, times, values)
            known[key] = one

    def of(self, name: str, **labels: str) -> Iterator[Samples]:
        """The series of a metric with these labels; one that is missing equals an empty one."""
        for one in self._series.get(name, {}).values():
            if all(one.labels.get(label, "") == value for label, value in labels.items()):
                yield one

    def all(self) -> Iterator[Samples]:
        """All series."""
        return (one for series in self._series.values() for one in series.values())
