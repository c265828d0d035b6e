"""What many machines cost one receiver, a row a measurement: their samples, their agent, and the receiver.

One machine is real: pgbench at 100 transactions a second with its log, the exporter, node_exporter, a simulated CVM.
vmagent is the load: it scrapes that machine once for each machine that is asked for, each under its own name, at the
intervals of prometheus/prometheus.yml, and writes to an empty receiver. (A cache in front of the real machine answers,
so that it serves each page once.)
"""

import argparse
import asyncio
import os
import re
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests
import yaml

from benchwatch.values.durations import Duration
from demo_postgres import Postgres
from demo_processes import Processes
from tests.lab import RULES, shipped
from tests.lab.judging import table
from tests.support.ports import free_address, free_port
from tests.support.programs import program
from tests.support.servers import Exporter, start_prometheus

_BENCHWATCH = (sys.executable, "-m", "benchwatch")
_CVM_SHARE = 10
"""Machines of a CVM."""
_WARM = 15
"""Seconds before a measurement, in which the receiver registers the series."""
_HEADER = ["receiver", "machines", "series", "samples/s", "bytes/s sent", "CPU of the agent", "CPU of the receiver"]
_HEADER += ["its memory, MB", "bytes stored per sample", "MB that wait in the agent"]
_FEW = ("cpu", "diskstats", "filesystem", "loadavg", "meminfo", "netdev", "netstat", "pressure", "stat", "vmstat")


class Machine:
    """The real machine."""

    def __init__(self, processes: Processes, folder: Path, options: argparse.Namespace) -> None:
        cvm, self._node = free_address(), free_address()
        processes.start("cvm", [*_BENCHWATCH, "nutanix", "simulate", "--listen", cvm])
        few = [f"--collector.{name}" for name in ("disable-defaults", *_FEW)] if options.few_collectors else []
        node = [program("prometheus-node-exporter", "node_exporter"), *few]
        processes.start("node_exporter", [*node, f"--web.listen-address={self._node}"])
        config = folder / "benchwatch.yaml"
        buckets = {"buckets_per_octave": options.buckets_per_octave}
        cvms = {"cvms": [{"name": "cvm", "url": f"http://{cvm}"}]}
        config.write_text(yaml.safe_dump({"nutanix": cvms, "histogram": buckets}))
        runs = folder / "runs"
        runs.mkdir()
        Exporter.options = lambda _: ["--config.file", str(config)]  # type: ignore[method-assign]
        self._exporter = Exporter(processes, runs).url
        server = Postgres(processes, folder, free_port())
        server.start()
        where = [*_BENCHWATCH, "run", f"--runs.path={runs}", "--name=scale", "--worker=db1", "--"]
        processes.start("pgbench", [*where, *server.pgbench("-R", "100", "-c", "4", "-T", "86400")])

    def page(self, job: dict[str, Any]) -> bytes:
        """What a scrape of a job gets; nothing once the machine is stopped."""
        url = f"http://{self._node}" if job["job_name"] == "node" else self._exporter
        with suppress(requests.RequestException):  # the measurement is over
            return requests.get(f"{url}/metrics", params=job.get("params"), timeout=10).content
        return b""


