"""Figures and changes as people read them: 62,190 TPS, 1.24 ms, 310 MiB/s, +7.5 %."""

from collections.abc import Callable, Mapping, Sequence

from ..metrics.latencies import Group
from ..tools.roles import Roles
from ..values import numbers
from .measures import THROUGHPUT, Measure, Unit, unit_of

_TEXTS: Mapping[Unit, Callable[[float], str]] = {
    "per second": numbers.rate_in_full,
    "bytes per second": numbers.bandwidth,
    "seconds": numbers.latency,
    "ratio": numbers.part,
}


def quantity(value: float, unit: Unit) -> str:
    """A number with its unit, if that is not "per second"."""
    return _TEXTS[unit](value)


def figure(value: float, measure: Measure, roles: Roles) -> str:
    """A figure with its unit; the unit of a throughput is in its title, unless it is in bytes."""
    if measure is THROUGHPUT and roles.unit.in_bytes:
        return numbers.throughput(roles.unit.name)(value)
    return quantity(value, unit_of(measure, roles))


def span(seconds: Sequence[float]) -> str:
    """The lengths of runs: 60 s, 58 to 61 s."""
    low, high = (f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (min(seconds), max(seconds)))
    return f"{low} s" if low == high else f"{low} to {high} s"


def percent(ratio: float) -> str:
    """A change: 0.0752 is +7.5 %."""
    size = abs(ratio)
    text = f"{100 * ratio:+.1f}" if size < 10 else f"{100 * ratio:+.0f}" if size < 1000 else f"{100 * ratio:+.0e}"
    return f"{'0.0' if text in ('-0.0', '+0.0') else text} %"


def interval(found: tuple[float, float] | None) -> str:
    """+6.9 to +8.1 %; empty where there is none."""
    return "" if found is None else f"{percent(found[0]).removesuffix(' %')} to {percent(found[1])}"


def title(measure: Measure, roles: Roles) -> str:
    """The title of a measure; a throughput has the tool's own word, unless it is in bytes."""
    return roles.unit.name if measure is THROUGHPUT and not roles.unit.in_bytes else measure.title


def heading(group: Group) -> str:
    """The name of a group: its job, if there are several, and its operation."""
    return " ".join(part for part in group if part)


def row_title(measure: Measure, roles: Roles, warmup: bool) -> str:
    """The title of a table row; it says "whole run" if only the other rows leave out the warm-up."""
    return f"{title(measure, roles)}, whole run" if warmup and measure.of_all else title(measure, roles)


def level(confidence: float) -> str:
    """A confidence: 0.95 is 95 %. It never becomes 100 % by rounding."""
    text = f"{100 * confidence:.4g}"
    return f"{text if text != '100' else f'{100 * confidence:.10g}'} %"
