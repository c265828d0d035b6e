"""The runs that have ended, with their results: a line for each operation of a worker, one for all repeats of an
experiment or points of a sweep, the most recently ended first.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from ..model.run import Measured, Run, Worker
from ..results.folded import Folded, duration, folded, latency, p99, rate
from ..values import numbers as figures
from .blocks import Align, Block, cut, line, rest, text
from .known import Page
from .rows import labels_of
from .table import brief, in_style

_RECENTLY = 600.0
"""Seconds for which an ended run keeps its place on the screen; after that it is shown if it fits."""
_HEADS: tuple[tuple[str, int], ...] = (("rate/s", 6), ("mean", 7), ("p99", 7), ("max", 7), ("took", 4), ("ended", 5))
_MEASURED = 4
"""How many of these count as measured."""

_STATE = 9


class _Line(NamedTuple):
    name: str
    state: str
    figures: Sequence[str]
    took: str
    ended: str
    remarks: Sequence[str] = ()
    instead: str = ""
    """What stands where the figures would."""


def ended(page: Page, now: float, width: int) -> Block:
    """Those of a page at `now`, Unix seconds; the runs whose results leave out a warm-up are named below."""
    runs = [run for run in page.runs if run.workers and not run.active]
    listed = sorted(folded(runs), key=lambda one: (-one.end, one.name))
    each = [line for one in listed for line in (_whole(one, now) if isinstance(one, Folded) else _each(one, now))]
    warm = sorted({worker.run: worker.warmup for run in runs for worker in run.workers if _warm(worker)}.items())
    recent = sum(now - run.end < _RECENTLY for run in runs)
    below = []
    if warm:
        warmups = ", ".join(f"{run} {figures.duration(warmup)}" for run, warmup in warm)
        below = [text(f"    benchwatch show leaves out the warm-ups: {warmups}", "dim")]

    def draw(lines: int) -> list[Text]:
        shown = cut(each, lines - 1 - len(below))
        return [*_table(shown, width), *rest(len(each) - len(shown)), *below]

    return Block(draw, 1 + len(each) + len(below) if each else 0, 1 + min(recent, 2) if recent else 0)


def _table(shown: Sequence[_Line], width: int) -> list[Text]:
    widest = max((len(text) for one in shown for text in one.figures), default=0)
    sizes = [max(size, widest) if place < _MEASURED else size for place, (_, size) in enumerate(_HEADS)]
    longest = max((text(one.name).cell_len for one in shown), default=0)
    length = min(longest, max(16, width - 3 - _STATE - sum(1 + size for size in sizes)))
    titles: list[tuple[Text, int, Align]] = [
        (text(name), size, "right") for (name, _), size in zip(_HEADS, sizes, strict=True)
    ]
    head = line((text("Ended"), length + 3 + _STATE, "left"), *titles)
    head.stylize("dim")
    return [head, *(_drawn(one, length, sizes, width) for one in shown)]


def _warm(worker: Worker) -> bool:
    return bool(worker.warmup and worker.result)


def _each(run: Run, now: float) -> Iterator[_Line]:
    """A line for each operation of each worker."""
    for worker in run.workers:
        took = None if worker.start is None or worker.end is None else worker.end - worker.start
        for result in (not worker.warmup and worker.result) or (Measured(),):
            instead = "benchwatch show" if _warm(worker) else worker.reason
            yield _Line(
                " ".join(dict.fromkeys(filter(None, (worker.run, *labels_of(worker, result, alone=True))))),
                worker.state,
                (
                    figures.rate(result.rate),
                    figures.latency(result.latency),
                    figures.latency(result.quantiles.get("0.99")),
                    figures.latency(result.quantiles.get("1")),
                ),
                brief(took),
                brief(None if worker.end is None else max(0.0, now - worker.end)),
                worker.notes,
                instead if result.rate is None else "",
            )


def _whole(experiment: Folded, now: float) -> Iterator[_Line]:
    """One line for all its runs."""
    states = dict.fromkeys(worker.state for worker in experiment.workers)
    found = [experiment.mean(figure) for figure in (rate, latency, p99)]
    texts = []
    for one, write in zip(found, (figures.rate, figures.latency, figures.latency), strict=True):
        if one is None:
            texts.append(figures.NOT_MEASURED)
        elif experiment.points:
            texts.append(f"{write(min(one.values))}–{write(max(one.values))}".replace(" ", ""))
        else:
            texts.append(write(one.value))
    took = experiment.mean(duration)
    certain = experiment.certainty(found[0]) if found[0] else ""
    yield _Line(
        f"{experiment.name} {experiment.many}",
        ", ".join(states),
        (*texts, figures.NOT_MEASURED),
        brief(took.value if took else None),
        brief(max(0.0, now - experiment.end)),
        [f"rate {certain}"] if certain else (),
    )


def _drawn(one: _Line, length: int, sizes: Sequence[int], width: int) -> Text:
    cells: list[tuple[Text, int, Align]] = [
        (text(cell), size, "right") for cell, size in zip((*one.figures, one.took, one.ended), sizes, strict=True)
    ]
    remarks = one.remarks
    if one.instead:
        room = sum(sizes[:_MEASURED]) + _MEASURED - 1
        behind = width - (2 + length + 1 + _STATE + 2) - sum(1 + size for size in sizes)
        if room < min(text(one.instead).cell_len, behind):
            remarks = (one.instead, *remarks)
        else:
            cells[:_MEASURED] = [(text(one.instead), room, "left")]
    drawn = line(
        (text(f"  {one.name}"), length + 2, "left"),
        (in_style(one.state, one.state.split(",")[0]), _STATE, "left"),
        *cells,
    )
    return drawn.append_text(text("".join(f"  {remark}" for remark in remarks), "dim"))
