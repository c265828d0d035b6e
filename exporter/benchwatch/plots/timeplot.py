"""Lines over the elapsed time of runs as a plot, and how its caption explains it."""

from collections.abc import Sequence

import numpy as np

from .axes import LATENCY, Axis, elapsed, foot_note
from .figure import limits
from .plot import Drawing, Look, Marks, Plot
from .run_view import Trace
from .time_lines import Line, column_width, drawn


def time_plot(title: str, traces: Sequence[Trace], length: float, unit: Axis, marks: Marks, caption: str) -> Plot:
    """A plot of at least one line, from 0 to `length` seconds; its axis of values is logarithmic or begins at 0."""
    width = column_width(length, [trace.line for trace in traces])
    drawings = []
    for trace in traces:
        x, y, low, high = drawn(trace.line, width, rate=not unit.log)
        look: Look = "dashed" if trace.dashed else "line"
        filled = len(traces) == 1 and not unit.log and low is None
        drawings.append(Drawing(trace.name, trace.colour, x, y, low, high, look, filled))
    described = "; ".join(f"{trace.name} {_spread(trace.line, unit)}" for trace in traces)
    plot = Plot(title, caption, elapsed(length), unit, drawings, f"{title}: {described}", length or 1.0, marks)
    notes = [caption]
    if width:
        middle = "median report" if unit.log else "mean"
        notes.append(f"Line: the {middle} of each {width:.4g} s; band: from the lowest to the highest report in it.")
    if unit.log:
        notes.append(foot_note([trace.line.values if trace.line.low is None else trace.line.low for trace in traces]))
    if marks.objective is not None:
        least, most = limits(plot)
        side = "above" if marks.objective > most else "below" if marks.objective < least else ""
        text = LATENCY.text(marks.objective)
        notes.append(f"The objective, {text}, lies {side} the plot." if side else f"Dotted: the objective, {text}.")
    return plot._replace(caption=" ".join(filter(None, notes)))


def _spread(line: Line, unit: Axis) -> str:
    """A line in words."""
    if not len(line.values):
        return "not measured"
    middle = float(np.median(line.values))
    return f"from {unit.text(line.values.min())} to {unit.text(line.values.max())}, median {unit.text(middle)}"
