"""How long one page takes beside others' clients, in one run: with every number changed and with none.

    python tests/benchmarks/exposition.py

Sources are workers with 25 gauges and one histogram of 97 buckets each, beside Python's prometheus_client; then CVMs
with 34 gauges for each of 400 vdisks, beside Go's client_golang (client_golang/, built with `go`), which sets each
gauge, gathers and encodes. Printed are medians of processor time in milliseconds, and of the ratio of our time to
theirs, pair by pair; Go runs on one processor.
"""

import gzip
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from beside import as_the_command
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Family, HistogramValue, Sample
from benchwatch.nutanix.cvm_snapshot import CvmSource, Snapshot, Status
from benchwatch.nutanix.pages.columns import VdiskColumn
from benchwatch.nutanix.pages.main_page import FRONTEND_COLUMNS, HOSTED_COLUMNS, MainPage, VdiskRow, VdiskTable

GAUGES = [Family(f"bench_value_{n}_seconds", "gauge", "A value, seconds.", ("op",)) for n in range(25)]
LATENCY = Family("bench_latency_seconds", "histogram", "Latency, seconds.", ("op",))
BOUNDS = Buckets().bounds
PAIRS = 9
VDISKS = 400


class Worker:
    """A worker of which every number changes with its version."""

    def __init__(self, number: int) -> None:
        self.labels = (("run", "benchmark-2026"), ("worker", f"db{number}"))
        self.version = 0

    def samples(self) -> Iterator[Sample]:
        change = self.version + 0.123456789
        for number, family in enumerate(GAUGES):
            yield Sample(family, ("read",), number * change)
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


def snapshot(version: int) -> Snapshot:
    """What the pages of a CVM say, each number another one in each version."""
    change = version + 0.123456789
    rows = tuple(VdiskRow(str(50_000 + disk), f"NFS:{50_000 + disk}", ()) for disk in range(VDISKS))

    def table(columns: set[VdiskColumn]) -> VdiskTable:
        numbers = {
            (column.family, column.labels): [disk * change + place for disk in range(VDISKS)]
            for place, column in enumerate(columns)
        }
        return VdiskTable(rows, numbers)

    frontend, hosted = table(set(FRONTEND_COLUMNS.values())), table(set(HOSTED_COLUMNS.values()))
    labels = [row.label for row in rows]
    return Snapshot(version, MainPage(frontend=frontend, hosted=hosted, frontend_labels=labels))


def timed(call: Callable[[], object]) -> float:
    """Processor time of one call, milliseconds."""
    started = time.process_time()
    call()
    return (time.process_time() - started) * 1000


def told(title: str, size: int, times: dict[str, list[float]], theirs: str) -> None:
    """Print the medians, and that of the ratio to theirs."""
    medians = ", ".join(f"{name} {statistics.median(found):.1f} ms" for name, found in times.items())
    ratio = statistics.median(ours / other for ours, other in zip(times["all changed"], times[theirs], strict=True))
    print(f"{title}: {size / 1e6:.1f} MB, {medians}; ours / {theirs} {ratio:.2f}", flush=True)


def of_workers(series: int) -> None:
    each = len(GAUGES) + len(BOUNDS) + 2
    workers = [Worker(number) for number in range(series // each)]
    exposition = Exposition()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(workers))  # type: ignore[arg-type]
    page = exposition.render(workers).encode()
    times: dict[str, list[float]] = {name: [] for name in ("all changed", "none changed", "gzip -1")}
    times["prometheus_client"] = []
    for _ in range(PAIRS):
        for worker in workers:
            worker.version += 1
        times["all changed"].append(timed(lambda: exposition.render(workers).encode()))
        times["none changed"].append(timed(lambda: exposition.render(workers).encode()))
        times["gzip -1"].append(timed(lambda: gzip.compress(page, 1)))
        times["prometheus_client"].append(timed(lambda: generate_latest(registry)))
    told(f"{len(workers) * each} series of workers", len(page), times, "prometheus_client")


class GoClient:
    """The same number of gauges in client_golang."""

    def __init__(self, program: Path, cvms: int, families: int) -> None:
        command = [str(program), str(cvms), str(VDISKS), str(families)]
        environment = os.environ | {"GOMAXPROCS": "1"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def render(self) -> tuple[float, int]:
        """Processor time, milliseconds, and the size of the page."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        nanoseconds, size = map(int, self._process.stdout.readline().split())
        return nanoseconds / 1e6, size

    def stop(self) -> None:
        self._process.communicate()


def of_vdisks(series: int, program: Path) -> None:
    families = len(set(FRONTEND_COLUMNS.values())) + len(set(HOSTED_COLUMNS.values()))
    cvms = [CvmSource(f"cvm{number}", {}) for number in range(round(series / families / VDISKS) or 1)]
    exposition, theirs = Exposition(), GoClient(program, len(cvms), families)
    times: dict[str, list[float]] = {name: [] for name in ("all changed", "none changed", "client_golang")}
    for version in range(1, PAIRS + 3):
        now = snapshot(version)
        for cvm in cvms:
            cvm.status = Status(True, version, now)
        times["all changed"].append(timed(lambda: exposition.render(cvms).encode()))
        times["none changed"].append(timed(lambda: exposition.render(cvms).encode()))
        milliseconds, size = theirs.render()
        times["client_golang"].append(milliseconds)
    theirs.stop()
    settled = {name: found[2:] for name, found in times.items()}  # the first ones make the labels
    told(f"{len(cvms) * families * VDISKS} gauges of vdisks", size, settled, "client_golang")


def main() -> None:
    as_the_command()
    counts = (10_000, 100_000)
    for count in counts:
        of_workers(count)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "client_golang"
        subprocess.run(["go", "build", "-o", program], cwd=Path(__file__).parent / "client_golang", check=True)
        for count in counts:
            of_vdisks(count, program)


if __name__ == "__main__":
    main()
