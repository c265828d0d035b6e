"""How long Prometheus takes to evaluate each group of rules, as a part of its interval: 40 workers and 80 vdisks.

    .venv/bin/python tests/benchmarks/rules.py [--workers 40] [--hosts 1] [--runs 1] [--minutes 7] [--longest 15]
        [--prometheus PROGRAM]

Serves what an exporter, a CVM of two vdisks a worker, node_exporter (16 processors, 6 disks) and postgres_exporter of
so many machines would, and has a real Prometheus scrape it by prometheus.yml's intervals. Windows of rules are full
after 5 min (10 for a CVM's figures).
"""

import argparse
import math
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from tests.support.programs import FOLDER
from tests.support.servers import start_prometheus

from demo_processes import Processes


class Machines:
    """Their pages: gauges that move a little, counters that grow."""

    def __init__(self, workers: int, hosts: int, runs: int) -> None:
        self.workers, self.hosts, self.runs, self.began = workers, hosts, runs, time.time()

    def page(self, path: str) -> str:
        lines = {"/live": self._live, "/runs": self._runs, "/cvm": self._cvm, "/node": self._node, "/pg": self._pg}
        return "".join(f"{line}\n" for line in lines[path]())

    def _near(self, value: float) -> float:
        return value * (1 + 0.1 * math.sin(time.time() * 3 + value * 1e4))

    def _grown(self, rate: float) -> float:
        return rate * (time.time() - self.began)

    def _names(self) -> Iterator[tuple[str, str, int]]:
        for number in range(self.workers):
            yield f'run="density{number % self.runs}",worker="db{number}"', f"h{number % self.hosts}", number

    def _live(self) -> Iterator[str]:
        for name, _, number in self._names():
            for state in ("running", "stalled", "finished", "failed", "interrupted", "abandoned"):
                yield f'benchwatch_run_state{{{name},state="{state}"}} {int(state == "running")}'
            yield f"pgbench_tps{{{name}}} {self._near(1000 + number)}"
            yield f"pgbench_latency_average_seconds{{{name}}} {self._near(0.01 + number / 1e5)}"
            for bound in range(70):
                bucket = f'{name},script="0",le="{(bound + 1) / 1000}"'
                yield f"pgbench_latency_seconds_bucket{{{bucket}}} {self._grown(bound)}"

    def _runs(self) -> Iterator[str]:
        for name, host, _ in self._names():
            yield f"benchwatch_run_start_timestamp_seconds{{{name}}} {self.began - 600}"
            yield f'benchwatch_run_host_info{{{name},host="{host}",role="server"}} 1'
            yield f'benchwatch_run_vm_info{{{name},host="{host}",vm="{host}"}} 1'
            for device, role in (("sdb", "log"), ("sdc", "data")):
                yield f'benchwatch_run_disk_info{{{name},host="{host}",device="{device}",role="{role}"}} 1'

    def _cvm(self) -> Iterator[str]:
        yield 'nutanix_cvm_up{cvm="cvm1"} 1'
        yield f'nutanix_cvm_last_success_timestamp_seconds{{cvm="cvm1"}} {time.time() - 2}'
        yield 'nutanix_stargate_queue_operations{cvm="cvm1",queue="qos",state="queued"} 0'
        for _, host, number in self._names():
            for vdisk, role in ((40_000 + number, "log"), (50_000 + number, "data")):
                one = f'cvm="cvm1",vdisk="{vdisk}"'
                yield f'nutanix_vdisk_info{{{one},vm="{host}",disk="scsi{vdisk}",role="{role}"}} 1'
                yield f"nutanix_vdisk_backend_latency_seconds{{{one}}} {self._near(0.002)}"
                yield f"nutanix_vdisk_oplog_bytes{{{one}}} {self._near(1e8)}"
                yield f'nutanix_vdisk_write_destination_ratio{{{one},destination="oplog"}} 1'
                yield f'nutanix_vdisk_read_source_ratio{{{one},source="estore_ssd"}} 1'
                for op in ("read", "write"):
                    yield f'nutanix_vdisk_frontend_latency_seconds{{{one},op="{op}"}} {self._near(0.001)}'
                    yield f'nutanix_vdisk_frontend_ops_per_second{{{one},op="{op}"}} 500'
                    yield f'nutanix_vdisk_random_ratio{{{one},op="{op}"}} 0.9'

    def _node(self) -> Iterator[str]:
        for number in range(self.hosts):
            host = f'host="h{number}"'
            for cpu in range(16):
                for mode in ("idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user"):
                    yield f'node_cpu_seconds_total{{{host},cpu="{cpu}",mode="{mode}"}} {self._grown(1 / 8)}'
            for name in ("pressure_cpu_waiting_seconds_total", "pressure_memory_waiting_seconds_total"):
                yield f"node_{name}{{{host}}} {self._grown(0.05)}"
            for name in ("procs_running", "memory_Dirty_bytes", "memory_Writeback_bytes"):
                yield f"node_{name}{{{host}}} {self._near(4)}"
            for name in ("vmstat_pswpin", "vmstat_pswpout", "netstat_Tcp_RetransSegs"):
                yield f"node_{name}{{{host}}} {self._grown(1)}"
            for device in ("sda", "sdb", "sdc", "sdd", "sde", "sdf"):
                one = f'{host},device="{device}"'
                yield f"node_disk_io_now{{{one}}} 1"
                for op, done in (("read", "reads"), ("write", "writes")):
                    yield f"node_disk_{done}_completed_total{{{one}}} {self._grown(500)}"
                    yield f"node_disk_{op}_time_seconds_total{{{one}}} {self._grown(0.5)}"

    def _pg(self) -> Iterator[str]:
        for number in range(self.hosts):
            host = f'host="h{number}"'
            yield f"pg_up{{{host}}} 1"
            yield f"pg_checkpoint_active{{{host}}} 0"
            yield f"pg_locks_waiting{{{host}}} 0"
            yield f'pg_buffers_written_bytes_total{{{host},by="checkpointer"}} {self._grown(1000)}'
            for kind in ("BufferPin", "Client", "CPU", "Extension", "IO", "IPC", "Lock", "LWLock", "Timeout"):
                yield f'pg_sessions_active{{{host},wait_event_type="{kind}"}} {self._near(3)}'


