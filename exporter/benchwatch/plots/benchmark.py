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
    parts = [("Throughput", _rates), ("Mean latency", _mean), ("Percentiles", _tails), ("Latency", histogram_figures)]
    if len(scene.runs) == 1:
        parts.insert(1, ("Latency percentiles", _percentiles))
    for title, draw in parts:
        yield from attempted(title, partial(draw, scene))


def _rates(scene: Stage) -> Iterator[Plot]:
    roles = scene.roles
    name = roles.unit.name if roles.bandwidth else "Throughput"
    for title, family, axis in (
        (name, roles.rate, throughput(roles.unit)),
        ("Bandwidth", roles.bandwidth, BANDWIDTH),
    ):
        if family and (found := traces(scene.runs, roles, family, rate=True)):
            yield _lines(scene, title, found, axis, family, rate=True)


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
        yield _lines(scene, "Mean latency", found, LATENCY, family, rate=False)


def _tails(scene: Stage) -> Iterator[Plot]:
    """One percentile of everything on one plot, if there are too many lines for all percentiles."""
    family, level = scene.roles.window, _tail(scene)
    found = traces(scene.runs, scene.roles, family, rate=False, quantile=level) if family else []
    if family and found and (len(scene.runs) > 1 or len(found) > _MOST_PERCENTILES):
        yield _lines(scene, f"{100 * float(level):g}th percentile", found, LATENCY, family, rate=False)


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
        several = f" of {name}" if len(names) > 1 else f", {operation}" if operation else ""
        found = [
            trace._replace(name=tag, colour=colour)
            for (level, tag), colour in zip(levels, theme.SERIES, strict=False)
            for trace in level
            if trace.name == name
        ]
        caption = _caption(scene, family, found, rate=False)
        marks = scene.marks(latency=True)
        title = f"Latency percentiles{several}"
        yield time_plot(title, found, scene.length, LATENCY, marks, caption)


def _lines(scene: Stage, title: str, found: Sequence[Trace], unit: Axis, family: Family, *, rate: bool) -> Plot:
    marks, caption = scene.marks(latency=not rate), _caption(scene, family, found, rate=rate)
    return time_plot(title, found, scene.length, unit, marks, caption)


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
