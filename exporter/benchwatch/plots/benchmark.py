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
"""Operations of which a single run has all percentiles, each on a plot of its own."""


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
    for title, draw in (
        ("Throughput", _rates),
        ("Mean latency", _means),
        ("Latency percentiles", _percentiles),
        ("Latency", histogram_figures),
    ):
        yield from attempted(title, partial(draw, scene))


def _rates(scene: Stage) -> Iterator[Plot]:
    roles = scene.roles
    title = roles.unit.name if roles.bandwidth else "Throughput"
    yield from _plot(scene, title, roles.rate, throughput(roles.unit))
    yield from _plot(scene, "Bandwidth", roles.bandwidth, BANDWIDTH)


def _means(scene: Stage) -> Iterator[Plot]:
    yield from _plot(scene, "Mean latency", scene.roles.latency, LATENCY)


def _percentiles(scene: Stage) -> Iterator[Plot]:
    """All percentiles of each operation of a single run, or one percentile of everything if these are too many lines.

    That is the 99th, or the highest that the tool reports.
    """
    family = scene.roles.window
    if family is None:
        return
    every = (series for run in scene.runs for _, series in run.series(family))
    known = sorted({label(series, "quantile") for series in every} - {"1", ""}, key=float)
    if not known:
        return
    if len(scene.runs) == 1:
        usual = any(level in known for level, _ in _LEVELS[:-1])
        wanted = _LEVELS if usual else [(level, f"p{100 * float(level):g}") for level in known]
        levels = [(traces(scene.runs, scene.roles, family, rate=False, quantile=q), tag) for q, tag in wanted]
        names = list(dict.fromkeys((trace.name, trace.operation) for found, _ in levels for trace in found))
        if len(names) <= _MOST_PERCENTILES:
            for name, operation in names:
                several = f" of {name}" if len(names) > 1 else f", {operation}" if operation else ""
                found = [
                    trace._replace(name=tag, colour=colour)
                    for (level, tag), colour in zip(levels, theme.SERIES, strict=False)
                    for trace in level
                    if trace.name == name
                ]
                yield from _plot(scene, f"Latency percentiles{several}", family, LATENCY, found)
            return
    level = "0.99" if "0.99" in known else known[-1]
    found = traces(scene.runs, scene.roles, family, rate=False, quantile=level)
    yield from _plot(scene, f"{100 * float(level):g}th percentile", family, LATENCY, found)


def _plot(
    scene: Stage, title: str, family: Family | None, unit: Axis, found: Sequence[Trace] | None = None
) -> Iterator[Plot]:
    """The plot of these traces, by default of all series of the family; none without any.

    The caption says where the lines come from, and what is marked.
    """
    if family is None:
        return
    rate = not unit.log
    found = traces(scene.runs, scene.roles, family, rate=rate) if found is None else found
    if not found:
        return
    notes = [scene.source(family)]
    if any(trace.of > 1 for trace in found):
        notes.append("With several workers or jobs, the " + ("sum." if rate else "highest at each moment."))
    if repeats := max(trace.runs for trace in found) - 1:
        notes.append(f"Line: the median of {repeats + 1} repeats; band: from the lowest to the highest of them.")
    for run in scene.runs:
        if spans := stalled(run, scene.roles):
            whose = f" of {run.name}" if len(scene.runs) > 1 else ""
            times = f"{len(spans)} stall{'s' if len(spans) > 1 else ''}{whose}"
            notes.append(f"Marked: {times}, {sum(end - begin for begin, end in spans):.3g} s in all.")
    marks = scene.marks(latency=not rate, family=family)
    yield time_plot(title, found, scene.length, unit, marks, " ".join(filter(None, notes)))
