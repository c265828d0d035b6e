"""How long Prometheus takes to answer the live dashboard for an hour of 40 workers scraped every 500 ms.

Makes such data with `promtool tsdb create-blocks-from openmetrics`, starts a Prometheus on them, asks every query of
every panel at the resolution of the screen, one after the other, and prints the sum and the slowest. The transaction
logs' histograms of all workers would be some 28 million samples, a quarter of an hour's work to make here: by default
only 4 workers have one. The heatmap is in a collapsed row and not asked for until that is opened: it is told apart.

    .venv/bin/python tests/benchmarks/dashboard_queries.py [--workers 40] [--minutes 60] [--histograms 4] [--runs 3]
"""

import argparse
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import requests

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.dashboards.grafana import FILES, Prometheus, Target, View, load, targets

_END = 1_790_000_000
_QUANTILES = ("0.5", "0.95", "0.99", "0.999", "1")
_STATES = ("running", "stalled", "finished", "failed", "abandoned")


class Made(NamedTuple):
    """A family to make: `growth` is 0 for a gauge around `value`, else what a counter gains a second."""

    name: str
    labels: Sequence[str]
    interval: float
    value: float
    growth: float = 0.0


def families(workers: int, histograms: int) -> Iterator[Made]:
    """What the live dashboard asks for."""
    names = [f'run="density",worker="db{number}"' for number in range(workers)]
    fio = [f'run="disk",worker="fio1",job="data",op="{op}"' for op in ("read", "write")]
    live = [*names, 'run="disk",worker="fio1"']
    yield Made("pgbench_tps", names, 0.5, 1000)
    yield Made("pgbench_latency_average_seconds", names, 0.5, 0.004)
    yield Made(
        "pgbench_latency_window_seconds", [f'{name},quantile="{q}"' for name in names for q in _QUANTILES], 0.5, 0.005
    )
    yield Made("pgbench_failed_transactions_total", names, 0.5, 0, 0.01)
    yield Made("benchwatch_run_state", [f'{name},state="{state}"' for name in live for state in _STATES[1:]], 0.5, 0.0)
    yield Made("benchwatch_run_state", [f'{name},state="running"' for name in live], 0.5, -1.0)
    yield Made("benchwatch_run_last_report_timestamp_seconds", live, 0.5, _END - 3600, 1)
    yield Made("benchwatch_run_info", [f'{name},tool="pgbench",tool_version="17.2"' for name in names], 10, -1.0)
    yield Made("benchwatch_run_start_timestamp_seconds", live, 10, -(_END - 3600.0))
    yield Made("benchwatch_disk_info", ['device="sdb",role="log"', 'device="sdc",role="data"'], 10, -1.0)
    for name, value in (
        ("fio_iops", 5000),
        ("fio_bandwidth_bytes_per_second", 4e7),
        ("fio_latency_average_seconds", 3e-4),
        ("fio_target_iops", 5000),
    ):
        yield Made(name, fio, 0.5, value)
    yield Made("fio_latency_window_seconds", [f'{one},quantile="{q}"' for one in fio for q in _QUANTILES], 0.5, 0.001)
    disks = [f'instance="host:9100",job="node",device="{device}"' for device in ("sda", "sdb", "sdc")]
    for name in ("read_bytes", "written_bytes", "reads_completed", "writes_completed"):
        yield Made(f"node_disk_{name}_total", disks, 1, 0, 1000)
    for name in ("read_time", "write_time", "io_time", "io_time_weighted"):
        yield Made(f"node_disk_{name}_seconds_total", disks, 1, 0, 0.3)
    vdisks = [f'cvm="cvm1",vdisk="{40000 + number}"' for number in range(2 * workers)]
    both = [f'{name},op="{op}"' for name in vdisks for op in ("read", "write")]
    yield Made("nutanix_cvm_up", ['cvm="cvm1"'], 10, -1.0)
    yield Made("nutanix_vdisk_info", [f'{name},role="data"' for name in vdisks], 10, -1.0)
    yield Made("nutanix_vdisk_frontend_latency_seconds", both, 10, 0.001)
    yield Made("nutanix_vdisk_random_ratio", both, 10, 0.9)
    yield Made("nutanix_vdisk_write_destination_ratio", [f'{name},destination="oplog"' for name in vdisks], 10, 1)
    edges = [j * 2.0**k for k in range(-20, 4) for j in (1, 1.25, 1.5, 1.75)]
    yield Made(
        "pgbench_latency_seconds_bucket",
        [f'{name},script="0",le="{edge:.9f}"' for name in names[:histograms] for edge in edges],
        0.5,
        0,
        300,
    )


