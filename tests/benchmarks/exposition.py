"""How long one page takes: ours, with every number changed and with none, beside prometheus_client's, in one run.

    python tests/benchmarks/exposition.py

Sources are workers with 25 gauges and one histogram of 97 buckets each, then CVMs with 25 gauges for each of 400
vdisks. Printed are medians in milliseconds and the ratio of prometheus_client's time to ours, pair by pair.
"""

import gzip
import statistics
import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition, Family, HistogramValue, Sample

GAUGES = [Family(f"bench_value_{n}_seconds", "gauge", "A value, seconds.", ("op",)) for n in range(25)]
LATENCY = Family("bench_latency_seconds", "histogram", "Latency, seconds.", ("op",))
BOUNDS = Buckets().bounds
PAIRS = 9


class Worker:
    def __init__(self, number: int, disks: int) -> None:
        self.disks = [str(disk) for disk in range(disks)]
        self.labels = (("run", "benchmark-2026"), ("worker", f"db{number}"))
        self.version = 0

    def samples(self) -> Iterator[Sample]:
        change = self.version + 0.123456789
        for number, family in enumerate(GAUGES):
            for disk in self.disks or ["read"]:
                yield Sample(family, (disk,), number * change)
        if self.disks:
            return
        counts = range(1000 * self.version, 1000 * self.version + len(BOUNDS))
        yield Sample(LATENCY, ("read",), HistogramValue(BOUNDS, counts, change))


class Collector:
    """The same numbers for prometheus_client."""

    def __init__(self, workers: list[Worker]) -> None:
        self.workers = workers

    def collect(self) -> Iterator[Metric]:
        names = ["run", "worker", "op"]
        gauges = {family: GaugeMetricFamily(family.name, family.help, labels=names) for family in GAUGES}
        histogram = HistogramMetricFamily(LATENCY.name, LATENCY.help, labels=names)
        for worker in self.workers:
            values = [value for _, value in worker.labels]
            for sample in worker.samples():
                labels = [*values, *sample.labels]
                if isinstance(sample.value, HistogramValue):
                    buckets = list(zip(BOUNDS, sample.value.counts, strict=True))
                    histogram.add_metric(labels, buckets, sample.value.sum)
                else:
                    gauges[sample.family].add_metric(labels, sample.value)
        yield from gauges.values()
        yield histogram


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def measure(series: int, disks: int) -> None:
    each = len(GAUGES) * disks or len(GAUGES) + len(BOUNDS) + 2
    workers = [Worker(number, disks) for number in range(series // each)]
    exposition = Exposition()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(workers))  # type: ignore[arg-type]
    page = exposition.render(workers)
    changed, unchanged, packed, theirs = [], [], [], []
    for _ in range(PAIRS):
        for worker in workers:
            worker.version += 1
        changed.append(timed(lambda: exposition.render(workers).encode()))
        unchanged.append(timed(lambda: exposition.render(workers).encode()))
        packed.append(timed(lambda: gzip.compress(page.encode(), 1)))
        theirs.append(timed(lambda: generate_latest(registry)))
    ratio = statistics.median(other / ours for other, ours in zip(theirs, changed, strict=True))
    kind = "CVMs   " if disks else "workers"
    print(
        f"{len(workers) * each:>7} series, {kind}: all changed {statistics.median(changed):6.1f} ms,"
        f" none changed {statistics.median(unchanged):5.1f} ms, gzip -1 {statistics.median(packed):5.1f} ms,"
        f" prometheus_client {statistics.median(theirs):6.1f} ms; theirs / ours {ratio:.1f}"
    )


if __name__ == "__main__":
    for count in (10_000, 100_000):
        for vdisks in (0, 400):
            measure(count, vdisks)
