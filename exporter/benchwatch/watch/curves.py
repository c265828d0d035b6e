"""Curves of several lines for the rows of active runs, where the screen is high enough for them.

Each row has throughput on the left and mean latency on the right, from when it was first seen until now, with the
highest value and zero beside it and the time below it. A column holds the worst moment of its time.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text

from ..values import numbers as figures
from ..values.sparkline import tall
from .blocks import line, text
from .rows import Key, RunRows, ShownRow
from .table import Look
from .trends import Curve, Trends

_LEAST, _MOST = 4, 10
"""Lines of a curve without its title and its axis of time."""
_AROUND = 2
_GAP = 2
_LABEL = 7


class Curves(NamedTuple):
    """Which rows have curves, and how high they are."""

    rows: Sequence[tuple[RunRows, ShownRow]]
    height: int

    @classmethod
    def of(cls, runs: Sequence[RunRows], selected: str, lines: int) -> "Curves":
        """The curves of as many rows as there are lines for, those of the selected run first."""
        ordered = sorted(runs, key=lambda run: run.name != selected)
        rows = [(run, row) for run in ordered for row in charted(run)][: max(0, lines // (_AROUND + _LEAST))]
        return cls(rows, min(_MOST, lines // len(rows) - _AROUND) if rows else 0)

    @property
    def lines(self) -> int:
        """How many lines they take."""
        return len(self.rows) * (_AROUND + self.height)

    @property
    def keys(self) -> frozenset[Key]:
        """Of their rows."""
        return frozenset(row.key for _, row in self.rows)

    def draw(self, trends: Trends, look: Look) -> list[Text]:
        """All of them."""
        return [drawn for run, row in self.rows for drawn in _draw(run, row, trends, look, self.height)]


def charted(run: RunRows) -> Sequence[ShownRow]:
    """The totals of a run or, where it has none, its rows."""
    return run.totals or run.rows


def _draw(run: RunRows, row: ShownRow, trends: Trends, look: Look, height: int) -> list[Text]:
    width = (look.width - _GAP) // 2
    rates, latencies = (trend.curve(look.now, width - _LABEL - 1) for trend in trends.of(row.key))
    name = " ".join(part for part in (run.name, row.name, row.op) if part)
    left = _panel(f"{name}  rate/s", rates, figures.rate(_peak(rates)), height, width)
    right = _panel("mean latency", latencies, figures.latency(_peak(latencies)), height, width)
    return [line((one, width, "left"), (other, width, "left")) for one, other in zip(left, right, strict=True)]


def _panel(title: str, curve: Curve, peak: str, height: int, width: int) -> list[Text]:
    labels = ["0"] if height == 1 else [peak, *[""] * (height - 2), "0"]
    drawn = [line((text(title, "dim"), width, "left"))]
    for label, values in zip(labels, tall(curve.values, height), strict=True):
        columns = text(values, "blue")
        columns.highlight_words("_", "bold red")
        drawn.append(line((text(label, "dim"), _LABEL, "right"), (columns, width - _LABEL - 1, "left")))
    return [*drawn, line((text(""), _LABEL, "left"), (_time(curve), width - _LABEL - 1, "left"))]


def _time(curve: Curve) -> Text:
    """When the curve begins at its left end, and "now" at its right end if there is room."""
    began = f"{figures.duration(curve.seconds)} ago" if curve.values else ""
    blanks = len(curve.values) - len(began) - len("now")
    return text(f"{began}{' ' * blanks}now" if blanks > 0 else began, "dim")


def _peak(curve: Curve) -> float | None:
    return max((value for value in curve.values if value is not None), default=None)
