"""Heatmaps and distributions of latencies."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from ..compare.workers import WorkerFigures
from ..metrics.buckets import UPPER_NS, quantiles
from ..metrics.latencies import Latencies
from ..tools.roles import Roles
from ..values import numbers
from . import histograms
from .axes import LATENCY, Axis, count, elapsed, foot_note, percentiles, time
from .histograms import LatencyGrid
from .plot import Drawing, Heat, Plot
from .run_view import Stage, View, label
from .section import attempted
from .time_lines import interval

_CURVE = (0.5, 0.9, 0.99, 0.999, 0.9999)
_ENOUGH = 10
"""Operations that must exceed a percentile for the caption to name it."""
_BIN_EDGES = np.append(0, UPPER_NS) / 1e9
_HEATMAP_COLUMNS = 360
_MOST_HEATMAPS = 8
_Side = list[tuple[View, LatencyGrid]]
"""The runs of one configuration with their latencies."""


def histogram_figures(scene: Stage) -> Iterator[Plot]:
    """Heatmaps and distributions, by operation; none for a tool without histograms."""
    family = scene.roles.histogram
    if family is None:
        return
    of = scene.roles.operation
    every = [(run, [series for _, series in run.series(family)]) for run in scene.runs]
    bounds = histograms.bounds_of(one for _, series in every for one in series)
    for operation in dict.fromkeys(label(one, of) for _, series in every for one in series):
        sides: dict[str, _Side] = {}
        for run, series in every:
            own = [one for one in series if label(one, of) == operation]
            grid = histograms.read(own, bounds, run.start, scene.roles.histogram_interval)
            if grid is not None and grid.counts.any():
                sides.setdefault(run.side, []).append((run, grid))
        if sides:
            named = {side if len(members) > 1 else members[0][0].name: members for side, members in sides.items()}
            yield from attempted("Latency heatmap", partial(_heatmaps, scene, operation, named))
            yield from attempted("Latency distribution", partial(_distribution, scene, operation, named))


def _heatmaps(scene: Stage, operation: str, sides: Mapping[str, _Side]) -> Iterator[Plot]:
    """One for each configuration, the mean of its repeats."""
    every = [grid for members in sides.values() for _, grid in members]
    first, last = histograms.populated(every)
    usual = max(interval(grid.seconds) for grid in every) or 1.0
    width = max(1.0, np.ceil(scene.length / _HEATMAP_COLUMNS / usual - 0.1)) * usual
    what = " ".join(part for part in (operation, scene.roles.operations) if part)
    grids = {
        name: members[0][1].columns(width)
        if len(members) == 1
        else histograms.pooled([one for _, one in members], width)
        for name, members in list(sides.items())[:_MOST_HEATMAPS]
    }
    filled = np.concatenate([grid[grid > 0] for _, grid in grids.values()])
    ends = (float(filled.min(initial=np.inf)), float(filled.max(initial=0.0)))
    for name, (edges, grid) in grids.items():
        if not grid.any():
            continue
        (run, histogram), *others = sides[name]
        counts = sum(float(one.counts.sum()) for _, one in sides[name])
        repeats = ", the mean of its repeats" if others else ""
        yield Plot(
            f"Latency heatmap{f', {operation}' if operation else ''}{f': {name}' if len(sides) > 1 else ''}",
            f"Colour: {what} a second{repeats}, from {count(ends[0])} (pale) to {count(ends[1])} (orange), by time "
            f"(columns of about {time(width)}) and latency; blank: none. "
            f"{scene.source(scene.roles.histogram)}".rstrip(),
            elapsed(scene.length),
            LATENCY,
            description=f"Heatmap of the latency of {count(counts)} {what} of {name} over time",
            length=scene.length or 1.0,
            marks=scene.marks(only=None if others else run),
            heat=Heat(edges, histogram.bounds[first : last + 1], grid[first:last], ends, what),
        )


def _distribution(scene: Stage, operation: str, sides: Mapping[str, _Side]) -> Iterator[Plot]:
    """The share of the operations by latency, and the latency by percentile, with one line for each configuration."""
    shares, curves, texts = [], [], []
    for name, members in sides.items():
        run, histogram = members[0]
        counts = sum((one.between(of.warmup, np.inf) for of, one in members), np.zeros(len(histogram.bounds) - 1))
        exact = [one for of, _ in members if (one := _bins(of, operation, scene.roles)) is not None]
        if not counts.sum() or len(exact) < len(members):
            continue
        merged = Latencies()
        for one in exact:
            merged.extend(one)
        parts, latencies = histograms.curve(
            *((merged.between(), _BIN_EDGES) if merged.count else (counts, histogram.bounds))
        )
        texts.append(_percentiles(merged, name if len(sides) > 1 else ""))
        bounds, share = histograms.density(counts, histogram.bounds)
        key, alone = f"{name}: {count(counts.sum())} {scene.roles.operations}", len(sides) == 1
        shares.append(Drawing(key, run.colour, bounds, np.append(0.0, share), look="steps", filled=alone))
        nines, steps = np.repeat(-np.log10(1 - parts), 2)[:-1], np.repeat(latencies, 2)[1:]
        curves.append(Drawing(name, run.colour, nines, steps, words=[f"p{100 * (1 - 10**-n):.7g}" for n in nines]))
    if not shares:
        return
    what = f", {operation}" if operation else ""
    after = "From the first report after the warm-up on." if any(run.warmup for run in scene.runs) else ""
    edges = np.concatenate([one.x for one in shares])
    end = max(float(one.x[-1]) for one in curves)
    only = "" if end else "One operation only."
    source = scene.source(scene.roles.histogram)
    caption = f"Share of the {scene.roles.operations} by latency, for each doubling of it. {only} {source} {after}"
    yield Plot(
        f"Latency distribution{what}",
        " ".join(caption.split()),
        LATENCY,
        Axis("operations an octave", numbers.part, ".3~%"),
        shares,
        "; ".join(f"{one.name}, from {time(one.x[0])} to {time(one.x[-1])}" for one in shares),
        limits=(float(edges.min()), float(edges.max())),
    )
    if not end:
        return
    words = "; ".join(filter(None, texts))
    yield Plot(
        f"Latency by percentile{what}",
        " ".join(filter(None, (f"{words}." if words else "", after, foot_note([one.y for one in curves])))),
        percentiles(end),
        LATENCY,
        curves,
        f"Latency by percentile of {len(curves)} {'runs' if len(curves) > 1 else 'run'}{what}: {words}",
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
    known = [quantile for quantile in _CURVE if (1 - quantile) * found.count >= _ENOUGH - 1e-6]
    values = quantiles(found.between(), known) if known else []
    words = (f"p{100 * q:g} {time(min(value, found.highest))}" for q, value in zip(known, values, strict=True))
    return f"{name} {', '.join(words)}".strip() if values else ""
