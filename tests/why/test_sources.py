"""`benchwatch why` beside real servers of the Prometheus API: Prometheus, and VictoriaMetrics, which answers at first
without the last 30 s.
"""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from benchwatch.cli import main
from benchwatch.metrics.prometheus import Prometheus
from demo_processes import Processes
from tests.support.backfilled import Made, served
from tests.support.ports import free_address
from tests.support.programs import program
from tests.support.waiting import PATIENCE, eventually

from . import scenes
from .scenes import FAULT, LENGTH, T0, Samples, gauge, seen
from .test_sentences import BLOCKER, CASES, LOCKED

BENCHWATCH = [sys.executable, "-m", "benchwatch"]
RUN = {"run": "tpcb", "worker": "db1"}


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path, os.environ)
    yield started
    started.stop_all()


def recorded() -> list[Samples]:
    """The scene of a lock as scraped, with what the exporter and the rules say of the run."""
    more = [
        BLOCKER,
        gauge("benchwatch_run_start_timestamp_seconds", T0, T0, **RUN),
        gauge("run:benchwatch_run_state:begun", 1, 1, run="tpcb"),
    ]
    slow = gauge("run:benchmark_slow:info", 0, 1, run="tpcb")
    lately = slow._replace(times=slow.times[FAULT + 2 :], values=slow.values[FAULT + 2 :])
    return [*seen(LOCKED, more=more).all(), lately]


def labelled(one: Samples) -> tuple[str, str]:
    pairs = [f'{name}="{value}"' for name, value in sorted(one.labels.items()) if name != "__name__"]
    return one.labels["__name__"], ",".join(pairs)


@contextmanager
def prometheus(folder: Path, _: Processes) -> Iterator[str]:
    def made(one: Samples) -> Made:
        values = dict(zip(one.times.tolist(), one.values.tolist(), strict=True))
        return Made(*labelled(one), values.get)

    every = recorded()
    times = sorted({moment for one in every for moment in one.times.tolist()})
    with served(folder, map(made, every), times) as server:
        yield server.url


@contextmanager
def victoriametrics(folder: Path, processes: Processes, later: float = 0.0) -> Iterator[str]:
    """With the samples as many seconds later."""
    address = free_address()
    command = [program("victoria-metrics"), f"-storageDataPath={folder / 'data'}", "-retentionPeriod=100y"]
    store = processes.start("store", [*command, f"-httpListenAddr={address}"])
    processes.wait_for(store, f"http://{address}/health")
    lines = [
        f"{'{}{{{}}}'.format(*labelled(one))} {value!r} {1e3 * (moment + later):.0f}\n"
        for one in recorded()
        for moment, value in zip(one.times.tolist(), one.values.tolist(), strict=True)
    ]
    answer = requests.post(f"http://{address}/api/v1/import/prometheus", data="".join(lines), timeout=PATIENCE)
    answer.raise_for_status()
    requests.get(f"http://{address}/internal/force_flush", timeout=PATIENCE).raise_for_status()
    yield f"http://{address}"


@pytest.mark.parametrize("source", [prometheus, victoriametrics])
def test_a_recorded_run_has_the_same_sentence_from_each_server(
    source: Callable[[Path, Processes], AbstractContextManager[str]], processes: Processes, tmp_path: Path
) -> None:
    with source(tmp_path, processes) as url:
        command = [*BENCHWATCH, "why", "tpcb", f"--prometheus.url={url}", f"--to={T0 + LENGTH}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    said = " ".join(done.stdout.split())
    assert "tpcb: slow since 2026-09-21 14:15:20 UTC, still slow pgbench on db1 takes 49 ms a transaction" in said
    assert "42.6 ms of the 43 ms increase are" in said
    assert CASES["lock"][2].partition(" due to the ")[2] in said
    assert "usually now more" in said


@pytest.mark.slow(9)
def test_the_engine_sees_a_lock_beside_victoriametrics_within_seconds(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    length = FAULT + 100  # so that a busy machine sees it too
    monkeypatch.setattr(scenes, "LENGTH", length)
    later = time.time() + 5 - (T0 + FAULT)  # the fault begins in 5 s
    with victoriametrics(tmp_path, processes, later) as url:
        address = free_address()
        command = [*BENCHWATCH, "why", "--serve", f"--prometheus.url={url}", f"--web.listen-address={address}"]
        engine = processes.start("why", command)
        processes.wait_for(engine, f"http://{address}/metrics")

        def page() -> str:
            return requests.get(f"http://{address}/metrics", timeout=PATIENCE).text

        server = Prometheus(url)
        eventually(lambda: "held by 'LOCK TABLE pgbench_branches'" in page(), "the lock is named")
        begun = T0 + FAULT + 5 + later  # less than 30 s ago, or the answer is the same in any case
        assert [value for _, value in server.at("run:benchmark_slow:info", begun)] == [1.0]
        assert [value for _, value in server.at("pgbench_tps", begun)] == [160.0], "not that of 30 s before"


def test_serving_on_an_address_in_use_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        url = "--prometheus.url=http://127.0.0.1:9"
        assert main(["why", "--serve", url, f"--web.listen-address={address}"]) == 2
    assert capsys.readouterr().err == (
        f"benchwatch: cannot listen on '{address}': Address already in use; "
        "choose another address with --web.listen-address\n"
    )


def test_firing_alerts_are_asked_for_without_a_body_which_some_proxies_refuse() -> None:
    bodies = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "success", "data": {"alerts": []}}')

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert Prometheus(f"http://127.0.0.1:{server.server_port}").firing() == []
        server.shutdown()
    assert bodies == [b""]
