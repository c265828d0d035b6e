"""Prometheus, asked through a run, gives that run's disks and vdisks and no other's, whatever else is misspelt.

There are two exporters, two machines with disks of known and different rates, two CVMs that both exporters poll, and
three runs at once: one on the machine of its exporter, a second beside it, and a third on the other machine, where the
roles of the disks are the other way round. The exporter of the first shows a worker of the third too.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from benchwatch.machine.mounts import Storage
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.server import SimulatedCvm
from demo_processes import Processes
from tests.support.grafana import Prometheus
from tests.support.programs import FOLDER
from tests.support.servers import Exporter, start_prometheus
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow(10)

RATES = {"a": {"sdb": 100, "sdc": 200}, "b": {"sdb": 300, "sdc": 400}}
"""Writes per second of each machine's disks."""
ROLES = {"a": "{sdb: log, sdc: data}", "b": "{sdb: data, sdc: log}"}
UUID = "5f0d7d8e-3a52-4c0b-9f0e-0000000{}"
VMS = {"a": {"40043": "log", "45269": "data"}, "pg-b": {"50013": "data"}}
"""By VM, the vdisks with their roles; the machine b has another name there."""
MAPPING = {UUID.format(vdisk): {"vm": vm, "role": role} for vm, vdisks in VMS.items() for vdisk, role in vdisks.items()}
REPORT = "progress: {0:.3f} s, 100.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n"


@contextmanager
def node_exporter(rates: dict[str, int]) -> Iterator[str]:
    """The address of what node_exporter shows of a machine whose disks write at these rates."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            now = 1e6 + time.monotonic()
            lines = [f"node_time_seconds {now:.3f}\n"]
            lines += [
                f'node_disk_writes_completed_total{{device="{disk}"}} {rate * now:.3f}\n'
                for disk, rate in rates.items()
            ]
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write("".join(lines).encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


class Here(Exporter):
    """The exporter of a machine of that name."""

    def __init__(self, processes: Processes, folder: Path, name: str, cvms: list[SimulatedCvm]) -> None:
        self._config, self._name = folder / f"{name}.yaml", name
        nutanix = {
            "cvms": [{"name": f"cvm{number}", "url": cvm.url} for number, cvm in enumerate(cvms, 1)],
            "mapping": MAPPING | {"nowhere": {"vm": "a", "role": "log"}},
            "poll_interval": "1s",
            "allow_fast_polling": True,
        }
        vm = next(vm for vm in VMS if vm.endswith(name))
        self._config.write_text(yaml.safe_dump({"nutanix": nutanix, "vm": vm, "disks": {"no-such": "log"}}))
        (folder / f"runs-{name}").mkdir()
        super().__init__(processes, folder / f"runs-{name}")

    def options(self) -> list[str]:
        return [f"--config.file={self._config}", f"--host={self._name}"]

    def reports(self, run: str, worker: str, record: str) -> None:
        """A worker that reports from now on, and its record."""
        (self.runs / run).mkdir(exist_ok=True)
        (self.runs / run / f"{worker}.yaml").write_text(record)
        (self.runs / run / f"{worker}.err").write_text("".join(REPORT.format(time.time() + n) for n in range(-3, 1)))


@pytest.fixture
def prometheus(processes: Processes, tmp_path: Path) -> Iterator[Prometheus]:
    with ExitStack() as stack:
        cluster = Cluster("checkpoint", cvms=2, vdisks=4, seed=1, clock=time.time)
        cvms = [stack.enter_context(SimulatedCvm(cluster, number)) for number in range(2)]
        exporters = {name: Here(processes, tmp_path, name, cvms) for name in RATES}
        found = {name: f"found: {{host: {name}, client: {name}, disks: {roles}}}" for name, roles in ROLES.items()}
        exporters["a"].reports("one", "db1", found["a"])
        exporters["a"].reports("two", "db1", found["a"])
        exporters["b"].reports("three", "db1", found["b"])
        exporters["a"].reports("three", "db2", "{host: b, client: a, vm: pg-b, disks: " + ROLES["b"] + "}")
        targets = tmp_path / "targets"
        targets.mkdir()
        addresses = [one.url.removeprefix("http://") for one in exporters.values()]
        (targets / "exporters.yml").write_text(yaml.safe_dump([{"targets": addresses}]))
        nodes = [
            {"targets": [stack.enter_context(node_exporter(rates))], "labels": {"host": name}}
            for name, rates in RATES.items()
        ]
        (targets / "nodes.yml").write_text(yaml.safe_dump(nodes))
        config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
        jobs = [job for job in config["scrape_configs"] if "file_sd_configs" in job]
        jobs = [{**job, "scrape_interval": "1s", "scrape_timeout": "1s"} for job in jobs]
        yield start_prometheus(processes, tmp_path, {"scrape_configs": jobs})


def asked(prometheus: Prometheus, query: str, *labels: str) -> dict[tuple[str, ...], float]:
    """The series of an answer by some labels, each of which is there once."""
    found = prometheus.instant(query, time.time())
    answer = {tuple(one["metric"].get(label, "") for label in labels): float(one["value"][1]) for one in found}
    assert len(answer) == len(found), found
    return answer


def instances(prometheus: Prometheus) -> set[str]:
    return {instance for (instance,) in asked(prometheus, 'up{job="benchwatch-live"}', "instance")}


WRITES = """
max by (run, host, device, role) (benchwatch_run_disk_info)
* on (host, device) group_left ()
sum by (host, device) (rate(node_disk_writes_completed_total[5s]))
/ on (host) group_left ()
sum by (host) (rate(node_time_seconds[5s]))
"""
"""By the machine's own clock, so that it does not matter when a scrape comes."""
VDISKS = """
max by (run, host, vm) (benchwatch_run_vm_info{{run="{}"}})
* on (vm) group_right (run, host)
max by (cvm, vdisk, vm, role) (nutanix_vdisk_info{{vm!=""}})
"""


