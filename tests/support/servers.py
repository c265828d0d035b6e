"""Real servers and benchmarks: the exporter, PostgreSQL, Prometheus, pgbench.

All are started by `demo_processes.Processes`, which ends them.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests
import yaml

from demo_postgres import Postgres
from demo_processes import Process, Processes
from tests.support.grafana import Prometheus
from tests.support.ports import free_address
from tests.support.programs import program
from tests.support.waiting import PATIENCE

Page = dict[str, float]


class Exporter:
    """A real `benchwatch serve` on a folder of runs."""

    def __init__(self, processes: Processes, runs: Path, host: str = "127.0.0.1") -> None:
        self.runs = runs
        self.url = f"http://{free_address(host)}"
        self._processes = processes
        self.start()

    def start(self) -> None:
        address = self.url.removeprefix("http://")
        options = ["serve", "--runs.path", str(self.runs), "--web.listen-address", address, *self.options()]
        self.process = self._processes.start("exporter", [*self.command(), *options])
        self._processes.wait_for(self.process, f"{self.url}/-/ready")

    def options(self) -> list[str]:
        """Further ones of `serve`."""
        return []

    def command(self) -> list[str]:
        """What runs `benchwatch`."""
        return [sys.executable, "-m", "benchwatch"]

    def kill(self) -> None:
        self.process.popen.send_signal(signal.SIGKILL)
        self.process.popen.wait()

    def text(self, *parts: str) -> str:
        return requests.get(f"{self.url}/metrics", params={"collect[]": list(parts)}, timeout=PATIENCE).text

    def page(self, run: str) -> Page:
        """Series and numbers of one run; the label `run` is left out of the names."""
        label = f'run="{run}",'
        lines = (line.rsplit(" ", 1) for line in self.text("live", "runs").splitlines() if label in line)
        return {series.replace(label, ""): float(number) for series, number in lines}


class Database:
    """A PostgreSQL server with the tables of pgbench, all processes of which can be frozen."""

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres
        self.process: Process = postgres.start()

    def freeze(self, number: signal.Signals) -> None:
        """Sends a signal to the server and its backends, which are in process groups of their own."""
        main = self.process.popen.pid
        found = subprocess.run(["pgrep", "-P", str(main)], capture_output=True, text=True, check=True).stdout
        for process in [*map(int, found.split()), main]:
            with suppress(ProcessLookupError):  # an autovacuum worker comes and goes
                os.kill(process, number)


def copy_cluster(cluster: Path, folder: Path) -> None:
    """Makes a copy of the cluster in `folder`, with which `Postgres` starts there."""
    subprocess.run(["cp", "-a", "--reflink=auto", cluster / "postgres", cluster / "pgpass", folder], check=True)


def start_pgbench(processes: Processes, server: Database, folder: Path, seconds: int, *options: str) -> Process:
    """A pgbench of two clients and 300 transactions a second that reports every second, in a new folder."""
    folder.mkdir()
    return processes.start(
        "pgbench",
        server.postgres.pgbench("-n", "-S", "-c", "2", "-j", "2", "-R", "300", "-T", str(seconds), "-P", "1", *options),
        folder=folder,
        output=folder / "db1.out",
        log=folder / "db1.err",
    )


def start_prometheus(
    processes: Processes,
    folder: Path,
    config: dict[str, Any],
    *,
    name: str = "prometheus",
    binary: str = "prometheus",
    options: Sequence[str] = ("--storage.tsdb.retention.time=100y",),
) -> Prometheus:
    """A Prometheus with this configuration on the data in `folder`/data, ready to answer."""
    path, address = folder / "prometheus.yml", free_address()
    path.write_text(yaml.safe_dump(config))
    where = [f"--config.file={path}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={address}"]
    process = processes.start(name, [program(binary), *where, *options], folder=folder)
    processes.wait_for(process, f"http://{address}/-/ready")
    return Prometheus(f"http://{address}")
