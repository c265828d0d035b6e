"""The demo as its user starts it, with real programs: what it shows, how it ends, and that it leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.servers import copy_cluster
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow(90)

DEMO = Path(__file__).parents[2] / "scripts" / "demo.py"
PATIENCE = 600
"""Seconds until a demo that does not get on is given up."""


class RunningDemo:
    """A started demo, and what it has printed so far."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.folder = folder
        command = [sys.executable, "-u", str(DEMO), "--folder", str(folder), *options]
        pipe = subprocess.PIPE
        self.popen = subprocess.Popen(
            command, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=os.environ | environment
        )
        self.output = ""
        self._timer = threading.Timer(PATIENCE, self.popen.kill)
        self._timer.start()

    def read_until(self, pattern: str) -> re.Match[str]:
        """Reads lines until one matches."""
        assert self.popen.stdout
        for line in self.popen.stdout:
            self.output += line
            if match := re.search(pattern, line):
                return match
        pytest.fail(f"no line matches {pattern!r} in:\n{self.output}")

    def end(self, number: signal.Signals | None = None) -> int:
        """Sends a signal if one is given, and waits for the end; the exit code."""
        if number:
            self.popen.send_signal(number)
        self.output += self.popen.communicate()[0]
        self._timer.cancel()
        return self.popen.returncode

    def processes(self) -> list[int]:
        """Processes that work in the demo's folder, as all that it starts do."""
        return [process for process in _processes() if _is_under(_link(f"/proc/{process}/cwd"), self.folder)]

    def leaves_none(self) -> None:
        """No process of it stays; those that were killed may take a moment."""
        eventually(lambda: not self.processes(), "all its processes have ended")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, cluster: Path) -> Path:
    """A folder with the cluster of a demo, under one that is closed to other users; too long for a unix socket."""
    closed = tmp_path_factory.mktemp("a-long-name-" * 8)
    closed.chmod(0o700)
    demo = closed / "demo"
    demo.mkdir()
    copy_cluster(cluster, demo)
    return demo


@pytest.fixture(scope="module")
def slow_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with a fio of fewer operations a second: on a busy machine, fio spins before each of them."""
    folder = tmp_path_factory.mktemp("bin")
    _program(
        folder / "fio",
        "import os, sys\n"
        "words = ['--rate_iops=5' if word.startswith('--rate_iops=') else word for word in sys.argv[1:]]\n"
        f"os.execv({shutil.which('fio')!r}, ['fio', *words])\n",
    )
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def demo(folder: Path, slow_path: str) -> Iterator[Callable[..., RunningDemo]]:
    """Starts demos, by default in one folder, and ends those that a test leaves."""
    started: list[RunningDemo] = []

    def start(*options: str, folder: Path = folder, **environment: str) -> RunningDemo:
        started.append(RunningDemo(folder, *options, **{"PATH": slow_path, **environment}))
        return started[-1]

    yield start
    for running in started:
        if running.popen.poll() is None:
            running.end(signal.SIGTERM)


def _program(path: Path, text: str) -> None:
    """Makes a program in Python, a stand-in for a real one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


@pytest.fixture
def grafana_home(tmp_path: Path) -> Path:
    return make_grafana(tmp_path / "grafana")


def make_grafana(home: Path) -> Path:
    """A Grafana that tells how it was started."""
    (home / "public").mkdir(parents=True)
    _program(
        home / "bin" / "grafana",
        "import http.server, json, os, sys\n"
        "class Told(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200)\n"
        "        self.end_headers()\n"
        "        self.wfile.write(json.dumps([sys.argv[1:], dict(os.environ)]).encode())\n"
        "address = os.environ['GF_SERVER_HTTP_ADDR'], int(os.environ['GF_SERVER_HTTP_PORT'])\n"
        "http.server.HTTPServer(address, Told).serve_forever()\n",
    )
    return home


def _prometheus(folder: Path, path: str, failures: int) -> str:
    """A PATH with a Prometheus that has nothing, and does not answer so many queries at first."""
    _program(
        folder / "prometheus",
        "import http.server, itertools, sys\n"
        "queries = itertools.count(1)\n"
        "class Nothing(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        f"        fails = self.path.startswith('/api/') and next(queries) <= {failures}\n"
        "        self.send_response(503 if fails else 200)\n"
        "        self.end_headers()\n"
        '        self.wfile.write(b\'{"data": {"result": []}}\')\n'
        "port = int(sys.argv[-1].rpartition(':')[2])\n"
        "http.server.HTTPServer(('127.0.0.1', port), Nothing).serve_forever()\n",
    )
    return f"{folder}:{path}"


