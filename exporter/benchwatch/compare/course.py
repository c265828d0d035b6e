"""The course of a run: what all its workers together did in each report interval."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .statistics import Floats, linearised

SILENT_INTERVALS = 3
"""Multiple of the usual distance of two reports beyond which a silence is a stall."""
_SLACK = 0.1
"""Fraction of a report that may precede the end of the warm-up: pgbench prints tenths of seconds."""


class Course(NamedTuple):
    """Report intervals in order. Arrays of the same length."""

    ends: Floats
    """Unix seconds."""
    seconds: Floats
    """Length of each."""
    totals: Mapping[str, Floats]
    """Per interval: `operations`, `timed` (operations with a latency), `latency` (sum of these, seconds), `bytes`."""
    quantile: str = ""
    """The quantile that stands for the mean in `latency`, if the tool reports no mean."""

    @property
    def begin(self) -> float:
        """When the first report's interval began, Unix seconds."""
        return float(self.ends[0] - self.seconds[0])

    def ratio(self, total: str, weight: str = "") -> float | None:
        """A total divided by another total, or by the seconds; None if it was not measured."""
        if total not in self.totals or not len(self.ends):
            return None
        below = float((self.totals[weight] if weight else self.seconds).sum())
        return float(self.totals[total].sum()) / below if below else None

    def values(self, total: str, weight: str = "") -> Floats:
        """The same ratio for each report, as values whose mean is the ratio of the whole."""
        return linearised(self.totals[total], self.totals[weight] if weight else self.seconds)

    def after(self, moment: float) -> "Course":
        """The reports that begin at that moment (Unix seconds) or later."""
        return self.chosen(self.ends - self.seconds >= moment - _SLACK * self.seconds)

    def chosen(self, which: NDArray[np.bool_]) -> "Course":
        """Some of the reports."""
        totals = {name: values[which] for name, values in self.totals.items()}
        return Course(self.ends[which], self.seconds[which], totals, self.quantile)


def course(
    moments: Floats,
    times: Floats,
    rates: Floats,
    latencies: tuple[Floats, Floats] | None = None,
    bandwidths: tuple[Floats, Floats] | None = None,
    quantile: str = "",
) -> Course:
    """A course from gauges of intervals.

    `times` are the ends of the intervals, `rates` operations per second. `latencies` (means, or this `quantile`) and
    `bandwidths` (bytes per second) are pairs of times and values, which may lack some of the reports. An interval
    begins at the last of `moments` before its end. All times are Unix seconds, ascending.
    """
    seconds = times - moments[np.maximum(np.searchsorted(moments, times) - 1, 0)]
    totals = {"operations": rates * seconds}
    if latencies is not None and len(latencies[0]):
        known, values = _at(times, *latencies)
        totals["timed"] = np.where(known, totals["operations"], 0.0)
        totals["latency"] = values * totals["timed"]
    if bandwidths is not None and len(bandwidths[0]):
        totals["bytes"] = _at(times, *bandwidths)[1] * seconds
    return Course(times, seconds, totals, quantile).chosen(seconds > 0)


def _at(times: Floats, found: Floats, values: Floats) -> tuple[NDArray[np.bool_], Floats]:
    place = np.minimum(np.searchsorted(found, times), len(found) - 1)
    known = found[place] == times
    return known, np.where(known, values[place], 0.0)


def together(courses: Sequence[Course]) -> Course:
    """The courses of several workers as one, over the time in which all of them ran.

    A worker's totals are spread evenly over each of its intervals and cut at common times.
    """
    if len(courses) == 1:
        return courses[0]
    kept = [each for each in courses if len(each.ends)]
    if len(kept) < len(courses) or not kept:
        return Course(np.zeros(0), np.zeros(0), {})
    first = max(float(each.ends[0] - each.seconds[0]) for each in kept)
    last = min(float(each.ends[-1]) for each in kept)
    step = max(float(np.median(each.seconds)) for each in kept)
    edges = np.arange(first, last + step / 100, step)
    if len(edges) < 2:
        return Course(np.zeros(0), np.zeros(0), {})
    names = set.intersection(*(set(each.totals) for each in kept))
    quantile, *others = {each.quantile for each in kept}
    if others:
        names -= {"timed", "latency"}
    totals = {name: sum((_spread(each, name, edges) for each in kept), np.zeros(len(edges) - 1)) for name in names}
    return Course(edges[1:], np.diff(edges), totals, "" if others else quantile)


def _spread(each: Course, name: str, edges: Floats) -> Floats:
    places = np.column_stack((each.ends - each.seconds, each.ends)).ravel()
    reached = each.totals[name].cumsum()
    before = np.concatenate(([0.0], reached[:-1]))
    return np.diff(np.interp(edges, places, np.column_stack((before, reached)).ravel()))
