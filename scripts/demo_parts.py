"""What runs in the demo: PostgreSQL, a simulated CVM, node_exporter, benchwatch, Alertmanager, Prometheus, Grafana
where there is one, pgbench and fio.

All of it listens on loopback, on the usual ports where those are free, and writes into the demo's folder only.
"""

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import requests

import demo_grafana
from demo_figures import Figures, Prometheus
from demo_ports import Ports
from demo_postgres import USER, Postgres
from demo_processes import Process, Processes

_CHECKOUT = Path(__file__).resolve().parent.parent
_DEFAULT_PORTS = {
    "exporter": 19777,
    "Prometheus": 9090,
    "CVM": 2009,
    "node_exporter": 9100,
    "Alertmanager": 9093,
    "Grafana": 3000,
    "PostgreSQL": 0,
}
_RUNS_KEPT = 10
_FAILURES = 3
"""Queries that must fail in a row before the demo gives up: on a busy machine a single one may."""
_PATIENCE = 90
"""Seconds for a server to get ready; Grafana makes its database at its first start."""
_EXPORTER_CONFIG = """\
disks: {disks}
vm: pg1
nutanix:
  cvms: [{{name: cvm1, url: "{cvm}"}}]
  poll_interval: 10s
  mapping:
    5f0d7d8e-3a52-4c0b-9f0e-000000045269: {{vm: pg1, disk: scsi.1, role: data}}
    5f0d7d8e-3a52-4c0b-9f0e-000000040043: {{vm: pg1, disk: scsi.2, role: log}}
"""
_NODE_COLLECTORS = ("cpu", "diskstats", "filesystem", "loadavg", "meminfo", "netdev", "pressure", "vmstat")


class Benchmark(NamedTuple):
    """A benchmark that is run again and again. `command` is given the seconds of one run; `objective` is a latency."""

    name: str
    command: Callable[[int], list[str]]
    worker: str
    objective: str


class Run:
    """One run of a benchmark in a folder of its own."""

    def __init__(self, benchmark: Benchmark, runs: Path, seconds: int, processes: Processes) -> None:
        self.benchmark = benchmark
        self.name = f"{benchmark.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = runs / self.name
        folder.mkdir(exist_ok=True)
        command = benchmark.command(seconds)
        (folder / "run.yaml").write_text(json.dumps({"command": command, "latency_objective": benchmark.objective}))
        self.process = processes.start(
            benchmark.name,
            command,
            folder=folder,
            output=folder / f"{benchmark.worker}.out",
            log=folder / f"{benchmark.worker}.err",
        )