def _words(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:  # the process has ended, or is another user's
        return ""


def _is_under(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder)


def _written_files(process: int) -> set[str]:
    """Files that a process has open for writing or maps as shared memory."""
    found = set()
    try:
        for descriptor in Path(f"/proc/{process}/fdinfo").iterdir():
            flags = re.search(r"flags:\s+([0-7]+)", descriptor.read_text())
            if flags and int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                found.add(_link(f"/proc/{process}/fd/{descriptor.name}"))
        maps = Path(f"/proc/{process}/maps").read_text()
    except OSError:  # it has ended
        maps = ""
    found |= set(re.findall(r"^\S+ rw.s \S+ \S+ [1-9]\d* +(/.*)$", maps, re.MULTILINE))
    return {path for path in found if path.startswith("/") and not path.startswith(("/dev/null", "/dev/zero", "/SYSV"))}


class Seen(NamedTuple):
    """A whole demo with a Grafana, as it was seen while it ran."""

    running: RunningDemo
    grafana_home: Path
    grafana_told: tuple[list[str], dict[str, str]]
    """How its Grafana was started: arguments and environment."""
    prometheus_url: str
    processes: int
    """How many there were once both benchmarks had reported."""
    outside: set[str]
    """Files outside the demo's folder that they had open for writing then."""
    exit_code: int


@pytest.fixture(scope="module")
def seen(folder: Path, slow_path: str, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One demo for all that can be checked of it."""
    home = make_grafana(tmp_path_factory.mktemp("grafana"))
    running = RunningDemo(folder, "--duration", "35", "--tools", "all", GRAFANA_HOME=str(home), PATH=slow_path)
    try:
        grafana_url = running.read_until(r"Grafana +(http://127\.0\.0\.1:\d+/)")[1]
        prometheus_url = running.read_until(r"Prometheus +(http://127\.0\.0\.1:\d+)/")[1]
        with urllib.request.urlopen(grafana_url) as answer:
            arguments, settings = json.load(answer)
        running.read_until(r"pgbench .* TPS .* p99 \d")
        running.read_until(r"fio .* IOPS .* p99 \d")
        processes = running.processes()
        written = (path for process in processes for path in _written_files(process))
        outside = {path for path in written if not _is_under(path, folder)}
        code = running.end()
    finally:
        if running.popen.poll() is None:
            running.end(signal.SIGTERM)
    return Seen(running, home, (arguments, settings), prometheus_url, len(processes), outside, code)


def test_demo_sees_every_source_in_prometheus_and_ends_by_itself(seen: Seen) -> None:
    assert seen.exit_code == 0, seen.running.output
    assert "Prometheus saw 13 of 13 sources" in seen.running.output
    seen.running.leaves_none()


def test_demo_ends_with_what_to_do_with_what_it_recorded(seen: Seen) -> None:
    (command,) = re.findall(
        r"^Its runs stay in \S+\. Next: (.*), then show, compare or report", seen.running.output, re.M
    )
    listed = subprocess.run(command, shell=True, cwd=Path.cwd(), capture_output=True, text=True, check=True).stdout
    assert {"pgbench", "fio", "sysbench", "iperf3"} <= set(re.findall(r"[a-z]+3?", listed))


def test_demo_writes_no_file_outside_its_folder(seen: Seen) -> None:
    assert seen.processes > 10
    assert seen.outside == set()


def test_demo_starts_a_grafana_with_the_dashboards_for_everybody_to_see(seen: Seen) -> None:
    arguments, settings = seen.grafana_told
    home, settings_file = str(seen.grafana_home), str(DEMO.parents[1] / "dashboards" / "grafana.ini")
    assert arguments == ["server", "--homepath", home, "--config", settings_file]
    assert settings["PROMETHEUS_URL"] == seen.prometheus_url
    assert (settings["GF_AUTH_ANONYMOUS_ENABLED"], settings["GF_AUTH_ANONYMOUS_ORG_ROLE"]) == ("true", "Viewer")
    assert Path(settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]).name == "live.json"
    named = ("DASHBOARDS_PATH", "GF_PATHS_PROVISIONING", "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH")
    assert all(Path(settings[name]).exists() for name in named)
    assert _is_under(settings["GF_PATHS_DATA"], seen.running.folder)


def test_interrupted_demo_leaves_no_process_and_the_next_one_its_cluster(
    demo: Callable[..., RunningDemo], tmp_path: Path
) -> None:
    first = demo(folder=tmp_path)
    first.read_until("benchmarks' output")
    assert "Making a PostgreSQL cluster" in first.output
    assert len(first.processes()) > 10
    assert first.end(signal.SIGINT) == 0, first.output
    first.leaves_none()
    second = demo(folder=tmp_path)
    second.read_until("benchmarks' output")
    assert "Making a PostgreSQL cluster" not in second.output
    assert second.end(signal.SIGTERM) == 0, second.output
    second.leaves_none()


def test_killed_demo_takes_its_processes_with_it(demo: Callable[..., RunningDemo]) -> None:
    running = demo()
    running.read_until("benchmarks' output")
    assert len(running.processes()) > 10
    running.end(signal.SIGKILL)
    running.leaves_none()


def test_demo_ends_with_the_log_of_a_part_that_died(demo: Callable[..., RunningDemo]) -> None:
    running = demo()
    running.read_until("benchmarks' output")
    simulator = [p for p in running.processes() if b"simulate" in _words(p)]
    os.kill(simulator[0], signal.SIGKILL)
    assert running.end() == 1
    assert re.search(r"demo: CVM ended with exit code -9. The end of \S+/logs/CVM.log:", running.output)
    running.leaves_none()


def test_demo_names_a_source_that_prometheus_did_not_see(
    demo: Callable[..., RunningDemo], tmp_path: Path, slow_path: str
) -> None:
    _program(
        tmp_path / "prometheus-node-exporter",
        "import http.server, sys\n"
        "class Nothing(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200)\n"
        "        self.send_header('Content-Type', 'text/plain; version=0.0.4')\n"
        "        self.end_headers()\n"
        "port = int(sys.argv[1].rpartition(':')[2])\n"
        "http.server.HTTPServer(('127.0.0.1', port), Nothing).serve_forever()\n",
    )
    running = demo("--duration", "4", PATH=f"{tmp_path}:{slow_path}")
    assert running.end() == 1
    assert re.search(r"missing: .*node_exporter", running.output)


def test_demo_goes_on_after_a_query_that_failed(
    demo: Callable[..., RunningDemo], tmp_path: Path, slow_path: str
) -> None:
    running = demo("--duration", "3", PATH=_prometheus(tmp_path, slow_path, failures=2))
    running.read_until("Prometheus +does not answer: these are older figures")
    assert running.end() == 1
    assert "Prometheus saw 0 of 8 sources" in running.output


def test_demo_ends_with_the_log_of_a_prometheus_that_does_not_answer(
    demo: Callable[..., RunningDemo], tmp_path: Path, grafana_home: Path, slow_path: str
) -> None:
    running = demo(PATH=_prometheus(tmp_path, slow_path, failures=100), GRAFANA_HOME=str(grafana_home))
    assert running.end() == 1
    complaint = r"demo: Prometheus did not answer 3 queries in a row \(503 .*\). The end of \S+/logs/Prometheus.log:"
    assert re.search(complaint, running.output)
    running.leaves_none()


def test_demo_says_what_a_grafana_home_should_be(demo: Callable[..., RunningDemo], tmp_path: Path) -> None:
    running = demo(GRAFANA_HOME=str(tmp_path))
    assert running.end() == 1
    assert f"demo: GRAFANA_HOME={tmp_path}: expected a folder with bin/grafana" in running.output


def test_demo_says_which_tools_it_knows(demo: Callable[..., RunningDemo]) -> None:
    running = demo("--tools", "sysbench,hammer")
    assert running.end() == 2
    assert "--tools: expected some of sysbench, iperf3, or all, got hammer" in running.output


def test_two_demos_do_not_share_a_folder(demo: Callable[..., RunningDemo]) -> None:
    first = demo()
    first.read_until("Starting PostgreSQL")
    second = demo()
    assert second.end() == 1
    assert "another demo runs in" in second.output
