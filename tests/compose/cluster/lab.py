"""Everything that runs in the scale test, and the lines that say what came out: see __main__.py."""

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from demo_ports import Ports
from demo_processes import Failure
from tests.compose.cluster.compare import Prometheus
from tests.compose.cluster.load import Machines
from tests.compose.cluster.stack import CHECKOUT, CLUSTER, Stack
from tests.compose.cluster.wire import Listener, Network


class Form(NamedTuple):
    """How much is tried: VMs, seconds of the cut and before the spikes, number of spikes, all faults or one of each."""

    vms: int
    cut: int
    warm: int
    spikes: int
    all_faults: bool


FULL, SHORT = Form(40, 600, 120, 10, True), Form(8, 8, 48, 2, False)


class Lab:
    """All that runs, and what came out: a line a check."""

    def __init__(self, folder: Path, programs: Path, form: Form) -> None:
        self.form = form
        self.stack = Stack(folder, programs)
        self.processes = self.stack.processes
        self.failed: list[str] = []
        self._folder = folder
        self._ports = Ports({"prometheus": 0, "node": 0, "told by prometheus": 0})
        self.plain = Prometheus(f"http://{self._at('prometheus')}")
        self.networks: list[Network] = []
        self.machines: list[Machines] = []
        self.began = 0.0

    def _at(self, name: str) -> str:
        return f"127.0.0.1:{self._ports[name]}"

    def check(self, what: str, good: bool, found: str) -> None:
        """Prints a line of the outcome."""
        print(f"{'ok  ' if good else 'FAIL'} {what:52} {found}", flush=True)
        if not good:
            self.failed.append(what)

    def note(self, text: str) -> None:
        """Says what is going on."""
        print(f"     {text}", flush=True)

    def start(self, seconds: int) -> None:
        """Starts everything; benchmarks end after `seconds`."""
        self.told = Listener(self.stack.address("alertmanager"))
        self.stack.start(*CLUSTER)
        write = {
            "url": f"{self.stack.insert}/1/prometheus/api/v1/write",
            "write_relabel_configs": [{"action": "labeldrop", "regex": "grafana"}],
            "queue_config": {"batch_send_deadline": "500ms", "max_samples_per_send": 5000},
        }
        self.start_plain(write)
        node = self.start_node()
        count = self.form.vms // 2
        for number, host in enumerate(("site-a", "site-b")):
            machines = Machines(self._folder, host, number * count + 1, count, self.processes, node)
            machines.start(seconds)
            network = Network(self.stack.address("receiver"))
            self.stack.start_agent(
                host,
                f"https://{network.address}/api/v1/write",
                machines.configuration(),
                (f"-remoteWrite.url={self.plain.url}/api/v1/write",),
            )
            self.machines.append(machines)
            self.networks.append(network)
        self.began = time.time()

    def start_node(self) -> str:
        """Starts node_exporter; its address."""
        node = shutil.which("prometheus-node-exporter") or "node_exporter"
        process = self.processes.start("node", [node, f"--web.listen-address={self._at('node')}"])
        self.processes.wait_for(process, f"http://{self._at('node')}/metrics")
        return self._at("node")

    def start_plain(self, *write: Mapping[str, Any], scraped: Sequence[str] = ()) -> None:
        """Starts a Prometheus with the rules, which writes to and scrapes others; `told_plain` hears its alerts."""
        self.told_plain = Listener(self._at("told by prometheus"))
        config = {
            "global": {"scrape_interval": "5s", "external_labels": {"grafana": "http://127.0.0.1:3000"}},
            "storage": {"tsdb": {"out_of_order_time_window": "1h"}},
            "rule_files": [f"{CHECKOUT}/prometheus/rules/*.yml"],
            "remote_write": [*write],
            "scrape_configs": [{"job_name": "store", "static_configs": [{"targets": [*scraped]}]}],
            "alerting": {
                "alert_relabel_configs": [{"action": "labeldrop", "regex": "grafana"}],
                "alertmanagers": [{"static_configs": [{"targets": [self._at("told by prometheus")]}]}],
            },
        }
        path = self._folder / "plain.yml"
        path.write_text(yaml.safe_dump(config))
        listen = f"--web.listen-address={self._at('prometheus')}"
        data = f"--storage.tsdb.path={self._folder / 'plain'}"
        program = os.environ.get("PROMETHEUS_3") or "prometheus"
        command = [program, f"--config.file={path}", data, listen, "--web.enable-remote-write-receiver"]
        process = self.processes.start("plain", command)
        self.stack.adopt("plain", process)
        self.processes.wait_for(process, f"{self.plain.url}/-/ready")

    def cluster(self, tenant: int = 0) -> Prometheus:
        """The cluster to ask."""
        return Prometheus(self.stack.select(tenant))

    def wait(self, what: str, condition: Callable[[], bool], seconds: float = 120) -> float:
        """Waits until a condition holds; after how many seconds it did. Raises Failure."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                raise Failure(f"after {seconds:g} s still not so: {what}")
            time.sleep(0.1)
        return time.monotonic() - began

    def counts(self, server: Prometheus, start: float, end: float) -> dict[str, dict[str, float]]:
        """Samples of each metric that the agents brought within a time, by name and instance."""
        names = self.plain.label_values('{instance=~"site-.*"}', "__name__", start, end)
        window = f"[{round((end - start) * 1000)}ms]"
        found = {}
        for name in names:
            if re.match(r"(benchwatch|pgbench|fio|nutanix|up|scrape|node_(cpu|disk|load))(_|$)", name):
                query = f'sum by (instance) (count_over_time({name}{{instance=~"site-.*"}}{window}))'
                found[name] = {one["metric"]["instance"]: float(one["value"][1]) for one in server.instant(query, end)}
        return found
