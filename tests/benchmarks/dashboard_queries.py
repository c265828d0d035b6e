"""How long Prometheus takes to answer the live dashboard for an hour of 40 workers scraped every 500 ms.

Makes such data with `promtool tsdb create-blocks-from openmetrics`, starts a Prometheus on them, asks every query of
every panel at the resolution of the screen, one after the other, and prints the sum and the slowest. Reports come once
a second, so every second scrape of them brings nothing new. What is in collapsed rows is told apart. The buckets of all
workers would be some 20 million samples, a quarter of an hour's work to make here: by default there is only what the
rules record of them, and with --histograms those of a few workers too.

    .venv/bin/python tests/benchmarks/dashboard_queries.py [--workers 40] [--minutes 60] [--histograms 0] [--runs 5]
        [--prometheus PROGRAM] [FILE ...]

Several dashboards are asked in turns on the same data: the live one of another revision beside the present one, say.
"""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, repeat
from pathlib import Path
from typing import NamedTuple, TextIO

import requests

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.grafana import FILES, Prometheus, Target, Value, View, load, targets
from tests.support.ports import free_address

from benchwatch.metrics.buckets import Buckets
from benchwatch.why.window import STAGES

_END = 1_790_000_000
_QUANTILES = ("0.5", "0.95", "0.99", "0.999", "1")
_LATENCY = statistics.NormalDist(math.log(0.004), 0.5)
"""Of the logarithm of a transaction's latency in seconds."""
_STATES = ("running", "stalled", "finished", "failed", "interrupted", "abandoned")


class Made(NamedTuple):
    """A family to make, a sample each `interval` seconds and a new value each `report` seconds at most.

    `growth` is 0 for a gauge around `value`, else what a counter gains a second; `decimals` is how many a value has.
    """

    name: str
    labels: Sequence[str]
    interval: float
    value: float
    growth: float = 0.0
    decimals: int = 6
    report: float = 1.0


