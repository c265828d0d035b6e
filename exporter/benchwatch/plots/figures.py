"""The figures of the benchmark itself: throughput, latency, percentiles, heatmaps, distributions."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.workers import WorkerFigures
from ..metrics.buckets import UPPER_NS, quantiles
from ..metrics.latencies import Latencies
from ..metrics.samples import Family
from ..tools.registry import TOOLS, all_roles
from ..tools.roles import Roles
from . import drawing, latencies, theme
from .axes import BANDWIDTH, LATENCY, Axis, count, throughput, time
from .latencies import LatencyGrid
from .lines import Drawn, Line, column_width, drawn, interval
from .views import Trace, View, label, stalled, traces

_LEVELS = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p99.9"), ("1", "max"))
_CURVE = (0.5, 0.9, 0.99, 0.999, 0.9999)
_ENOUGH = 10
"""How many operations must exceed a percentile for the caption to name it."""
_BIN_EDGES = np.append(0, UPPER_NS) / 1e9
_MOST_PERCENTILES = 3
_HEATMAP_COLUMNS = 720
_MOST_HEATMAPS = 8


def shown() -> frozenset[Family]:
    """The families whose series are needed, of any tool."""
    return frozenset(
        family
        for roles in all_roles()
        for family in (roles.rate, roles.bandwidth, roles.latency, roles.window, roles.histogram, roles.cpu)
        if family
    )


class Key(NamedTuple):
    """A line of the legend."""

    name: str
    colour: str
    dashed: bool = False


class Plot(NamedTuple):
    """A plot for the page. `svg` is safe HTML; all other text is not."""

    title: str
    svg: str
    caption: str
    keys: Sequence[Key] = ()


class Stage(NamedTuple):
    """Runs of one tool, in one unit, on one time axis."""

    runs: Sequence[View]
    roles: Roles

    @property
    def length(self) -> float:
        """Of the longest run, seconds."""
        return max(run.length for run in self.runs)

    def marks(self, *, latency: bool = False, only: View | None = None) -> drawing.Marks:
        """Warm-up, stalls and, for latencies, the objective that all runs share."""
        several = len(self.runs) > 1 and only is None
        spans = [
            (span, run.colour if several else theme.STALL)
            for run in self.runs
            if only in (None, run)
            for span in stalled(run, self.roles)
        ]
        objectives = {worker.runfile.latency_objective for run in self.runs for worker in run.timelines}
        warmup = max(run.warmup for run in self.runs if only in (None, run))
        return drawing.Marks(warmup, spans, several, objectives.pop() if latency and len(objectives) == 1 else None)


def stages(runs: Sequence[View]) -> Iterator[Stage]:
    """One for each tool, and for each of its units."""
    for tool in TOOLS:
        for roles in tool.roles:
            mine = [run.of_roles(tool.name, roles) for run in runs]
            mine = [run for run in mine if run.timelines]
            if mine:
                yield Stage(mine, roles)


def benchmark_figures(scene: Stage) -> Iterator[Plot]:
    """All figures for which something was measured."""
    roles = scene.roles
    name = roles.unit.name if roles.bandwidth else "Throughput"
    for title, family, axis in (
        (name, roles.rate, throughput(roles.unit)),
        ("Bandwidth", roles.bandwidth, BANDWIDTH),
    ):
        if family and (found := traces(scene.runs, roles, family, rate=True)):
            yield _lines(scene, title, found, axis, _source(scene, family), scene.marks(), rate=True)
    if len(scene.runs) == 1:
        yield from _percentiles(scene)
    yield from _mean(scene)
    yield from _tails(scene)
    yield from _histograms(scene)


def _source(scene: Stage, family: Family | None) -> str:
    """The source of a family's numbers, for a caption."""
    return scene.roles.sources.get(family, "") if family else ""


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
        yield _lines(scene, "Mean latency", found, LATENCY, _source(scene, family), marks, rate=False)


def _tails(scene: Stage) -> Iterator[Plot]:
    """One percentile of everything on one plot, if there are too many lines for all percentiles."""
    family, level = scene.roles.window, _tail(scene)
    found = traces(scene.runs, scene.roles, family, rate=False, quantile=level) if family else []
    if family and found and (len(scene.runs) > 1 or len(found) > _MOST_PERCENTILES):
        marks, title = scene.marks(latency=True), f"{100 * float(level):g}th percentile"
        yield _lines(scene, title, found, LATENCY, _source(scene, family), marks, rate=False)


