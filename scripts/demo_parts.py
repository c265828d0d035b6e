"""What runs in the demo: PostgreSQL and its exporter, a simulated CVM, node_exporter, benchwatch, Alertmanager,
Prometheus, Grafana where there is one, and the benchmarks.

All of it listens on loopback, on the usual ports where those are free, and writes into the demo's folder only.
"""

import json
import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import requests

import demo_grafana
from benchwatch.tools.api import Tool
from demo_figures import Figures, Prometheus
from demo_ports import Ports
from demo_postgres import USER, Postgres
from demo_processes import Process, Processes
from demo_runs import Place, Runs, benchmarks

_CHECKOUT = Path(__file__).resolve().parent.parent
_DEFAULT_PORTS = {
    "exporter": 19777,
    "Prometheus": 9090,
    "CVM": 2009,
    "node_exporter": 9100,
    "postgres_exporter": 9187,
    "Alertmanager": 9093,
    "Grafana": 3000,
    "PostgreSQL": 0,
}
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
  oplog_flush_stats: true
  mapping:
    5f0d7d8e-3a52-4c0b-9f0e-000000045269: {{vm: pg1, disk: scsi.1, role: data}}
    5f0d7d8e-3a52-4c0b-9f0e-000000040043: {{vm: pg1, disk: scsi.2, role: log}}
"""
NODE_COLLECTORS = (
    *("cpu", "diskstats", "filesystem", "loadavg", "meminfo", "netdev", "netstat", "pressure", "stat", "vmstat"),
    "vmstat.fields=^(oom_kill|pgpg|pgscan_direct|pswp|pg.*fault)",
)


class Demo:
    """Everything that runs, in the folder `folder`; with a `scene`, its simulated guest and pgbench too."""

    def __init__(self, folder: Path, run_seconds: int, tools: Sequence[Tool], scene: str | None = None) -> None:
        self.folder = folder
        self._scene = scene
        self.ports = Ports(_DEFAULT_PORTS)
        self.processes = Processes(folder / "logs", _environment(folder))
        self.postgres = Postgres(self.processes, folder, self.ports["PostgreSQL"])
        self.figures = Figures(Prometheus(self.url("Prometheus")), tools)
        self.grafana = demo_grafana.find_grafana()
        self._tools = tools
        self._lasting: dict[str, Process] = {}
        self._failures = 0
        self.runs = Runs(folder, run_seconds, self.processes)

    @property
    def server(self) -> Process:
        """PostgreSQL."""
        return self._lasting["PostgreSQL"]

    def url(self, name: str) -> str:
        """The address of one of the servers."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def start(self) -> None:
        """Starts everything, each part once what it needs is ready. Raises Failure."""
        self._lasting["PostgreSQL"] = self.postgres.start()
        simulate = [_benchwatch(), "nutanix", "simulate", "--listen", self._address("CVM")]
        simulate += ["--scene", self._scene, "--runs.path", str(self.folder / "runs")] if self._scene else []
        self._serve("CVM", "/", simulate)
        self._serve("node_exporter", "/metrics", self._node_exporter())
        where = {"DATA_SOURCE_NAME": f"{self.postgres.connection()} dbname=postgres sslmode=disable"}
        self._serve("postgres_exporter", "/metrics", self._postgres_exporter(), where)
        self._serve("exporter", "/-/ready", self._exporter())
        self._serve("Alertmanager", "/-/ready", self._alertmanager())
        self._serve("Prometheus", "/-/ready", self._prometheus())
        if self.grafana:
            self._serve(
                "Grafana",
                "/api/health",
                self.grafana.command(_CHECKOUT / "dashboards" / "grafana.ini"),
                self._grafana_settings(),
            )
        self.runs.start(list(benchmarks(Place(self.folder, self.postgres), self._tools)))

    def look(self) -> None:
        """Starts ended benchmarks again and refreshes the figures. Raises Failure if anything has failed."""
        for process in self._lasting.values():
            if process.popen.poll() is not None:
                raise process.complaint(f"ended with exit code {process.popen.returncode}")
        self.runs.look()
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
        rows = self.figures.rows(self.runs.names)
        return [*rows, ("Prometheus", "does not answer: these are older figures")] if self._failures else rows

    def places(self) -> list[tuple[str, str]]:
        """What runs where."""
        dashboards = (
            f"{self.url('Grafana')}/" if self.grafana else "none found on PATH or by GRAFANA_HOME: no dashboards"
        )
        return [
            (
                "live pages",
                f"{self.url('exporter')}/  (of each run, without Grafana; metrics: {self.url('exporter')}/metrics)",
            ),
            ("Grafana", dashboards),
            ("Prometheus", f"{self.url('Prometheus')}/  (alerts: {self.url('Prometheus')}/alerts)"),
            ("Alertmanager", f"{self.url('Alertmanager')}/"),
            ("simulated CVM", f"{self.url('CVM')}/"),
            ("node_exporter", f"{self.url('node_exporter')}/metrics"),
            ("postgres_exporter", f"{self.url('postgres_exporter')}/metrics"),
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
        collectors = ["--collector.disable-defaults", *(f"--collector.{name}" for name in NODE_COLLECTORS)]
        return [program, f"--web.listen-address={self._address('node_exporter')}", *collectors]

    def _postgres_exporter(self) -> list[str]:
        script = _CHECKOUT / "scripts" / "postgres-exporter"
        return [str(script), f"--web.listen-address={self._address('postgres_exporter')}"]

    def _exporter(self) -> list[str]:
        config = self.folder / "benchwatch.yaml"
        disk = _disk_under(self.folder)
        roles = json.dumps({disk: "data"} if disk else {})
        config.write_text(_EXPORTER_CONFIG.format(cvm=self.url("CVM"), disks=roles))
        listen = f"--web.listen-address={self._address('exporter')}"
        more = [f"--runs.path={self.folder / 'runs'}", f"--prometheus.url={self.url('Prometheus')}"]
        more.append(f"--grafana.url={self.url('Grafana')}")
        return [_benchwatch(), "serve", f"--config.file={config}", listen, *more]

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
        targets = [{"targets": [self._address("postgres_exporter")], "labels": {"host": socket.gethostname()}}]
        (self.folder / "targets" / "postgres.yml").write_text(json.dumps(targets))
        if self._scene:
            guest = {"targets": [self._address("CVM")], "labels": {"host": "pg1"}}
            with (self.folder / "targets" / "nodes.yml").open("a") as nodes:
                nodes.write(f"- {json.dumps(guest)}\n")
        shutil.rmtree(data, ignore_errors=True)  # what is shown and judged is of this demo alone
        listen = ["--web.cors.origin=", f"--web.listen-address={self._address('Prometheus')}"]
        return ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={data}", *listen]

    def _grafana_settings(self) -> Mapping[str, str]:
        address = ("127.0.0.1", self.ports["Grafana"])
        data = self.folder / "grafana"
        return demo_grafana.environment(address, self.url("Prometheus"), _CHECKOUT / "dashboards", data)


def _environment(folder: Path) -> dict[str, str]:
    """That of the demo without PostgreSQL's variables, with temporary files in the folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {"PGPASSFILE": str(folder / "pgpass"), "TMPDIR": str(folder / "tmp")}


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
