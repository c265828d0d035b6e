"""A small chart as text: one character per value, on one line or several."""

import math
from collections.abc import Sequence

ZERO = "_"
_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """One character per value, scaled from 0 to the highest value; a blank for None."""
    return tall(values, 1)[0]


def tall(values: Sequence[float | None], height: int) -> list[str]:
    """A sparkline that is `height` lines high, top line first."""
    peak = max((value for value in values if value is not None), default=0.0)
    levels = [None if value is None else value / peak * height if peak else 0.0 for value in values]
    return ["".join(_cell(level, line) for level in levels) for line in range(height - 1, -1, -1)]


def _cell(level: float | None, line: int) -> str:
    if level is None or level <= line:
        return ZERO if level == 0 and not line else " "
    return _LEVELS[min(math.ceil((level - line) * len(_LEVELS)), len(_LEVELS)) - 1]
