"""Plots as figures of plotly.js: plain dicts, with the page's colours by name.

https://plotly.com/javascript/reference/ has their fields.

`plots.js`, which stands in pages and reports beside plotly's own script, adds what all plots have in common and draws
them.
"""

import base64
import functools
import hashlib
import importlib.util
import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from . import theme
from .axes import LATENCY, Axis, foot, log_ticks
from .plot import Cells, Drawing, Heat, Plot, pieces
from .time_lines import Array, alone

Figure = dict[str, Any]
PLOTLY_NAME = f"plotly-{version('plotly')}.min.js"
"""The name of plotly's script, which a browser may keep for good."""
DRAW = (Path(__file__).parent / "plots.js").read_text()
"""The script that draws the figures of a page."""
_HEIGHT = 270
"""Of a plot, pixels."""
_ROW = 30
"""Pixels of each row of bars."""
_BAR_KEY, _BAR_KEYS = 19, 3
"""Pixels of a line of the legend above bars, and how many names stand in one."""
_LONGEST_NAME = 32
_NARROWEST_STALL = 1 / 700
"""Minimum width of a marked stall, as a fraction of the plot: a narrower one would be invisible."""
_MOST_STALLS = 300
_HOUR, _SHORT = 3600.0, 10.0
"""Seconds up to which a clock needs no hours, and up to which each second has a tick, so that none stands twice."""
_MARGIN = 1.05
_DIGITS = 5
"""Significant digits of a value."""
_ROOM = 0.03
"""Part of a logarithmic axis that stays free beyond the lowest and highest points, so that their marks are whole."""
_LEAST_SHARE = 1 / 3
"""Fraction of the height that lines keep if the axis also reaches the objective."""
_BREAK = np.array([np.nan])
_HEAT = ((0.0, "#3d87db38"), (0.33, "#4a70d6bf"), (0.67, "#bd4d9ef2"), (1.0, "#f58738"))
"""From pale to strong, so that it works on light and dark pages."""

_CELLS = ((0.0, "#3d87db18"), (1.0, "#3d87dbb0"))
"""From pale to strong; the text in the cells stays readable."""


@functools.cache
def plotly() -> str:
    """Plotly's script, as its wheel has it; Python does not import it."""
    found = importlib.util.find_spec("plotly")
    assert found is not None and found.submodule_search_locations
    return (Path(found.submodule_search_locations[0]) / "package_data" / "plotly.min.js").read_text()


def encoded(plot: Plot) -> str:
    """The figure as JSON for a script element of HTML."""
    found = figure(plot)
    found["layout"]["height"] = plot.height or found["layout"].get("height", _HEIGHT)
    return msgspec.json.encode(found, enc_hook=float).decode().replace("<", "\\u003c")


def figure(plot: Plot) -> Figure:
    """The figure of a plot that can be drawn."""
    x_factor, x_unit = plot.x.unit(plot.length)
    known = [values for one in plot.drawings for values in (one.y, one.high) if values is not None]
    y_factor, y_unit = plot.y.unit(max((float(np.nanmax(v)) for v in known if np.isfinite(v).any()), default=0.0))
    least = foot(one.y if one.low is None else one.low for one in plot.drawings) if plot.y.log else None
    layout = _layout(plot, x_unit, y_unit)
    data: list[Figure] = []
    if plot.heat is not None:
        data.append(_heat(plot.heat, x_factor))
    if plot.cells is not None:
        data.append(_cells(plot.cells))
        layout |= {"height": 90 + 36 * len(plot.cells.values), "hovermode": False}
        layout["yaxis"]["showgrid"] = layout["xaxis"]["showgrid"] = False
    elif any(one.look == "bars" for one in plot.drawings):
        data += map(_bars, plot.drawings)
        rows, longest = len(plot.y.ticks), max(len(name) for _, name in plot.y.ticks)
        above = _BAR_KEY * math.ceil(len(plot.drawings) / _BAR_KEYS) if len(plot.drawings) > 1 else 0
        layout["margin"] |= {"t": 16 + above, "b": 44, "l": 14 + 6.2 * min(longest, _LONGEST_NAME)}
        layout["legend"]["traceorder"] = "normal"
        layout |= {"height": 60 + above + _ROW * rows, "bargap": 0.35, "barmode": "stack", "hovermode": "closest"}
        layout["yaxis"] |= {"range": [rows - 0.5, -0.5], "showgrid": False}
    else:
        for one in plot.drawings:
            data += _traces(one, plot, x_factor, y_factor, least)
        low, high = limits(plot)
        layout["yaxis"] |= _between(low / y_factor, high / y_factor, plot.y)
    levels = list(_levels(plot, y_factor))
    layout["shapes"] = [*_shapes(plot, x_factor), *(line for line, _ in levels)]
    layout["annotations"] = [text for _, text in levels]
    if plot.limits is not None:
        layout["xaxis"] |= _between(*plot.limits, plot.x)
    return {"data": data, "layout": layout, "time": plot.length > 0}