def test_a_run_leads_to_its_own_disks_and_vdisks(prometheus: Prometheus) -> None:
    expected = {
        **{(run, "a", "sdb", "log"): 100 for run in ("one", "two")},
        **{(run, "a", "sdc", "data"): 200 for run in ("one", "two")},
        **{("three", "b", "sdb", "data"): 300, ("three", "b", "sdc", "log"): 400},
    }
    labels = ("run", "host", "device", "role")
    # A busy machine fails scrapes now and then, which takes their series away until the next.
    right = pytest.approx(expected, rel=0.01)
    eventually(lambda: asked(prometheus, WRITES, *labels) == right, "runs and disks are joined, with their rates")

    hosts = {
        *[(run, "db1", "a", role) for run in ("one", "two") for role in ("server", "client")],
        *[("three", "db1", "b", "server"), ("three", "db1", "b", "client")],
        *[("three", "db2", "b", "server"), ("three", "db2", "a", "client")],
    }
    info = ("benchwatch_run_host_info", "run", "worker", "host", "role")
    eventually(lambda: set(asked(prometheus, *info)) == hosts, "each worker has its server and its client")
    assert asked(prometheus, 'benchwatch_run_host_info unless on (host) up{job="node"}') == {}

    for run, host, vm, cvm in (("one", "a", "a", "cvm1"), ("two", "a", "a", "cvm1"), ("three", "b", "pg-b", "cvm2")):
        wanted = {(run, host, vm, cvm, vdisk, role) for vdisk, role in VMS[vm].items()}
        names = ("run", "host", "vm", "cvm", "vdisk", "role")
        eventually(lambda: set(asked(prometheus, VDISKS.format(run), *names)) == wanted, f"vdisks of {run}")  # noqa: B023
    if Storage().lists_disks:
        assert asked(prometheus, "benchwatch_disk_info", "host", "device") == {}, "of a disk that is none"
        faults = {(url, reason): 1.0 for url in instances(prometheus) for reason in ("disk", "mapping")}
        counted = "benchwatch_watch_errors_total"
        eventually(
            lambda: asked(prometheus, counted, "instance", "reason") == faults,
            "the disk and the vdisk that there are not are counted once by each",
        )
        sentences = {
            "disks: 'no-such' is no disk of this machine: expected a name that lsblk shows",
            "mapping: no configured CVM lists the vdisk 'nowhere' (vm 'a'): expected the uuid in the name of a vdisk "
            "of a running VM",
        }
        said = ("benchwatch_watch_error_timestamp_seconds", "instance", "sentence")
        eventually(lambda: {each for _, each in asked(prometheus, *said)} == sentences, "they are said")

    listed = ("count by (cvm, vdisk) (nutanix_vdisk_info)", "cvm", "vdisk")
    seen: dict[tuple[str, ...], float] = {}
    both = "both exporters poll both"
    eventually(lambda: seen.update(asked(prometheus, *listed)) or set(seen.values()) == {2.0}, both)
    assert {cvm for cvm, vdisk in seen if vdisk == "50013"} == {"cvm2"}
