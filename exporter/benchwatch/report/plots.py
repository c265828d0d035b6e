"""The drawings: lines over elapsed time, heatmap, distribution, bars, curves; each gives SVG.

matplotlib is imported when the first one is drawn; `style.begin` must have been called before.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..compare.text import percent
from ..values.numbers import clock
from . import style
from .axes import Axis, count
from .lines import Array, Drawn, Span, alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _RIGHT = 0.85, 0.62
"""Margins of every figure, inches."""
_TOP, _BOTTOM = 0.2, 0.48
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_HEIGHT = 2.9
_LEAST_SHARE = 1 / 3
"""Fraction of the height that lines keep if the axis also reaches the objective."""
_LONGEST_INTERVAL = 4.0
"""Times the longest bar, or the shortest interval, up to which intervals are drawn."""


class Stroke(NamedTuple):
    """How a line is drawn. `tag` is written at its end: a word of ours, such as p99."""

    colour: str
    dashed: bool = False
    tag: str = ""


class Marks(NamedTuple):
    """What is marked besides lines: warm-up (seconds, 0: none), stalls with their colours, the objective.

    With `at_foot` stalls are marked at the foot of the plot only, where they are of several runs.
    """

    warmup: float = 0.0
    stalls: Sequence[tuple[Span, str]] = ()
    at_foot: bool = False
    objective: float | None = None
    """Latency, seconds."""


Change = tuple[float, tuple[float, float] | None]
"""A ratio less 1, and its interval; None where that is not known."""


def over_time(
    lines: Sequence[tuple[Drawn, Stroke]], length: float, unit: Axis, marks: Marks, description: str, *, log: bool
) -> str:
    """Lines over elapsed time, from 0 to `length` seconds; with `log` on a logarithmic axis, else from 0."""
    figure, axes = _figure(_HEIGHT)
    draw_over_time(axes, lines, length, unit, marks, log=log)
    return style.svg(figure, description)


def draw_over_time(
    axes: "Axes", lines: Sequence[tuple[Drawn, Stroke]], length: float, unit: Axis, marks: Marks, *, log: bool
) -> None:
    """The same, into any axes."""
    _time_axis(axes, length)
    _mark(axes, marks, length)
    for line, stroke in lines:
        dashes: Any = (0, (4, 2)) if stroke.dashed else "solid"
        if line.low is not line.high:
            axes.fill_between(line.seconds, line.low, line.high, color=stroke.colour, alpha=0.22, linewidth=0)
        elif len(lines) == 1 and not log:
            axes.fill_between(line.seconds, 0, line.middle, color=stroke.colour, alpha=0.10, linewidth=0)
        axes.plot(line.seconds, line.middle, color=stroke.colour, linestyle=dashes)
        dots = alone(line.middle)
        axes.plot(line.seconds[dots], line.middle[dots], ".", color=stroke.colour, markersize=4)
    if log:
        _latency_axis(axes, unit, latency_limits([line for line, _ in lines], marks.objective))
    else:
        _value_axis(axes, unit)
    low, high = axes.get_ylim()
    if marks.objective is not None and low <= marks.objective <= high:
        axes.axhline(marks.objective, color=style.STALL, linewidth=1, linestyle=(0, (1, 2)))
    _tags(axes, [(line, stroke) for line, stroke in lines if stroke.tag])


def latency_limits(lines: Sequence[Drawn], objective: float | None) -> tuple[float, float]:
    """The ends of a logarithmic axis, seconds: it holds the lines, and the objective unless that would flatten them."""
    low = min((float(np.nanmin(line.low)) for line in lines if np.isfinite(line.low).any()), default=1e-3) / 1.25
    high = max((float(np.nanmax(line.high)) for line in lines if np.isfinite(line.high).any()), default=1e-2) * 1.25
    if objective is None:
        return low, high
    lowest, highest = min(low, objective / 1.25), max(high, objective * 1.25)
    readable = np.log(high / low) >= _LEAST_SHARE * np.log(highest / lowest)
    return (lowest, highest) if readable else (low, high)


def heatmap(
    edges: Array, bounds: Array, counts: Array, most: float, length: float, unit: Axis, marks: Marks, description: str
) -> str:
    """Counts by time and latency: `counts` has a row a bucket, a column between each two of `edges` (elapsed seconds).

    `bounds` are the buckets' edges, one more than rows. `most` is the count at the strong end of the colours.
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    figure, axes = _figure(_HEIGHT + 0.3)
    _time_axis(axes, length)
    colours = LinearSegmentedColormap.from_list(
        "heat", [(0.24, 0.53, 0.86, 0.22), (0.29, 0.44, 0.84, 0.75), (0.74, 0.30, 0.62, 0.95), (0.96, 0.53, 0.22, 1.0)]
    )
    least = counts[counts > 0].min(initial=most)
    shown = np.ma.masked_less_equal(counts, 0)
    norm = LogNorm(least, max(most, 1.01 * least))
    mesh = axes.pcolormesh(edges, bounds, shown, cmap=colours, norm=norm, rasterized=True)
    axes.set_yscale("log")
    axes.grid(False)
    axes.set_ylim(bounds[0], bounds[-1])
    _mark(axes, marks, length)
    _latency_ticks(axes, unit)
    beside = figure.add_axes((1 - 0.5 / style.WIDTH, _BOTTOM / (_HEIGHT + 0.3), 0.1 / style.WIDTH, 0.5))
    bar = figure.colorbar(mesh, cax=beside)
    bar.outline.set_visible(False)
    beside.yaxis.set_major_formatter(lambda value, _: count(value))
    beside.tick_params(labelsize=8, length=0, pad=2)
    beside.minorticks_off()
    beside.text(0, 1.05, "per s", transform=beside.transAxes, fontsize=7.5, color=style.SOFT)
    return style.svg(figure, description)


