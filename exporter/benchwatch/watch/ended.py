"""The runs that have ended, with their results: a line for each operation of a worker, one for all repeats of an
experiment or points of a sweep, the most recently ended first.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from ..model.run import Measured, Run
from ..results.folded import Folded, duration, folded, latency, p99, rate
from ..values import numbers as figures
from .blocks import Block, columns, cut, fitted, joined, text
from .known import Page
from .rows import labels_of
from .table import brief, in_style

_RECENTLY = 600.0
"""Seconds for which an ended run keeps its place on the screen; after that it is shown if it fits."""
_HEADS = (("took", 4), ("ended", 5), ("rate/s", 6), ("mean", 7), ("p99", 7), ("max", 7))


class _Line(NamedTuple):
    name: str
    state: str
    times: Sequence[str]
    figures: Sequence[str]
    """In the order of the heads; none if a remark says why there are none."""
    remarks: Sequence[str] = ()


def ended(page: Page, now: float, width: int) -> Block:
    """Those of a page at `now`, Unix seconds."""
    runs = [run for run in page.runs if run.workers and not run.active]
    listed = sorted(folded(runs), key=lambda one: (-one.end, one.name))
    lines: list[_Line] = []
    for one in listed:
        lines += [_whole(one, now)] if isinstance(one, Folded) else _each(one, now)
    recent = min(2, sum(now - run.end < _RECENTLY for run in runs))

    def draw(height: int) -> list[Text]:
        shown, more = cut(lines, height - 1)
        return [*_table(shown, width), *more]

    whole = 1 + len(lines) if lines else 0
    first = 1 + recent if recent else 0
    return Block(draw, (first, first, whole, whole), least=min(3, whole))


def _each(run: Run, now: float) -> Iterator[_Line]:
    """A line for each operation of each worker; results include a warm-up, which `show` leaves out."""
    for worker in run.workers:
        took = None if worker.start is None or worker.end is None else worker.end - worker.start
        ago = None if worker.end is None else max(0.0, now - worker.end)
        warm = bool(worker.warmup and worker.result)
        instead = figures.without_warmup(worker.warmup, "benchwatch show") if warm else worker.reason
        for one in (not worker.warmup and worker.result) or (Measured(),):
            name = " ".join(dict.fromkeys(filter(None, (worker.run, *labels_of(worker, one, alone=True)))))
            latencies = (one.latency, one.quantiles.get("0.99"), one.quantiles.get("1"))
            cells = (figures.rate(one.rate), *map(figures.latency, latencies))
            if one.rate is None and instead:
                yield _Line(name, worker.state, (brief(took), brief(ago)), (), (instead, *worker.notes))
            else:
                yield _Line(name, worker.state, (brief(took), brief(ago)), cells, worker.notes)


def _whole(experiment: Folded, now: float) -> _Line:
    """One line for all its runs."""
    found = [experiment.mean(figure) for figure in (rate, latency, p99)]
    cells = []
    for one, write in zip(found, (figures.rate, figures.latency, figures.latency), strict=True):
        if one and experiment.points:
            cells.append(f"{write(min(one.values))}–{write(max(one.values))}".replace(" ", ""))
        else:
            cells.append(write(one.value if one else None))
    took = experiment.mean(duration)
    cells.append(figures.NOT_MEASURED)
    times = (brief(took.value if took else None), brief(max(0.0, now - experiment.end)))
    certain = experiment.certainty(found[0]) if found[0] else ""
    states = ", ".join(dict.fromkeys(worker.state for worker in experiment.workers))
    return _Line(f"{experiment.name} {experiment.many}", states, times, cells, [f"rate {certain}"] if certain else ())


def _table(shown: Sequence[_Line], width: int) -> list[Text]:
    widest = max((len(figure) for one in shown for figure in one.figures), default=0)
    sizes = [size if place < 2 else max(size, widest) for place, (_, size) in enumerate(_HEADS)]
    longest = max((text(one.name).cell_len for one in shown), default=0)
    states = max((len(one.state) for one in shown), default=0)
    length = 2 + min(longest, max(16, width - 3 - states - sum(1 + size for size in sizes)))
    heads = [(text(name), size) for (name, _), size in zip(_HEADS, sizes, strict=True)]
    drawn = [columns(text("Ended", "bold"), length + 1 + states, heads)]
    drawn[0].stylize("dim")
    for one in shown:
        state = in_style(one.state, one.state.split(",")[0])
        name = joined([fitted(text(f"  {one.name}"), length), fitted(state, states)], " ")
        cells = [(text(cell), size) for cell, size in zip((*one.times, *one.figures), sizes, strict=False)]
        row = columns(name, name.cell_len, cells)
        drawn.append(row.append_text(text("".join(f"  {remark}" for remark in one.remarks), "dim")))
    return drawn
