"""The series of a finished or growing run, at the times of its own reports: what the live page showed.

Names, labels and values are those of the page, because the same code makes them (see `replay`). A series has a sample
at each report of the streams that change it. Its time is that of the report, which is the end of its interval: a gauge
from progress lines has a sample per line, a quantile has one per closed second of the transaction log. Information
about a run (part "runs") has a sample when it changes. While a gauge is not on the page, because the run has stalled or
ended, it has no samples. If a file holds several runs, the timeline is that of the last one; without `hold`, it has no
samples from before that run, nor from a log that an earlier run left behind. Times are whole milliseconds, as in
Prometheus.

A ledger takes the page at each report and makes the series. Each number of a sample has a column; a histogram or a
summary has several adjacent columns. The ledger keeps only the times and numbers of the columns.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, HistogramValue, Part, Sample, SummaryValue
from ..model.run import Worker
from ..settings.record import RunFile
from ..tools.roles import Roles

Floats = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]

_FURTHER = {"histogram": 2, "summary": 2}
"""Numbers of a sample in addition to the counts by bound: sum and count; other kinds have one number."""
_SLACK = 0.01
_PAGES = 10_000
"""Pages that stay unsorted at least: each takes some ten times the memory of its numbers."""
_NARROW = np.iinfo(np.uint16).max

_Key = tuple[Family, tuple[str, ...], Pairs]


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


class Timeline(Worker, frozen=True, kw_only=True, eq=False):
    """One worker of one run, with its series. Its main figures are those of the whole run if it has ended."""

    runfile: RunFile
    roles: Roles
    """The roles of its tool's families."""
    final: Sequence[Sample]
    """What the page showed at the end: results, counters, information."""
    series: Sequence[Series]
    by_file_time: bool = False
    """Whether its times come from modification times of files, because the output has none."""
    copied: bool = False
    """Whether these times say nothing, because the files are copies."""
    latencies: Mapping[Group, Latencies] = {}
    """All latencies by group, time and bin, if requested; empty if the tool wrote none."""

    @property
    def span(self) -> tuple[float, float] | None:
        """See Worker; None if its times say nothing."""
        return None if self.copied else super().span

    def get(self, family: Family | None, **labels: str) -> list[Series]:
        """The series of a family with these labels; none if the family is None."""
        wanted = set(labels.items())
        return [series for series in self.series if series.family is family and wanted <= set(series.labels)]


class _Layout(NamedTuple):
    """Where the numbers of a page go."""

    columns: NDArray[np.int64]
    """The column of each number."""
    begins: NDArray[np.int64]
    """The index of the first number of each sample."""
    lengths: NDArray[np.int64]
    """The count of numbers of each sample."""