def distribution(
    curves: Sequence[tuple[Array, Array, Stroke]], unit: Axis, description: str, shares: Sequence[tuple[Array, Array]]
) -> str:
    """Left the share of operations by latency, right the latency by percentile, one of each a curve.

    Curves are (part of the operations from 0 to below 1, latency in seconds); `shares` are (bounds in seconds, part of
    the operations between each two of them a doubling of the latency).
    """
    height = _HEIGHT + 0.4
    figure, right = _figure(height, left=0.55 * style.WIDTH)
    left = figure.add_axes((_LEFT / style.WIDTH, _BOTTOM / height, 0.36, 1 - (_TOP + _BOTTOM) / height))
    for (parts, latencies, stroke), (bounds, share) in zip(curves, shares, strict=True):
        dashes: Any = (0, (4, 2)) if stroke.dashed else "solid"
        if len(curves) == 1:
            left.stairs(share * 100, bounds, color=stroke.colour, fill=True, alpha=0.15)
        left.stairs(share * 100, bounds, color=stroke.colour, linestyle=dashes, baseline=None, linewidth=1.3)
        right.plot(-np.log10(1 - parts), latencies, color=stroke.colour, linestyle=dashes, drawstyle="steps-pre")
    left.set_xscale("log")
    left.set_ylim(0)
    left.set_ylabel("% of operations an octave")
    left.set_xlabel("latency")
    _latency_ticks(left, unit, axis="x")
    right.set_yscale("log")
    right.set_ylabel("latency")
    right.set_xlabel("percentile")
    _latency_ticks(right, unit)
    nines = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999]
    end = max(float(-np.log10(1 - parts[-1])) for parts, _, _ in curves)
    if not end:
        right.set_axis_off()
        right.text(0.5, 0.5, "one operation only", transform=right.transAxes, color=style.SOFT, ha="center")
        return style.svg(figure, description)
    right.set_xlim(0, end * 1.03)
    right.set_xticks([-np.log10(1 - part) for part in nines if -np.log10(1 - part) <= end * 1.03])
    right.set_xticklabels([f"{part * 100:.7g}" for part in nines if -np.log10(1 - part) <= end * 1.03])
    return style.svg(figure, description)


