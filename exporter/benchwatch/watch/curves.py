"""Curves of several lines for the rows of active runs, where the screen is high enough for them.

Each row has throughput on the left and mean latency on the right, from when it was first seen until now. A column holds
the worst moment of its time.
"""

from collections.abc import Sequence

from rich.text import Text

from ..values import numbers as figures
from ..values.sparkline import tall
from .blocks import line, text
from .rows import RunRows, ShownRow
from .table import Look
from .trends import Trends, Values

_LEAST, _MOST = 4, 10
"""Lines of a curve."""
_GAP = 2


def curve_lines(runs: Sequence[RunRows]) -> int:
    """Number of lines in which all curves have room."""
    return sum(1 + _MOST for run in runs for _ in _rows(run))


def draw_curves(runs: Sequence[RunRows], trends: Trends, look: Look, lines: int) -> list[Text]:
    """The curves of as many rows as there are lines for, those of the selected run first."""
    ordered = sorted(runs, key=lambda run: run.name != look.selected)
    rows = [(run, row) for run in ordered for row in _rows(run)][: lines // (1 + _LEAST)]
    if not rows:
        return []
    height = min(_MOST, lines // len(rows) - 1)
    return [drawn for run, row in rows for drawn in _draw(run, row, trends, look, height)]


def _rows(run: RunRows) -> Sequence[ShownRow]:
    """The totals of a run or, where it has none, its rows."""
    return run.totals or run.rows


def _draw(run: RunRows, row: ShownRow, trends: Trends, look: Look, height: int) -> list[Text]:
    width = (look.width - _GAP) // 2
    rates, latencies = (trend.curve(look.now, width) for trend in trends.of(row.key))
    name = " ".join(part for part in (run.name, row.name, row.op) if part)
    titles = (
        f"{name}  rate/s, up to {figures.rate(_peak(rates))}",
        f"mean latency, up to {figures.latency(_peak(latencies))}",
    )
    drawn = [line(*((text(title, "dim"), width, "left") for title in titles))]
    for left, right in zip(tall(rates, height), tall(latencies, height), strict=True):
        both = line((text(left, "blue"), width, "left"), (text(right, "blue"), width, "left"))
        both.highlight_words("_", "bold red")
        drawn.append(both)
    return drawn


def _peak(values: Values) -> float | None:
    return max((value for value in values if value is not None), default=None)
