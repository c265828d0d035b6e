import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from demo_postgres import Postgres
from demo_processes import Process, Processes

Page = dict[str, float]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def eventually(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Waits until the condition holds, and fails the test if it does not in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"after {seconds} s still not so: {what}"
        time.sleep(0.05)


class Exporter:
    """A real `benchwatch serve` on a folder of runs."""

    def __init__(self, processes: Processes, runs: Path, host: str = "127.0.0.1") -> None:
        self.runs = runs
        self.url = f"http://{host}:{free_port()}"
        self._processes = processes
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", str(self.runs)]
        address = self.url.removeprefix("http://")
        self.process = self._processes.start("exporter", [*command, "--web.listen-address", address])
        self._processes.wait_for(self.process, f"{self.url}/-/ready")

    def kill(self) -> None:
        self.process.popen.send_signal(signal.SIGKILL)
        self.process.popen.wait()

    def text(self, *parts: str) -> str:
        return requests.get(f"{self.url}/metrics", params={"collect[]": list(parts)}, timeout=30).text

    def page(self, run: str) -> Page:
        """Series and numbers of one run; the label `run` is left out of the names."""
        label = f'run="{run}",'
        lines = (line.rsplit(" ", 1) for line in self.text("live", "runs").splitlines() if label in line)
        return {series.replace(label, ""): float(number) for series, number in lines}


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    logs = tmp_path / "logs"
    logs.mkdir()
    started = Processes(logs, os.environ | {"PGPASSFILE": str(tmp_path / "pgpass")})
    yield started
    started.stop_all()


@pytest.fixture
def exporter(processes: Processes, tmp_path: Path) -> Exporter:
    (tmp_path / "runs").mkdir()
    return Exporter(processes, tmp_path / "runs")


class Server:
    """A PostgreSQL server with the tables of pgbench, all processes of which can be frozen."""

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres
        self.process: Process = postgres.start()

    def freeze(self, number: signal.Signals) -> None:
        """Sends a signal to the server and its backends, which are in process groups of their own."""
        main = self.process.popen.pid
        found = subprocess.run(["pgrep", "-P", str(main)], capture_output=True, text=True, check=True).stdout
        for process in [*map(int, found.split()), main]:
            os.kill(process, number)


@pytest.fixture
def server(processes: Processes, tmp_path: Path) -> Iterator[Server]:
    running = Server(Postgres(processes, tmp_path, free_port()))
    yield running
    running.freeze(signal.SIGCONT)