class CurveLine(NamedTuple):
    """Measured points in their order; `low` and `high` are the ends of their intervals (equal without one)."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str
    knee: int | None = None
    """Which point is marked."""
    law: tuple[Sequence[float], Sequence[float]] | None = None
    """A fitted line, dashed."""


def curve(
    lines: Sequence[CurveLine],
    across: tuple[str, Callable[[float], str]],
    unit: Axis,
    description: str,
    *,
    geometric: bool = False,
    ticks: Sequence[float] = (),
    latency: bool = False,
    objective: float | None = None,
) -> str:
    """Values over another quantity than time; `across` is that one's name and how it is written.

    Its axis is logarithmic if `geometric`, and has these ticks if any; with `latency` the other axis is logarithmic.
    """
    from matplotlib.ticker import NullLocator

    figure, axes = _figure(_HEIGHT + 0.4)
    for line in lines:
        axes.plot(line.x, line.y, color=line.colour, marker="o", markersize=4)
        axes.vlines(line.x, line.low, line.high, color=line.colour, linewidth=1.2)
        if line.law:
            axes.plot(*line.law, color=line.colour, linewidth=1.1, linestyle=(0, (4, 2)))
        if line.knee is not None:
            place = [line.x[line.knee]], [line.y[line.knee]]
            axes.plot(*place, color=style.INK, marker="o", markersize=11, fillstyle="none", linestyle="none")
    if geometric:
        axes.set_xscale("log", base=2)
    else:
        axes.set_xlim(0)
    if ticks:
        axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(lambda value, _: across[1](value))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(across[0])
    if latency:
        lowest = min(min(line.low) for line in lines if len(line.low))
        highest = max(max(line.high) for line in lines if len(line.high))
        ends = [lowest, highest] + ([] if objective is None else [objective])
        _latency_axis(axes, unit, (max(min(ends), highest / 1e6) / 1.25, 1.25 * max(ends)))
        if objective is not None:
            axes.axhline(objective, color=style.STALL, linewidth=1, linestyle=(0, (1, 2)))
    else:
        _value_axis(axes, unit)
    return style.svg(figure, description)


def bars(rows: Sequence[tuple[str, str, Sequence[Change | None]]], colours: Sequence[str], description: str) -> str:
    """Changes, a group of bars a row: name, which direction is better, a change for each colour (None: not known)."""
    from matplotlib.markers import CARETLEFT, CARETRIGHT

    height = 0.65 + len(rows) * (0.3 + 0.2 * len(colours))
    figure, axes = _figure(height, left=2.3)
    thick = 0.72 / (len(colours) + 0.4)
    least, most = (100 * end for end in bar_limits([change for _, _, changes in rows for change in changes]))
    for row, (name, better, changes) in enumerate(rows):
        axes.text(-0.012, row - 0.1, name, transform=axes.get_yaxis_transform(), ha="right", va="bottom")
        axes.text(
            -0.012,
            row,
            better,
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="top",
            color=style.SOFT,
            fontsize=7.5,
        )
        for number, (change, colour) in enumerate(zip(changes, colours, strict=True)):
            place = row + (number - (len(colours) - 1) / 2) * thick * 1.15
            if change is None:
                axes.text(0, place, " not known", color=style.SOFT, va="center", fontsize=8.5)
                continue
            ratio, interval = change
            low, high = (100 * end for end in (interval or (ratio, ratio)))
            axes.barh(place, 100 * ratio, height=thick, color=colour, alpha=0.85)
            if interval:
                axes.plot([max(low, least), min(high, most)], [place, place], color=style.INK, linewidth=0.9)
            for beyond, end, arrow in ((low < least, least, CARETLEFT), (high > most, most, CARETRIGHT)):
                if beyond:
                    axes.plot(end, place, marker=arrow, color=style.INK, markersize=4)
            end = min(max(high, 100 * ratio), most) if ratio >= 0 else max(min(low, 100 * ratio), least)
            side = "left" if ratio >= 0 else "right"
            axes.text(end, place, f" {percent(ratio)} ", va="center", ha=side, fontsize=8.5)
    axes.axvline(0, color=style.SOFT, linewidth=0.8)
    room = 0.12 * max(most - least, 1.0)
    axes.set_xlim(least - room, most + room)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")
    return style.svg(figure, description)


def bar_limits(changes: Sequence[Change | None]) -> tuple[float, float]:
    """The ends of the axis, ratios: it holds all bars, and of the intervals what leaves the bars visible."""
    known = [change for change in changes if change is not None]
    ratios = [0.0, *(ratio for ratio, _ in known)]
    intervals = [interval for _, interval in known if interval]
    shortest = min((max(map(abs, interval)) for interval in intervals), default=0.0)
    longest = _LONGEST_INTERVAL * max(shortest, *map(abs, ratios))
    ends = [*ratios, *(end for interval in intervals for end in interval)]
    return max(min(ends), -longest), min(max(ends), longest)


def _figure(height: float, left: float = _LEFT) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.WIDTH, height))
    place = (left / style.WIDTH, _BOTTOM / height, 1 - (left + _RIGHT) / style.WIDTH, 1 - (_TOP + _BOTTOM) / height)
    return figure, figure.add_axes(place)


def _time_axis(axes: "Axes", length: float) -> None:
    step = next((step for step in _STEPS if length / step <= 10), 86400.0 * max(1, round(length / 864000)))
    ticks = np.arange(0, length + step / 1000, step)
    axes.set_xlim(0, length)
    axes.set_xticks(ticks, [clock(tick) for tick in ticks])
    axes.set_xlabel("elapsed time")
    axes.grid(False, axis="x")


def _value_axis(axes: "Axes", unit: Axis) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylabel(unit.name)
    axes.set_ylim(0, unit.most and 1.04 * unit.most)
    top = axes.get_ylim()[1]
    factor = unit.round(top)
    ticks = np.asarray(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top / factor)) * factor
    axes.set_yticks(ticks[ticks <= (unit.most or top)])
    axes.yaxis.set_major_formatter(lambda value, _: unit.text(value))


def _latency_axis(axes: "Axes", unit: Axis, limits: tuple[float, float]) -> None:
    axes.set_ylabel(unit.name)
    axes.set_yscale("log")
    axes.set_ylim(limits)
    _latency_ticks(axes, unit)


def _latency_ticks(axes: "Axes", unit: Axis, axis: str = "y") -> None:
    """Ticks at 1, 2, 5 of each decade or at 1 and 3, where these are few decades, else at the decades."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axes.get_ylim() if axis == "y" else axes.get_xlim()
    decades = np.log10(high / low) if low > 0 else 3
    chosen = axes.yaxis if axis == "y" else axes.xaxis
    subs = (1.0, 2.0, 5.0) if decades <= 2.2 else (1.0, 3.0) if decades <= 3.2 else (1.0,)
    chosen.set_major_locator(LogLocator(subs=subs, numticks=30))
    chosen.set_major_formatter(lambda value, _: unit.text(value))
    chosen.set_minor_locator(NullLocator())