def _percentiles(scene: Stage) -> Iterator[Plot]:
    """All percentiles of each operation of a single run."""
    family = scene.roles.window
    if family is None:
        return
    known = _known(scene, family)
    wanted = _LEVELS if known & {level for level, _ in _LEVELS[:-1]} else [(q, f"p{100 * float(q):g}") for q in known]
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
        caption = _caption(scene, _source(scene, family), [trace for trace, _ in of_level], width, rate=False)
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


def _histograms(scene: Stage) -> Iterator[Plot]:
    family = scene.roles.histogram
    if family is None:
        return
    of = scene.roles.operation
    operations = dict.fromkeys(label(series, of) for run in scene.runs for _, series in run.series(family))
    for operation in operations:
        found = []
        for run in scene.runs:
            series = [one for _, one in run.series(family) if label(one, of) == operation]
            histogram = latencies.read(series, run.start, scene.roles.histogram_interval)
            if histogram is not None and histogram.counts.any():
                found.append((run, histogram))
        if found:
            yield from _heatmaps(scene, operation, found[:_MOST_HEATMAPS])
            yield from _distribution(scene, operation, found)


def _heatmaps(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    first, last = latencies.populated([histogram for _, histogram in found])
    usual = max(interval(histogram.seconds) for _, histogram in found) or 1.0
    width = max(1.0, np.ceil(scene.length / _HEATMAP_COLUMNS / usual - 0.1)) * usual
    grids = [histogram.columns(width) for _, histogram in found]
    most = max(float(grid.max()) for _, grid in grids)
    for (run, histogram), (edges, grid) in zip(found, grids, strict=True):
        what = " ".join(part for part in (operation, scene.roles.operations) if part)
        whose = f": {run.name}" if len(scene.runs) > 1 else ""
        yield Plot(
            f"Latency heatmap{f', {operation}' if operation else ''}{whose}",
            drawing.heatmap(
                edges,
                histogram.bounds[first : last + 1],
                grid[first:last],
                most,
                scene.length,
                LATENCY,
                scene.marks(only=run),
                f"Heatmap of the latency of {count(histogram.counts.sum())} {what} of {run.name} over time",
            ),
            f"Colour: {what} a second, by time (columns of about {time(width)}) and latency, on a logarithmic scale; "
            f"blank: none. {_source(scene, scene.roles.histogram)}.",
        )


def _distribution(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    curves, shares, keys, told = [], [], [], []
    for run, histogram in found:
        counts = histogram.between(run.warmup, np.inf)
        exact = _bins(run, operation, scene.roles)
        if counts.sum() and exact is not None:
            known = (exact.between(), _BIN_EDGES) if exact.count else (counts, histogram.bounds)
            curves.append((*latencies.curve(*known), drawing.Stroke(run.colour)))
            told.append(_told(exact, run.name if len(found) > 1 else ""))
            shares.append(latencies.density(counts, histogram.bounds))
            keys.append(Key(f"{run.name}: {count(counts.sum())} {scene.roles.operations}", run.colour))
    if not curves:
        return
    what = f", {operation}" if operation else ""
    words = "; ".join(filter(None, told))
    without = " From the first report after the warm-up on." if any(run.warmup for run, _ in found) else ""
    yield Plot(
        f"Latency distribution{what}",
        drawing.distribution(
            curves,
            LATENCY,
            f"Share of operations by latency, and latency by percentile, for {len(curves)} runs{what}",
            shares,
        ),
        f"Share of the {scene.roles.operations} by latency, for each doubling of it, and latency by "
        f"percentile{words and f': {words}'}. {_source(scene, scene.roles.histogram)}.{without}",
        keys,
    )


def _bins(run: View, operation: str, roles: Roles) -> Latencies | None:
    """Every latency of an operation after the warm-up, by bin: those of which `compare` has its percentiles.

    None if a log lacks a part of the run.
    """
    merged = Latencies()
    for worker in run.timelines:
        measured = WorkerFigures(worker, run.warmup)
        for group in worker.latencies:
            if not roles.operation or group[-1] == operation:
                if measured.cut_off(group):
                    return None
                merged.extend(measured.latencies(group) or Latencies())
    return merged


def _told(found: Latencies, name: str) -> str:
    """The percentiles that enough operations exceed, in words."""
    count = found.count
    known = [quantile for quantile in _CURVE if (1 - quantile) * count >= _ENOUGH - 1e-6]
    values = quantiles(found.between(), known) if known else []
    words = (f"p{100 * q:g} {time(min(value, found.highest))}" for q, value in zip(known, values, strict=True))
    return f"{name} {', '.join(words)}".strip() if values else ""