def families(workers: int, histograms: int) -> Iterator[Made]:
    """What the live dashboard asks for."""
    names = [f'run="density",worker="db{number}"' for number in range(workers)]
    fio = [f'run="disk",worker="fio1",job="data",op="{op}"' for op in ("read", "write")]
    live = [*names, 'run="disk",worker="fio1"']
    yield Made("pgbench_tps", names, 0.5, 1000, decimals=1)
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
    yield Made("benchwatch_run_report_interval_seconds", live, 10, -1.0)
    roles = ('device="sdb",role="log"', 'device="sdc",role="data"')
    yield Made("benchwatch_run_disk_info", [f'{name},host="host",{role}' for name in live for role in roles], 10, -1.0)
    for role in ("server", "client"):
        yield Made("benchwatch_run_host_info", [f'{name},host="host",role="{role}"' for name in live], 10, -1.0)
    vms = [f'{name},host="host",vm="vm{number}"' for number, name in enumerate(names)]
    yield Made("benchwatch_run_vm_info", vms, 10, -1.0)
    for name, value in (
        ("fio_iops", 5000),
        ("fio_bandwidth_bytes_per_second", 4e7),
        ("fio_latency_average_seconds", 3e-4),
        ("fio_target_iops", -5000),
    ):
        yield Made(name, fio, 0.5, value, decimals=9)
    yield Made("fio_latency_window_seconds", [f'{one},quantile="{q}"' for one in fio for q in _QUANTILES], 0.5, 0.001)
    node = 'instance="host:9100",job="node",host="host"'
    disks = [f'{node},device="{device}"' for device in ("sda", "sdb", "sdc")]
    yield Made("node_disk_io_now", disks, 1, 3)
    for name in ("read_bytes", "written_bytes", "reads_completed", "writes_completed", "reads_merged", "writes_merged"):
        yield Made(f"node_disk_{name}_total", disks, 1, 0, 1000)
    for name in ("read_time", "write_time", "io_time", "io_time_weighted"):
        yield Made(f"node_disk_{name}_seconds_total", disks, 1, 0, 0.3)
    modes = ("idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user")
    processors = [f'{node},cpu="{cpu}",mode="{mode}"' for cpu in range(16) for mode in modes]
    yield Made("node_cpu_seconds_total", processors, 1, 0, 0.125)
    waiting = ("cpu", "io", "memory")
    for name in (f"node_pressure_{one}_waiting_seconds_total" for one in waiting):
        yield Made(name, [node], 1, 0, 0.1)
    for name in ("node_memory_Dirty_bytes", "node_memory_Writeback_bytes"):
        yield Made(name, [node], 1, 1e8, decimals=0)
    for name in ("receive_bytes", "transmit_bytes", "receive_drop", "transmit_drop"):
        yield Made(f"node_network_{name}_total", [f'{node},device="eth0"'], 1, 0, 1e6, decimals=0)
    yield from _database()
    vdisks = [f'cvm="cvm1",vdisk="{40000 + number}"' for number in range(2 * workers)]
    both = [f'{name},op="{op}"' for name in vdisks for op in ("read", "write")]
    yield Made("nutanix_cvm_up", ['cvm="cvm1"'], 10, -1.0)
    entries = [f'vm="vm{place // 2}",disk="scsi.1",role="{("log", "data")[place % 2]}"' for place in range(2 * workers)]
    known = [f"{name},{entry}" for name, entry in zip(vdisks, entries, strict=True)]
    yield Made("nutanix_vdisk_info", known, 10, -1.0)
    yield from _slowness()
    yield Made("nutanix_oplog_utilisation_ratio", ['cvm="cvm1",store="oplog"'], 10, 0.3)
    queues = [f'cvm="cvm1",queue="{queue}",state="{state}"' for queue in ("qos", "oplog_qos") for state in _QUEUED]
    yield Made("nutanix_stargate_queue_operations", queues, 10, 5)
    sources = [f'{name},source="{source}"' for name in vdisks for source in ("oplog", "estore_ssd", "estore_hdd")]
    yield Made("nutanix_vdisk_read_source_ratio", sources, 10, 0.3, decimals=2)
    yield Made("nutanix_vdisk_frontend_latency_seconds", both, 10, 0.001)
    yield Made("nutanix_vdisk_random_ratio", both, 10, 0.9, decimals=2)
    oplog = [f'{name},destination="oplog"' for name in vdisks]
    yield Made("nutanix_vdisk_write_destination_ratio", oplog, 10, 0.9, decimals=2)
    bounds = Buckets().bounds
    buckets = [f'{name},script="0",le="{bound}"' for name in names[:histograms] for bound in bounds]
    yield Made("pgbench_latency_seconds_bucket", buckets, 0.5, 0, 300, decimals=0)
    yield Made("run:pgbench_tps:mean1s", ['run="density"'], 1, 1000 * workers, decimals=12)
    windows = [f'run="density",quantile="{q}"' for q in _QUANTILES]
    yield Made("run:pgbench_latency_window_seconds:max1s", windows, 1, 0.005)
    yield Made("run:fio_iops:mean1s", [f'run="disk",op="{op}"' for op in ("read", "write")], 1, 5000)
    yield Made("run:fio_under_way:mean1s", [f'run="disk",op="{op}"' for op in ("read", "write")], 1, 2)
    yield Made("run:pgbench_under_way:mean1s", ['run="density"'], 1, 4 * workers, decimals=12)
    for bound in bounds:
        if "e-0" not in bound:
            rate = 300 * workers * _LATENCY.cdf(math.log(float(bound)))
            yield Made(
                "run:pgbench_latency_seconds_bucket:rate5s", [f'run="density",le="{bound}"'], 1, rate, decimals=12
            )


def _database() -> Iterator[Made]:
    """What postgres_exporter says of one database."""
    server = 'instance="host:9187",job="postgres",host="host",server="host:5432"'
    types = ("BufferPin", "Client", "CPU", "Extension", "IO", "IPC", "Lock", "LWLock", "Timeout")
    yield Made("pg_sessions_active", [f'{server},wait_event_type="{one}"' for one in types], 1, 5)
    yield Made("pg_locks_waiting", [server], 1, 2)
    yield Made("pg_locks_longest_wait_seconds", [server], 1, 2)
    yield Made("pg_checkpoint_active", [server], 1, -1.0)
    yield Made("pg_wal_bytes_total", [server], 1, 0, 1e7)
    yield Made(
        "pg_buffers_written_bytes_total", [f'{server},by="{one}"' for one in ("checkpointer", "others")], 1, 0, 1e6
    )


def _slowness() -> Iterator[Made]:
    """What rules record and `benchwatch why` exports of a slow run."""
    where = 'run="density",host="host"'
    yield Made("run:benchmark_slowness:ratio", [where], 1, 1)
    yield Made("run:benchmark_slow:info", [where], 1, -1.0)
    yield Made("benchwatch_run_why_info", [f'{where},layer="log_device",text="It is slow."'], 1, -1.0)
    stages = [f'run="density",stage="{stage}",when="{when}"' for stage in STAGES for when in ("usual", "now")]
    yield Made("benchwatch_run_why_seconds", stages, 1, 0.001)


_QUEUED = ("queued", "admitted")


