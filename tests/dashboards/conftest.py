"""A real Prometheus that scrapes a real exporter and node_exporter, while a recorded pgbench and a real fio go on.

The recording is played back at its own pace, its times moved to the present, and so ends half a minute after the start.
"""

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from demo_processes import Processes
from tests.support.grafana import Prometheus, View
from tests.support.ports import free_address
from tests.support.waiting import eventually

CHECKOUT = Path(__file__).parents[2]
_RECORDING = CHECKOUT / "tests/recordings/dashboards/pgbench-rate-retries-15.18"
_BENCHWATCH = str(Path(sys.executable).parent / "benchwatch")
_PROGRESS = re.compile(r"(?<=progress: )\d+\.\d+")
_FIO_SECONDS = 20
EARLIER, EARLIER_FIO = "c++ (files)", "huge+sync (files)"
"""Runs that have ended, with names that are no regular expressions or do not match themselves."""
SLOW, STUCK = "slow", "stuck"
"""Runs of pgbench that report every 10 s and every second, the last time as the others begin; without parameters."""
_HOST = ("--host=lab",)
_CONFIG = """
disks: {DEVICE: log}
runs: {latency_objective: 20ms}
nutanix:
  cvms: [{name: cvm1, url: "URL"}]
  oplog_flush_stats: true
  vdisks: {include: ["50026"]}
  mapping:
    5f0d7d8e-3a52-4c0b-9f0e-000000045269: {role: data}
    5f0d7d8e-3a52-4c0b-9f0e-000000040043: {role: log}
"""
_ALERTS = """
groups:
  - name: always
    interval: 1s
    rules:
      - {alert: Told, expr: "max by (run, worker) (benchwatch_run_info) == 1", labels: {severity: info}}
      - {alert: Warned, expr: "max by (run, worker) (benchwatch_run_info) == 1", labels: {severity: warning}}
      - {alert: Pressed, expr: "max by (run, worker) (benchwatch_run_info) == 1", labels: {severity: critical}}
"""


def _play(target: Path, name: str) -> threading.Thread:
    """Writes the recorded pgbench into a folder of runs, as if it ran now."""
    lines = (_RECORDING / "stderr").read_text().splitlines(keepends=True)
    events = [(float(found[0]), "db1.err", line) for line in lines if (found := _PROGRESS.search(line))]
    for line in (_RECORDING / "db1.30137").read_text().splitlines(keepends=True):
        fields = line.split()
        events.append((int(fields[4]) + int(fields[5]) / 1e6, f"{name}.30137", line))
    events.sort()
    shift = round(time.time() - events[0][0]) + 1

    def moved(file: str, line: str) -> str:
        if file.endswith(".err"):
            return _PROGRESS.sub(lambda match: f"{float(match[0]) + shift:.3f}", line)
        fields = line.split()
        fields[4] = str(int(fields[4]) + shift)
        return " ".join(fields) + "\n"

    def write() -> None:
        for moment, file, line in events:
            time.sleep(max(0.0, moment + shift - time.time()))
            with (target / file).open("a") as output:
                output.write(moved(file, line))
        shutil.copyfile(_RECORDING / "stdout", target / "db1.out")

    player = threading.Thread(target=write, daemon=True)
    player.start()
    return player


def _reports(interval: int) -> str:
    """Recorded progress lines as if they came that many seconds apart, the last of them now."""
    lines = [line for line in (_RECORDING / "stderr").read_text().splitlines(keepends=True) if _PROGRESS.search(line)]
    times = [f"{time.time() - ago * interval:.3f}" for ago in (3, 2, 1, 0)]
    return "".join(_PROGRESS.sub(moment, line) for moment, line in zip(times, lines, strict=False))


