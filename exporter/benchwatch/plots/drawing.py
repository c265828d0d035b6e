"""Drawings as SVG: lines over elapsed time, heatmap, distribution.

They fill the available width, and their text keeps its size: lines are in an inner drawing that is stretched, text is
in another one at the same place that is not.

The only text from outside in a drawing is its description. Colours are variables of the page (see theme), and there are
no style attributes, so a strict Content-Security-Policy allows the drawings.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..values.printable import in_html
from . import theme
from .axes import Axis, Scale, Ticks, count, foot, latency_ticks, time_ticks, value_ticks
from .heat import BAR, heat
from .time_lines import Array, Drawn, Span, alone

_WIDE, _HIGH = 2000, 1000
"""Units of the inner drawing."""
_TOP, _BOTTOM = 20, 24
"""Room above and below it, pixels; that beside it is in the style sheet."""
_HEIGHT = 190
"""Of the inner drawing, pixels."""
_TICK = 20
_LETTERS = 12
"""Minimum distance of two tags, pixels."""
_LEAST_SHARE = 1 / 3
"""Fraction of the height that lines keep if the axis also reaches the objective."""
_MARGIN = 1.05
_NARROWEST_STALL = 1 / 700
"""Minimum width of a marked stall, as a fraction of the drawing: a narrower one would be invisible."""


class Stroke(NamedTuple):
    """How a line is drawn. `tag` is written at its end: a fixed word, such as p99."""

    colour: str
    dashed: bool = False
    tag: str = ""


class Marks(NamedTuple):
    """What is marked besides lines: warm-up (seconds, 0: none), stalls with their colours, the objective.

    With `at_foot`, for stalls of several runs, stalls are marked only at the foot of the plot.
    """

    warmup: float = 0.0
    stalls: Sequence[tuple[Span, str]] = ()
    at_foot: bool = False
    objective: float | None = None
    """Latency, seconds."""


def over_time(
    lines: Sequence[tuple[Drawn, Stroke]], length: float, unit: Axis, marks: Marks, description: str, *, log: bool
) -> str:
    """Lines over elapsed time, from 0 to `length` seconds; with `log` on a logarithmic axis, else from 0."""
    across = Scale(0.0, length or 1.0)
    least = foot(line.low for line, _ in lines) if log else 0.0
    if log:
        low, high = latency_limits([line for line, _ in lines], marks.objective)
        down = Scale(low, high, log=True)
        ticks = latency_ticks(low, high, unit)
    else:
        down = Scale(0.0, unit.most * 1.04 if unit.most else _highest(line for line, _ in lines))
        ticks = value_ticks(unit.most or down.high, unit)
    up = _placed(down, ticks)
    inner = [_marked(marks, length), *map(_grid, up)]
    for line, stroke in lines:
        x = across.part(line.seconds)
        low_y, middle, high_y = (
            down.part(np.maximum(values, least) if log else values) for values in (line.low, line.middle, line.high)
        )
        colour = theme.variable(stroke.colour)
        if line.low is not line.high:
            inner.append(f'<path d="{_band(x, low_y, high_y)}" fill="{colour}" fill-opacity=".22"/>')
        elif len(lines) == 1 and not log:
            inner.append(f'<path d="{_band(x, 0 * middle, middle)}" fill="{colour}" fill-opacity=".1"/>')
        inner.append(_line(x, middle, stroke))
    if marks.objective is not None and down.low <= marks.objective <= down.high:
        inner.append(f'<path class="objective" d="M0 {_down(down.at(marks.objective))}H{_WIDE}"/>')
    letters = "".join(_tags(lines, down)) + ('<text y="-6" class="s">warm-up</text>' if marks.warmup else "")
    return _drawing(inner, letters, _placed(across, time_ticks(length)), up, unit.name, "elapsed time", description)


def latency_limits(lines: Sequence[Drawn], objective: float | None) -> tuple[float, float]:
    """The ends of a logarithmic axis, seconds. It covers the lines, and the objective if that does not flatten them."""
    known = [line for line in lines if np.isfinite(line.high).any()]
    low = foot(line.low for line in known) / 1.25 if known else 1e-3
    high = max([low * 1.5, *(float(np.nanmax(line.high)) for line in known)]) * 1.25
    if not objective:  # a logarithmic axis has no 0
        return low, high
    lowest, highest = min(low, objective / 1.25), max(high, objective * 1.25)
    readable = np.log(high / low) >= _LEAST_SHARE * np.log(highest / lowest)
    return (lowest, highest) if readable else (low, high)


def heatmap(
    edges: Array, bounds: Array, counts: Array, most: float, length: float, unit: Axis, marks: Marks, description: str
) -> str:
    """Counts by time and latency: `counts` has a row per bucket and a column between two `edges` (elapsed seconds).

    `bounds` are the buckets' edges, one more than rows. `most` is the count at the strong end of the colours.
    """
    down = Scale(float(bounds[0]), float(bounds[-1]), log=True)
    least = float(counts[counts > 0].min(initial=most))
    across = Scale(0.0, length or 1.0)
    image = heat(across.part(edges), down.part(bounds), counts, least, max(most, 1.01 * least))
    inner = [
        f'<image width="{_WIDE}" height="{_HIGH}" preserveAspectRatio="none" href="{image}"/>',
        _marked(marks, length),
    ]
    letters = (
        f'<svg x="100%" overflow="visible"><image x="8" y="16" width="9" height="100" preserveAspectRatio="none" '
        f'href="{BAR}"/><text x="6" y="6" class="s">per s</text><text x="20" y="22">{count(most)}</text>'
        f'<text x="20" y="116">{count(least)}</text></svg>'
    )
    up = _placed(down, latency_ticks(down.low, down.high, unit))
    return _drawing(inner, letters, _placed(across, time_ticks(length)), up, unit.name, "elapsed time", description)


def distribution(
    curves: Sequence[tuple[Array, Array, Stroke]], unit: Axis, description: str, shares: Sequence[tuple[Array, Array]]
) -> str:
    """Left: the share of operations by latency. Right: the latency by percentile. Each has one line per curve.

    Curves are (part of the operations from 0 to below 1, latency in seconds); `shares` are (bounds in seconds, part of
    the operations between each two of them a doubling of the latency).
    """
    across = Scale(min(bounds[0] for bounds, _ in shares), max(bounds[-1] for bounds, _ in shares), log=True)
    down = Scale(0.0, _MARGIN * 100 * max(float(share.max()) for _, share in shares))
    percent = Axis("% of operations an octave", lambda value: f"{value:g}")
    up = _placed(down, value_ticks(down.high, percent))
    inner = [*map(_grid, up)]
    for (bounds, share), (*_, stroke) in zip(shares, curves, strict=True):
        x, y = np.repeat(across.part(bounds), 2)[1:-1], np.repeat(down.part(100 * share), 2)
        if len(curves) == 1:
            band = _band(x, 0 * y, y)
            inner.append(f'<path d="{band}" fill="{theme.variable(stroke.colour)}" fill-opacity=".15"/>')
        inner.append(_line(x, y, stroke))
    below = _placed(across, latency_ticks(across.low, across.high, unit))
    left = _drawing(inner, "", below, up, percent.name, "latency", description)
    return f'<div class="pair">{left}{_by_percentile(curves, unit, description)}</div>'


def _by_percentile(curves: Sequence[tuple[Array, Array, Stroke]], unit: Axis, description: str) -> str:
    end = max(float(-np.log10(1 - parts[-1])) for parts, _, _ in curves)
    least = foot(latencies for _, latencies, _ in curves)
    most = max([least, *(float(latencies.max()) for _, latencies, _ in curves)])
    down = Scale(least / 1.25, most * 1.25, log=True)
    if not end:
        return _drawing((), '<text x="50%" y="95" class="m">one operation only</text>', (), (), "", "", description)
    across = Scale(0.0, end * 1.03)
    nines = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999)
    places = [(across.at(-math.log10(1 - part)), f"{part * 100:.7g}") for part in nines]
    up = _placed(down, latency_ticks(down.low, down.high, unit))
    inner = [*map(_grid, up)]
    for parts, latencies, stroke in curves:
        x, y = across.part(-np.log10(1 - parts)), down.part(np.maximum(latencies, least))
        inner.append(_line(np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:], stroke))
    shown = [(place, text) for place, text in places if place <= 1]
    return _drawing(inner, "", shown, up, "latency", "percentile", description)


def _drawing(
    inner: Sequence[str], letters: str, across: Ticks, up: Ticks, name: str, foot: str, description: str
) -> str:
    height = _TOP + _HEIGHT + _BOTTOM
    place = f'y="{_TOP}" width="100%" height="{_HEIGHT}"'
    marks = "".join(f"M{_WIDE * part:.0f} {_HIGH}v-{_TICK}" for part, _ in across)
    below = "".join(
        f'<text x="{100 * part:.2f}%" y="{_HEIGHT + 15}" class="m{" o" if number % 2 else ""}">{text}</text>'
        for number, (part, text) in enumerate(across)
    )
    beside = "".join(f'<text x="-6" y="{_HEIGHT * (1 - part) + 4:.0f}" class="e">{text}</text>' for part, text in up)
    return (
        f'<svg class="chart" role="img" aria-label="{in_html(description)}" width="100%" height="{height}">'
        f'<svg class="in" {place} viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none">{"".join(inner)}'
        f'<path class="base" d="M0 {_HIGH}H{_WIDE}{marks}"/></svg>'
        f'<svg class="in" {place} overflow="visible">{below}{beside}{letters}'
        f'<text x="-56" y="-8" class="s">{name}</text><text x="100%" y="-8" class="s f">{foot}</text></svg>'
        "</svg>"
    )


def _placed(scale: Scale, ticks: Ticks) -> Ticks:
    """Fractions of the axis instead of values."""
    return [(scale.at(value), in_html(text)) for value, text in ticks]


def _grid(tick: tuple[float, str]) -> str:
    return f'<path class="grid" d="M0 {_down(tick[0])}H{_WIDE}"/>'


def _down(part: float) -> int:
    return round(_HIGH * (1 - part))


def _highest(lines: Iterator[Drawn]) -> float:
    known = [float(np.nanmax(line.high)) for line in lines if np.isfinite(line.high).any()]
    return _MARGIN * max(known, default=0.0) or 1.0


def _marked(marks: Marks, length: float) -> str:
    """Warm-up and stalls."""
    found = []
    if marks.warmup and length:
        found.append(f'<rect class="warmup" width="{_WIDE * min(1.0, marks.warmup / length):.0f}" height="{_HIGH}"/>')
    top, opacity = (_HIGH - 35, 0.9) if marks.at_foot else (0, 0.22)
    for (begin, end), colour in marks.stalls:
        middle, width = (begin + end) / 2 / length, max((end - begin) / length, _NARROWEST_STALL)
        found.append(
            f'<rect class="stall" x="{_WIDE * (middle - width / 2):.1f}" y="{top}" width="{_WIDE * width:.1f}" '
            f'height="{_HIGH - top}" fill="{theme.variable(colour)}" fill-opacity="{opacity}"/>'
        )
    return "".join(found)


def _points(x: Array, y: Array) -> str:
    pairs = np.column_stack((_WIDE * x, _HIGH * (1 - y))).round().astype(np.int64)
    return "%d %d " * len(pairs) % tuple(pairs.ravel().tolist())


def _pieces(y: Array) -> Iterator[slice]:
    """The parts of a line between its breaks."""
    known = np.concatenate(([False], ~np.isnan(y), [False]))
    edges = np.flatnonzero(known[1:] != known[:-1]).reshape(-1, 2)
    return (slice(begin, end) for begin, end in edges.tolist())


def _line(x: Array, y: Array, stroke: Stroke) -> str:
    path = "".join(f"M{_points(x[piece], y[piece])}" for piece in _pieces(y))
    dots = alone(y)
    lone = "".join(f"M{_points(x[dots][n : n + 1], y[dots][n : n + 1])}h0" for n in range(int(dots.sum())))
    colour = theme.variable(stroke.colour)
    found = f'<path class="l{" d" if stroke.dashed else ""}" stroke="{colour}" d="{path}"/>'
    return found + (f'<path class="dot" stroke="{colour}" d="{lone}"/>' if lone else "")


def _band(x: Array, low: Array, high: Array) -> str:
    return "".join(
        f"M{_points(np.concatenate((x[piece], x[piece][::-1])), np.concatenate((high[piece], low[piece][::-1])))}Z"
        for piece in _pieces(high)
    )


def _tags(lines: Sequence[tuple[Drawn, Stroke]], down: Scale) -> Iterator[str]:
    """Names at the right ends of lines, moved apart where they would overlap."""
    ends = []
    for line, stroke in lines:
        known = line.middle[~np.isnan(line.middle)]
        if stroke.tag and len(known):
            ends.append((_HEIGHT * (1 - down.at(max(float(known[-1]), down.low))), stroke))
    ends.sort(key=lambda end: -end[0])
    highest, places = math.inf, []
    for place, _ in ends:
        highest = min(place, highest - _LETTERS)
        places.append(highest)
    over = max(0.0, -min(places, default=0.0))
    for place, (_, stroke) in zip(places, ends, strict=True):
        colour = theme.variable(stroke.colour)
        tag = f'<text x="5" y="{place + over + 4:.0f}" fill="{colour}">{stroke.tag}</text>'
        yield f'<svg x="100%" overflow="visible">{tag}</svg>'
