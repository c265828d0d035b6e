"""The sections about sweeps of one tool: throughput and tail latency over the parameter, the capacity curve (latency
over throughput), and the points as a table. Sweeps of one parameter share their axes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.experiment import faults_of
from ..compare.measured import Result, place_of
from ..compare.measures import THROUGHPUT, Measure
from ..compare.wording import title
from ..plots import theme
from ..plots.axes import LATENCY, Axis, throughput
from ..plots.plot import Drawing, Marks, Plot
from ..plots.run_view import View
from ..plots.section import Section
from ..plots.time_lines import Array
from ..results import sweep_view
from ..results.scalability import Scalability
from ..results.sweep import CapacityCurve, curves, geometric
from ..show import as_html
from ..show.content import Heading
from ..values.printable import in_html

_STEPS = 200
_BEYOND_PEAK = 1.1


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
    sweeps: dict[str, list[Result]] = {}
    html = ""
    for view, run in runs:
        faults = faults_of(run.timelines)
        html += "".join(f'<p class="note">{in_html(text)}; left out.</p>' for text in faults)
        members = sweeps.setdefault(view.side, [])
        if not faults and place_of(run) is not None:
            members.append(run)
    found: list[_Drawn] = []
    for sweep, members in sweeps.items():
        html += as_html.html([Heading(sweep), *sweep_view.blocks(members)])
        own = curves(members)
        for curve, called in zip(own, sweep_view.curve_names(own), strict=True):
            full = " ".join(part for part in (sweep if len(sweeps) > 1 else "", called) if part) or sweep
            colour = theme.SERIES[len(found) % len(theme.SERIES)]
            found.append(_Drawn(full, curve, colour))
    parameters = dict.fromkeys(one.curve.parameter for one in found if one.curve.numeric)
    figures = [
        plot
        for parameter in parameters
        for plot in _plots([one for one in found if one.curve.numeric and one.curve.parameter == parameter])
    ]
    if figures:
        yield Section(name, figures)
    yield Section("Points" if figures else name, html=html)


def _plots(found: Sequence[_Drawn]) -> Iterator[Plot]:
    first = found[0].curve
    numbers = sorted({point.number for one in found for point in one.curve.points if point.number is not None})
    on_log = geometric(numbers)
    ticks = [(number, f"{number:g}") for number in numbers] if len(numbers) <= 20 else ()
    over = Axis(first.parameter, lambda value: f"{value:g}", log=on_log, ticks=ticks)
    rate = throughput(first.roles.unit)
    rates, judged = title(THROUGHPUT, first.roles), first.judged
    ring = "The ring marks the knee. " if any(one.curve.knee for one in found) else ""
    marks = f"{ring}Thin lines: 95 % intervals of the mean, where a point has three runs or more."
    lines = [line for one in found for line in _over_parameter(one, THROUGHPUT, on_log=on_log)]
    fitted = " Dashed: the universal scalability law." if any(line.look == "dashed" for line in lines) else ""
    described = f"{rate.name} over {first.parameter}: {_described(found)}"
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
    knee = points.index(one.curve.knee) if one.curve.knee in points else None
    if measure is THROUGHPUT and one.curve.law:
        yield Drawing(f"{one.name}, law", one.colour, *_law(one.curve.law, x, on_log=on_log), look="dashed")
    y = np.array([mean.value for mean in means])
    low, high = np.maximum(ends[:, 0], 0.0), ends[:, 1]
    yield Drawing(one.name, one.colour, x, y, low, high, "points", words=[f"{at:g}" for at in x], ringed=knee)


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


def _described(found: Sequence[_Drawn]) -> str:
    each = found[0].curve.points
    return "; ".join(f"{point.number:g}: {point.figures[THROUGHPUT].value:.4g}" for point in each)
