"""Heatmaps and distributions of latencies."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ..compare.workers import WorkerFigures
from ..metrics.buckets import UPPER_NS, quantiles
from ..metrics.latencies import Latencies
from ..tools.roles import Roles
from . import drawing, histograms
from .axes import LATENCY, count, foot_note, time
from .histograms import LatencyGrid
from .run_view import View, label
from .section import Key, Plot, attempted
from .stage import Stage
from .time_lines import interval

_CURVE = (0.5, 0.9, 0.99, 0.999, 0.9999)
_ENOUGH = 10
"""Operations that must exceed a percentile for the caption to name it."""
_BIN_EDGES = np.append(0, UPPER_NS) / 1e9
_HEATMAP_COLUMNS = 720
_MOST_HEATMAPS = 8


def histogram_figures(scene: Stage) -> Iterator[Plot]:
    """Heatmaps and distributions, by operation; none for a tool without histograms."""
    family = scene.roles.histogram
    if family is None:
        return
    of = scene.roles.operation
    every = [[series for _, series in run.series(family)] for run in scene.runs]
    bounds = histograms.bounds_of(one for series in every for one in series)
    operations = dict.fromkeys(label(one, of) for series in every for one in series)
    for operation in operations:
        found = []
        for run, of_run in zip(scene.runs, every, strict=True):
            series = [one for one in of_run if label(one, of) == operation]
            histogram = histograms.read(series, bounds, run.start, scene.roles.histogram_interval)
            if histogram is not None and histogram.counts.any():
                found.append((run, histogram))
        if found:
            heatmaps = partial(_heatmaps, scene, operation, found[:_MOST_HEATMAPS])
            yield from attempted("Latency heatmap", heatmaps)
            yield from attempted("Latency distribution", partial(_distribution, scene, operation, found))


def _heatmaps(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    first, last = histograms.populated([histogram for _, histogram in found])
    usual = max(interval(histogram.seconds) for _, histogram in found) or 1.0
    width = max(1.0, np.ceil(scene.length / _HEATMAP_COLUMNS / usual - 0.1)) * usual
    grids = [histogram.columns(width) for _, histogram in found]
    most = max(float(grid.max(initial=0.0)) for _, grid in grids)
    for (run, histogram), (edges, grid) in zip(found, grids, strict=True):
        if not grid.any():
            continue
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
            f"blank: none. {scene.source(scene.roles.histogram)}".rstrip(),
        )


def _distribution(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    curves, shares, keys, texts = [], [], [], []
    for run, histogram in found:
        counts = histogram.between(run.warmup, np.inf)
        exact = _bins(run, operation, scene.roles)
        if counts.sum() and exact is not None:
            known = (exact.between(), _BIN_EDGES) if exact.count else (counts, histogram.bounds)
            curves.append((*histograms.curve(*known), drawing.Stroke(run.colour)))
            texts.append(_percentiles(exact, run.name if len(found) > 1 else ""))
            shares.append(histograms.density(counts, histogram.bounds))
            keys.append(Key(f"{run.name}: {count(counts.sum())} {scene.roles.operations}", run.colour))
    if not curves:
        return
    what = f", {operation}" if operation else ""
    words = "; ".join(filter(None, texts))
    notes = [scene.source(scene.roles.histogram)]
    if any(run.warmup for run, _ in found):
        notes.append("From the first report after the warm-up on.")
    notes.append(foot_note([latencies for _, latencies, _ in curves]))
    yield Plot(
        f"Latency distribution{what}",
        drawing.distribution(
            curves,
            LATENCY,
            f"Share of operations by latency, and latency by percentile, for {len(curves)} runs{what}",
            shares,
        ),
        f"Share of the {scene.roles.operations} by latency, for each doubling of it, and latency by "
        f"percentile{words and f': {words}'}. {' '.join(filter(None, notes))}".rstrip(),
        keys,
    )


def _bins(run: View, operation: str, roles: Roles) -> Latencies | None:
    """The latencies of an operation after the warm-up, by bin, from which `compare` computes its percentiles too.

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


def _percentiles(found: Latencies, name: str) -> str:
    """The percentiles that enough operations exceed, as text."""
    count = found.count
    known = [quantile for quantile in _CURVE if (1 - quantile) * count >= _ENOUGH - 1e-6]
    values = quantiles(found.between(), known) if known else []
    words = (f"p{100 * q:g} {time(min(value, found.highest))}" for q, value in zip(known, values, strict=True))
    return f"{name} {', '.join(words)}".strip() if values else ""
