"""One machine and one CVM, recorded as agents send them: the stack is real, but for the CVM, which is simulated.

pgbench at a fixed rate with progress lines and transaction log, the exporter, node_exporter, and for each way of
sending an agent that scrapes them with the jobs of prometheus/prometheus.yml and writes to this process.
"""

import copy
import json
import os
import shutil
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests
import yaml

from demo_parts import NODE_COLLECTORS
from demo_ports import Ports
from demo_postgres import Postgres
from demo_processes import Processes
from scale_programs import find, prometheus, usage, victoria_metrics
from scale_remote_write import read_requests
from scale_ways import CHECKOUT, CVM, CVMS_VDISKS, MACHINE, WAYS, Config, Way

RATE = 100
"""Transactions a second that pgbench asks for."""
_WARM_UP = 15


class Recorder:
    """Takes the requests of all agents, and keeps those of one way in a folder of its name."""

    def __init__(self, folder: Path) -> None:
        self.wire: dict[str, int] = {}
        self._folder = folder
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self.recording = False
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                head = len(self.requestline) + 2 + len(str(self.headers)) + 2
                recorder.keep(self.path.strip("/").replace("%20", " "), body, head)
                self.send_response(204)
                # Without it, an agent of version 2 takes it that nothing was written.
                self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def keep(self, way: str, body: bytes, head: int) -> None:
        """One request; `head` are the bytes before its body."""
        with self._lock:
            if not self.recording:
                return
            number = self._numbers[way] = self._numbers.get(way, 0) + 1
            self.wire[way] = self.wire.get(way, 0) + head + len(body)
        folder = self._folder / way
        folder.mkdir(exist_ok=True)
        (folder / f"{number:06}.request").write_bytes(body)


