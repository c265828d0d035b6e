"""A small chart as text: one character a value, one line or several."""

import math
from collections.abc import Sequence

ZERO = "_"
_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """One character a value, from 0 to the highest of them; a blank where nothing was measured."""
    return tall(values, 1)[0]


def tall(values: Sequence[float | None], height: int) -> list[str]:
    """The same in so many lines, the highest first."""
    peak = max((value for value in values if value is not None), default=0.0)
    levels = [None if value is None else value / peak * height if peak else 0.0 for value in values]
    return ["".join(_cell(level, line) for level in levels) for line in range(height - 1, -1, -1)]


def _cell(level: float | None, line: int) -> str:
    if level is None or level <= line:
        return ZERO if level == 0 and not line else " "
    return _LEVELS[min(math.ceil((level - line) * len(_LEVELS)), len(_LEVELS)) - 1]
