"""The sections about sweeps of one tool: throughput and tail latency over the parameter, the capacity curve (latency
over throughput), and the points as a table. Sweeps of one parameter share their axes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.experiment import Experiment
from ..compare.measures import THROUGHPUT, Measure, figure, title
from ..compare.result import Result
from ..plots import theme
from ..plots.axes import LATENCY, Axis, throughput
from ..plots.plot import Cells, Drawing, Marks, Plot
from ..plots.run_view import View
from ..plots.section import Section
from ..plots.time_lines import Array
from ..results import sweep_view
from ..results.scalability import Scalability
from ..results.sweep import CapacityCurve, Matrix, curves, geometric, matrices
from ..show import as_html
from ..show.content import Heading
from ..values.printable import in_html

_STEPS = 200
_BEYOND_PEAK = 1.1
_MOST_TICKS = 20


def found(runs: Sequence[tuple[View, Result]]) -> Iterator[str]:
    """What came out, a line for each curve: its knee, or where the throughput is the highest."""
    for sweep, members in _finished(runs).items():
        yield from (f"{sweep}: {line}" for line in sweep_view.best(members))


def _finished(runs: Sequence[tuple[View, Result]]) -> dict[str, list[Result]]:
    """The results of each sweep, without those of runs that have not finished."""
    found: dict[str, list[Result]] = {}
    for view, run in runs:
        members = found.setdefault(view.side, [])
        if run.state == "finished" and run.point is not None:
            members.append(run)
    return found


class _Drawn(NamedTuple):
    """A curve with its name and colour."""

    name: str
    curve: CapacityCurve
    colour: str


def is_part(run: View) -> bool:
    """Whether a run is shown as part of a sweep that the user requested by name."""
    of = {one.runfile.sweep.of for one in run.timelines if one.runfile.sweep is not None}
    return run.side != run.name and run.side.rpartition("/")[2] in of


def sections(name: str, runs: Sequence[tuple[View, Result]]) -> Iterator[Section]:
    """The curves, then the points, of sweeps of one tool. Runs that have not finished are named and left out."""
    left_out = Experiment("", [run for _, run in runs]).faults
    html = "".join(f'<p class="note">{in_html(text)}; left out.</p>' for text in left_out)
    heats: list[Plot] = []
    drawn: list[_Drawn] = []
    sweeps = _finished(runs)
    for sweep, members in sweeps.items():
        html += as_html.html([Heading(sweep), *sweep_view.blocks(members)])
        own = curves(members)
        heats += map(_heat, matrices(own))
        for curve, called in zip(own, sweep_view.curve_names(own), strict=True):
            full = " ".join(part for part in (sweep if len(sweeps) > 1 else "", called) if part) or sweep
            drawn.append(_Drawn(full, curve, theme.SERIES[len(drawn) % len(theme.SERIES)]))
    parameters = dict.fromkeys(one.curve.parameter for one in drawn if one.curve.numeric)
    figures = [
        plot
        for parameter in parameters
        for plot in _plots([one for one in drawn if one.curve.numeric and one.curve.parameter == parameter])
    ]
    if figures or heats:
        yield Section(name, [*heats, *figures])
    yield Section("Points" if figures or heats else name, html=html)


def _heat(matrix: Matrix) -> Plot:
    """The throughput by both parameters, the best with a frame around it."""
    rows, columns = matrix.rows, matrix.columns
    values = np.array([[matrix.values.get((row, column), np.nan) for row in rows] for column in columns])
    place = columns.index(matrix.best[1]), rows.index(matrix.best[0])
    words = [
        ["" if np.isnan(value) else figure(value, THROUGHPUT, matrix.roles) for value in line.tolist()]
        for line in values
    ]
    title = f"{sweep_view.matrix_title(matrix)} over {matrix.names[0]} and {matrix.names[1]}"
    described = "; ".join(f"{row}, {column}: {value:.4g}" for (row, column), value in matrix.values.items())
    return Plot(
        title,
        "The mean of each point. The frame marks the highest.",
        Axis(matrix.names[0], str, ticks=list(enumerate(rows))),
        Axis(matrix.names[1], str, ticks=list(enumerate(columns))),
        description=f"{title}: {described}",
        cells=Cells(values, words, place),
    )


def _plots(found: Sequence[_Drawn]) -> Iterator[Plot]:
    first = found[0].curve
    values = {point.number: point.value for one in found for point in one.curve.points if point.number is not None}
    on_log = geometric(sorted(values))
    ticks = sorted(values.items()) if len(values) <= _MOST_TICKS else ()
    over = Axis(first.parameter, lambda value: f"{value:g}", log=on_log, ticks=ticks)
    rate = throughput(first.roles.unit)
    rates, judged = title(THROUGHPUT, first.roles), first.judged
    ring = "The ring marks the knee. " if any(one.curve.knee for one in found) else ""
    marks = f"{ring}Thin lines: 95 % intervals of the mean, where a point has three runs or more."
    lines = [line for one in found for line in _over_parameter(one, THROUGHPUT, on_log=on_log)]
    fitted = " Dashed: the universal scalability law." if any(line.look == "dashed" for line in lines) else ""
    each = "; ".join(f"{point.number:g}: {point.figures[THROUGHPUT].value:.4g}" for point in first.points)
    described = f"{rate.name} over {first.parameter}: {each}"
    yield Plot(f"{rates} over {first.parameter}", f"{marks}{fitted}", over, rate, lines, described)
    late = [
        one
        for one in found
        if one.curve.judged == judged and any(judged in point.figures for point in one.curve.points)
    ]
    if not late:
        return
    objectives = {one.curve.objective for one in late}
    objective = objectives.pop() if len(objectives) == 1 else None
    dotted = " Dotted: the objective." if objective is not None else ""
    lines = [line for one in late for line in _over_parameter(one, judged, on_log=on_log)]
    said = f"{judged.title} over {first.parameter}"
    yield Plot(said, f"{marks}{dotted}", over, LATENCY, lines, said, marks=Marks(objective=objective))
    lines = [line for one in late for line in _capacity(one, judged)]
    said = f"{judged.title} over {rates}"
    peak = " Dashed: the peak by the universal scalability law." if any(one.look == "dashed" for one in lines) else ""
    caption = f"{marks}{dotted} The capacity curve: a point for each value of {first.parameter}, in order.{peak}"
    yield Plot(said, caption, rate, LATENCY, lines, said, marks=Marks(objective=objective))


def _over_parameter(one: _Drawn, measure: Measure, *, on_log: bool) -> Iterator[Drawing]:
    points = [point for point in one.curve.points if measure in point.figures]
    means = [point.figures[measure] for point in points]
    ends = np.array([mean.interval or (mean.value, mean.value) for mean in means])
    x = np.array([point.number or 0.0 for point in points])
    knee = [points.index(one.curve.knee)] if one.curve.knee in points else []
    if measure is THROUGHPUT and one.curve.law:
        yield Drawing(f"{one.name}, law", one.colour, *_law(one.curve.law, x, on_log=on_log), look="dashed")
    y = np.array([mean.value for mean in means])
    low, high = np.maximum(ends[:, 0], 0.0), ends[:, 1]
    yield Drawing(one.name, one.colour, x, y, low, high, "points", words=[point.value for point in points], ringed=knee)


def _capacity(one: _Drawn, measure: Measure) -> Iterator[Drawing]:
    *_, line = _over_parameter(one, measure, on_log=False)
    rates = [point.figures[THROUGHPUT].value for point in one.curve.points if measure in point.figures]
    law = one.curve.law
    if law is not None and law.peak.value <= law.reach and line.low is not None and line.high is not None:
        wall = np.array([law.at(law.peak.value)] * 2)
        ends = np.array([line.low.min(), line.high.max()])
        yield Drawing(f"{one.name}, peak", one.colour, wall, ends, look="dashed")
    yield line._replace(x=np.array(rates))


def _law(law: Scalability, x: Array, *, on_log: bool) -> tuple[Array, Array]:
    """The law from the smallest to the largest value, or to just beyond its peak if it has one within its reach."""
    end = max(law.largest, min(_BEYOND_PEAK * law.peak.value, law.reach) if law.peak.value <= law.reach else 0.0)
    numbers = (np.geomspace if on_log else np.linspace)(min(x), end, _STEPS)
    return numbers, np.array([law.at(float(number)) for number in numbers])