def limits(plot: Plot) -> tuple[float, float]:
    """The ends of the axis of values; a logarithmic one covers an objective that does not flatten the lines."""
    if plot.heat is not None:
        return float(plot.heat.bounds[0]), float(plot.heat.bounds[-1])
    every = [values for one in plot.drawings for values in (one.y, one.low, one.high) if values is not None]
    every = [values for values in every if np.isfinite(values).any()]
    highest = max((float(np.nanmax(values)) for values in every), default=0.0)
    if not plot.y.log:
        return 0.0, plot.y.most * 1.04 if plot.y.most else _MARGIN * highest or 1.0
    low = foot(every) / 1.25 if every else 1e-3
    high = max(low * 1.5, highest) * 1.25
    objective = plot.marks.objective
    if not objective:  # a logarithmic axis has no 0
        return low, high
    lowest, farthest = min(low, objective / 1.25), max(high, objective * 1.25)
    readable = np.log(high / low) >= _LEAST_SHARE * np.log(farthest / lowest)
    return (lowest, farthest) if readable else (low, high)


def _traces(one: Drawing, plot: Plot, x_factor: float, y_factor: float, least: float | None) -> Iterator[Figure]:
    """A line or points, above the band of a line; 0 is drawn at `least`."""
    x = one.x / x_factor
    y, low, high = (
        None if values is None else (values if least is None else np.maximum(values, least)) / y_factor
        for values in (one.y, one.low, one.high)
    )
    assert y is not None
    line: Figure = {"color": _colour(one.colour), "width": 1.6, "dash": "dash" if one.look == "dashed" else "solid"}
    found: Figure = {
        "type": "scatter",
        "name": _text(one.name),
        "mode": "lines",
        "line": line,
        "legendgroup": _text(one.name),
        "x": _numbers(x, whole=plot.length > 0 and x_factor < 1),
        "y": _numbers(y),
    }
    if one.look == "steps":
        line["shape"] = "vh"
    if one.filled:
        found |= {"fill": "tozeroy", "fillcolor": _colour(one.colour, 0.1)}
    lone = alone(y)
    if one.look == "points":
        ringed = [place in one.ringed for place in range(len(y))]
        ring = {"color": _colour(theme.INK), "width": [2 if is_one else 0 for is_one in ringed]}
        sizes = [13 if is_one else 7 for is_one in ringed]
        found |= {"mode": "lines+markers", "marker": {"size": sizes, "color": _colour(one.colour), "line": ring}}
    elif lone.any():
        sizes = np.where(lone, 5, 0).tolist()
        found |= {"mode": "lines+markers", "marker": {"size": sizes, "color": _colour(one.colour)}}
    if low is not None and high is not None:
        if one.look == "points":
            found["error_y"] = _ends(y, low, high, one.colour)
        else:
            yield _band(one, x, low, high)
            form = f":{plot.y.form}}}{plot.y.suffix}"
            found["customdata"] = [list(pair) for pair in zip(_numbers(low), _numbers(high), strict=True)]
            found["hovertemplate"] = f"%{{y{form} (%{{customdata[0]{form} to %{{customdata[1]{form})"
    if one.words:
        found |= {"text": list(map(_text, one.words)), "hovertemplate": "%{text}: %{y}"}
    yield found