class Stack:
    """All that runs while it is recorded, in `folder`."""

    def __init__(self, folder: Path, seconds: int, ways: Sequence[str]) -> None:
        self._folder = folder
        self._seconds = seconds
        self._ways = ways
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        self._processes = Processes(folder / "logs", environment | {"PGPASSFILE": str(folder / "pgpass")})
        names = ("postgres", "simulator", "exporter", "coarse_exporter", "node_exporter", "fewer", *ways)
        self._ports = Ports(dict.fromkeys(names, 0))
        self._postgres = Postgres(self._processes, folder, self._ports["postgres"])
        self._agents: dict[str, int] = {}

    def record(self, target: Path) -> dict[str, Any]:
        """Starts everything, records for the time and stops it again; what it cost, by way. Raises Failure.

        What is recorded of other ways stays.
        """
        for way in self._ways:
            shutil.rmtree(target / way, ignore_errors=True)
        target.mkdir(parents=True, exist_ok=True)
        recorder = Recorder(target)
        try:
            self._start(recorder.url)
            time.sleep(_WARM_UP)
            began = {way: usage(pid) for way, pid in self._agents.items()}
            recorder.recording = True
            time.sleep(self._seconds)
            recorder.recording = False
            after = {way: usage(pid) for way, pid in self._agents.items()}
            costs = {
                way: {
                    "wire_bytes_per_second": recorder.wire.get(way, 0) / self._seconds,
                    "cpu": (after[way].cpu - began[way].cpu) / self._seconds,
                    "resident": after[way].resident,
                    "series": self._series(way),
                }
                for way in self._agents
            }
        finally:
            recorder.server.shutdown()
            self._processes.stop_all()
        for way, cost in costs.items():
            if WAYS[way].agent == "prometheus":
                samples = sum(len(request.stamps) for request in read_requests(target / way, WAYS[way].version))
                cost["samples_per_second"] = samples / self._seconds
        known = target / "costs.json"
        before = json.loads(known.read_text()) if known.exists() else {}
        known.write_text(json.dumps(before | costs, indent=1))
        return costs

    def _start(self, sink: str) -> None:
        runs = self._folder / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        runs.mkdir()
        bin_ = CHECKOUT / ".venv" / "bin"
        self._postgres.start()
        listen = ["--listen", f"127.0.0.1:{self._ports['simulator']}", "--vdisks", str(CVMS_VDISKS)]
        self._serve("simulator", "/", [str(bin_ / "benchwatch"), "nutanix", "simulate", *listen])
        cvms: Config = {"cvms": [{"name": CVM.decode(), "url": f"http://127.0.0.1:{self._ports['simulator']}"}]}
        coarse: Config = {"histogram": {"buckets_per_octave": 1}}
        for name, settings in (("exporter", {"nutanix": cvms}), ("coarse_exporter", coarse)):
            config = self._folder / f"{name}.yaml"
            config.write_text(json.dumps({"host": MACHINE.decode(), **settings}))
            address = f"--web.listen-address=127.0.0.1:{self._ports[name]}"
            command = [str(bin_ / "benchwatch"), "serve", f"--config.file={config}", f"--runs.path={runs}", address]
            self._serve(name, "/-/ready", command)
        node = shutil.which("prometheus-node-exporter") or find(shutil.which("node_exporter"), "node_exporter", "PATH")
        documented = ["--collector.vmstat.fields=^(oom_kill|pgpg|pgscan_direct|pswp|pg.*fault)"]
        few = ["--collector.disable-defaults", *(f"--collector.{name}" for name in NODE_COLLECTORS)]
        for name, options in (("node_exporter", documented), ("fewer", few)):
            address = f"--web.listen-address=127.0.0.1:{self._ports[name]}"
            self._serve(name, "/metrics", [node, address, *options])
        names = ["--name=density", f"--worker={MACHINE.decode()}", f"--host={MACHINE.decode()}", "--label=kind=tpcb"]
        length = str(self._seconds + 2 * _WARM_UP)
        command = self._postgres.pgbench("-n", "-c", "4", "-R", str(RATE), "-T", length)
        launcher = [str(bin_ / "benchwatch"), "run", f"--runs.path={runs}", *names, "--", *command]
        self._processes.start("pgbench", launcher, folder=self._folder)
        for way in self._ways:
            self._start_agent(way, f"{sink}/{way.replace(' ', '%20')}")

    def _serve(self, name: str, page: str, command: list[str]) -> None:
        process = self._processes.start(name, command, folder=self._folder)
        self._processes.wait_for(process, f"http://127.0.0.1:{self._ports[name]}{page}")

    def _start_agent(self, name: str, sink: str) -> None:
        way, data = WAYS[name], self._folder / "agents" / name
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        config = data / "config.yml"
        config.write_text(json.dumps(self._configuration(way, sink)))
        address = f"127.0.0.1:{self._ports[name]}"
        if way.agent == "vmagent":
            program = victoria_metrics("vmagent-prod", "vmagent")
            if program is None:
                print("no vmagent beside VICTORIA_METRICS or on PATH: left out", flush=True)
                return
            command = [
                program,
                f"-promscrape.config={config}",
                f"-remoteWrite.url={sink}",
                f"-httpListenAddr={address}",
            ]
            command += [f"-remoteWrite.tmpDataPath={data}", "-promscrape.config.strictParse=false"]
        else:
            command = [prometheus(), "--agent", f"--config.file={config}", f"--storage.agent.path={data / 'wal'}"]
            command.append(f"--web.listen-address={address}")
        process = self._processes.start(name, command, folder=data)
        self._agents[name] = process.popen.pid
        self._processes.wait_for(process, f"http://{address}/metrics")

    def _configuration(self, way: Way, sink: str) -> Config:
        shipped: Config = yaml.safe_load((CHECKOUT / "prometheus" / "prometheus.yml").read_text())
        jobs = []
        for job in shipped["scrape_configs"]:
            if job["job_name"] not in way.jobs:
                continue
            name = way.node if job["job_name"] == "node" else way.exporter
            labels = {"instance": (CVM if way.jobs == ("benchwatch-nutanix",) else MACHINE).decode()}
            if job["job_name"] == "node":
                labels["host"] = MACHINE.decode()
            del job["file_sd_configs"]
            jobs.append(job | {"static_configs": [{"targets": [f"127.0.0.1:{self._ports[name]}"], "labels": labels}]})
        config: Config = {"global": {"scrape_interval": "10s"}, "scrape_configs": copy.deepcopy(jobs)}
        if way.agent == "prometheus":
            messages = {1: "prometheus.WriteRequest", 2: "io.prometheus.write.v2.Request"}
            # One shard keeps the samples of a series in the order of their times.
            queue = {"max_shards": 1}
            config["remote_write"] = [{"url": sink, "protobuf_message": messages[way.version], "queue_config": queue}]
        way.change(config)
        return config

    def _series(self, way: str) -> int | None:
        if WAYS[way].agent != "prometheus":
            return None
        page = requests.get(f"http://127.0.0.1:{self._ports[way]}/metrics", timeout=10).text
        return int(float(page.partition("\nprometheus_agent_active_series ")[2].partition("\n")[0]))
