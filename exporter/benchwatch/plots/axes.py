"""Axes of plots: how values of one kind are written, and their ticks."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..tools.roles import Unit
from ..values import numbers
from .time_lines import Array

_INTERVALS = 6
_SMALL = 0.7
_RESOLUTION = 1e-6
"""Seconds: that of most tools."""
_LONGEST_CLOCK = 86400.0
"""Seconds up to which elapsed time is written as a clock shows it."""


class Axis(NamedTuple):
    """How values of one kind are written. `name` is written beside the axis."""

    name: str
    text: Callable[[float], str]
    """A value in words."""
    form: str = ",.6~r"
    """A value on the axis, as https://d3js.org/d3-format says; empty: a clock."""
    suffix: str = ""
    unit: Callable[[float], tuple[float, str]] = lambda most: (1.0, "")
    """What values up to this one are divided by, and the unit that follows the name."""
    log: bool = False
    most: float | None = None
    """The end of the axis; None: the end of the values."""
    ticks: Sequence[tuple[float, str]] = ()
    """The only ticks, if any: place and text."""


def _short(write: Callable[[float], str]) -> Callable[[float], str]:
    """The function that writes values so without trailing zeros, and 0 without a unit."""
    return lambda value: numbers.trimmed(write(value)) if value else "0"


time = _short(numbers.latency)
"""A short time: 1.25 ms."""


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


BANDWIDTH = Axis("bandwidth", _short(numbers.bandwidth), ",.4~r", unit=numbers.size)
NETWORK = Axis("throughput", _short(numbers.bits), ".4~s", "bit/s", lambda most: (1 / 8, ""))
LATENCY = Axis("latency", time, ".4~s", "s", log=True)
RATIO = Axis("part", numbers.part, ".3~%", most=1.0)
OPERATIONS = Axis("operations a second", count)
CHANGE = Axis("change", lambda ratio: f"{100 * ratio:+.3g} %", "+.3~%")


def throughput(unit: Unit) -> Axis:
    """The axis of a tool's throughput."""
    if unit.name == "bit/s":
        return NETWORK
    return BANDWIDTH if unit.in_bytes else Axis(unit.name, count)


def log_ticks(low: float, high: float, axis: Axis) -> Sequence[tuple[float, str]]:
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
    return [(tick, axis.text(tick)) for tick in ticks if low <= tick <= high]


def _step(length: float) -> float:
    """A round number that divides the length into a few parts."""
    rough = length / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999) * power


def elapsed(length: float) -> Axis:
    """The axis of elapsed time up to `length` seconds: as on a clock, or in hours."""
    if length <= _LONGEST_CLOCK:
        return Axis("elapsed time", numbers.clock, "", unit=lambda most: (1e-3, ""))
    return Axis("elapsed time", numbers.clock, ",.6~r", " h", lambda most: (3600.0, ""))


def percentiles(end: float) -> Axis:
    """The axis of the percentile curve, which gives each further nine the same space, up to `end` nines."""
    nines = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999)
    places = [(-math.log10(1 - part), f"{part * 100:.7g}") for part in nines]
    return Axis("percentile", str, ticks=[(place, text) for place, text in places if place <= 1.03 * end])