def serve(machines: Machines) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = machines.page(urlsplit(self.path).path).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            with suppress(BrokenPipeError):  # a scrape that timed out
                self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


JOBS = (
    ("benchwatch-live", "/live", "500ms"),
    ("benchwatch-runs", "/runs", "10s"),
    ("benchwatch-nutanix", "/cvm", "10s"),
    ("node", "/node", "1s"),
    ("postgres", "/pg", "1s"),
)
"""Name, page and interval."""


def scrape_configs(port: int, jobs: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Scrapes of these pages of a local server."""
    return [
        {"job_name": name, "metrics_path": path, "scrape_interval": often, "scrape_timeout": often}
        | {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}], "honor_labels": True}
        for name, path, often in jobs
    ]


def main() -> None:
    """Prints the shortest, median and longest evaluation of each group in the last minute, and the costliest rules."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--workers", type=int, default=40)
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--longest", type=int, default=15, help="rules of a second that are listed")
    parser.add_argument("--prometheus", default="prometheus")
    options = parser.parse_args()
    server = serve(Machines(options.workers, options.hosts, options.runs))
    scrapes = scrape_configs(server.server_port, JOBS)
    config = {"rule_files": [f"{FOLDER}/rules/*.yml"], "scrape_configs": scrapes}
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder), {})
        try:
            prometheus = start_prometheus(processes, Path(folder), config, binary=options.prometheus)
            time.sleep(60 * options.minutes - 60)
            seen: dict[str, list[float]] = defaultdict(list)
            rules: dict[tuple[str, int, str], list[float]] = defaultdict(list)
            intervals: dict[str, float] = {}
            until = time.monotonic() + 60
            while time.monotonic() < until:
                answer = requests.get(f"{prometheus.url}/api/v1/rules", timeout=60).json()
                for group in answer["data"]["groups"]:
                    seen[group["name"]].append(group["evaluationTime"])
                    intervals[group["name"]] = group["interval"]
                    for number, rule in enumerate(group["rules"]):
                        rules[group["name"], number, rule["name"]].append(rule["evaluationTime"])
                        if rule["health"] == "err":
                            print(group["name"], rule["name"], rule["lastError"])
                time.sleep(1)
        finally:
            processes.stop_all()
    for name, times in seen.items():
        low, median, high = min(times), sorted(times)[len(times) // 2], max(times)
        part = f"{median / intervals[name]:.1%} of {intervals[name]:g} s"
        print(f"{name:<20}{1e3 * low:8.1f}{1e3 * median:8.1f}{1e3 * high:8.1f} ms, {part}")
    print("The rules that take longest, in each group of 1 s:")
    longest = sorted(((sorted(times)[len(times) // 2], *rule) for rule, times in rules.items()), reverse=True)
    for median, group, number, name in [one for one in longest if intervals[one[1]] == 1][: options.longest]:
        print(f"{1e3 * median:8.1f} ms  {group}, {number}: {name}")


if __name__ == "__main__":
    main()
