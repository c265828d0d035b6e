"""A real iperf3 of this machine, launched."""

import subprocess
from pathlib import Path

import yaml

from tests.support.launching import Launchpad
from tests.support.ports import free_port
from tests.support.waiting import PATIENCE, eventually


def test_a_real_client_is_recorded_with_what_was_missing_and_what_it_came_to(tmp_path: Path) -> None:
    place = Launchpad(tmp_path)
    port = str(free_port())
    with (tmp_path / "server.out").open("wb") as output:
        command = ["iperf3", "-s", "-1", "-p", port, "-B", "127.0.0.1", "--forceflush"]
        server = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        eventually(lambda: b"Server listening" in (tmp_path / "server.out").read_bytes(), "the server listens")
        client = ("iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1", "-b", "50M")
        ended = place.run("--name", "net", "--", *client)
        assert ended.returncode == 0, ended.stderr.decode()
        server.wait(PATIENCE)
    finally:
        server.kill()
        server.wait()
    record = yaml.safe_load((place.runs / "net" / "iperf3.yaml").read_text())
    version = tuple(map(int, record["parameters"]["iperf3_version"].split(".")[:2]))
    missing = ["--json-stream"] if version >= (3, 17) else ["--forceflush", "-i", "1"]
    assert record["command"] == ["iperf3", *missing, *client[1:]]
    assert record["parameters"]["planned_seconds"] == "1"
    assert record["exit_code"] == 0
    shown = subprocess.run(
        [*place.command()[:3], "metrics", str(place.runs)], capture_output=True, text=True, timeout=PATIENCE, check=True
    ).stdout
    (result,) = (line for line in shown.splitlines() if line.startswith("iperf_result_throughput_bytes_per_second{"))
    assert 'direction="send"' in result
    assert 0.1 * 6.25e6 < float(result.split()[-1]) < 1.1 * 6.25e6  # a busy machine lets it send less in its second