class Ledger:
    """The pages so far, with a column for each number that was on any page."""

    def __init__(self, families: Collection[Family] | None, hold: Mapping[Part, float] | None) -> None:
        self._families = families
        self._hold = hold or {}
        self._columns: dict[_Key, range] = {}  # of each sample, ascending
        self._bounds: dict[_Key, Sequence[str]] = {}
        self._layouts: dict[tuple[_Key, ...], _Layout] = {}
        self._shown: _Layout | None = None  # the layout of the last page
        # By column:
        self._last = np.zeros(0)  # the last number
        self._entered = np.zeros(0)  # when it was recorded
        self._after = np.zeros(0)  # after how many seconds it is repeated
        self._live = np.zeros(0, np.bool_)  # whether it belongs to the part "live"
        self._gauge = np.zeros(0, np.bool_)  # whether it is a gauge
        self._moved: dict[str, NDArray[np.bool_]] = {}  # by kind: whether streams of that kind have changed it
        self._pages: list[tuple[float, NDArray[np.int64], Floats]] = []  # not yet sorted
        self._in_series = 0  # pages that were sorted
        self._sorted: dict[_Key, tuple[Floats, Floats]] = {}  # times and values

    def enter(self, moment: float, kinds: Collection[str], page: Iterable[Sample]) -> None:
        """Record the page at a moment at which streams of these kinds reported."""
        keys: list[_Key] = []
        numbers: list[float] = []
        for family, labels, value, more in page:
            if self._families is not None and family not in self._families:
                continue
            key = (family, labels, more)
            keys.append(key)
            if isinstance(value, HistogramValue):
                numbers += value.counts
                numbers += (value.sum, value.counts[-1])
                self._bounds[key] = value.bounds
            elif isinstance(value, SummaryValue):
                numbers += (value.sum, value.count)
            else:
                numbers.append(value)
        if not keys:
            return
        layout = self._layout(tuple(keys))
        columns, begins, lengths = layout
        values = np.array(numbers, np.float64)
        changed = values != self._last[columns]
        if self._shown is not None and layout is not self._shown:
            changed |= ~np.isin(columns, self._shown.columns)
        chosen = changed | (moment - self._entered[columns] >= self._after[columns])
        for kind in kinds:
            moved = self._moved.setdefault(kind, np.zeros(len(self._last), np.bool_))
            moved[columns] |= changed & self._live[columns]
            chosen |= moved[columns]
        for kind, moved in self._moved.items():  # a gauge belongs to the streams that changed it last
            if kinds and kind not in kinds:
                moved[columns] &= ~(changed & self._gauge[columns])
        chosen = np.repeat(np.logical_or.reduceat(chosen, begins), lengths)  # all numbers of a histogram, or none
        columns, values = columns[chosen], values[chosen]
        self._shown = layout
        self._last[columns] = values
        self._entered[columns] = moment
        if len(columns):
            self._pages.append((moment, columns, values))
            if len(self._pages) > max(_PAGES, self._in_series // 4):
                self._sort()

    def series(self, common: Pairs) -> Iterator[Series]:
        """All series; `common` are labels that each of them gets."""
        self._sort()
        for (family, labels, more), (times, values) in self._sorted.items():
            pairs = (*common, *zip(family.labels, labels, strict=True), *more)
            yield Series(family, pairs, times, values, self._bounds.get((family, labels, more), ()))

    def _sort(self) -> None:
        """Append what was recorded since the last call to each series."""
        if not self._pages:
            return
        self._in_series += len(self._pages)
        entered, pages, numbers = zip(*self._pages, strict=True)
        self._pages.clear()
        columns, values = np.concatenate(pages), np.concatenate(numbers)
        times = np.repeat(np.round(entered, 3), [len(page) for page in pages])
        narrow = np.uint16 if len(self._last) <= _NARROW else np.int64  # small numbers are sorted by their digits
        order = np.argsort(columns.astype(narrow), kind="stable")
        columns, times, values = columns[order], times[order], values[order]
        # If two pages have the same moment, the later one counts.
        last = np.append((columns[1:] != columns[:-1]) | (times[1:] != times[:-1]), True)
        columns, times, values = columns[last], times[last], values[last]
        begins = np.searchsorted(columns, np.arange(len(self._last) + 1)).tolist()
        for key, own in self._columns.items():
            begin, end = begins[own.start], begins[own.stop]
            shown = values[begin:end] if len(own) == 1 else values[begin:end].reshape(len(own), -1).T
            moments = times[begin : begins[own.start + 1]]
            if (known := self._sorted.get(key)) is not None and len(moments):
                kept = len(known[0]) - (known[0][-1:] == moments[:1]).sum()
                moments, shown = (
                    np.concatenate((old[:kept], new)) for old, new in zip(known, (moments, shown), strict=True)
                )
            if known is None or len(moments):
                self._sorted[key] = moments, shown

    def _layout(self, keys: tuple[_Key, ...]) -> _Layout:
        if keys not in self._layouts:
            new = [key for key in keys if key not in self._columns]
            for key in new:
                begin = next(reversed(self._columns.values())).stop if self._columns else 0
                self._columns[key] = range(begin, begin + len(self._bounds.get(key, ())) + _FURTHER.get(key[0].kind, 1))
            self._grow([key[0] for key in new for _ in self._columns[key]])
            places = [self._columns[key] for key in keys]
            lengths = [len(place) for place in places]
            begins = np.append(0, np.cumsum(lengths)[:-1])
            self._layouts[keys] = _Layout(np.array([*chain.from_iterable(places)]), begins, np.array(lengths))
        return self._layouts[keys]

    def _grow(self, new: Sequence[Family]) -> None:
        """Make room for new columns of these families."""
        self._last = np.append(self._last, np.full(len(new), np.nan))
        self._entered = np.append(self._entered, np.full(len(new), -np.inf))
        self._after = np.append(self._after, [self._hold.get(family.part, np.inf) - _SLACK for family in new])
        self._live = np.append(self._live, np.array([family.part == "live" for family in new], np.bool_))
        self._gauge = np.append(self._gauge, np.array([family.kind == "gauge" for family in new], np.bool_))
        for kind, moved in self._moved.items():
            self._moved[kind] = np.append(moved, np.zeros(len(new), np.bool_))
