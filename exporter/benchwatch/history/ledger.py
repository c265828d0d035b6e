"""Takes down what a worker showed at one report after the other, and makes series of it.

A series has a number at each report of the streams that have moved it, and where it changed; a value that stays the
same may be repeated, as scrapes do. Only what was taken down is kept: the times and numbers of a column.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.exposition import Family, HistogramValue, Part, Sample, SummaryValue
from .series import Floats, Pairs, Series

_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}
_SLACK = 0.01
_NARROW = np.iinfo(np.uint16).max

_Key = tuple[Family, tuple[str, ...], Pairs]


class _Layout(NamedTuple):
    """Where the numbers of a page go: a column for each, and where each sample of the page begins among them."""

    columns: NDArray[np.int64]
    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Ledger:
    """Takes down the samples of one page after the other; a column for each number that was ever on it."""

    def __init__(self, names: Collection[str] | None, hold: Mapping[Part, float] | None) -> None:
        self._names = names
        self._hold = hold or {}
        self._families: dict[Family, bool] = {}
        self._heads: list[tuple[str, _Key, str]] = []  # by column: name, what it is of, le
        self._first: dict[_Key, int] = {}  # of the sample's columns
        self._layouts: dict[tuple[_Key, ...], _Layout] = {}
        self._shown: _Layout | None = None  # of the last page
        self._last = np.zeros(0)  # by column: the number,
        self._entered = np.zeros(0)  # when it was taken down,
        self._after = np.zeros(0)  # after how long it is to be repeated,
        self._live = np.zeros(0, np.bool_)  # and whether it belongs to the part "live"
        self._gauge = np.zeros(0, np.bool_)  # and whether it is a gauge
        self._moved: dict[str, NDArray[np.bool_]] = {}  # which columns the streams of a kind have moved
        self._pages: list[tuple[float, NDArray[np.int64], Floats]] = []

    def enter(self, moment: float, kinds: Collection[str], page: Iterable[Sample]) -> None:
        """Take down what the page shows at a moment that is a report of streams of these kinds."""
        keys: list[_Key] = []
        numbers: list[float] = []
        bounds: dict[_Key, Sequence[str]] = {}
        for family, labels, value, more in page:
            if not self._wanted(family):
                continue
            key = (family, labels, more)
            keys.append(key)
            if isinstance(value, HistogramValue):
                numbers += (*value.counts, value.sum, value.counts[-1])
                bounds[key] = value.bounds
            elif isinstance(value, SummaryValue):
                numbers += (value.sum, value.count)
            else:
                numbers.append(value)
        if not keys:
            return
        layout = self._layout(tuple(keys), bounds)
        columns, begins, lengths = layout
        values = np.array(numbers, np.float64)
        changed = values != self._last[columns]
        if self._shown is not None and layout is not self._shown:
            changed |= ~np.isin(columns, self._shown.columns)
        chosen = changed | (moment - self._entered[columns] >= self._after[columns])
        for kind in kinds:
            moved = self._moved.setdefault(kind, np.zeros(len(self._heads), np.bool_))
            moved[columns] |= changed & self._live[columns]
            chosen |= moved[columns]
        for kind, moved in self._moved.items():  # a gauge belongs to the streams that have moved it last
            if kinds and kind not in kinds:
                moved[columns] &= ~(changed & self._gauge[columns])
        chosen = np.repeat(np.logical_or.reduceat(chosen, begins), lengths)  # all numbers of a histogram or none
        columns, values = columns[chosen], values[chosen]
        self._shown = layout
        self._last[columns] = values
        self._entered[columns] = moment
        self._pages.append((moment, columns, values))

    def series(self, common: Pairs) -> Iterator[Series]:
        """All that was taken down; `common` are labels that all series have."""
        if not self._pages:
            return
        moments, pages, numbers = zip(*self._pages, strict=True)
        columns, values = np.concatenate(pages), np.concatenate(numbers)
        times = np.repeat(np.round(moments, 3), [len(page) for page in pages])
        narrow = np.uint16 if len(self._heads) <= _NARROW else np.int64  # small numbers are sorted by their digits
        order = np.argsort(columns.astype(narrow), kind="stable")
        columns, times, values = columns[order], times[order], values[order]
        # Of two pages of the same moment the later one counts.
        last = np.append((columns[1:] != columns[:-1]) | (times[1:] != times[:-1]), True)
        columns, times, values = columns[last], times[last], values[last]
        begins = np.flatnonzero(np.append(True, columns[1:] != columns[:-1])).tolist()
        for begin, end in pairwise([*begins, len(columns)]):
            name, (family, labels, more), bound = self._heads[columns[begin]]
            if self._names is None or name in self._names:
                own = (*zip(family.labels, labels, strict=True), *more, *((("le", bound),) if bound else ()))
                yield Series(family, name, (*common, *own), times[begin:end], values[begin:end])

    def _wanted(self, family: Family) -> bool:
        if self._names is None:
            return True
        if family not in self._families:
            names = [f"{family.name}{suffix}" for suffix in _SUFFIXES.get(family.kind, ("",))]
            self._families[family] = any(name in self._names for name in names)
        return self._families[family]

    def _layout(self, keys: tuple[_Key, ...], bounds: Mapping[_Key, Sequence[str]]) -> _Layout:
        if keys not in self._layouts:
            columns: list[int] = []
            lengths: list[int] = []
            for key in keys:
                family = key[0]
                heads = [(f"{family.name}_bucket", key, bound) for bound in bounds.get(key, ())]
                heads += [(f"{family.name}{suffix}", key, "") for suffix in _SUFFIXES.get(family.kind, ("",))[-2:]]
                if key not in self._first:
                    self._first[key] = len(self._heads)
                    self._heads += heads
                columns += range(self._first[key], self._first[key] + len(heads))
                lengths.append(len(heads))
            self._grow()
            begins = np.append(0, np.cumsum(lengths)[:-1])
            self._layouts[keys] = _Layout(np.array(columns), begins, np.array(lengths))
        return self._layouts[keys]

    def _grow(self) -> None:
        """Make room for columns that are new."""
        parts = [key[0].part for _, key, _ in self._heads[len(self._last) :]]
        kinds = [key[0].kind for _, key, _ in self._heads[len(self._last) :]]
        new = len(parts)
        self._last = np.append(self._last, np.full(new, np.nan))
        self._entered = np.append(self._entered, np.full(new, -np.inf))
        self._after = np.append(self._after, [self._hold.get(part, np.inf) - _SLACK for part in parts])
        self._live = np.append(self._live, np.array([part == "live" for part in parts], np.bool_))
        self._gauge = np.append(self._gauge, np.array([kind == "gauge" for kind in kinds], np.bool_))
        for kind, moved in self._moved.items():
            self._moved[kind] = np.append(moved, np.zeros(new, np.bool_))
