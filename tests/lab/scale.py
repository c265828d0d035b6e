"""What many machines cost one receiver, a row a measurement: their samples, their agent, and the receiver.

One machine is real: pgbench at 100 transactions a second with its log, the exporter, node_exporter, a simulated CVM.
vmagent is the load: it scrapes that machine at the intervals of prometheus/prometheus.yml, and writes what it scraped
to an empty receiver once for each machine that is asked for, each time under another name.
"""

import argparse
import os
import re
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import requests
import yaml

from demo_parts import NODE_COLLECTORS
from demo_postgres import Postgres
from demo_processes import Processes
from tests.lab import BENCHWATCH, RULES, shipped
from tests.lab.judging import table
from tests.support.ports import free_address, free_port
from tests.support.programs import program
from tests.support.servers import Exporter, start_prometheus

_CVM_SHARE, _WARM = 10, 15
"""Machines of a CVM; seconds before a measurement, in which the receiver registers the series."""
_HEADER = ["receiver", "machines", "series", "samples/s", "bytes/s sent", "CPU of the agent", "CPU of the receiver"]
_HEADER += ["its memory, MB", "bytes stored per sample", "MB that wait in the agent"]


def start_machine(processes: Processes, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Start the real machine; the targets of its jobs."""
    cvm, node = free_address(), free_address()
    processes.start("cvm", [*BENCHWATCH, "nutanix", "simulate", "--listen", cvm])
    few = [f"--collector.{name}" for name in ("disable-defaults", *NODE_COLLECTORS)] if options.few_collectors else []
    node_exporter = program("prometheus-node-exporter", "node_exporter")
    processes.start("node_exporter", [node_exporter, f"--web.listen-address={node}", *few])
    config, runs = folder / "benchwatch.yaml", folder / "runs"
    cvms, buckets = [{"name": "cvm", "url": f"http://{cvm}"}], {"buckets_per_octave": options.buckets_per_octave}
    config.write_text(yaml.safe_dump({"nutanix": {"cvms": cvms}, "histogram": buckets}))
    runs.mkdir()
    Exporter.options = lambda _: ["--config.file", str(config)]  # type: ignore[method-assign]
    exporter = Exporter(processes, runs).url.removeprefix("http://")
    server = Postgres(processes, folder, free_port())
    server.start()
    where = [*BENCHWATCH, "run", f"--runs.path={runs}", "--name=scale", "--worker=db1", "--"]
    processes.start("pgbench", [*where, *server.pgbench("-R", "100", "-c", "4", "-T", "86400")])
    return {"node": [{"targets": [node]}], "benchwatch-": [{"targets": [exporter]}]}


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


def start_agent(processes: Processes, folder: Path, targets: dict[str, Any], live: str, to: list[str]) -> str:
    """Start vmagent, which scrapes the machine and writes to each of these URLs as another machine; its own URL."""
    config = shipped(targets)
    for job in config["scrape_configs"]:
        if job["job_name"] == "benchwatch-live":
            job["scrape_interval"] = job["scrape_timeout"] = live
    path, address = folder / "vmagent.yml", free_address()
    path.write_text(yaml.safe_dump({"global": config["global"], "scrape_configs": config["scrape_configs"]}))
    command = [program("vmagent"), f"-httpListenAddr={address}", f"-promscrape.config={path}"]
    command += [f"-remoteWrite.tmpDataPath={folder / 'queue'}"]
    for number, url in enumerate(to):
        named = [{"target_label": "instance", "replacement": f"vm-{number:05}"}]
        if number % _CVM_SHARE:
            named.append({"action": "drop", "source_labels": ["job"], "regex": "benchwatch-nutanix"})
        relabel = folder / f"vm-{number:05}.yml"
        relabel.write_text(yaml.safe_dump(named))
        command += [f"-remoteWrite.url={url}/api/v1/write", f"-remoteWrite.urlRelabelConfig={relabel}"]
    process = processes.start("vmagent", command, stop=signal.SIGKILL)
    processes.wait_for(process, f"http://{address}/health")
    return f"http://{address}"


def measure(options: argparse.Namespace, name: str, machines: int, folder: Path) -> list[str]:
    """One row."""
    processes = Processes(folder, os.environ | {"PGPASSFILE": str(folder / "pgpass")})
    try:
        targets = start_machine(processes, folder, options)
        receiver = Receiver(name, processes, folder)
        agent = start_agent(processes, folder, targets, options.live_interval, [receiver.url] * machines)
        time.sleep(_WARM)
        counters = {
            "samples": (agent, "vmagent_remotewrite_rows_pushed_after_relabel_total"),
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
