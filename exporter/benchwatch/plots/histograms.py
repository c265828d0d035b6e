"""Latency histograms over the time of a run, from the counters of Prometheus buckets at each report.

The difference of the counters at two reports is what was counted between them. Sums over workers, jobs and scripts are
exact, and so is every part of a distribution at the edge of a bucket. The distribution within a bucket is unknown.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..history.timeline import Series
from .time_lines import Array, interval

_SLACK = 0.1
"""Fraction of a report that may precede the end of the warm-up."""


class LatencyGrid(NamedTuple):
    """Operations by time and latency."""

    begins: Array
    """Elapsed seconds from which on each report counts."""
    seconds: Array
    """Elapsed seconds of the reports, ascending."""
    bounds: Array
    """Edges of the buckets, seconds; one more than there are buckets."""
    counts: Array
    """Shape (reports, buckets): operations between begin and report."""

    def between(self, begin: float, end: float) -> Array:
        """Operations by bucket, of the reports that begin at `begin` or later, up to `end`."""
        chosen = (self.begins >= begin - _SLACK * (self.seconds - self.begins)) & (self.seconds <= end)
        summed: Array = self.counts[chosen].sum(axis=0)
        return summed

    def columns(self, width: float) -> tuple[Array, Array]:
        """Operations a second by time and latency, in columns of about `width` seconds that begin and end at reports.

        Edges of the columns, elapsed seconds, and rates of shape (buckets, columns); 0 where no report counts.
        """
        column = np.ceil(self.seconds / width - 0.5)
        last = np.append(np.flatnonzero(np.diff(column)), len(column) - 1)
        begins = self.begins[np.concatenate(([0], last[:-1] + 1))]
        sums = np.diff(np.cumsum(self.counts, axis=0)[last], axis=0, prepend=0)
        edges, rates = [begins[0]], []
        for begin, end, counted in zip(begins, self.seconds[last], sums, strict=True):
            if end <= begin:
                continue  # at the run's first moment: when these operations began is not known
            if begin > edges[-1] + width / 100:
                edges.append(begin)
                rates.append(np.zeros(len(counted)))
            edges.append(end)
            rates.append(counted / (end - begin))
        return np.array(edges), np.array(rates).reshape(-1, sums.shape[1]).T


def pooled(grids: Sequence[LatencyGrid], width: float) -> tuple[Array, Array]:
    """The mean over repeats of `LatencyGrid.columns`, in columns of `width` seconds from the start on."""
    edges = np.arange(0.0, max(float(grid.seconds[-1]) for grid in grids) + width, width)
    total = np.zeros((grids[0].counts.shape[1], len(edges) - 1))
    for grid in grids:
        own, rates = grid.columns(width)
        place = np.searchsorted(own, (edges[1:] + edges[:-1]) / 2) - 1
        inside = (place >= 0) & (place < rates.shape[1])
        total[:, inside] += rates[:, place[inside]]
    return edges, total / len(grids)


def bounds_of(series: Iterable[Series]) -> list[str]:
    """The upper edges of all their buckets, ascending; sysbench reports only the buckets that are not empty."""
    return sorted({bound for one in series for bound in one.bounds}, key=float)


def read(series: Sequence[Series], bounds: Sequence[str], start: float, longest: float) -> LatencyGrid | None:
    """The sum of the given series of a histogram, by buckets up to these `bounds`; None if there are no series.

    `start` is the run's, Unix seconds; `longest` is how long before a report its operations can lie, seconds. The first
    report counts for one interval. Where each series has only one report, as with sysbench, they count as one report at
    the time of the last, since the start.
    """
    if not series:
        return None
    times = np.unique(np.concatenate([one.times for one in series]))
    if all(len(one.times) == 1 for one in series):
        times = times[-1:]
    counted = np.zeros((len(times), len(bounds)))
    place = {bound: index for index, bound in enumerate(bounds)}
    for one in series:
        known = np.concatenate((np.zeros((1, len(one.bounds))), one.values[:, : len(one.bounds)]))
        by_bucket = np.diff(known, axis=1, prepend=0)
        counted[:, [place[bound] for bound in one.bounds]] += by_bucket[np.searchsorted(one.times, times, side="right")]
    counts = np.diff(counted, axis=0, prepend=0)
    upper = np.array([float(bound) for bound in bounds])
    upper[-1] = min(upper[-1], 2 * upper[-2])
    seconds = times - start
    before = np.concatenate(([max(0.0, seconds[0] - (interval(seconds) or seconds[0]))], seconds[:-1]))
    begins = np.maximum(before, seconds - longest)
    return LatencyGrid(begins, seconds, np.concatenate(([upper[0] / 2], upper)), np.maximum(counts, 0))


def populated(found: Sequence[LatencyGrid]) -> tuple[int, int]:
    """The first bucket with a count in any of these, which have counts, and the one after the last."""
    filled = np.flatnonzero(sum(one.counts.sum(axis=0) for one in found) > 0)
    return int(filled[0]), int(filled[-1]) + 1


def curve(counts: Array, bounds: Array) -> tuple[Array, Array]:
    """The steps of the percentile curve: the part of the operations where each ends, and its edge, seconds.

    The first begins at 0; the last ends where all operations but one are at or below.
    """
    below, (filled,) = np.cumsum(counts), np.nonzero(counts)
    ends = np.minimum(below[filled], below[-1] - 1) / below[-1]
    edges = bounds[1:][filled]
    return np.append(0.0, ends), np.append(edges[:1], edges)


def density(counts: Array, bounds: Array) -> tuple[Array, Array]:
    """Edges of the buckets that hold anything, and the part of the operations in each a doubling of the latency.

    Buckets are not equally wide, so the part alone would rise and fall with their width.
    """
    first, *_, last = np.flatnonzero(counts).repeat(2)
    parts = counts[first : last + 1] / counts.sum()
    edges = bounds[first : last + 2]
    return edges, parts / np.diff(np.log2(edges))
