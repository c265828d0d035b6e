"""The figures of the benchmark itself over time: throughput, latency, percentiles."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..metrics.samples import Family
from ..tools.registry import all_roles, named
from . import drawing, theme
from .axes import BANDWIDTH, LATENCY, Axis, throughput
from .distributions import histogram_figures
from .lines import Drawn, Line, column_width, drawn
from .section import Key, Plot
from .stage import Stage
from .views import Trace, label, stalled, traces

_LEVELS = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p99.9"), ("1", "max"))
_MOST_PERCENTILES = 3


def shown() -> frozenset[Family]:
    """The families whose series are needed, of any tool."""
    return frozenset(
        family
        for roles in all_roles()
        for family in (roles.rate, roles.bandwidth, roles.latency, roles.window, roles.histogram, roles.cpu)
        if family
    )


def nothing_to_draw(tool: str) -> str:
    """The sentence about a run without any plot."""
    known = named(tool)
    advice = f"; {known.advice} some" if known and known.advice else ""
    return f"There is nothing to draw: {tool} wrote no report while it ran{advice}."


def benchmark_figures(scene: Stage) -> Iterator[Plot]:
    """All figures for which something was measured."""
    roles = scene.roles
    name = roles.unit.name if roles.bandwidth else "Throughput"
    for title, family, axis in (
        (name, roles.rate, throughput(roles.unit)),
        ("Bandwidth", roles.bandwidth, BANDWIDTH),
    ):
        if family and (found := traces(scene.runs, roles, family, rate=True)):
            yield _lines(scene, title, found, axis, scene.source(family), scene.marks(), rate=True)
    if len(scene.runs) == 1:
        yield from _percentiles(scene)
    yield from _mean(scene)
    yield from _tails(scene)
    yield from histogram_figures(scene)


def _known(scene: Stage, family: Family) -> set[str]:
    """The available quantiles, except the maximum."""
    every = (series for run in scene.runs for _, series in run.series(family))
    return {label(series, "quantile") for series in every} - {"1"}


def _tail(scene: Stage) -> str:
    """The 99th percentile, or the highest that the tool reports."""
    known = _known(scene, scene.roles.window) if scene.roles.window else set()
    return "0.99" if "0.99" in known else max(known, key=float, default="0.99")


def _mean(scene: Stage) -> Iterator[Plot]:
    family = scene.roles.latency
    if family and (found := traces(scene.runs, scene.roles, family, rate=False)):
        marks = scene.marks(latency=True)
        yield _lines(scene, "Mean latency", found, LATENCY, scene.source(family), marks, rate=False)


def _tails(scene: Stage) -> Iterator[Plot]:
    """One percentile of everything on one plot, if there are too many lines for all percentiles."""
    family, level = scene.roles.window, _tail(scene)
    found = traces(scene.runs, scene.roles, family, rate=False, quantile=level) if family else []
    if family and found and (len(scene.runs) > 1 or len(found) > _MOST_PERCENTILES):
        marks, title = scene.marks(latency=True), f"{100 * float(level):g}th percentile"
        yield _lines(scene, title, found, LATENCY, scene.source(family), marks, rate=False)


def _percentiles(scene: Stage) -> Iterator[Plot]:
    """All percentiles of each operation of a single run."""
    family = scene.roles.window
    if family is None:
        return
    known = _known(scene, family)
    usual = known & {level for level, _ in _LEVELS[:-1]}
    wanted = _LEVELS if usual else [(q, f"p{100 * float(q):g}") for q in sorted(known, key=float)]
    levels = [(traces(scene.runs, scene.roles, family, rate=False, quantile=q), tag) for q, tag in wanted]
    names = list(dict.fromkeys((trace.name, trace.operation) for found, _ in levels for trace in found))
    for name, operation in names if len(names) <= _MOST_PERCENTILES else ():
        of_level = [(trace, tag) for found, tag in levels for trace in found if trace.name == name]
        several = f" of {name}" if len(names) > 1 else f", {operation}" if operation else ""
        strokes = dict(zip((tag for _, tag in wanted), theme.LEVELS, strict=False))
        width = column_width(scene.length, [trace.line for trace, _ in of_level])
        lines = [
            (drawn(trace.line, width, rate=False), drawing.Stroke(strokes[tag], False, tag)) for trace, tag in of_level
        ]
        marks = scene.marks(latency=True)
        caption = _caption(scene, scene.source(family), [trace for trace, _ in of_level], width, rate=False)
        yield Plot(
            f"Latency percentiles{several}",
            drawing.over_time(
                lines,
                scene.length,
                LATENCY,
                marks,
                "; ".join(f"{tag} {spread(trace.line, LATENCY)}" for trace, tag in of_level),
                log=True,
            ),
            caption + _objective(lines, marks),
        )


def _lines(
    scene: Stage, title: str, found: Sequence[Trace], unit: Axis, source: str, marks: drawing.Marks, *, rate: bool
) -> Plot:
    width = column_width(scene.length, [trace.line for trace in found])
    lines = [(drawn(trace.line, width, rate=rate), drawing.Stroke(trace.colour, trace.dashed)) for trace in found]
    svg = drawing.over_time(
        lines,
        scene.length,
        unit,
        marks,
        f"{title}: " + "; ".join(f"{trace.name} {spread(trace.line, unit)}" for trace in found),
        log=not rate,
    )
    caption = _caption(scene, source, found, width, rate=rate) + _objective(lines, marks)
    keys = [Key(trace.name, trace.colour, trace.dashed) for trace in found] if len(found) > 1 else []
    return Plot(title, svg, caption, keys)


def spread(line: Line, unit: Axis) -> str:
    """A line in words."""
    if not len(line.values):
        return "not measured"
    middle = float(np.median(line.values))
    return f"from {unit.text(line.values.min())} to {unit.text(line.values.max())}, median {unit.text(middle)}"


def _caption(scene: Stage, source: str, found: Sequence[Trace], width: float, *, rate: bool) -> str:
    """Where the lines come from, how they are drawn, and what is marked."""
    notes = [source]
    if any(trace.of > 1 for trace in found):
        notes.append("With several workers or jobs, the " + ("sum." if rate else "highest at each moment."))
    if width:
        middle = "mean" if rate else "median report"
        notes.append(f"Line: the {middle} of each {width:.4g} s; band: from the lowest to the highest report in it.")
    for run in scene.runs:
        spans = stalled(run, scene.roles)
        if spans:
            whose = f" of {run.name}" if len(scene.runs) > 1 else ""
            times = f"{len(spans)} stall{'s' if len(spans) > 1 else ''}{whose}"
            notes.append(f"Marked: {times}, {sum(end - begin for begin, end in spans):.3g} s in all.")
    return " ".join(notes)


def _objective(lines: Sequence[tuple[Drawn, drawing.Stroke]], marks: drawing.Marks) -> str:
    """The caption's words about the objective in its plot; empty without one."""
    if marks.objective is None:
        return ""
    low, high = drawing.latency_limits([line for line, _ in lines], marks.objective)
    side = "above" if marks.objective > high else "below" if marks.objective < low else ""
    text = LATENCY.text(marks.objective)
    return f" The objective, {text}, lies {side} the plot." if side else f" Dotted: the objective, {text}."
