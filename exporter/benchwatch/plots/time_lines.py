"""Lines over the time of a run, and how a long one is drawn without hiding a spike.

A value covers the time since the previous one, as a tool's reports do. If nothing was measured, there is no value, and
the line has a gap: never a 0, never a bridge. A line with more values than a plot has columns is drawn by column: a
band from the lowest to the highest value in it, and in the band the mean (of rates, whose intervals are equal) or the
median value (of latencies, since percentiles cannot be averaged).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compare.course import SILENT_INTERVALS

Array = NDArray[np.float64]

COLUMNS = 1800
"""Columns of a plot, if there are more values."""
_GAP_INTERVALS = 2.5
"""There is a gap between two values if their distance exceeds the usual one this many times."""
_STALLED_INTERVALS = 1.5
"""A stall exceeds the usual distance of two values this many times: a single report of 0 is no stall."""


class Line(NamedTuple):
    """Values over elapsed time: `seconds` ascending, all of one length; NaN where a line to be drawn is broken."""

    seconds: Array
    values: Array
    low: Array | None = None
    """The lower end of a band around it, and the upper one; None: without a band."""
    high: Array | None = None


class Span(NamedTuple):
    """A part of a run, from and to, elapsed seconds."""

    begin: float
    end: float


def interval(seconds: Array) -> float:
    """The usual distance of two values, seconds; 0 with fewer than two."""
    return float(np.median(np.diff(seconds))) if len(seconds) > 1 else 0.0


def column_width(length: float, lines: Iterable[Line]) -> float:
    """The width of a column, seconds: a whole number of intervals; 0 if every value can be drawn."""
    most = max(lines, key=lambda line: len(line.seconds), default=None)
    if most is None or len(most.seconds) <= 2 * COLUMNS:
        return 0.0
    usual = interval(most.seconds)
    return float(np.ceil(length / COLUMNS / usual - 0.1) * usual)


def drawn(line: Line, width: float, *, rate: bool) -> Line:
    """What to draw of a line without breaks: columns of `width` seconds with a band, or each value if that is 0."""
    seconds, values = line.seconds, line.values
    if not len(seconds):
        return line
    if not width:
        return _broken(line, _GAP_INTERVALS * interval(seconds))
    # A value reported at the edge of a column belongs to the time before.
    column = np.ceil(seconds / width - 1e-9)
    starts = np.flatnonzero(np.diff(column, prepend=np.nan) != 0)
    low = np.minimum.reduceat(values if line.low is None else line.low, starts)
    high = np.maximum.reduceat(values if line.high is None else line.high, starts)
    if rate:
        middle = np.add.reduceat(values, starts) / np.diff(starts, append=len(values))
    else:
        ends = np.append(starts[1:], len(values))
        ordered = values[np.lexsort((values, column))]
        middle = (ordered[(starts + ends - 1) // 2] + ordered[(starts + ends) // 2]) / 2
    columns = Line((column[starts] - 0.5) * width, middle, low, high)
    return _broken(columns, max(1.0, _GAP_INTERVALS * interval(seconds) / width) * width)


def _broken(line: Line, longest: float) -> Line:
    """A line with a break between two values that are farther apart, seconds."""
    places = np.flatnonzero(np.diff(line.seconds) > longest * (1 + 1e-9)) + 1
    between = (line.seconds[places] + line.seconds[places - 1]) / 2
    ends = (None if end is None else np.insert(end, places, np.nan) for end in (line.low, line.high))
    return Line(np.insert(line.seconds, places, between), np.insert(line.values, places, np.nan), *ends)


def alone(values: Array) -> NDArray[np.bool_]:
    """Which values lie between two breaks: these need a dot, because a line does not show them."""
    missing = np.isnan(np.concatenate(([np.nan], values, [np.nan])))
    return np.asarray(~missing[1:-1] & missing[:-2] & missing[2:])


def stalls(throughput: Line, end: float | None = None) -> list[Span]:
    """When nothing completed or nothing was reported, by the rule of the exporter.

    That is two or more reports of 0 in a row, each of which covers the time since the report before it, or silence of
    more than three intervals, also between the last report and the `end` of the run (elapsed seconds; None if active).
    """
    usual = interval(throughput.seconds)
    if not usual:
        return []
    last = throughput.seconds[-1]
    after = [] if end is None or end <= last else [end]
    seconds = np.concatenate(([max(0.0, throughput.seconds[0] - usual)], throughput.seconds, after))
    idle = np.append(throughput.values == 0, np.zeros(len(after), bool)) | (np.diff(seconds) > SILENT_INTERVALS * usual)
    edges = np.flatnonzero(np.diff(idle.astype(np.int8), prepend=0, append=0))
    spans = [Span(*map(float, seconds[pair])) for pair in edges.reshape(-1, 2)]
    return [span for span in spans if span.end - span.begin > _STALLED_INTERVALS * usual]


def held(line: Line, moments: Array) -> Array:
    """The value that applies at each of these moments (the nearest reported, or the next one); NaN where there is none.

    The first value, and one after a gap, cover a single interval: what was before it is not known.
    """
    usual = interval(line.seconds) or interval(moments)
    following = np.searchsorted(line.seconds, moments - usual / 2)
    inside = np.minimum(following, len(line.seconds) - 1)
    fresh = np.diff(line.seconds, prepend=-np.inf) > _GAP_INTERVALS * usual
    begins = np.where(fresh, line.seconds - usual / 2, -np.inf)
    applies = (following < len(line.seconds)) & (moments > begins[inside])
    return np.where(applies, line.values[inside], np.nan)


def combined(lines: Sequence[Line], *, rate: bool) -> Line:
    """Several lines as one at common moments: the sum of rates, otherwise the highest."""
    if len(lines) == 1:
        return lines[0]
    moments, values = _at_once(lines)
    known = ~np.isnan(values).all(axis=0)
    values = values[:, known]
    return Line(moments[known], np.nansum(values, axis=0) if rate else np.nanmax(values, axis=0))


def _at_once(lines: Sequence[Line]) -> tuple[Array, Array]:
    """Common moments, elapsed seconds, and the value of each line at each of them; NaN where it has none."""
    moments = lines[0].seconds
    if any(not np.array_equal(line.seconds, moments) for line in lines):
        step = max(interval(line.seconds) for line in lines) or 1.0
        moments = np.arange(step, max(line.seconds[-1] for line in lines) + step, step)
    return moments, np.array([held(line, moments) for line in lines])


def middle_of(lines: Sequence[Line]) -> Line:
    """The median of lines at common moments that at least half of them reach, and the lowest and the highest there."""
    moments, values = _at_once(lines)
    known = (~np.isnan(values)).sum(axis=0) >= len(lines) / 2
    values = values[:, known]
    low, middle, high = np.nanmin(values, axis=0), np.nanmedian(values, axis=0), np.nanmax(values, axis=0)
    return Line(moments[known], middle, low, high)
