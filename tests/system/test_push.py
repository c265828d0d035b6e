"""Output that is pushed shows what the same bytes in a file show, while it comes and afterwards.

A network namespace is the second host: it has its own interface and address, and the exporter is reached by a cable
(a veth pair) that can be pulled out.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from demo_processes import Processes
from tests.support.launching import PATIENT
from tests.support.places import RECORDINGS
from tests.support.servers import Exporter, Page
from tests.support.waiting import PATIENCE, eventually

PROGRESS = RECORDINGS / "pgbench/merged-appended-15.18.log"


class SecondHost(NamedTuple):
    """A network namespace, and the addresses of this machine and that one as they see each other."""

    name: str
    here: str
    there: str
    interface: str

    def start(self, *command: str, **options: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["ip", "netns", "exec", self.name, *command], **options)  # type: ignore[call-overload]

    def plug(self, state: str) -> None:
        subprocess.run(["ip", "link", "set", self.interface, state], check=True)


@pytest.fixture
def second_host() -> Iterator[SecondHost]:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("a network namespace needs root and iproute2")
    number = os.getpid() % 16000
    network = f"198.18.{number // 64}.{number % 64 * 4}".rsplit(".", 1)
    host = SecondHost(f"bw{number}", *(f"{network[0]}.{int(network[1]) + end}" for end in (1, 2)), f"bw{number}h")
    if subprocess.run(["ip", "netns", "add", host.name], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make network namespaces")
    inside = ["ip", "-n", host.name]
    commands = (
        ["ip", "link", "add", host.interface, "type", "veth", "peer", "name", "eth0", "netns", host.name],
        ["ip", "address", "add", f"{host.here}/30", "dev", host.interface],
        ["ip", "link", "set", host.interface, "up"],
        [*inside, "address", "add", f"{host.there}/30", "dev", "eth0"],
        [*inside, "link", "set", "eth0", "up"],
    )
    try:
        # For this, ip makes / a slave mount, which it cannot be in a chroot.
        if subprocess.run([*inside, "link"], capture_output=True, check=False).returncode:
            pytest.skip("network namespaces can be made here, but not entered: as in a chroot")
        for command in commands:
            subprocess.run(command, check=True)
        yield host
    finally:
        subprocess.run(["ip", "netns", "delete", host.name], check=True)
        subprocess.run(["ip", "link", "delete", host.interface], capture_output=True, check=False)


@pytest.fixture
def reachable(processes: Processes, tmp_path: Path, second_host: SecondHost) -> Exporter:
    """An exporter that listens where the second host reaches it."""
    (tmp_path / "runs").mkdir()
    return Exporter(processes, tmp_path / "runs", second_host.here)


def without_times(page: Page) -> Page:
    """Leaves out what rests on when the bytes arrived, as they did not arrive together."""
    return {series: value for series, value in page.items() if "_timestamp_seconds" not in series}


@pytest.mark.parametrize("name", ["pgbench/merged-appended-15.18.log", "fio/jsonplus-si1-libaio-qd16-3.42.out"])
def test_pushed_bytes_show_what_the_same_file_shows(exporter: Exporter, name: str) -> None:
    data = (RECORDINGS / name).read_bytes()
    command = ["curl", "-sS", "-T", "-", f"{exporter.url}/ingest/pushed/db1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as curl:
        assert curl.stdin
        for start in range(0, len(data), 1 + len(data) // 7):
            curl.stdin.write(data[start : start + 1 + len(data) // 7])
            curl.stdin.flush()
            time.sleep(0.1)
        pushed = exporter.runs / "pushed" / "db1.push"
        eventually(lambda: pushed.exists() and pushed.read_bytes() == data, "all of it is in the file")
        eventually(lambda: exporter.page("pushed"), "it is shown while the push is still open")
        (exporter.runs / "filed").mkdir()
        Path(exporter.runs / "filed" / "db1.log").write_bytes(data)
        eventually(lambda: exporter.page("filed"), "the file is shown")
        pushed_shows, filed_shows = (lambda run=run: without_times(exporter.page(run)) for run in ("pushed", "filed"))
        eventually(lambda: pushed_shows() == filed_shows(), "both are read to their ends, and show the same")
        answer = curl.communicate()[0].decode()
    assert curl.returncode == 0
    assert str(len(data)) in answer
    assert "benchwatch_push_bytes_total " + str(len(data)) in exporter.text("live")


def test_many_push_at_once_from_another_host_with_tee_and_curl(
    reachable: Exporter, second_host: SecondHost, tmp_path: Path
) -> None:
    line = f"cat {PROGRESS} | tee -p {tmp_path}/$0 | curl -sS -T - {reachable.url}/ingest/many/$0"
    pushes = [
        second_host.start("sh", "-c", line, f"db{number}", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for number in range(30)
    ]
    size = PROGRESS.stat().st_size
    for number, push in enumerate(pushes):
        assert push.communicate()[0].decode() == f"{size} bytes received for worker db{number} of run many\n"
        assert (reachable.runs / f"many/db{number}.push").read_bytes() == PROGRESS.read_bytes()
        assert (tmp_path / f"db{number}").read_bytes() == PROGRESS.read_bytes()
    eventually(lambda: reachable.text("live").count('benchwatch_run_state{run="many"') >= 30, "all are shown")


def test_a_push_that_breaks_off_can_go_on_under_its_name_but_not_beside_another(
    reachable: Exporter, second_host: SecondHost
) -> None:
    url = f"{reachable.url}/ingest/broken/db1"
    file = reachable.runs / "broken/db1.push"
    lines = PROGRESS.read_bytes().splitlines(keepends=True)[:4]
    first = second_host.start("curl", "-sS", "-T", "-", url, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert first.stdin
    first.stdin.write(lines[0] + lines[1][:10])
    first.stdin.flush()
    eventually(lambda: file.exists() and file.stat().st_size == len(lines[0]) + 10, "it has arrived")
    second = second_host.start(
        "curl", "-sS", "-w", "%{http_code}", "-d", "x", url, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert second.communicate()[0] == b"worker db1 of run broken is already being pushed: use another worker name\n409"
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdin.close()
    eventually(lambda: "benchwatch_push_active 0" in reachable.text("live"), "its end is noticed")
    rest = b"".join(lines[1:])
    third = second_host.start("curl", "-sS", "-T", "-", url, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    third.communicate(rest)
    assert file.read_bytes() == lines[0] + lines[1][:10] + b"\n" + rest


def test_a_launcher_on_another_host_delivers_all_though_the_cable_is_pulled(
    reachable: Exporter, second_host: SecondHost, tmp_path: Path
) -> None:
    launcher = second_host.start(
        *(sys.executable, "-c", PATIENT, "run", "--name", "a", "--worker", "disk1", "--runs.path", "here"),
        *("--push", reachable.url, "--", "fio", "--name=job", "--rw=randread", "--size=1m", "--ioengine=psync"),
        *("--thinktime=50000", f"--filename={tmp_path}/data", "--time_based", "--runtime=8"),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    there = reachable.runs / "a/disk1.out"
    eventually(lambda: there.exists() and b'"fio version"' in there.read_bytes(), "the first document arrives")
    second_host.plug("down")
    time.sleep(2)
    second_host.plug("up")
    errors = launcher.communicate(timeout=PATIENCE)[1]
    assert launcher.returncode == 0
    assert b"not delivered" not in errors
    for name in ("disk1.out", "disk1.err", "disk1.yaml"):
        here = (tmp_path / "here/a" / name).read_bytes()
        assert not here or (reachable.runs / "a" / name).read_bytes() == here
    state = 'benchwatch_run_state{worker="disk1",state="finished"}'
    eventually(lambda: reachable.page("a").get(state) == 1, "it has finished over there")