def _band(one: Drawing, x: Array, low: Array, high: Array) -> Figure:
    """The area between two lines, as one polygon for each unbroken piece."""
    around = [part for piece in pieces(high) for part in (x[piece], x[piece][::-1], _BREAK)]
    along = [part for piece in pieces(high) for part in (high[piece], low[piece][::-1], _BREAK)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _numbers(np.concatenate(around or [_BREAK])),
        "y": _numbers(np.concatenate(along or [_BREAK])),
        "fill": "toself",
        "fillcolor": _colour(one.colour, 0.22),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": _text(one.name),
    }


def _bars(one: Drawing) -> Figure:
    found: Figure = {"type": "bar", "orientation": "h", "y": one.y.tolist(), "x": _numbers(one.x)}
    found["name"] = _text(one.name)
    found |= {"marker": {"color": list(map(_colour, one.colours))}, "customdata": list(one.words)}
    found["hovertemplate"] = "%{y}: %{customdata}<extra></extra>"
    if one.low is not None and one.high is not None:
        found["error_x"] = _ends(one.x, one.low, one.high, theme.INK)
    return found


def _ends(values: Array, low: Array, high: Array, colour: str) -> Figure:
    above, below = _numbers(high - values), _numbers(values - low)
    ends = {"array": above, "arrayminus": below, "color": _colour(colour), "thickness": 1.3, "width": 3}
    return {"type": "data", "symmetric": False, **ends}


def _heat(heat: Heat, x_factor: float) -> Figure:
    """`plots.js` colours by the logarithm of the counts."""
    return {
        "type": "heatmap",
        "x": _numbers(heat.edges / x_factor),
        "y": _numbers(heat.bounds),
        "customdata": [_numbers(row, digits=3) for row in heat.counts],
        "colorscale": [list(stop) for stop in _HEAT],
        "hoverongaps": False,
        "hovertemplate": f"%{{x}}, %{{y}}: %{{customdata:,.3~r}} {_text(heat.what)} a second<extra></extra>",
        "showscale": False,
        "zmin": math.log10(heat.ends[0]),
        "zmax": math.log10(heat.ends[1]),
    }


def _cells(cells: Cells) -> Figure:
    return {
        "type": "heatmap",
        "z": [[None if value != value else value for value in line] for line in cells.values.tolist()],
        "text": [list(map(_text, line)) for line in cells.words],
        "texttemplate": "%{text}",
        "textfont": {"color": _colour(theme.INK), "size": 13},
        "colorscale": [list(stop) for stop in _CELLS],
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }


def _levels(plot: Plot, y_factor: float) -> Iterator[tuple[Figure, Figure]]:
    """The objective, and what is usual, as lines across the whole plot, each with its name."""
    low, high = limits(plot)
    for name, level, colour, dash in (
        ("usual", plot.marks.usual, theme.SOFT, "dash"),
        ("objective", plot.marks.objective, theme.STALL, "dot"),
    ):
        if level is not None and low <= level <= high:
            y = level / y_factor
            line: Figure = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y}
            text: Figure = {"text": f"{name} {plot.y.text(level)}", "xref": "paper", "x": 0, "xanchor": "left"}
            text |= {"y": math.log10(y) if plot.y.log else y, "yanchor": "bottom", "showarrow": False}
            text |= {"font": {"color": _colour(colour), "size": 11}, "bgcolor": _colour("--card", 0.8), "borderpad": 1}
            yield line | {"line": {"color": _colour(colour), "width": 1.4, "dash": dash}}, text


