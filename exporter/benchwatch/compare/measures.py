"""What is compared: names, units, which direction is better, and how figures and their changes are written."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from ..metrics.latencies import Group
from ..metrics.samples import Family
from ..tools.registry import all_roles
from ..tools.roles import Lost, Roles
from ..values import numbers

Unit = Literal["per second", "bytes per second", "seconds", "ratio"]
Better = Literal["higher", "lower"]
_TEXTS: Mapping[Unit, Callable[[float], str]] = {
    "per second": numbers.rate_in_full,
    "bytes per second": numbers.bandwidth,
    "seconds": numbers.latency,
    "ratio": numbers.part,
}


class Measure(NamedTuple):
    """One row of a comparison."""

    name: str
    """The name in JSON."""
    title: str
    unit: Unit
    better: Better
    of_all: bool = False
    """Whether only the final report has it, so that it always covers the whole run, warm-up included."""


QUANTILES = (0.5, 0.95, 0.99, 0.999)

THROUGHPUT = Measure("throughput", "throughput", "per second", "higher")
BANDWIDTH = Measure("bandwidth", "bandwidth", "bytes per second", "higher")
LATENCY_MEAN = Measure("latency_mean", "latency mean", "seconds", "lower")


def _of_quantile(quantile: float) -> Measure:
    percent = f"p{100 * quantile:g}"
    return Measure(f"latency_{percent.replace('.', '_')}", f"latency {percent}", "seconds", "lower")


LATENCY_QUANTILES = tuple(map(_of_quantile, QUANTILES))
LATENCY_P99 = LATENCY_QUANTILES[QUANTILES.index(0.99)]
LATENCY_MAX = Measure("latency_max", "latency max", "seconds", "lower")
CONNECTION = Measure("connection_time", "connection time", "seconds", "lower", of_all=True)
MEASURES = (THROUGHPUT, BANDWIDTH, LATENCY_MEAN, *LATENCY_QUANTILES, LATENCY_MAX, CONNECTION)


def of_reports(quantile: str) -> Measure:
    """The mean over all reports, weighted by operations, of a quantile that each report has. No quantile of the run."""
    measure = _of_quantile(float(quantile))
    return measure._replace(name=f"{measure.name}_of_reports", title=f"{measure.title} per report, averaged")


def of_lost(word: str, lost: Lost) -> Measure:
    """Operations that failed, were skipped or the like; `word` is the tool's word for them."""
    name = word.replace(" ", "_")
    if lost.of:
        return Measure(name, word, "ratio", "lower", of_all=True)
    return Measure(f"{name}_per_second", f"{word}/s", "per second", "lower", of_all=True)


def rank(measure: Measure) -> tuple[float, str]:
    """The sort key for the rows of a table."""
    if measure in MEASURES:
        return MEASURES.index(measure), measure.name
    return (MEASURES.index(CONNECTION) - 0.5 if measure.of_all else MEASURES.index(LATENCY_MEAN)), measure.name


def rounded(value: float) -> float:
    """A figure without rounding errors in its last digits, to compare it with a limit."""
    return float(f"{value:.12g}")


def unit_of(measure: Measure, roles: Roles) -> Unit:
    """The unit of its values, which for a throughput depends on the tool."""
    return BANDWIDTH.unit if measure is THROUGHPUT and roles.unit.in_bytes else measure.unit


def named_group(group: Group, roles: Roles) -> dict[str, str]:
    """The labels of a group by name; empty for the whole run."""
    return dict(zip(roles.labels, group, strict=False))


def described(group: Group, measure: Measure, roles: Roles) -> dict[str, str]:
    """A measure of a group for JSON: labels, name, unit, which direction is better."""
    unit = unit_of(measure, roles)
    return {**named_group(group, roles), "name": measure.name, "unit": unit, "better": measure.better}


def compared() -> frozenset[Family]:
    """The families of all tools whose series a measurement needs."""
    each = ((one.rate, one.latency or one.window, one.bandwidth, one.cpu, *one.fixed_rate) for one in all_roles())
    return frozenset(family for families in each for family in families if family is not None)


def quantity(value: float, unit: Unit) -> str:
    """A number with its unit, if that is not "per second": 62,190, 1.24 ms, 310 MiB/s."""
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


def named(group: Group, measure: Measure, roles: Roles) -> str:
    """A figure of a group: read IOPS."""
    return f"{heading(group)} {title(measure, roles)}".strip()


def row_title(measure: Measure, roles: Roles, warmup: bool) -> str:
    """The title of a table row; it says "whole run" if only the other rows leave out the warm-up."""
    return f"{title(measure, roles)}, whole run" if warmup and measure.of_all else title(measure, roles)


def level(confidence: float) -> str:
    """A confidence: 0.95 is 95 %. It never becomes 100 % by rounding."""
    text = f"{100 * confidence:.4g}"
    return f"{text if text != '100' else f'{100 * confidence:.10g}'} %"
