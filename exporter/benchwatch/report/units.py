"""Numbers for people: base units in, a short text with its unit out."""

from collections.abc import Callable
from typing import NamedTuple

from ..tools.roles import Unit

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ((2.0**30, "GiB/s"), (2.0**20, "MiB/s"), (2.0**10, "KiB/s"), (1.0, "B/s"))


class Axis(NamedTuple):
    """How values of one kind are written on an axis. `name` is the axis' own."""

    name: str
    text: Callable[[float], str]
    round: Callable[[float], float] = lambda value: 1.0
    """Of what ticks are round multiples on an axis up to this value."""
    most: float | None = None
    """Where the axis ends; None: where the values do."""


def time(seconds: float) -> str:
    """A short time: 1.25 ms."""
    return _scaled(seconds, _TIMES)


def bandwidth(value: float) -> str:
    """Bytes a second: 4.2 MiB/s."""
    return _scaled(value, _SIZES)


def count(number: float) -> str:
    """A rate or a number of things: 12,345."""
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.3g}"


def ratio(part: float) -> str:
    """A part of 1: 45 %."""
    return f"{part * 100:.3g} %"


def clock(seconds: float) -> str:
    """Elapsed time: 0:05, 1:02:03."""
    whole = round(seconds)
    hours, minutes, left = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def _step(number: float, scale: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next((step for step in scale if abs(number) >= step[0] * 0.99999), scale[-1])


def _scaled(number: float, scale: tuple[tuple[float, str], ...]) -> str:
    factor, name = _step(number, scale)
    return f"{number / factor:.3g} {name}" if number else "0"


BANDWIDTH = Axis("bandwidth", bandwidth, lambda value: _step(value, _SIZES)[0])
LATENCY = Axis("latency", time)
RATIO = Axis("part", ratio, most=1.0)
OPERATIONS = Axis("operations a second", count)


def throughput(unit: Unit) -> Axis:
    """That of a tool's throughput."""
    return BANDWIDTH if unit.in_bytes else Axis(unit.name, count)
