"""Axes of drawings: how values of one kind are written, where they are along an axis, and its ticks."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..tools.roles import Unit
from ..values import numbers
from .time_lines import Array

Ticks = Sequence[tuple[float, str]]
"""The place of each tick, and its text."""
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
"""Between the ticks of elapsed time, seconds."""
_MOST_TIMES = 10
_INTERVALS = 6
_RESOLUTION = 1e-6
"""Seconds: that of most tools."""
_SMALL = 0.7


class Axis(NamedTuple):
    """How values of one kind are written. `name` is written beside the axis."""

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


def foot(values: Iterable[Array]) -> float:
    """Where a logarithmic axis draws 0, seconds: at the lowest latency above it, the tool's resolution."""
    return min((float(one[one > 0].min()) for one in values if (one > 0).any()), default=_RESOLUTION)


def foot_note(values: Sequence[Array]) -> str:
    """The sentence that says so; empty if nothing is 0."""
    has_zero = any((one == 0).any() for one in values)
    return f"0, which is below the tool's resolution, is drawn as {time(foot(values))}." if has_zero else ""


def count(number: float) -> str:
    """A rate or a number of things: 12,345."""
    return numbers.trimmed(numbers.rate_in_full(number))


def bits(value: float) -> str:
    """Bytes a second in bits: 4.2 Gbit/s."""
    return numbers.trimmed(numbers.bits(value)) if value else "0"


def _bits_unit(value: float) -> float:
    """The bytes a second of the largest of 1 bit/s, 1 kbit/s ... that is not above the value."""
    return 1000.0 ** max(0, math.floor(math.log(max(8 * value, 1.0), 1000) + 1e-9)) / 8


BANDWIDTH = Axis("bandwidth", bandwidth, lambda value: numbers.size(value)[0])
NETWORK = Axis("throughput", bits, _bits_unit)
LATENCY = Axis("latency", time)
RATIO = Axis("part", numbers.part, most=1.0)
OPERATIONS = Axis("operations a second", count)


def throughput(unit: Unit) -> Axis:
    """The axis of a tool's throughput."""
    if unit.name == "bit/s":
        return NETWORK
    return BANDWIDTH if unit.in_bytes else Axis(unit.name, count)


class Scale(NamedTuple):
    """Maps values to a fraction of an axis."""

    low: float
    high: float
    log: bool = False

    def part(self, values: Array) -> Array:
        """The fractions of values."""
        if self.log:
            return np.asarray(np.log(values / self.low) / math.log(self.high / self.low))
        return np.asarray((values - self.low) / (self.high - self.low))

    def at(self, value: float) -> float:
        """The fraction of one value."""
        return float(self.part(np.array([value]))[0])


def time_ticks(length: float) -> Ticks:
    """Ticks of elapsed time, up to `length` seconds."""
    if not length:
        return ()
    step = next((step for step in _STEPS if length / step <= _MOST_TIMES), 86400.0 * max(1, round(length / 864000)))
    return [(tick, numbers.clock(tick)) for tick in np.arange(0, length + step / 1000, step).tolist()]


def value_ticks(most: float, unit: Axis) -> Ticks:
    """Ticks at round multiples of the unit, from 0 to `most`."""
    step = _step(most / unit.round(most)) * unit.round(most)
    return [(tick, unit.text(tick)) for tick in np.arange(0, most + step / 1000, step).tolist()]


def latency_ticks(low: float, high: float, unit: Axis) -> Ticks:
    """Ticks of a logarithmic axis: at 1, 2, 5 of each decade; over more decades at 1 and 3, then at the decades alone;
    within a small part of a decade, at equal distances."""
    decades = math.log10(high / low)
    if decades < _SMALL:
        step = _step(high - low)
        ticks = np.arange(math.ceil(low / step) * step, high, step).tolist()
    else:
        subs = (1.0, 2.0, 5.0) if decades <= 2.2 else (1.0, 3.0) if decades <= 3.2 else (1.0,)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [sub * 10.0**power for power in powers for sub in subs]
    return [(tick, unit.text(tick)) for tick in ticks if low <= tick <= high]


def _step(length: float) -> float:
    """A round number that divides the length into a few parts."""
    rough = length / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999) * power
