"""What matplotlib draws: bars and curves as SVG, and the lines of a picture. plots.drawing draws everything else.

matplotlib is imported with the first drawing; call `style.begin` before.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..compare.wording import percent
from ..plots import theme
from ..plots.axes import Axis, foot, latency_ticks, time_ticks, value_ticks
from ..plots.drawing import Marks, Stroke
from ..plots.time_lines import Drawn, alone
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _RIGHT = 0.85, 0.62
"""Margins of every figure, inches."""
_TOP, _BOTTOM = 0.2, 0.48
_HEIGHT = 2.9
_LONGEST_INTERVAL = 4.0
"""Multiple of the longest bar, or of the shortest interval, up to which intervals are drawn."""


Change = tuple[float, tuple[float, float] | None]
"""A change as a ratio (0.075 is +7.5 %), and its interval; None if that is unknown."""


def plain(text: str) -> str:
    """The part of a name that is safe in a drawing; names of jobs and parameters come from outside."""
    return "".join(char for char in text if (char.isascii() and char.isalnum()) or char in " .%-_/")[:28]


def draw_over_time(
    axes: "Axes", lines: Sequence[tuple[Drawn, Stroke]], length: float, unit: Axis, marks: Marks
) -> None:
    """Draw lines over elapsed time, from 0 to `length` seconds, with an axis of values from 0."""
    _time_axis(axes, length)
    _mark(axes, marks, length)
    for line, stroke in lines:
        dashes: Any = (0, (4, 2)) if stroke.dashed else "solid"
        if line.low is not line.high:
            axes.fill_between(line.seconds, line.low, line.high, color=stroke.colour, alpha=0.22, linewidth=0)
        elif len(lines) == 1:
            axes.fill_between(line.seconds, 0, line.middle, color=stroke.colour, alpha=0.10, linewidth=0)
        axes.plot(line.seconds, line.middle, color=stroke.colour, linestyle=dashes)
        dots = alone(line.middle)
        axes.plot(line.seconds[dots], line.middle[dots], ".", color=stroke.colour, markersize=4)
    _value_axis(axes, unit)


class CurveLine(NamedTuple):
    """Measured points in their order; `low` and `high` are the ends of their intervals (equal without one)."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str
    knee: int | None = None
    """Index of the point that is marked."""
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
    """A plot of values over a quantity other than time: `across` has its name and a formatter.

    That axis is logarithmic if `geometric`, and has these ticks if there are any. With `latency`, the axis of values is
    logarithmic.
    """
    figure, axes = _figure(_HEIGHT + 0.4)
    if latency:
        least = foot(np.array(values) for line in lines for values in (line.low, line.y))
        lines = [
            line._replace(y=[max(y, least) for y in line.y], low=[max(low, least) for low in line.low])
            for line in lines
        ]
    for line in lines:
        axes.plot(line.x, line.y, color=line.colour, marker="o", markersize=4)
        axes.vlines(line.x, line.low, line.high, color=line.colour, linewidth=1.2)
        if line.law:
            axes.plot(*line.law, color=line.colour, linewidth=1.1, linestyle=(0, (4, 2)))
        if line.knee is not None:
            place = [line.x[line.knee]], [line.y[line.knee]]
            axes.plot(*place, color=theme.INK, marker="o", markersize=11, fillstyle="none", linestyle="none")
    if geometric:
        axes.set_xscale("log", base=2)
    else:
        axes.set_xlim(0)
    if ticks:
        axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(lambda value, _: across[1](value))
    axes.minorticks_off()
    axes.set_xlabel(across[0])
    if latency:
        lowest = min(min(line.low) for line in lines if len(line.low))
        highest = max(max(max(line.high), least) for line in lines if len(line.high))
        ends = [lowest, highest] + ([] if objective is None else [objective])
        _latency_axis(axes, unit, (max(min(ends), highest / 1e6) / 1.25, 1.25 * max(ends)))
        if objective is not None:
            axes.axhline(objective, color=theme.STALL, linewidth=1, linestyle=(0, (1, 2)))
    else:
        _value_axis(axes, unit)
    return style.svg(figure, description)


def bars(rows: Sequence[tuple[str, str, Sequence[Change | None]]], colours: Sequence[str], description: str) -> str:
    """A plot of changes. A row has a name, which direction is better, and a change per colour (None if unknown)."""
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
            color=theme.SOFT,
            fontsize=7.5,
        )
        for number, (change, colour) in enumerate(zip(changes, colours, strict=True)):
            place = row + (number - (len(colours) - 1) / 2) * thick * 1.15
            if change is None:
                axes.text(0, place, " not known", color=theme.SOFT, va="center", fontsize=8.5)
                continue
            ratio, interval = change
            low, high = (100 * end for end in (interval or (ratio, ratio)))
            axes.barh(place, 100 * ratio, height=thick, color=colour, alpha=0.85)
            if interval:
                axes.plot([max(low, least), min(high, most)], [place, place], color=theme.INK, linewidth=0.9)
            for beyond, end, arrow in ((low < least, least, CARETLEFT), (high > most, most, CARETRIGHT)):
                if beyond:
                    axes.plot(end, place, marker=arrow, color=theme.INK, markersize=4)
            end = min(max(high, 100 * ratio), most) if ratio >= 0 else max(min(low, 100 * ratio), least)
            side = "left" if ratio >= 0 else "right"
            axes.text(end, place, f" {percent(ratio)} ", va="center", ha=side, fontsize=8.5)
    axes.axvline(0, color=theme.SOFT, linewidth=0.8)
    room = 0.12 * max(most - least, 1.0)
    axes.set_xlim(least - room, most + room)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")
    return style.svg(figure, description)


def bar_limits(changes: Sequence[Change | None]) -> tuple[float, float]:
    """The ends of the axis, ratios: all bars fit, and intervals are cut off where they would hide the bars."""
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
    ticks = time_ticks(length)
    axes.set_xlim(0, length)
    axes.set_xticks([place for place, _ in ticks], [text for _, text in ticks])
    axes.set_xlabel("elapsed time")
    axes.grid(False, axis="x")


def _value_axis(axes: "Axes", unit: Axis) -> None:
    axes.set_ylabel(unit.name)
    axes.set_ylim(0, unit.most and 1.04 * unit.most)
    ticks = value_ticks(unit.most or axes.get_ylim()[1], unit)
    axes.set_yticks([place for place, _ in ticks], [text for _, text in ticks])


def _latency_axis(axes: "Axes", unit: Axis, limits: tuple[float, float]) -> None:
    axes.set_ylabel(unit.name)
    axes.set_yscale("log")
    axes.set_ylim(limits)
    ticks = latency_ticks(*limits, unit)
    axes.set_yticks([place for place, _ in ticks], [text for _, text in ticks])
    axes.minorticks_off()


def _mark(axes: "Axes", marks: Marks, length: float) -> None:
    if marks.warmup:
        axes.axvspan(0, min(marks.warmup, length), color=theme.WARMUP, alpha=0.16, linewidth=0)
        axes.text(0, 1.01, "warm-up", transform=axes.get_xaxis_transform(), fontsize=7.5, color=theme.SOFT, va="bottom")
    least = length / 700  # a shorter stall would be invisible
    top, alpha = (0.035, 0.9) if marks.at_foot else (1.0, 0.22)
    for (begin, end), colour in marks.stalls:
        middle, half = (begin + end) / 2, max(end - begin, least) / 2
        axes.axvspan(middle - half, middle + half, ymax=top, color=colour, alpha=alpha, linewidth=0, zorder=0.5)
