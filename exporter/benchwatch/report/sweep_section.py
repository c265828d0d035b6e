"""The section about sweeps of one tool: points as a table, throughput and tail latency over the parameter, and the
capacity curve, which is the latency over the throughput. Sweeps of one parameter share their axes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.experiment import faults_of
from ..compare.measured import Result, place_of
from ..compare.measures import THROUGHPUT, Measure
from ..compare.wording import title
from ..plots import theme
from ..plots.axes import LATENCY, throughput
from ..plots.run_view import View
from ..plots.section import Key, Plot, Section
from ..results import sweep_view
from ..results.scalability import Scalability
from ..results.sweep import CapacityCurve, curves, geometric
from ..show import as_html
from ..show.content import Heading
from ..values.printable import in_html
from . import charts

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


def section(name: str, runs: Sequence[tuple[View, Result]]) -> Section:
    """The section about one or more sweeps of one tool. It names and leaves out runs that have not finished."""
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
    return Section(name, figures, html)


def _plots(found: Sequence[_Drawn]) -> Iterator[Plot]:
    first = found[0].curve
    numbers = sorted({point.number for one in found for point in one.curve.points if point.number is not None})
    on_log = geometric(numbers)
    ticks = numbers if len(numbers) <= 20 else ()
    parameter = charts.plain(first.parameter)
    across = (parameter, lambda value: f"{value:g}")
    keys = [Key(one.name, one.colour) for one in found] if len(found) > 1 else []
    unit = throughput(first.roles.unit)
    ring = "A ring marks the knee; thin" if any(one.curve.knee for one in found) else "Thin"
    marks = f"{ring} lines: 95 % intervals of the mean, where a point has three runs or more."
    rates = [_line(one, THROUGHPUT, on_log=on_log) for one in found]
    fitted = " Dashed: the universal scalability law." if any(line.law for line in rates) else ""
    svg = charts.curve(
        rates, across, unit, f"{unit.name} over {parameter}: {_described(found)}", geometric=on_log, ticks=ticks
    )
    yield Plot(f"{title(THROUGHPUT, first.roles)} over {first.parameter}", svg, f"{marks}{fitted}", keys)
    late = [one for one in found if any(one.curve.judged in point.figures for point in one.curve.points)]
    if not late:
        return
    judged = late[0].curve.judged
    late = [one for one in late if one.curve.judged == judged]
    objectives = {one.curve.objective for one in late}
    objective = objectives.pop() if len(objectives) == 1 else None
    dotted = " Dotted: the objective." if objective is not None else ""
    keys = [Key(one.name, one.colour) for one in late] if len(late) > 1 else []
    for name, beside, lines in (
        (first.parameter, across, [_line(one, judged, on_log=on_log) for one in late]),
        (title(THROUGHPUT, first.roles), (unit.name, unit.text), [_capacity(one, judged) for one in late]),
    ):
        over = name == first.parameter
        svg = charts.curve(
            lines,
            beside,
            LATENCY,
            f"{judged.title} over {beside[0]}",
            geometric=on_log and over,
            ticks=ticks if over else (),
            latency=True,
            objective=objective,
        )
        what = "" if over else f" The capacity curve: a point for each value of {first.parameter}, in order."
        what += " Dashed: the peak by the universal scalability law." if not over and any(x.law for x in lines) else ""
        yield Plot(f"{judged.title} over {name}", svg, f"{marks}{dotted}{what}", keys)


def _line(one: _Drawn, measure: Measure, *, on_log: bool) -> charts.CurveLine:
    points = [point for point in one.curve.points if measure in point.figures]
    means = [point.figures[measure] for point in points]
    ends = [mean.interval or (mean.value, mean.value) for mean in means]
    x = [point.number or 0.0 for point in points]
    knee = one.curve.knee
    law = _law(one.curve.law, x, on_log=on_log) if measure is THROUGHPUT and one.curve.law else None
    return charts.CurveLine(
        x,
        [mean.value for mean in means],
        [max(low, 0.0) for low, _ in ends],
        [high for _, high in ends],
        one.colour,
        points.index(knee) if knee in points else None,
        law,
    )


def _capacity(one: _Drawn, measure: Measure) -> charts.CurveLine:
    line = _line(one, measure, on_log=False)
    rates = [point.figures[THROUGHPUT].value for point in one.curve.points if measure in point.figures]
    law = one.curve.law
    wall = None
    if law is not None and law.peak.value <= law.reach:
        wall = [law.at(law.peak.value)] * 2, [min(line.low), max(line.high)]
    return line._replace(x=rates, law=wall)


def _law(law: Scalability, x: Sequence[float], *, on_log: bool) -> tuple[Sequence[float], Sequence[float]]:
    """The law from the smallest to the largest value, or to just beyond its peak if it has one within its reach."""
    end = max(law.largest, min(_BEYOND_PEAK * law.peak.value, law.reach) if law.peak.value <= law.reach else 0.0)
    numbers = (np.geomspace if on_log else np.linspace)(min(x), end, _STEPS)
    return [float(number) for number in numbers], [law.at(float(number)) for number in numbers]


def _described(found: Sequence[_Drawn]) -> str:
    each = found[0].curve.points
    return "; ".join(f"{point.number:g}: {point.figures[THROUGHPUT].value:.4g}" for point in each)
