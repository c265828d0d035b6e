"""Numbers and words as people read them: 62,190 TPS, 1.24 ms, 310 MiB/s, +7.5 %."""

from collections.abc import Callable, Mapping, Sequence

from ..metrics.latencies import Group
from ..tools.roles import Roles
from ..values import numbers
from .changes import Row, Verdict
from .measures import THROUGHPUT, Measure, Unit, unit_of

_TEXTS: Mapping[Unit, Callable[[float], str]] = {
    "per second": numbers.rate_in_full,
    "bytes per second": numbers.bandwidth,
    "seconds": numbers.latency,
    "ratio": numbers.part,
}


def quantity(value: float, unit: Unit) -> str:
    """A number with its unit; a throughput's unit is in its title."""
    return _TEXTS[unit](value)


def figure(value: float, measure: Measure, roles: Roles) -> str:
    """A figure with its unit; that of operations a second is said by its title."""
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
    """What a row is called: the throughput by the tool's own word, unless it is in bytes."""
    return roles.unit.name if measure is THROUGHPUT and not roles.unit.in_bytes else measure.title


def heading(group: Group) -> str:
    """What a group is called: its job, if there are several, and its operation."""
    return " ".join(part for part in group if part)


def row_title(measure: Measure, roles: Roles, warmup: bool) -> str:
    """The title of a table row; one for the whole run says so if the others leave out a warm-up."""
    return f"{title(measure, roles)}, whole run" if warmup and measure.of_all else title(measure, roles)


def cells(row: Row, roles: Roles, warmup: bool) -> Sequence[str]:
    """A row of the table: measure, base, other, change, interval, which direction is better."""
    change = "" if row.ratio is None else percent(row.ratio)
    both = figure(row.base, row.measure, roles), figure(row.other, row.measure, roles)
    return row_title(row.measure, roles, warmup), *both, change, interval(row.interval), row.measure.better


def sentence(verdict: Verdict, roles: Roles, confidence: float) -> str:
    """A verdict: what changed, by how much, how certainly, and on what basis."""
    row = verdict.row
    what = f"{heading(row.group)} {title(row.measure, roles)}".strip()
    change = "" if row.ratio is None else f" {percent(row.ratio)}"
    sure = "" if row.interval is None else f" ({level(confidence)} interval {interval(row.interval)})"
    return f"{what}{change}{sure}, {verdict.word}: {verdict.reason}"


def level(confidence: float) -> str:
    """A confidence: 0.95 is 95 %."""
    return f"{100 * confidence:.4g} %"
