"""A plot as data: what is drawn, on which axes, and what is marked. `figure` has plotly's form of it."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import numpy as np

from .axes import Axis
from .time_lines import Array, Span

Look = Literal["line", "dashed", "steps", "points", "bars"]


class Drawing(NamedTuple):
    """A line, points or bars. `x` and `y` have one length; NaN in `y` breaks a line."""

    name: str
    colour: str
    """One of the theme's."""
    x: Array
    y: Array
    low: Array | None = None
    """The lower ends of a band around a line, or of the intervals of points and bars; None: neither."""
    high: Array | None = None
    look: Look = "line"
    filled: bool = False
    """Whether the area below it is tinted."""
    words: Sequence[str] = ()
    """The text beside each point or bar."""
    colours: Sequence[str] = ()
    """The colour of each bar, if they differ."""
    ringed: Collection[int] = ()
    """The indices of the points that are marked."""


class Heat(NamedTuple):
    """Counts by time and latency: a row per bucket, a column between two `edges` (elapsed seconds)."""

    edges: Array
    bounds: Array
    """The buckets' edges, seconds; one more than rows."""
    counts: Array
    ends: tuple[float, float]
    """The counts at the pale and at the strong end of the colours."""
    what: str
    """What is counted: transactions."""


class Cells(NamedTuple):
    """A value for each pair of ticks of both axes; NaN where there is none. Shapes (ticks of y, ticks of x)."""

    values: Array
    words: Sequence[Sequence[str]]
    """The text in each cell."""
    framed: tuple[int, int]
    """The cell that is marked: tick of y, tick of x."""


class Marks(NamedTuple):
    """What is marked besides lines: warm-up (seconds, 0: none), stalls with their colours, the objective, the usual.

    With `at_foot`, for stalls of several runs, stalls are marked only at the foot of the plot.
    """

    warmup: float = 0.0
    stalls: Sequence[tuple[Span, str]] = ()
    at_foot: bool = False
    objective: float | None = None
    """Latency, seconds."""
    usual: float | None = None
    """The value before the run became slow, in the unit of the values."""
    slow: Sequence[Span] = ()
    """When the run was slow."""


class Plot(NamedTuple):
    """A plot of a page, or the reason why there is none."""

    title: str
    caption: str
    x: Axis
    y: Axis
    drawings: Sequence[Drawing] = ()
    description: str = ""
    """What it shows, in words: all that a reader without scripts or sight gets of it."""
    length: float = 0.0
    """The end of an axis of elapsed time, seconds; 0: another axis, which the values limit."""
    marks: Marks = Marks()
    heat: Heat | None = None
    cells: Cells | None = None
    limits: tuple[float, float] | None = None
    """The ends of the horizontal axis if it is not of elapsed time; None: those of the values."""
    missing: str = ""
    """Why it cannot be drawn."""
    height: int = 0
    """In pixels; 0: that of its kind."""
    source: str = ""
    """Its figure as JSON, once that is made."""


def pieces(values: Array) -> Sequence[slice]:
    """The parts of a line between its breaks."""
    known = np.concatenate(([False], ~np.isnan(values), [False]))
    edges = np.flatnonzero(known[1:] != known[:-1]).reshape(-1, 2)
    return [slice(begin, end) for begin, end in edges.tolist()]
