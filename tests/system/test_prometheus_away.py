"""A Prometheus that is away while runs and the mapping of vdisks change, on the data and the rules of before.

It leaves no stale markers behind, so everything that it recorded is visible for five minutes more.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from demo_processes import Processes
from tests.support.grafana import Prometheus
from tests.support.programs import FOLDER
from tests.support.servers import start_prometheus
from tests.support.waiting import PATIENCE, eventually

LONG = 300.0
"""Seconds for what takes a minute on a quiet machine."""
VDISK = "vm_role:vdisk_writes:rate{vm='pg1',role='%s'}"


class Scene:
    """What exporter, CVM and node_exporters say: before, two runs on one machine; after, the second one on another.

    The first one has finished by then, or its files were removed.
    """

    def __init__(self) -> None:
        self.began, self.after, self.removed = time.time() - 600, False, False

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler) -> None:
                text = "".join(f"{line}\n" for line in self._lines()).encode()
                handler.send_response(200)
                handler.send_header("Content-Type", "text/plain; version=0.0.4")
                handler.end_headers()
                with suppress(OSError):  # a scrape that timed out
                    handler.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _lines(self) -> Iterator[str]:
        yield from self._run("stays", "new" if self.after else "old", self.began + 100)
        if not (self.after and self.removed):
            yield from self._run("ends", "old", self.began, state="finished" if self.after else "running")
        yield 'nutanix_cvm_up{cvm="cvm1"} 1'
        yield f'nutanix_cvm_last_success_timestamp_seconds{{cvm="cvm1"}} {time.time()}'
        yield 'nutanix_stargate_queue_operations{cvm="cvm1",queue="qos",state="queued"} 0'
        vdisk, role = 'cvm="cvm1",vdisk="45269"', "data" if self.after else "log"
        yield f'nutanix_vdisk_info{{{vdisk},vm="pg1",disk="scsi.1",role="{role}"}} 1'
        yield f"nutanix_vdisk_oplog_bytes{{{vdisk}}} 1e8"
        yield f"nutanix_vdisk_backend_latency_seconds{{{vdisk}}} 0.002"
        yield f'nutanix_vdisk_write_destination_ratio{{{vdisk},destination="oplog"}} 1'
        yield f'nutanix_vdisk_read_source_ratio{{{vdisk},source="estore_ssd"}} 1'
        for op in ("read", "write"):
            yield f'nutanix_vdisk_frontend_latency_seconds{{{vdisk},op="{op}"}} 0.001'
            yield f'nutanix_vdisk_frontend_ops_per_second{{{vdisk},op="{op}"}} 500'
            yield f'nutanix_vdisk_random_ratio{{{vdisk},op="{op}"}} 0.9'
        for host in ("old", "new"):
            yield from self._machine(host)

    def _run(self, run: str, host: str, start: float, state: str = "running") -> Iterator[str]:
        worker = f'run="{run}",worker="db1"'
        yield f'benchwatch_run_state{{{worker},state="{state}"}} 1'
        yield f"benchwatch_run_start_timestamp_seconds{{{worker}}} {start}"
        yield f'benchwatch_run_host_info{{{worker},host="{host}",role="server"}} 1'
        yield f'benchwatch_run_vm_info{{{worker},host="{host}",vm="pg1"}} 1'
        yield f'benchwatch_run_disk_info{{{worker},host="{host}",device="sdb",role="log"}} 1'
        yield f"pgbench_tps{{{worker}}} 1000"
        yield f"pgbench_latency_average_seconds{{{worker}}} 0.004"
        yield f"pgbench_transactions_total{{{worker}}} {1000 * (time.time() - self.began)}"

    def _machine(self, host: str) -> Iterator[str]:
        elapsed = time.time() - self.began
        for mode, share in (("idle", 0.8), ("user", 0.2)):
            yield f'node_cpu_seconds_total{{host="{host}",cpu="0",mode="{mode}"}} {share * elapsed}'
        for device in ("sdb", "sdc"):
            yield f'node_disk_io_now{{host="{host}",device="{device}"}} 1'
            for op in ("read", "write"):
                yield f'node_disk_{op}s_completed_total{{host="{host}",device="{device}"}} {500 * elapsed}'
                yield f'node_disk_{op}_time_seconds_total{{host="{host}",device="{device}"}} {0.5 * elapsed}'


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.close()


def failures(prometheus: Prometheus) -> list[str]:
    """The groups of rules in which an evaluation has failed since the start of this Prometheus."""
    with requests.Session() as session:
        session.trust_env = False
        page = session.get(f"{prometheus.url}/metrics", timeout=PATIENCE).text
    counted = re.findall(r'^prometheus_rule_evaluation_failures_total\{rule_group=".*?;(\w+)"\} (\S+)$', page, re.M)
    assert len(counted) > 8, "the pattern matches nothing"
    return [group for group, number in counted if float(number)]


@pytest.mark.slow(150)
@pytest.mark.parametrize(("seconds", "removed"), [(0, False), (65, True)])
def test_no_rule_fails_and_no_run_stays_that_is_gone(
    seconds: int, removed: bool, scene: Scene, processes: Processes, tmp_path: Path
) -> None:
    scrape = {"scrape_interval": "1s", "honor_labels": True, "static_configs": [{"targets": [scene.address]}]}
    config = {"rule_files": [f"{FOLDER}/rules/*.yml"], "scrape_configs": [{"job_name": "all", **scrape}]}

    def runs(series: str) -> list[str]:
        found = prometheus.instant(f"sum by (run) ({series})", time.time())
        return sorted(one["metric"]["run"] for one in found)

    host = "worker:benchwatch_run_host_info:any{host='%s'}"
    prometheus = start_prometheus(processes, tmp_path, config)
    eventually(lambda: runs(host % "old") == ["ends", "stays"], "both runs", LONG)
    eventually(lambda: runs(VDISK % "log") == ["ends"], "the first run's vdisk", LONG)
    assert failures(prometheus) == []
    processes.stop_all()
    time.sleep(seconds)
    scene.after, scene.removed = True, removed
    prometheus = start_prometheus(processes, tmp_path, config)
    eventually(lambda: runs(host % "new") == ["stays"], "the other machine", LONG)
    eventually(lambda: runs(VDISK % "data") == ["stays"], "the other role", LONG)
    time.sleep(40)  # past the 30 s in which a run counts as just begun
    assert failures(prometheus) == []
    assert runs("worker:benchwatch_run_state:settled") == ["stays"]
    assert runs("worker:benchwatch_run_host_info:any") == ["stays"]
    assert runs("device:benchwatch_disk_info:role{host='new'}") == ["stays"]