def _shapes(plot: Plot, x_factor: float) -> Iterator[Figure]:
    if plot.cells is not None:
        y, x = plot.cells.framed
        ends: Figure = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        yield {"type": "rect", **ends, "line": {"color": _colour(theme.INK), "width": 2}}
    marks, length = plot.marks, plot.length
    whole = {"type": "rect", "yref": "paper", "y0": 0, "layer": "below", "line": {"width": 0}}
    if marks.warmup and length:
        end = min(marks.warmup, length) / x_factor
        label = {
            "text": "warm-up" if plot.heat is None else "",
            "textposition": "top left",
            "font": {"color": _colour(theme.SOFT), "size": 11},
        }
        yield {**whole, "x0": 0, "x1": end, "y1": 1, "fillcolor": _colour(theme.WARMUP, 0.16), "label": label}
    for begin, end in marks.slow:
        ends = {"x0": round(begin / x_factor), "x1": round(end / x_factor), "y1": 1}
        label = {"text": "slow", "textposition": "top left", "font": {"color": _colour(theme.SOFT), "size": 11}}
        yield {**whole, **ends, "fillcolor": _colour(theme.SLOW, 0.14), "label": label}
    top, strength = (0.04, 0.9) if marks.at_foot else (1, 0.22)
    for (begin, end), colour in sorted(marks.stalls, key=lambda mark: mark[0].begin - mark[0].end)[:_MOST_STALLS]:
        middle, half = (begin + end) / 2, max(end - begin, length * _NARROWEST_STALL) / 2
        sides = {"x0": round((middle - half) / x_factor), "x1": round((middle + half) / x_factor), "y1": top}
        yield {**whole, **sides, "fillcolor": _colour(colour, strength)}


def _layout(plot: Plot, x_unit: str, y_unit: str) -> Figure:
    x, y = _axis(plot.x, x_unit), _axis(plot.y, y_unit)
    y["fixedrange"] = True
    if plot.length:
        x["range"] = [0, plot.length / plot.x.unit(plot.length)[0]]
    if not plot.x.form:
        clock = "%-H:%M:%S" if plot.length > _HOUR else "%-M:%S"
        x |= {"type": "date", "hoverformat": clock, "tickformat": clock}
        x |= {"dtick": 1000} if plot.length < _SHORT else {}
    return {
        "margin": {"l": 74, "r": 18, "t": 30 if len(plot.drawings) > 1 else 12, "b": 34},
        "hovermode": "closest" if plot.heat is not None else "x unified",
        "legend": {},
        "showlegend": len(plot.drawings) > 1,
        "xaxis": x,
        "yaxis": y,
    }


def _between(low: float, high: float, axis: Axis) -> Figure:
    """The ends of an axis, and the ticks of a logarithmic one that has none of its own."""
    if not axis.log:
        return {"range": [low, high]}
    ticks = axis.ticks or log_ticks(low, high, axis)
    places, texts = [place for place, _ in ticks], [_text(text) for _, text in ticks]
    ends = math.log10(low), math.log10(high)
    room = _ROOM * (ends[1] - ends[0])
    return {"range": [ends[0] - room, ends[1] + room], "tickvals": places, "ticktext": texts}


def _axis(axis: Axis, unit: str) -> Figure:
    name = " ".join(filter(None, (axis.name if axis is not LATENCY else "", unit)))
    found: Figure = {"title": {"text": _text(name)}}
    if axis.form:
        found |= {
            "tickformat": axis.form,
            "hoverformat": axis.form,
            "ticksuffix": axis.suffix,
            "exponentformat": "none",
        }
    if axis.log:
        found |= {"type": "log"}
    if axis.ticks:
        found |= {"tickvals": [place for place, _ in axis.ticks], "ticktext": [_text(text) for _, text in axis.ticks]}
    return found


def _colour(colour: str, strength: float = 1.0) -> str:
    """A colour of the theme, which `plots.js` looks up, with a strength, in hexadecimal."""
    return colour + (f"/{round(255 * strength):02x}" if strength < 1 else "")


def _text(text: str) -> str:
    """Text from outside: plotly knows some tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _numbers(values: Array | Sequence[float], *, whole: bool = False, digits: int = _DIGITS) -> list[float]:
    """The values with as many digits as can be read; NaN becomes null."""
    given = np.asarray(values, float)
    if whole:
        return [int(value) if value == value else value for value in np.rint(given).tolist()]
    size = np.abs(np.where(np.isfinite(given) & (given != 0), given, 1.0))
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    found: list[float] = np.where(given == 0, 0, np.rint(given * scale) / scale).tolist()
    return found


@functools.cache
def source_of(script: str) -> str:
    """The source of a Content-Security-Policy that allows this inline script."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