def cache(machine: Machine, jobs: list[dict[str, Any]]) -> int:
    """Serve the page of each job at /<job>, as it was at the job's last interval; returns the port."""
    pages = {f"/{job['job_name']}".encode(): b"" for job in jobs}

    def renew(job: dict[str, Any]) -> None:
        while body := machine.page(job):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
            pages[f"/{job['job_name']}".encode()] = head.encode() + body
            time.sleep(Duration.read(job["scrape_interval"]))

    class Answer(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._transport: Any = transport

        def data_received(self, data: bytes) -> None:
            for path in re.findall(rb"^GET (\S+) ", data, re.MULTILINE):
                self._transport.write(pages[path])

    for job in jobs:
        threading.Thread(target=renew, args=(job,), daemon=True).start()
    loop, port = asyncio.new_event_loop(), free_port()
    loop.run_until_complete(loop.create_server(Answer, "127.0.0.1", port))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return port


def metric(url: str, name: str, labels: str = "") -> float:
    """The sum of a process's own metric over the series with these labels."""
    page = requests.get(f"{url}/metrics", timeout=60).text
    found = re.findall(rf"^(?:{name})(\{{.*\}})? (\S+)$", page, re.MULTILINE)
    return sum(float(value) for series, value in found if labels in series)


class Receiver:
    """An empty store that accepts remote write."""

    def __init__(self, name: str, processes: Processes, folder: Path) -> None:
        self.name, self._data = name, folder / "data"
        if name == "victoriametrics":
            self.url = f"http://{free_address()}"
            listen = f"-httpListenAddr={self.url.removeprefix('http://')}"
            command = [program("victoria-metrics"), f"-storageDataPath={self._data}", listen, "-retentionPeriod=1y"]
            processes.wait_for(processes.start("receiver", command), f"{self.url}/health")
            return
        rules = [str(RULES / "*.yml")] if name == "prometheus-rules" else []
        more = ("--web.enable-remote-write-receiver", "--web.enable-admin-api")
        self.url = start_prometheus(processes, folder, {"rule_files": rules}, options=more).url

    def stored(self) -> float:
        """Bytes per sample on disk, after everything has been written there as it will stay."""
        if self.name == "victoriametrics":
            for page in ("force_flush", "force_merge", "force_flush"):
                requests.get(f"{self.url}/internal/{page}", timeout=300)
                time.sleep(5)
            return metric(self.url, "vm_data_size_bytes", "storage/") / metric(self.url, "vm_rows", "storage/")
        requests.post(f"{self.url}/api/v1/admin/tsdb/snapshot", timeout=300).raise_for_status()
        size = sum(path.stat().st_size for path in self._data.glob("snapshots/*/*/chunks/*"))
        return size / metric(self.url, "prometheus_tsdb_head_samples_appended_total")


def measure(options: argparse.Namespace, name: str, machines: int, folder: Path) -> list[str]:
    """One row."""
    processes = Processes(folder, os.environ | {"PGPASSFILE": str(folder / "pgpass")})
    try:
        config = shipped("benchwatch-", "node")
        jobs = config["scrape_configs"]
        for job in jobs:
            job.setdefault("scrape_interval", config["global"]["scrape_interval"])
            if job["job_name"] == "benchwatch-live":
                job["scrape_interval"] = job["scrape_timeout"] = options.live_interval
        port = cache(Machine(processes, folder, options), jobs)
        receiver = Receiver(name, processes, folder)
        scraped = []
        for job in jobs:
            count = -(-machines // _CVM_SHARE) if job["job_name"] == "benchwatch-nutanix" else machines
            targets = [
                {"targets": [f"127.0.0.1:{port}"], "labels": {"instance": f"vm-{number:05}"}} for number in range(count)
            ]
            kept = {key: job[key] for key in ("job_name", "scrape_interval", "scrape_timeout") if key in job}
            scraped.append(kept | {"metrics_path": f"/{job['job_name']}", "static_configs": targets})
        path, agent = folder / "vmagent.yml", f"http://{free_address()}"
        path.write_text(yaml.safe_dump({"scrape_configs": scraped}))
        where = [f"-httpListenAddr={agent.removeprefix('http://')}", f"-remoteWrite.tmpDataPath={folder / 'queue'}"]
        where += [f"-promscrape.config={path}", f"-remoteWrite.url={receiver.url}/api/v1/write"]
        process = processes.start("vmagent", [program("vmagent"), *where], stop=signal.SIGKILL)
        processes.wait_for(process, f"{agent}/health")
        time.sleep(_WARM)
        counters = {
            "samples": (agent, "vm_promscrape_scraped_samples_sum"),
            "bytes": (agent, "vmagent_remotewrite_conn_bytes_written_total"),
            "agent": (agent, "process_cpu_seconds_total"),
            "receiver": (receiver.url, "process_cpu_seconds_total"),
        }
        before, began = {key: metric(*where) for key, where in counters.items()}, time.monotonic()
        time.sleep(options.seconds)
        took = time.monotonic() - began
        rate = {key: (metric(*where) - before[key]) / took for key, where in counters.items()}
        wait = metric(agent, "vmagent_remotewrite_pending_data_bytes") / 1e6
        memory = metric(receiver.url, "process_resident_memory_bytes") / 1e6
        series = metric(receiver.url, "vm_new_timeseries_created_total|prometheus_tsdb_head_series")
        row = [name, f"{machines:,}", f"{series:,.0f}", f"{rate['samples']:,.0f}", f"{rate['bytes']:,.0f}"]
        row += [f"{rate['agent']:.2f}", f"{rate['receiver']:.2f}", f"{memory:,.0f}"]
        return [*row, f"{receiver.stored():.2f}", f"{wait:.1f}"]
    finally:
        processes.stop_all()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=int, default=120, help="length of a measurement (120)")
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 40, 100, 200])
    receivers = ["victoriametrics", "prometheus", "prometheus-rules"]
    parser.add_argument("--receivers", nargs="+", choices=receivers, default=receivers)
    parser.add_argument("--live-interval", default="500ms", help="of the live part (500ms)")
    parser.add_argument("--buckets-per-octave", type=int, default=4, help="of histograms (4)")
    parser.add_argument("--few-collectors", action="store_true", help="node_exporter as scripts/demo starts it")
    options = parser.parse_args()
    print(table([_HEADER]))
    for name in options.receivers:
        for machines in options.machines:
            with tempfile.TemporaryDirectory(prefix="scale-") as folder:
                print(f"| {' | '.join(measure(options, name, machines, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main()
