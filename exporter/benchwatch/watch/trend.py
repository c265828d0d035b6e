"""A small chart of a quantity over the last minutes, as text: one character a column of time.

A column holds the worst second of `SECONDS`, so a spike or dip of one second stays visible at any length. Columns begin
at whole multiples of that time: they move to the left without changing. A blank means that nothing was measured; `_` is
zero.
"""

from collections import deque
from collections.abc import Callable

SECONDS = 5
COLUMNS = 60
"""Number of columns kept."""
_MOST = 480
"""Columns of a curve."""
_AHEAD = 12
"""Columns by which a measurement may precede an earlier one."""


class Trend:
    """The last columns of one quantity; `worst` picks one of two values in the same column (min or max)."""

    def __init__(self, worst: Callable[[float, float], float]) -> None:
        self._worst = worst
        self._columns: deque[tuple[int, float]] = deque(maxlen=COLUMNS)

    def add(self, time: float, value: float | None) -> None:
        """Add what was measured at `time` (Unix seconds), if anything."""
        if value is None:
            return
        column = int(time // SECONDS)
        while self._columns and self._columns[-1][0] > column + _AHEAD:  # the clock was set back by a lot
            self._columns.pop()
        if self._columns and self._columns[-1][0] >= column:
            column, other = self._columns.pop()
            value = self._worst(value, other)
        self._columns.append((column, value))

    def values(self, time: float, columns: int) -> list[float | None]:
        """The last columns up to the one of `time`, oldest first; None where nothing was measured."""
        last = int(time // SECONDS)
        known = dict(self._columns)
        return [known.get(column) for column in range(last - columns + 1, last + 1)]


class Curve:
    """All of one quantity since it was first seen; the longer that takes, the more seconds a column has."""

    def __init__(self, worst: Callable[[float, float], float]) -> None:
        self._worst = worst
        self._columns: dict[int, float] = {}
        self.seconds = 1
        """Of a column."""

    def add(self, time: float, value: float | None) -> None:
        """Take in what was measured at `time` (Unix seconds), if anything."""
        if value is None:
            return
        self._put(self._columns, int(time // self.seconds), value)
        while len(self._columns) > _MOST:
            self.seconds *= 2
            halved: dict[int, float] = {}
            for column, known in self._columns.items():
                self._put(halved, column // 2, known)
            self._columns = halved

    def _put(self, columns: dict[int, float], column: int, value: float) -> None:
        columns[column] = self._worst(value, columns[column]) if column in columns else value

    def values(self, time: float, columns: int) -> list[float | None]:
        """From the first to that time in at most so many columns; None where nothing was measured."""
        if not self._columns:
            return []
        first, last = min(self._columns), int(time // self.seconds)
        each = max(1, -(-(last - first + 1) // columns))
        shown: dict[int, float] = {}
        for column, known in self._columns.items():
            self._put(shown, (column - first) // each, known)
        return [shown.get(place) for place in range((last - first) // each + 1)]
