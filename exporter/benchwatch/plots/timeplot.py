"""Lines over the elapsed time of runs as a plot of a page: the drawing, its legend, and how the caption explains it."""

from collections.abc import Sequence

import numpy as np

from .axes import LATENCY, Axis, foot_note
from .drawing import Marks, Stroke, latency_limits, over_time
from .run_view import Trace
from .section import Key, Plot
from .time_lines import Drawn, Line, column_width, drawn


def time_plot(
    title: str,
    traces: Sequence[Trace],
    length: float,
    unit: Axis,
    marks: Marks,
    caption: str,
    *,
    rate: bool,
    named: str = "legend",
) -> Plot:
    """A plot of at least one line, from 0 to `length` seconds.

    With `rate`, the axis begins at 0; otherwise it is logarithmic. Lines are `named` in a "legend", by a "tag" at their
    end, or not ("").
    """
    width = column_width(length, [trace.line for trace in traces])
    lines = [
        (drawn(trace.line, width, rate=rate), Stroke(trace.colour, trace.dashed, trace.name if named == "tag" else ""))
        for trace in traces
    ]
    described = "; ".join(f"{trace.name} {_spread(trace.line, unit)}" for trace in traces)
    svg = over_time(lines, length, unit, marks, f"{title}: {described}", log=not rate)
    notes = [caption]
    if width:
        middle = "mean" if rate else "median report"
        notes.append(f"Line: the {middle} of each {width:.4g} s; band: from the lowest to the highest report in it.")
    if not rate:
        notes.append(foot_note([line.low for line, _ in lines]))
    if marks.objective is not None:
        notes.append(_objective([line for line, _ in lines], marks.objective))
    keys = [Key(trace.name, trace.colour, trace.dashed) for trace in traces] if named == "legend" else []
    return Plot(title, svg, " ".join(filter(None, notes)), keys)


def _spread(line: Line, unit: Axis) -> str:
    """A line in words."""
    if not len(line.values):
        return "not measured"
    middle = float(np.median(line.values))
    return f"from {unit.text(line.values.min())} to {unit.text(line.values.max())}, median {unit.text(middle)}"


def _objective(lines: Sequence[Drawn], objective: float) -> str:
    """Where the objective is in its plot."""
    low, high = latency_limits(lines, objective)
    side = "above" if objective > high else "below" if objective < low else ""
    text = LATENCY.text(objective)
    return f"The objective, {text}, lies {side} the plot." if side else f"Dotted: the objective, {text}."
