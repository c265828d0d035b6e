"""What of each tool is drawn, and where it comes from."""

from math import inf
from typing import NamedTuple

from ..compare.measures import CPU
from .units import BANDWIDTH, IOPS, TPS, Unit


class Rate(NamedTuple):
    """Something done a second."""

    title: str
    family: str
    unit: Unit
    source: str


class Measures(NamedTuple):
    """The families of one tool (docs/metrics.md), and sentences about their source for captions."""

    operations: str
    """What it does, in the plural."""
    rates: tuple[Rate, ...]
    """The first one is its throughput."""
    mean: str
    mean_source: str
    window: str
    """Quantiles of the last interval."""
    window_source: str
    histogram: str
    histogram_interval: float
    """Seconds before a report in which all was counted that is new in it; infinite: since the report before."""
    histogram_source: str


MEASURES = {
    "pgbench": Measures(
        operations="transactions",
        rates=(
            Rate(
                "Throughput",
                "pgbench_tps",
                TPS,
                "From pgbench's progress lines; without them, counted in its transaction log.",
            ),
        ),
        mean="pgbench_latency_average_seconds",
        mean_source="From pgbench's progress lines; without them, from its transaction log.",
        window="pgbench_latency_window_seconds",
        window_source="From the transaction log, every transaction in it, by second; percentiles within 1.6 %, the "
        "maximum exact.",
        histogram="pgbench_latency_seconds",
        histogram_interval=1.0,
        histogram_source="From the transaction log, every transaction in it, in exact bins",
    ),
    "fio": Measures(
        operations="I/Os",
        rates=(
            Rate("IOPS", "fio_iops", IOPS, "Differences between fio's documents."),
            Rate("Bandwidth", "fio_bandwidth_bytes_per_second", BANDWIDTH, "Differences between fio's documents."),
        ),
        mean="fio_latency_average_seconds",
        mean_source="Completion latency, from differences between fio's documents.",
        window="fio_latency_window_seconds",
        window_source="Completion latency of all I/Os between two documents of fio, from json+ bins; within 0.8 %.",
        histogram="fio_completion_latency_seconds",
        histogram_interval=inf,
        histogram_source="Completion latency of all I/Os, from fio's exact json+ bins",
    ),
}
"""By the tool's name."""

NAMES = frozenset(
    name
    for tool in MEASURES.values()
    for name in (CPU, *(rate.family for rate in tool.rates), tool.mean, tool.window, f"{tool.histogram}_bucket")
)
"""The series that are needed."""
