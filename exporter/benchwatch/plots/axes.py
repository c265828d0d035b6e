"""How values of one kind are written on an axis and in captions."""

from collections.abc import Callable
from typing import NamedTuple

from ..tools.roles import Unit
from ..values import numbers


class Axis(NamedTuple):
    """How values of one kind are written. `name` is the axis' own."""

    name: str
    text: Callable[[float], str]
    round: Callable[[float], float] = lambda value: 1.0
    """The unit whose round multiples are the ticks of an axis up to this value."""
    most: float | None = None
    """The end of the axis; None: the end of the values."""


def time(seconds: float) -> str:
    """A short time: 1.25 ms."""
    return numbers.trimmed(numbers.latency(seconds)) if seconds else "0"


def bandwidth(value: float) -> str:
    """Bytes a second: 4.2 MiB/s."""
    return numbers.trimmed(numbers.bandwidth(value)) if value else "0"


def count(number: float) -> str:
    """A rate or a number of things: 12,345."""
    return numbers.trimmed(numbers.rate_in_full(number))


BANDWIDTH = Axis("bandwidth", bandwidth, lambda value: numbers.size(value)[0])
LATENCY = Axis("latency", time)
RATIO = Axis("part", numbers.part, most=1.0)
OPERATIONS = Axis("operations a second", count)


def throughput(unit: Unit) -> Axis:
    """That of a tool's throughput."""
    return BANDWIDTH if unit.in_bytes else Axis(unit.name, count)
