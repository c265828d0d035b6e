"""Formats figures for people, in the same way in all views: three significant digits and a suitable unit.

Input is in base units, as in metrics. If there is room, a rate is written in full (12,345); in narrow columns it gets a
prefix (12.3k). Axes and captions drop trailing zeros (`trimmed`).
"""

import math
import re
import time
from collections.abc import Callable
from functools import wraps

NOT_MEASURED = "–"
_PREFIXES = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
_SIZES = ((2.0**30, "GiB/s"), (2.0**20, "MiB/s"), (2.0**10, "KiB/s"), (1.0, "B/s"))
_BITS = ((" bit/s", 1.0), (" kbit/s", 1e3), (" Mbit/s", 1e6), (" Gbit/s", 1e9), (" Tbit/s", 1e12))
_TIMES = ((" ns", 1e-9), (" µs", 1e-6), (" ms", 1e-3), (" s", 1.0))
_ZEROS = re.compile(r"\.0+(?=\D|$)|(?<=\.)(\d*?)0+(?=\D|$)")


def _digits(value: float) -> str:
    for limit, decimals in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{decimals}f}"
    return f"{value:.0f}"


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    *smaller, (largest, whole) = units
    for unit, scale in smaller:
        text = _digits(value / scale)
        if float(text) < 1000:
            return text + unit
    return _digits(value / whole) + largest


def _if_measured(write: Callable[[float], str]) -> Callable[[float | None], str]:
    """The same for a value that may be None, not a number or below 0."""

    @wraps(write)
    def written(value: float | None) -> str:
        return write(value) if value is not None and math.isfinite(value) and value >= 0 else NOT_MEASURED

    return written


@_if_measured
def rate(value: float) -> str:
    """Operations per second, without the unit: 0, 0.25, 9.87, 98.7, 987, 12.3k."""
    if value == 0:
        return "0"
    return "<0.01" if value < 0.005 else _scaled(value, _PREFIXES)


@_if_measured
def rate_in_full(value: float) -> str:
    """See rate; large values are written in full: 12,345."""
    return f"{value:,.0f}" if value >= 999.5 else rate(value)


@_if_measured
def count(value: float) -> str:
    """A number of things: 987, 12.3k, 4.56M."""
    return f"{value:.0f}" if value < 999.5 else _scaled(value, _PREFIXES)


@_if_measured
def bandwidth(value: float) -> str:
    """Bytes a second: 999 B/s, 3.12 MiB/s."""
    factor, unit = size(value)
    return f"{_digits(value / factor)} {unit}" if factor > 1 else f"{value:.0f} {unit}"


@_if_measured
def bits(value: float) -> str:
    """Bytes a second in the bits of networks: 200 Mbit/s, 9.41 Gbit/s."""
    return _scaled(8 * value, _BITS)


def throughput(unit: str) -> Callable[[float | None], str]:
    """The function that writes a throughput counted in that unit; one in bytes a second with its unit."""
    return {"B/s": bandwidth, "bit/s": bits}.get(unit, rate)


def size(value: float) -> tuple[float, str]:
    """The unit for a bandwidth: its size in bytes a second, and its name."""
    return next((size for size in _SIZES if value >= size[0] * _ALMOST), _SIZES[-1])


_ALMOST = 0.99999
"""A value of at least this part of a unit is shown in that unit: the ticks of an axis are sums, and a little off."""


@_if_measured
def latency(seconds: float) -> str:
    """A latency: 850 ns, 123 µs, 1.23 ms, 12.3 s."""
    return _scaled(seconds, _TIMES) if seconds else "0 s"


def part(ratio: float) -> str:
    """A ratio in percent: 45 %, 0.012 %."""
    return f"{100 * ratio:.3g} %"


def trimmed(text: str) -> str:
    """A figure without trailing zeros: 2.50 ms becomes 2.5 ms."""
    return _ZEROS.sub(r"\1", text)


def clock(seconds: float) -> str:
    """Elapsed time: 0:05, 1:02:03."""
    whole = round(seconds)
    hours, minutes, left = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


@_if_measured
def duration(seconds: float) -> str:
    """A length of time: 4.2 s, 42 s, 12m 05s, 2h 05m, 3d 04h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole // 60 % 60:02}m"
    return f"{whole // 86400}d {whole // 3600 % 24:02}h"


def age(seconds: float | None) -> str:
    """How long ago: 42 s ago; a time in the future (on another clock) is ahead: 42 s ahead."""
    if seconds is None or not math.isfinite(seconds):
        return NOT_MEASURED
    if seconds <= -1:
        return f"{duration(-seconds)} ahead"
    return f"{duration(max(0.0, seconds))} ago"


def apart(
    time: float | None, interval: float | None, latency: float | None, percentile: float | None, of: float | None
) -> str:
    """How the time of a percentile differs from that of the mean latency beside it, such as `2.0 s older`, or empty.

    The mean is of `interval` seconds up to `time`; the percentile is of the second up to `of` (Unix seconds; None: of
    the same interval). A difference below one second is mentioned only if the mean is above the percentile, which
    cannot be if both are of the same time.
    """
    if time is None or of is None or time == of:
        return ""
    later = time - of
    said = ["of 1 s"] if interval is not None and interval > _LONGER else []
    if abs(later) >= 1 or (not said and latency is not None and percentile is not None and latency > percentile):
        said.append(f"{duration(abs(later))} {'older' if later > 0 else 'newer'}")
    return ", ".join(said)


_LONGER = 1.5
"""An interval of at most as many seconds counts as one of a second."""


def warming_up(warmup: float, start: float | None, now: float) -> str:
    """The rest of an active run's warm-up; empty if there is none or it is over."""
    left = 0.0 if start is None else start + warmup - now
    return f"warm-up, {duration(left)} left" if warmup and left > 0 else ""


def without_warmup(warmup: float, where: str) -> str:
    """Where the result of an ended run is that leaves out its warm-up; empty without a warm-up."""
    return f"{where} leaves out the warm-up of {duration(warmup)}" if warmup else ""


def clock_time(unix_seconds: float) -> str:
    """A moment as a UTC time of day."""
    return time.strftime("%H:%M:%S UTC", time.gmtime(unix_seconds))