def write(output: TextIO, family: Made, minutes: int) -> int:
    """Writes a family in OpenMetrics; how many samples."""
    name, labels, interval, value, growth = family
    steps = round(minutes * 60 / interval)
    start = _END - minutes * 60
    times = [f" {start + step * interval:.1f}\n" for step in range(1, steps + 1)]
    noise = random.Random(name)
    for one in labels:
        prefix = f"{name}{{{one}}} "
        if growth:
            total, numbers = float(value), []
            for _ in range(steps):
                total += growth * interval * noise.uniform(0.5, 1.5)
                numbers.append(f"{total:.3f}")
        elif value <= 0:
            numbers = [f"{-value:.3f}"] * steps
        else:
            cycle = [f"{value * noise.lognormvariate(0, 0.2):.6g}" for _ in range(997)]
            numbers = [cycle[step % 997] for step in range(steps)]
        output.write("".join([f"{prefix}{number}{moment}" for number, moment in zip(numbers, times, strict=True)]))
    return steps * len(labels)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    for name, default in (("workers", 40), ("minutes", 60), ("histograms", 4), ("runs", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        samples = 0
        with (Path(folder) / "series.txt").open("w") as output:
            types: set[str] = set()
            for family in families(options.workers, options.histograms):
                kind = "counter" if family.name.endswith("_total") else "gauge"
                if family.name not in types:
                    output.write(f"# TYPE {family.name.removesuffix('_total')} {kind}\n")
                types.add(family.name)
                samples += write(output, family, options.minutes)
            output.write("# EOF\n")
        print(f"{samples / 1e6:.1f} million samples, {options.minutes} min, {options.workers} workers", flush=True)
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", output.name, str(data)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        Path(output.name).unlink()
        _measure(data, options.minutes, options.runs)


def _measure(data: Path, minutes: int, runs: int) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    config = data.parent / "prometheus.yml"
    config.write_text("{}\n")
    storage = [f"--storage.tsdb.path={data}", "--storage.tsdb.retention.time=100y"]
    server = subprocess.Popen(
        ["prometheus", f"--config.file={config}", *storage, f"--web.listen-address={address}"],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://{address}/-/ready")
        dashboard = load(next(path for path in FILES if path.stem == "live"))
        view = View(Prometheus(f"http://{address}"), _END - minutes * 60, _END)
        values = view.values(dashboard, {})
        rows = [panel for panel in dashboard["panels"] if panel["type"] == "row"]
        collapsed = {panel["title"] for row in rows for panel in row["panels"]}
        everything = list(targets(dashboard))
        opened = [target for target in everything if target.panel in collapsed]
        shown = [target for target in everything if target.panel not in collapsed]
        for title, asked in (("shown at first", shown), ("in collapsed rows", opened)):
            used = _cpu_seconds(server.pid)
            figures, empty = _ask(view, values, asked, runs)
            used = (_cpu_seconds(server.pid) - used) / runs
            print(f"{title}: {len(asked)} queries, one after the other {1000 * sum(figures.values()):.0f} ms,", end=" ")
            print(f"processor time of Prometheus {1000 * used:.0f} ms; the slowest:")
            for target in sorted(figures, key=lambda one: -figures[one])[:10]:
                print(f"  {1000 * figures[target]:6.1f} ms  {target.panel}")
            print(f"  nothing found by: {', '.join(sorted(empty)) or 'none'}")
    finally:
        server.terminate()
        server.wait()


def _ask(
    view: View, values: Mapping[str, str], asked: Sequence[Target], runs: int
) -> tuple[dict[Target, float], set[str]]:
    """The shortest time of each query in seconds, and the panels of those that found nothing."""
    times: dict[Target, float] = {}
    empty = set()
    for _ in range(runs):
        for target in asked:
            request = view.request(target, values)
            begin = time.perf_counter()
            body = view.prometheus.answer(*request)
            times[target] = min(times.get(target, math.inf), time.perf_counter() - begin)
            if b'"result":[]' in body:
                empty.add(target.panel)
    return times, empty


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        for _ in range(300):
            try:
                if session.get(url, timeout=5).ok:
                    return
            except requests.ConnectionError:
                pass
            time.sleep(0.1)
    raise SystemExit("Prometheus did not get ready within 30 s")


if __name__ == "__main__":
    main()
