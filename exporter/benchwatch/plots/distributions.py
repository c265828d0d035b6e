"""Heatmaps and distributions of latencies."""

from collections.abc import Iterator, Sequence
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
            heatmaps = partial(_heatmaps, scene, operation, found)
            yield from attempted("Latency heatmap", heatmaps)
            yield from attempted("Latency distribution", partial(_distribution, scene, operation, found))


def _heatmaps(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    """One for each configuration, the mean of its repeats."""
    first, last = histograms.populated([histogram for _, histogram in found])
    usual = max(interval(histogram.seconds) for _, histogram in found) or 1.0
    width = max(1.0, np.ceil(scene.length / _HEATMAP_COLUMNS / usual - 0.1)) * usual
    sides: dict[str, list[tuple[View, LatencyGrid]]] = {}
    for run, histogram in found:
        sides.setdefault(run.side, []).append((run, histogram))
    what = " ".join(part for part in (operation, scene.roles.operations) if part)
    grids = {
        side: members[0][1].columns(width)
        if len(members) == 1
        else histograms.pooled([one for _, one in members], width)
        for side, members in list(sides.items())[:_MOST_HEATMAPS]
    }
    filled = np.concatenate([grid[grid > 0] for _, grid in grids.values()])
    ends = (float(filled.min(initial=np.inf)), float(filled.max(initial=0.0)))
    for side, (edges, grid) in grids.items():
        (run, histogram), *others = members = sides[side]
        if not grid.any():
            continue
        name = side if others else run.name
        counts = sum(float(one.counts.sum()) for _, one in members)
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


def _distribution(scene: Stage, operation: str, found: Sequence[tuple[View, LatencyGrid]]) -> Iterator[Plot]:
    """The share of the operations by latency, and the latency by percentile, with one line for each configuration."""
    shares, curves, texts = [], [], []
    sides: dict[str, list[tuple[View, LatencyGrid]]] = {}
    for run, histogram in found:
        sides.setdefault(run.side, []).append((run, histogram))
    for side, members in sides.items():
        run, histogram = members[0]
        counts = sum((one.between(of.warmup, np.inf) for of, one in members), np.zeros(len(histogram.bounds) - 1))
        exact = [_bins(of, operation, scene.roles) for of, _ in members]
        if not counts.sum() or any(one is None for one in exact):
            continue
        merged = Latencies()
        for one in exact:
            merged.extend(one or Latencies())
        parts, latencies = histograms.curve(
            *((merged.between(), _BIN_EDGES) if merged.count else (counts, histogram.bounds))
        )
        name = side if len(members) > 1 else run.name
        texts.append(_percentiles(merged, name if len(sides) > 1 else ""))
        bounds, share = histograms.density(counts, histogram.bounds)
        key, alone = f"{name}: {count(counts.sum())} {scene.roles.operations}", len(sides) == 1
        shares.append(Drawing(key, run.colour, bounds, np.append(0.0, share), look="steps", filled=alone))
        nines, steps = np.repeat(-np.log10(1 - parts), 2)[:-1], np.repeat(latencies, 2)[1:]
        curves.append(Drawing(name, run.colour, nines, steps, words=[f"p{100 * (1 - 10**-n):.7g}" for n in nines]))
    if not shares:
        return
    what = f", {operation}" if operation else ""
    source = scene.source(scene.roles.histogram)
    after = "From the first report after the warm-up on." if any(run.warmup for run, _ in found) else ""
    low, *_, high = sorted(edge for one in shares for edge in (one.x[0], one.x[-1]))
    only = "" if any(one.x[-1] for one in curves) else "One operation only."
    caption = f"Share of the {scene.roles.operations} by latency, for each doubling of it. {only} {source} {after}"
    yield Plot(
        f"Latency distribution{what}",
        " ".join(caption.split()),
        LATENCY,
        Axis("operations an octave", numbers.part, ".3~%"),
        shares,
        "; ".join(f"{one.name}, from {time(one.x[0])} to {time(one.x[-1])}" for one in shares),
        limits=(low, high),
    )
    end = max(float(one.x[-1]) for one in curves)
    words = "; ".join(filter(None, texts))
    if not end:
        return
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
    count = found.count
    known = [quantile for quantile in _CURVE if (1 - quantile) * count >= _ENOUGH - 1e-6]
    values = quantiles(found.between(), known) if known else []
    words = (f"p{100 * q:g} {time(min(value, found.highest))}" for q, value in zip(known, values, strict=True))
    return f"{name} {', '.join(words)}".strip() if values else ""
