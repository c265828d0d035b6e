"""prometheus.yml with targets/, as a real Prometheus finds its targets."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
import yaml

from benchwatch.metrics.limits import Limits
from demo_processes import Processes
from tests.support.programs import FOLDER
from tests.support.servers import start_prometheus
from tests.support.waiting import PATIENCE, eventually

SAMPLES = 11
"""On the page of some exporter."""
Targets = set[tuple[str, str, str | None]]


class Page(BaseHTTPRequestHandler):
    """Some exporter."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"pages 1\n" + b"".join(b'pages{number="%d"} 1\n' % number for number in range(1, SAMPLES)))

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path, os.environ)
    yield started
    started.stop_all()


@pytest.mark.slow(8)  # Prometheus takes up changes of targets every 5 s
def test_machines_come_and_go_without_a_restart(processes: Processes, tmp_path: Path, address: str) -> None:
    targets = tmp_path / "targets"
    shutil.copytree(FOLDER / "targets", targets)
    for path in targets.iterdir():  # nothing of this machine's own is asked
        path.write_text(path.read_text().replace("127.0.0.1:19777", address).replace("127.0.0.1:9100", address))
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    config["scrape_configs"] = [job for job in config["scrape_configs"] if "file_sd_configs" in job]
    prometheus = start_prometheus(processes, tmp_path, {"scrape_configs": config["scrape_configs"]})

    def found() -> Targets:
        answer = requests.get(f"{prometheus.url}/api/v1/targets?state=active", timeout=PATIENCE).json()
        labels = [target["labels"] for target in answer["data"]["activeTargets"]]
        return {(one["job"], one["instance"], one.get("host")) for one in labels}

    def hosts() -> set[str]:
        return {one["metric"].get("host", "") for one in prometheus.instant('pages{job="node"}', time.time())}

    exporters: Targets = {(f"benchwatch-{part}", address, None) for part in ("live", "runs", "nutanix")}
    here = ("node", address, "localhost")
    eventually(lambda: found() == {*exporters, here}, "what targets/ names")

    name = socket.gethostname()
    second = f"- targets: ['{address}']\n  labels: {{host: db2}}\n"
    (targets / "nodes.yml").write_text((targets / "nodes.yml").read_text().replace("localhost", name) + second)
    (targets / "postgres.yml").write_text(second)
    wanted = {*exporters, ("node", address, name), ("node", address, "db2"), ("postgres", address, "db2")}
    eventually(lambda: found() == wanted, "machines that were renamed and added")
    eventually(lambda: hosts() == {name, "db2"}, "samples with the label host")


def test_an_answer_beyond_the_sample_limit_is_refused_and_the_alert_says_so(
    processes: Processes, tmp_path: Path, address: str
) -> None:
    here = {"scrape_interval": "500ms", "scrape_timeout": "500ms", "static_configs": [{"targets": [address]}]}
    jobs = [{"job_name": f"limit-{limit}", "sample_limit": limit, **here} for limit in (SAMPLES - 1, SAMPLES)]
    prometheus = start_prometheus(processes, tmp_path, {"scrape_configs": jobs})
    groups = yaml.safe_load((FOLDER / "rules" / "exporter.yml").read_text())["groups"]
    (refused,) = (rule["expr"] for group in groups for rule in group["rules"] if rule.get("alert") == "ScrapeRefused")

    def found() -> tuple[dict[str, float], set[str]]:
        now = time.time()
        told = {one["metric"]["job"]: float(one["value"][1]) for one in prometheus.instant(refused, now)}
        return told, {one["metric"]["job"] for one in prometheus.instant("pages", now)}

    eventually(lambda: found() == ({f"limit-{SAMPLES - 1}": SAMPLES}, {f"limit-{SAMPLES}"}), "what is refused")


@pytest.mark.parametrize("name", ["prometheus.yml", "prometheus-3.yml", "compose.yml"])
def test_no_page_that_the_exporter_has_cut_is_refused(name: str) -> None:
    jobs = yaml.safe_load((FOLDER / name).read_text())["scrape_configs"]
    limits = {job["job_name"]: job.get("sample_limit", 0) for job in jobs}
    ours = {limits[job] for job in limits if job.startswith("benchwatch-")}
    assert (ours, limits["node"], limits["postgres"]) == ({250_000}, 50_000, 50_000)
    assert Limits().series < 250_000 - 10_000  # the exporter's own samples, and those of Prometheus about the scrape