def write(output: TextIO, family: Made, minutes: int) -> int:
    """Writes a family in OpenMetrics; how many samples."""
    steps = round(minutes * 60 / family.interval)
    start = _END - minutes * 60
    times = [f" {start + step * family.interval:.1f}\n" for step in range(1, steps + 1)]
    scrapes = max(1, round(family.report / family.interval))
    noise = random.Random(family.name)
    for one in family.labels:
        prefix = f"{family.name}{{{one}}} "
        reports = -(-steps // scrapes)
        if family.growth:
            gained = (family.growth * family.interval * scrapes * noise.uniform(0.5, 1.5) for _ in range(reports))
            values: Iterable[float] = accumulate(gained, initial=family.value)
        elif family.value <= 0:
            values = repeat(abs(family.value))
        else:
            cycle = [family.value * noise.lognormvariate(0, 0.2) for _ in range(997)]
            values = islice(chain.from_iterable(repeat(cycle)), reports)
        texts = chain.from_iterable(repeat(f"{value:.{family.decimals}f}", scrapes) for value in values)
        output.write("".join([f"{prefix}{text}{moment}" for moment, text in zip(times, texts, strict=False)]))
    return steps * len(family.labels)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    for name, default in (("workers", 40), ("minutes", 60), ("histograms", 0), ("runs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--prometheus", default="prometheus")
    parser.add_argument("dashboards", nargs="*", type=Path, default=[path for path in FILES if path.stem == "live"])
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
        _measure(options.prometheus, data, options.minutes, options.runs, options.dashboards)


def _measure(program: str, data: Path, minutes: int, runs: int, files: Sequence[Path]) -> None:
    address = free_address()
    config = data.parent / "prometheus.yml"
    config.write_text("{}\n")
    storage = [f"--storage.tsdb.path={data}", "--storage.tsdb.retention.time=100y"]
    server = subprocess.Popen(
        [program, f"--config.file={config}", *storage, f"--web.listen-address={address}"],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://{address}/-/ready")
        view = View(Prometheus(f"http://{address}"), _END - minutes * 60, _END)
        parts = [(f"{path}, {rows}", *_chosen(view, path, rows)) for path in files for rows in (SHOWN, COLLAPSED)]
        rounds: dict[str, list[Round]] = {title: [] for title, _, _ in parts}
        with requests.Session() as session:
            session.trust_env = False
            for _ in range(runs):
                for title, asked, values in parts:
                    used = _cpu_seconds(server.pid)
                    times, empty = _ask(session, view, asked, values)
                    rounds[title].append(Round(times, _cpu_seconds(server.pid) - used, empty))
        for title, asked, _ in parts:
            if asked:
                _show(title, asked, rounds[title])
    finally:
        server.terminate()
        server.wait()


SHOWN, COLLAPSED = "shown at first", "in collapsed rows"


class Round(NamedTuple):
    """All queries once: seconds of each, processor seconds of Prometheus, panels of queries that found nothing."""

    times: dict[Target, float]
    processor: float
    empty: set[str]


def _chosen(view: View, path: Path, rows: str) -> tuple[Sequence[Target], Mapping[str, Value]]:
    dashboard = load(path)
    folded = {panel["title"] for row in dashboard["panels"] for panel in row.get("panels", ())}
    asked = [target for target in targets(dashboard) if (target.panel in folded) == (rows == COLLAPSED)]
    return asked, view.values(dashboard, {})


def _ask(
    session: requests.Session, view: View, asked: Sequence[Target], values: Mapping[str, Value]
) -> tuple[dict[Target, float], set[str]]:
    times = {}
    empty = set()
    for target in asked:
        path, parameters = view.request(target, values)
        begin = time.perf_counter()
        answer = session.post(f"{view.prometheus.url}/api/v1/{path}", data=parameters, timeout=60)
        times[target] = time.perf_counter() - begin
        answer.raise_for_status()
        if b'"result":[]' in answer.content:
            empty.add(target.panel)
    return times, empty


def _show(title: str, asked: Sequence[Target], rounds: Sequence[Round]) -> None:
    sums = [1000 * sum(one.times.values()) for one in rounds]
    shortest = {target: 1000 * min(one.times[target] for one in rounds) for target in asked}
    processor = 1000 * statistics.mean(one.processor for one in rounds)
    print(f"{title}: {len(asked)} queries one after the other, {len(rounds)} times: median", end=" ")
    print(f"{statistics.median(sums):.0f} ms, lowest {min(sums):.0f} ms, sum of each one's shortest", end=" ")
    print(f"{sum(shortest.values()):.0f} ms; processor time of Prometheus {processor:.0f} ms; the slowest:")
    for target in sorted(asked, key=lambda one: -shortest[one])[:10]:
        print(f"  {shortest[target]:6.1f} ms  {target.panel}")
    print(f"  nothing found by: {', '.join(sorted(rounds[0].empty)) or 'none'}")


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
