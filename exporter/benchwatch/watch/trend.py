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
