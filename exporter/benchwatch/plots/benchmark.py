"""The figures of the benchmark itself over time: throughput, latency, percentiles."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..metrics.samples import Family
from ..tools.registry import all_roles, named
from . import theme
from .axes import BANDWIDTH, LATENCY, Axis, throughput
from .distributions import histogram_figures
from .plot import Plot
from .run_view import Stage, View, label, stages, stalled
from .section import Section, attempted
from .traces import Trace, time_plot, traces

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


def over_time(runs: Sequence[View]) -> Iterator[Section]:
    """A section of plots for each tool and unit of the runs."""
    scenes = list(stages(runs))
    for scene in scenes:
        yield section(scene, scene.title if len(scenes) > 1 else "Over time")


def section(scene: Stage, title: str) -> Section:
    """Its plots; without any, the sentence that says so."""
    plots = list(benchmark_figures(scene))
    known = named(scene.tool)
    advice = f"; {known.advice} some" if known and known.advice else ""
    nothing = f"There is nothing to draw: {scene.tool} wrote no report while it ran{advice}."
    return Section(title, plots, notes=() if plots else [nothing])


def benchmark_figures(scene: Stage) -> Iterator[Plot]:
    """All figures for which something was measured."""
    parts = [
        ("Throughput", partial(_rates, scene)),
        ("Mean latency", partial(_lines, scene, "Mean latency", scene.roles.latency, LATENCY)),
        ("Percentiles", partial(_tails, scene)),
        ("Latency", partial(histogram_figures, scene)),
    ]
    if len(scene.runs) == 1:
        parts.insert(2, ("Latency percentiles", partial(_percentiles, scene)))
    for title, draw in parts:
        yield from attempted(title, draw)


def _lines(scene: Stage, title: str, family: Family | None, unit: Axis) -> Iterator[Plot]:
    found = traces(scene.runs, scene.roles, family, rate=not unit.log) if family else []
    if family and found:
        yield _plot(scene, title, found, unit, family)


def _plot(scene: Stage, title: str, found: Sequence[Trace], unit: Axis, family: Family) -> Plot:
    marks, caption = scene.marks(latency=unit.log, family=family), _caption(scene, family, found, rate=not unit.log)
    return time_plot(title, found, scene.length, unit, marks, caption)


def _rates(scene: Stage) -> Iterator[Plot]:
    roles = scene.roles
    yield from _lines(scene, roles.unit.name if roles.bandwidth else "Throughput", roles.rate, throughput(roles.unit))
    yield from _lines(scene, "Bandwidth", roles.bandwidth, BANDWIDTH)


def _known(scene: Stage, family: Family) -> list[str]:
    """The available quantiles, except the maximum, ascending."""
    every = (series for run in scene.runs for _, series in run.series(family))
    return sorted({label(series, "quantile") for series in every} - {"1", ""}, key=float)


def _tails(scene: Stage) -> Iterator[Plot]:
    """One percentile of everything on one plot, if there are too many lines for all percentiles.

    It is the 99th, or the highest that the tool reports.
    """
    family = scene.roles.window
    if family is None or not (known := _known(scene, family)):
        return
    level = "0.99" if "0.99" in known else known[-1]
    found = traces(scene.runs, scene.roles, family, rate=False, quantile=level)
    if found and (len(scene.runs) > 1 or len(found) > _MOST_PERCENTILES):
        yield _plot(scene, f"{100 * float(level):g}th percentile", found, LATENCY, family)


def _percentiles(scene: Stage) -> Iterator[Plot]:
    """All percentiles of each operation of a single run."""
    family = scene.roles.window
    if family is None:
        return
    known = _known(scene, family)
    usual = any(level in known for level, _ in _LEVELS[:-1])
    wanted = _LEVELS if usual else [(level, f"p{100 * float(level):g}") for level in known]
    levels = [(traces(scene.runs, scene.roles, family, rate=False, quantile=q), tag) for q, tag in wanted]
    names = list(dict.fromkeys((trace.name, trace.operation) for found, _ in levels for trace in found))
    for name, operation in names if len(names) <= _MOST_PERCENTILES else ():
        several = f" of {name}" if len(names) > 1 else f", {operation}" if operation else ""
        found = [
            trace._replace(name=tag, colour=colour)
            for (level, tag), colour in zip(levels, theme.SERIES, strict=False)
            for trace in level
            if trace.name == name
        ]
        yield _plot(scene, f"Latency percentiles{several}", found, LATENCY, family)


def _caption(scene: Stage, family: Family, found: Sequence[Trace], *, rate: bool) -> str:
    """Where the lines come from, and what is marked."""
    notes = [scene.source(family)]
    if any(trace.of > 1 for trace in found):
        notes.append("With several workers or jobs, the " + ("sum." if rate else "highest at each moment."))
    if repeats := max((trace.runs for trace in found), default=1) - 1:
        notes.append(f"Line: the median of {repeats + 1} repeats; band: from the lowest to the highest of them.")
    for run in scene.runs:
        spans = stalled(run, scene.roles)
        if spans:
            whose = f" of {run.name}" if len(scene.runs) > 1 else ""
            times = f"{len(spans)} stall{'s' if len(spans) > 1 else ''}{whose}"
            notes.append(f"Marked: {times}, {sum(end - begin for begin, end in spans):.3g} s in all.")
    return " ".join(filter(None, notes))