def _mark(axes: "Axes", marks: Marks, length: float) -> None:
    if marks.warmup:
        axes.axvspan(0, min(marks.warmup, length), color=style.WARMUP, alpha=0.16, linewidth=0)
        axes.text(0, 1.01, "warm-up", transform=axes.get_xaxis_transform(), fontsize=7.5, color=style.SOFT, va="bottom")
    least = length / 700  # a stall shorter than that would not be seen
    top, alpha = (0.035, 0.9) if marks.at_foot else (1.0, 0.22)
    for (begin, end), colour in marks.stalls:
        middle, half = (begin + end) / 2, max(end - begin, least) / 2
        axes.axvspan(middle - half, middle + half, ymax=top, color=colour, alpha=alpha, linewidth=0, zorder=0.5)


def _tags(axes: "Axes", lines: Sequence[tuple[Drawn, Stroke]]) -> None:
    """Names at the right ends of lines, moved apart where they would overlap."""
    ends = []
    for line, stroke in lines:
        known = np.flatnonzero(~np.isnan(line.middle))
        if len(known):
            place = axes.transData.transform((0, line.middle[known[-1]]))[1]
            ends.append((place, stroke))
    ends.sort(key=lambda end: end[0])
    lowest = -np.inf
    top = axes.transAxes.transform((0, 1))[1]
    places = []
    for place, _ in ends:
        lowest = max(place, lowest + 11)
        places.append(lowest)
    over = max(0.0, max(places, default=0.0) - top)
    inverse: Callable[[Any], Any] = axes.transAxes.inverted().transform
    for place, (_, stroke) in zip(places, ends, strict=True):
        height = inverse((0, place - over))[1]
        text = axes.text(1.008, height, stroke.tag, transform=axes.transAxes, color=stroke.colour)
        text.set(va="center", fontsize=8.5)
