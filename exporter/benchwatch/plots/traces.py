"""The series of runs as lines of a plot over elapsed time, and how its caption explains them.

If a run has more lines than can be distinguished, and whenever runs are compared, the lines of one operation become
one: the sum of rates, the highest of latencies, since percentiles cannot be averaged.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..history.timeline import Series, Timeline
from ..metrics.samples import Family
from ..tools.roles import Roles
from . import theme
from .axes import LATENCY, Axis, elapsed, foot_note
from .figure import limits
from .plot import Drawing, Look, Marks, Plot
from .run_view import View, label
from .time_lines import Line, column_width, combined, drawn, middle_of

MOST_LINES = 6


class Trace(NamedTuple):
    """A line with its name and look. `operation` is empty if the tool has none."""

    line: Line
    name: str
    operation: str
    colour: str
    dashed: bool = False
    of: int = 1
    """How many lines are combined in it."""
    runs: int = 1
    """How many repeats it is the median of."""


def traces(runs: Sequence[View], roles: Roles, family: Family, *, rate: bool, quantile: str = "") -> list[Trace]:
    """The series of that name of all runs as lines, combined as the module's rule says."""
    sides: dict[str, list[list[Trace]]] = {}
    for run in runs:
        own = [
            (worker, series)
            for worker, series in run.series(family)
            if len(series.times) and (not quantile or label(series, "quantile") == quantile)
        ]
        apart = len(runs) == 1 and len(own) <= MOST_LINES
        found = _apart(run, own, roles) if apart else _together(run, own, roles, rate, several=len(runs) > 1)
        sides.setdefault(run.side, []).append(found)
    return [trace for side, each in sides.items() for trace in (each[0] if len(each) == 1 else _repeated(side, each))]


def _repeated(side: str, each: Sequence[Sequence[Trace]]) -> Iterator[Trace]:
    """The repeats of an experiment as the median of each operation, from the lowest to the highest of them."""
    first = {trace.operation: trace for found in reversed(each) for trace in found}
    for operation, trace in sorted(first.items(), key=lambda item: item[1].dashed):
        lines = [one.line for found in each for one in found if one.operation == operation]
        yield trace._replace(line=middle_of(lines), name=f"{side} {operation}".strip(), runs=len(lines))


def _apart(run: View, own: Sequence[tuple[Timeline, Series]], roles: Roles) -> list[Trace]:
    jobs = {_job(series, roles) for _, series in own}
    found = []
    for (worker, series), colour in zip(own, theme.SERIES, strict=False):
        operation = label(series, roles.operation)
        named = worker.name if len(run.timelines) > 1 else "", _job(series, roles) if len(jobs) > 1 else "", operation
        name = " ".join(filter(None, named)) or run.name
        found.append(Trace(run.line(series), name, operation, colour))
    return found


def _job(series: Series, roles: Roles) -> str:
    return " ".join(label(series, name) for name in roles.labels[:-1])


def _together(
    run: View, own: Sequence[tuple[Timeline, Series]], roles: Roles, rate: bool, *, several: bool
) -> list[Trace]:
    operations: dict[str, list[Line]] = {}
    for _, series in own:
        operations.setdefault(label(series, roles.operation), []).append(run.line(series))
    found = []
    for number, (operation, lines) in enumerate(operations.items()):
        name = f"{run.name if several else ''} {operation}".strip() or run.name
        colour = run.colour if several else theme.SERIES[number]
        found.append(Trace(combined(lines, rate=rate), name, operation, colour, several and number > 0, len(lines)))
    return found


def time_plot(title: str, traces: Sequence[Trace], length: float, unit: Axis, marks: Marks, caption: str) -> Plot:
    """A plot of at least one line, from 0 to `length` seconds; its axis of values is logarithmic or begins at 0."""
    width = column_width(length, [trace.line for trace in traces])
    marks = marks if len(traces) == 1 else marks._replace(usual=None)
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
