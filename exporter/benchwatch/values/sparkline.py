"""A small chart as text: one character a value."""

import math
from collections.abc import Sequence

ZERO = "_"
_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """One character a value, from 0 to the highest of them; a blank where nothing was measured."""
    peak = max((value for value in values if value is not None), default=0.0)
    return "".join(" " if value is None else _level(value, peak) for value in values)


def _level(value: float, peak: float) -> str:
    return _LEVELS[math.ceil(value / peak * len(_LEVELS)) - 1] if value > 0 else ZERO
