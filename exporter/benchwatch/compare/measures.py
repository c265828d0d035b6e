"""What is compared: names, units, and which direction is better; where each tool's metrics hold it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

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
LATENCY_QUANTILES = tuple(
    Measure(f"latency_p{100 * quantile:g}".replace(".", "_"), f"latency p{100 * quantile:g}", "seconds", "lower")
    for quantile in QUANTILES
)
LATENCY_MAX = Measure("latency_max", "latency max", "seconds", "lower")
FAILED = Measure("failed", "failed", "ratio", "lower")
SKIPPED = Measure("skipped", "skipped", "ratio", "lower")
CONNECTION = Measure("connection_time", "connection time", "seconds", "lower")
WHOLE_RUN = frozenset({FAILED, SKIPPED, CONNECTION})
"""Told by the final report alone, so of the whole run, its warm-up included."""
MEASURES = (THROUGHPUT, BANDWIDTH, LATENCY_MEAN, *LATENCY_QUANTILES, LATENCY_MAX, FAILED, SKIPPED, CONNECTION)


class Names(NamedTuple):
    """The names of a tool's metrics; empty where it has none. A group is one set of values of `labels`."""

    labels: tuple[str, ...]
    unit: str
    """Of the throughput, for people."""
    rate: str
    latency: str
    result_rate: str
    result_latency: str
    result_operations: str
    """How many there were in all."""
    fixed_rate: tuple[str, ...]
    """Metrics that are there if the rate was given, not found."""
    bandwidth: str = ""
    result_bandwidth: str = ""
    result_quantile: str = ""
    latency_step: float = 0.0
    """Seconds in which mean latencies and those of the log are told; 0 if exactly."""


TOOLS: Mapping[str, Names] = {
    "pgbench": Names(
        labels=(),
        unit="TPS",
        rate="pgbench_tps",
        latency="pgbench_latency_average_seconds",
        result_rate="pgbench_result_tps",
        result_latency="pgbench_result_latency_average_seconds",
        result_operations="pgbench_result_transactions",
        fixed_rate=("pgbench_result_rate_limit_lag_average_seconds",),
        latency_step=1e-6,
    ),
    "fio": Names(
        labels=("job", "op"),
        unit="IOPS",
        rate="fio_iops",
        latency="fio_latency_average_seconds",
        result_rate="fio_result_iops",
        result_latency="fio_result_latency_average_seconds",
        result_operations="fio_ios_total",
        fixed_rate=("fio_target_iops", "fio_target_bandwidth_bytes_per_second"),
        bandwidth="fio_bandwidth_bytes_per_second",
        result_bandwidth="fio_result_bandwidth_bytes_per_second",
        result_quantile="fio_result_latency_seconds",
    ),
}

CPU = "fio_job_cpu_ratio"
"""CPU seconds a second of a job's processes, by `mode`."""
