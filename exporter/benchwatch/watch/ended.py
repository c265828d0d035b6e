"""The runs that have ended, with their results: a line for each operation of a worker, one for all repeats of an
experiment or points of a sweep, the most recently ended first.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from ..model.run import Measured, Run
from ..results.folded import Folded, duration, folded, latency, p99, rate
from ..values import numbers as figures
from .blocks import Block, columns, cut, text
from .known import Page
from .rows import labels_of
from .table import brief, in_style

_RECENTLY = 600.0
"""Seconds for which an ended run keeps its place on the screen; after that it is shown if it fits."""
_HEADS = (("rate/s", 6), ("mean", 7), ("p99", 7), ("max", 7), ("took", 4), ("ended", 5))
_MEASURED = 4
"""How many of these count as measured."""
_STATE = 9


class _Line(NamedTuple):
    name: str
    state: str
    cells: Sequence[str]
    remarks: Sequence[str] = ()
    instead: str = ""
    """What stands where the figures would."""


def ended(page: Page, now: float, width: int) -> Block:
    """Those of a page at `now`, Unix seconds."""
    runs = [run for run in page.runs if run.workers and not run.active]
    listed = sorted(folded(runs), key=lambda one: (-one.end, one.name))
    lines = [line for one in listed for line in ([_whole(one, now)] if isinstance(one, Folded) else _each(one, now))]
    recent = min(2, sum(now - run.end < _RECENTLY for run in runs))

    def draw(height: int) -> list[Text]:
        shown, more = cut(lines, height - 1)
        return [*_table(shown, width), *more]

    whole = 1 + len(lines) if lines else 0
    return Block(draw, (1 + recent if recent else 0, 1 + recent if recent else 0, whole, whole), least=min(3, whole))


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
            cells = (figures.rate(one.rate), *map(figures.latency, latencies), brief(took), brief(ago))
            yield _Line(name, worker.state, cells, worker.notes, instead if one.rate is None else "")


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
    cells += [figures.NOT_MEASURED, brief(took.value if took else None), brief(max(0.0, now - experiment.end))]
    certain = experiment.certainty(found[0]) if found[0] else ""
    states = ", ".join(dict.fromkeys(worker.state for worker in experiment.workers))
    return _Line(f"{experiment.name} {experiment.many}", states, cells, [f"rate {certain}"] if certain else ())


def _table(shown: Sequence[_Line], width: int) -> list[Text]:
    widest = max((len(cell) for one in shown for cell in one.cells[:_MEASURED]), default=0)
    sizes = [max(size, widest) if place < _MEASURED else size for place, (_, size) in enumerate(_HEADS)]
    longest = max((text(one.name).cell_len for one in shown), default=0)
    length = min(longest, max(16, width - 4 - _STATE - sum(1 + size for size in sizes)))
    heads = [(text(name), size) for (name, _), size in zip(_HEADS, sizes, strict=True)]
    head = columns(text("Ended", "bold"), 2 + length + 1 + _STATE, heads)
    head.stylize("dim")
    return [head, *(_drawn(one, length, sizes, width) for one in shown)]


def _drawn(one: _Line, length: int, sizes: Sequence[int], width: int) -> Text:
    name = columns(text(f"  {one.name}"), 2 + length, [])
    state = in_style(one.state, one.state.split(",")[0])
    state.align("left", _STATE)
    name.append(" ").append_text(state)
    cells = [(text(cell), size) for cell, size in zip(one.cells, sizes, strict=True)]
    remarks = one.remarks
    room = sum(sizes[:_MEASURED]) + _MEASURED - 1
    behind = width - name.cell_len - 2 - sum(1 + size for size in sizes)
    if one.instead and room < min(text(one.instead).cell_len, behind):
        remarks = (one.instead, *remarks)
    elif one.instead:
        instead = text(one.instead)
        instead.align("left", room)
        cells[:_MEASURED] = [(instead, room)]
    drawn = columns(name, name.cell_len, cells)
    return drawn.append_text(text("".join(f"  {remark}" for remark in remarks), "dim"))