class Lab:
    """Everything that runs, on free ports, in a folder."""

    def __init__(self, folder: Path) -> None:
        runs = (f"runs/{name}" for name in ("live", EARLIER, EARLIER_FIO, SLOW, STUCK))
        for name in ("logs", "fio", *runs):
            (folder / name).mkdir(parents=True)
        self.processes = Processes(folder / "logs", os.environ)
        self.prometheus = Prometheus(f"http://{free_address()}")
        self._folder = folder
        self._addresses = {name: free_address() for name in ("cvm", "node", "exporter")}

    def start(self) -> None:
        """Starts the servers, and gives the exporter runs that have ended."""
        for recorded, name in (("stderr", "db1.err"), ("stdout", "db1.out"), ("db1.30137", "db1.30137")):
            shutil.copy(_RECORDING / recorded, self._folder / "runs" / EARLIER / name)
        fio = CHECKOUT / "tests/recordings/fio/jsonplus-si1-libaio-qd16-3.33.out"
        shutil.copy(fio, self._folder / "runs" / EARLIER_FIO / "disk1.out")
        config = self._folder / "benchwatch.yaml"
        config.write_text(_CONFIG.replace("DEVICE", _disk()).replace("URL", f"http://{self._addresses['cvm']}"))
        node = shutil.which("prometheus-node-exporter") or "node_exporter"
        listen = {name: f"--web.listen-address={address}" for name, address in self._addresses.items()}
        self._serve("cvm", "/", [_BENCHWATCH, "nutanix", "simulate", "--listen", self._addresses["cvm"]])
        self._serve("node", "/metrics", [node, listen["node"]])
        runs = f"--runs.path={self._folder / 'runs'}"
        self._serve(
            "exporter", "/-/ready", [_BENCHWATCH, "serve", f"--config.file={config}", listen["exporter"], runs, *_HOST]
        )
        own = self.prometheus.url.removeprefix("http://")
        command = ["prometheus", f"--config.file={self._configure()}", f"--storage.tsdb.path={self._folder / 'data'}"]
        self._start("prometheus", f"{self.prometheus.url}/-/ready", [*command, f"--web.listen-address={own}"])

    def benchmark(self) -> threading.Thread:
        """Starts both benchmarks, which take about 20 s; the thread ends with the played one. Others fall silent."""
        for name, interval in ((SLOW, 10), (STUCK, 1)):
            (self._folder / "runs" / name / "db1.err").write_text(_reports(interval))
        command = (
            f"fio --directory={self._folder / 'fio'} --size=4M --time_based --runtime={_FIO_SECONDS} --ioengine=libaio"
            " --output-format=json+ --status-interval=1 --eta=never --bs=8k"
            " --name=data --rw=randrw --rwmixread=50 --rate_iops=60,60 --name=log --rw=write --rate=500k"
        ).split()
        target = self._folder / "runs/fio"
        target.mkdir()
        self.processes.start("fio", command, output=target / "disk1.out", log=target / "disk1.err")
        return _play(self._folder / "runs/live", "db1")

    def _configure(self) -> Path:
        """The product's own configuration and rules for dashboards, with these addresses, and alerts that fire."""
        config = yaml.safe_load((CHECKOUT / "prometheus/prometheus.yml").read_text())
        others = ("prometheus", "alertmanager", "postgres")
        config["scrape_configs"] = [job for job in config["scrape_configs"] if job["job_name"] not in others]
        for job in config["scrape_configs"]:
            name = "node" if job["job_name"] == "node" else "exporter"
            job["static_configs"] = [{"targets": [self._addresses[name]]}]
            if name == "node":
                job["static_configs"][0]["labels"] = {"host": "lab"}
        alerts, path = self._folder / "alerts.yml", self._folder / "prometheus.yml"
        alerts.write_text(_ALERTS)
        config["rule_files"] = [str(alerts), str(CHECKOUT / "prometheus/rules/dashboards.yml")]
        config.pop("alerting", None)
        path.write_text(yaml.safe_dump(config))
        return path

    def _serve(self, name: str, page: str, command: list[str]) -> None:
        self._start(name, f"http://{self._addresses[name]}{page}", command)

    def _start(self, name: str, url: str, command: list[str]) -> None:
        process = self.processes.start(name, command, folder=self._folder)
        self.processes.wait_for(process, url)


class Views(NamedTuple):
    """The same benchmarks at two moments."""

    on: View
    ended: View


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Views]:
    """What Prometheus has of two benchmarks while they are on, and once they have ended."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    try:
        lab.start()
        begin = time.time()
        player = lab.benchmark()
        time.sleep(_FIO_SECONDS - 4)
        on = View(lab.prometheus, begin, time.time())
        player.join()
        results = (
            'pgbench_result_tps{run="live"} and on () fio_result_iops{run="fio"}'
            ' and on () (rate(benchwatch_stream_bytes_total{run="live"}[40s]) > 0)'
        )
        eventually(lambda: lab.prometheus.instant(results, time.time()), "the results reach Prometheus")
        yield Views(on, View(lab.prometheus, begin, time.time()))
    finally:
        lab.processes.stop_all()


def _disk() -> str:
    """A disk of this machine that has been written to."""
    for line in Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if fields[7] != "0" and not re.match(r"(loop|ram|zram|sr|fd)", fields[2]):
            return fields[2]
    pytest.skip("this machine has no disk of its own")
