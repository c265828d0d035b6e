"""What is compared: names, units, and which direction is better."""

from typing import Literal, NamedTuple

from ..history.timeline import Timeline
from ..metrics.exposition import Family
from ..tools.registry import all_roles, named
from ..tools.roles import Roles, roles_of

Unit = Literal["per second", "bytes per second", "seconds", "ratio"]
Better = Literal["higher", "lower"]


class Measure(NamedTuple):
    """One row of a comparison."""

    name: str
    """As in the JSON."""
    title: str
    unit: Unit
    better: Better


QUANTILES = (0.5, 0.95, 0.99, 0.999)

THROUGHPUT = Measure("throughput", "throughput", "per second", "higher")
BANDWIDTH = Measure("bandwidth", "bandwidth", "bytes per second", "higher")
LATENCY_MEAN = Measure("latency_mean", "latency mean", "seconds", "lower")


def _of_quantile(quantile: float) -> Measure:
    percent = f"p{100 * quantile:g}"
    return Measure(f"latency_{percent.replace('.', '_')}", f"latency {percent}", "seconds", "lower")


LATENCY_QUANTILES = tuple(map(_of_quantile, QUANTILES))
LATENCY_MAX = Measure("latency_max", "latency max", "seconds", "lower")
FAILED = Measure("failed", "failed", "ratio", "lower")
SKIPPED = Measure("skipped", "skipped", "ratio", "lower")
CONNECTION = Measure("connection_time", "connection time", "seconds", "lower")
WHOLE_RUN = frozenset({FAILED, SKIPPED, CONNECTION})
"""Told by the final report alone, so of the whole run, its warm-up included."""
MEASURES = (THROUGHPUT, BANDWIDTH, LATENCY_MEAN, *LATENCY_QUANTILES, LATENCY_MAX, FAILED, SKIPPED, CONNECTION)


def of_reports(quantile: str) -> Measure:
    """A quantile that is known of each report alone: its mean over them, by operations. No quantile of the run."""
    measure = _of_quantile(float(quantile))
    return measure._replace(name=f"{measure.name}_of_reports", title=f"{measure.title} of reports, mean")


def rank(measure: Measure) -> tuple[int, str]:
    """Where it stands in a table."""
    place = MEASURES.index(measure) if measure in MEASURES else MEASURES.index(LATENCY_MEAN)
    return place, measure.name


def unit_of(measure: Measure, roles: Roles) -> Unit:
    """In what its values are: a throughput in bytes is shown as such."""
    return BANDWIDTH.unit if measure is THROUGHPUT and roles.unit.in_bytes else measure.unit


def roles_for(timeline: Timeline) -> Roles:
    """The roles that hold for a worker."""
    tool = named(timeline.tool)
    assert tool is not None
    return roles_of(
        tool.roles, {sample.family.name for sample in timeline.final} | {one.family.name for one in timeline.series}
    )


def compared() -> frozenset[Family]:
    """The families whose series are needed, of any tool."""
    each = ((one.rate, one.latency or one.window, one.bandwidth, one.cpu, *one.fixed_rate) for one in all_roles())
    return frozenset(family for families in each for family in families if family is not None)
