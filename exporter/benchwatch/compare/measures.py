"""What is compared: names, units, and which direction is better."""

from typing import Literal, NamedTuple

from ..metrics.latencies import Group
from ..metrics.samples import Family
from ..tools.registry import all_roles
from ..tools.roles import Lost, Roles

Unit = Literal["per second", "bytes per second", "seconds", "ratio"]
Better = Literal["higher", "lower"]


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