class Demo:
    """Everything that runs, in the folder `folder`."""

    def __init__(self, folder: Path, run_seconds: int) -> None:
        self.folder = folder
        self.ports = Ports(_DEFAULT_PORTS)
        self.processes = Processes(folder / "logs", _environment(folder))
        self.postgres = Postgres(self.processes, folder, self.ports["PostgreSQL"])
        self.figures = Figures(Prometheus(self.url("Prometheus")))
        self.grafana = demo_grafana.find_grafana()
        self._run_seconds = run_seconds
        self._lasting: dict[str, Process] = {}
        self._failures = 0
        self._runs: list[Run] = []

    def url(self, name: str) -> str:
        """The address of one of the servers."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def start(self) -> None:
        """Starts everything, each part once what it needs is ready. Raises Failure."""
        self._lasting["PostgreSQL"] = self.postgres.start()
        simulate = [_benchwatch(), "nutanix", "simulate", "--scene", "checkpoint", "--listen", self._address("CVM")]
        self._serve("CVM", "/", simulate)
        self._serve("node_exporter", "/metrics", self._node_exporter())
        self._serve("exporter", "/-/ready", self._exporter())
        self._serve("Alertmanager", "/-/ready", self._alertmanager())
        self._serve("Prometheus", "/-/ready", self._prometheus())
        if self.grafana:
            self._serve("Grafana", "/api/health", self.grafana.command(), self._grafana_settings())
        for benchmark in (
            Benchmark("pgbench", self._pgbench, "db1", "100ms"),
            Benchmark("fio", self._fio, "disk1", "10ms"),
        ):
            self._runs.append(self._run(benchmark))

    def look(self) -> None:
        """Starts ended benchmarks again and refreshes the figures. Raises Failure if anything has failed."""
        for process in self._lasting.values():
            if process.popen.poll() is not None:
                raise process.complaint(f"ended with exit code {process.popen.returncode}")
        for number, run in enumerate(self._runs):
            code = run.process.popen.poll()
            if code:
                raise run.process.complaint(f"failed with exit code {code}")
            if code == 0:
                self.processes.stop(run.process)
                self._runs[number] = self._run(run.benchmark)
        try:
            self.figures.refresh()
            self._failures = 0
        except requests.RequestException as error:
            self._failures += 1
            if self._failures == _FAILURES:
                what = f"did not answer {_FAILURES} queries in a row ({error})"
                raise self._lasting["Prometheus"].complaint(what) from error

    def rows(self) -> list[tuple[str, str]]:
        """What to show: (source, figures) a line."""
        rows = self.figures.rows(*(run.name for run in self._runs))
        return [*rows, ("Prometheus", "does not answer: these are older figures")] if self._failures else rows

    def places(self) -> list[tuple[str, str]]:
        """What runs where."""
        dashboards = (
            f"{self.url('Grafana')}/" if self.grafana else "none found on PATH or by GRAFANA_HOME: no dashboards"
        )
        return [
            ("Grafana", dashboards),
            ("exporter", f"{self.url('exporter')}/  (what it exports: {self.url('exporter')}/metrics)"),
            ("Prometheus", f"{self.url('Prometheus')}/  (alerts: {self.url('Prometheus')}/alerts)"),
            ("Alertmanager", f"{self.url('Alertmanager')}/"),
            ("simulated CVM", f"{self.url('CVM')}/"),
            ("node_exporter", f"{self.url('node_exporter')}/metrics"),
            ("PostgreSQL", f"127.0.0.1:{self.ports['PostgreSQL']}, user {USER}, password in {self.postgres.pgpass}"),
            ("benchmarks' output", f"{self.folder / 'runs'}/"),
            ("logs", f"{self.folder / 'logs'}/"),
        ]

    def _serve(self, name: str, page: str, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        process = self.processes.start(name, command, folder=self.folder, environment=environment)
        self.processes.wait_for(process, self.url(name) + page, _PATIENCE)
        self._lasting[name] = process

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"

    def _node_exporter(self) -> list[str]:
        program = shutil.which("prometheus-node-exporter") or "node_exporter"
        collectors = ["--collector.disable-defaults", *(f"--collector.{name}" for name in _NODE_COLLECTORS)]
        return [program, f"--web.listen-address={self._address('node_exporter')}", *collectors]

    def _exporter(self) -> list[str]:
        config = self.folder / "benchwatch.yaml"
        disk = _disk_under(self.folder)
        roles = json.dumps({disk: "data"} if disk else {})
        config.write_text(_EXPORTER_CONFIG.format(cvm=self.url("CVM"), disks=roles))
        listen = f"--web.listen-address={self._address('exporter')}"
        return [_benchwatch(), "serve", f"--config.file={config}", listen, f"--runs.path={self.folder / 'runs'}"]

    def _alertmanager(self) -> list[str]:
        program = shutil.which("prometheus-alertmanager") or "alertmanager"
        config = _CHECKOUT / "prometheus" / "alertmanager.yml"
        listen = [f"--web.listen-address={self._address('Alertmanager')}", "--cluster.listen-address="]
        return [program, f"--config.file={config}", f"--storage.path={self.folder / 'alertmanager'}", *listen]

    def _prometheus(self) -> list[str]:
        product, data = _CHECKOUT / "prometheus", self.folder / "prometheus"
        for path in (product / "prometheus.yml", *product.glob("targets/*.yml")):
            text = path.read_text().replace("host: localhost", f"host: {json.dumps(socket.gethostname())}")
            for name in ("exporter", "node_exporter", "Alertmanager", "Prometheus", "Grafana"):
                text = text.replace(f"127.0.0.1:{_DEFAULT_PORTS[name]}", self._address(name))
            own = self.folder / path.relative_to(product)
            own.parent.mkdir(exist_ok=True)
            own.write_text(text.replace('"rules/', f'"{product}/rules/'))
        shutil.rmtree(data, ignore_errors=True)  # what is shown and judged is of this demo alone
        listen = ["--web.cors.origin=", f"--web.listen-address={self._address('Prometheus')}"]
        return ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={data}", *listen]

    def _grafana_settings(self) -> Mapping[str, str]:
        address = ("127.0.0.1", self.ports["Grafana"])
        data = self.folder / "grafana"
        return demo_grafana.environment(address, self.url("Prometheus"), _CHECKOUT / "dashboards", data)

    def _run(self, benchmark: Benchmark) -> Run:
        runs = self.folder / "runs"
        for old in sorted(runs.glob(f"{benchmark.name}-*"))[: -_RUNS_KEPT + 1]:
            shutil.rmtree(old)
        return Run(benchmark, runs, self._run_seconds, self.processes)

    def _pgbench(self, seconds: int) -> list[str]:
        report = ["-P", "1", "--progress-timestamp", "-l", "--log-prefix=db1"]
        return self.postgres.pgbench("-T", str(seconds), "-c", "4", "-j", "2", *report)

    def _fio(self, seconds: int) -> list[str]:
        files = self.folder / "fio"
        where = [f"--directory={files}", "--size=64M", f"--direct={int(_allows_direct_io(files))}"]
        time_limit = ["--time_based", f"--runtime={seconds}"]
        report = ["--output-format=json+", "--status-interval=1", "--eta=never"]
        reads = ["--name=data", "--filename=data", "--rw=randread", "--bs=8k", "--rate_iops=400"]
        writes = ["--name=log", "--filename=log", "--rw=write", "--bs=16k", "--rate_iops=50"]
        return ["fio", *where, *time_limit, *report, *reads, *writes]


def _environment(folder: Path) -> dict[str, str]:
    """That of the demo without PostgreSQL's variables, with temporary files in the folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {"PGPASSFILE": str(folder / "pgpass"), "TMPDIR": str(folder / "tmp")}


def _allows_direct_io(folder: Path) -> bool:
    """Whether the file system of a folder has O_DIRECT."""
    try:
        os.close(os.open(folder / "direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT))
    except OSError:
        return False
    return True


def _disk_under(folder: Path) -> str | None:
    """The name of the disk that a folder lies on; None where that is none of its own, as on tmpfs."""
    number = folder.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not device.exists():
        return None
    found = device.resolve()
    return found.parent.name if (found / "partition").exists() else found.name


def _benchwatch() -> str:
    return str(Path(sys.executable).parent / "benchwatch")
