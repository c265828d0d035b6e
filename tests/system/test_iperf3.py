"""A real iperf3, client and server, on loopback with a bounded rate, seen live by a real exporter."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from demo_processes import Processes
from tests.support.ports import free_port
from tests.support.servers import Exporter, Page
from tests.support.waiting import PATIENCE, eventually

RATE = 50e6 / 8
CLIENT, SERVER = '{worker="client"', '{worker="server"'


def start_pair(processes: Processes, folder: Path, *options: str) -> None:
    """A server for one test, whose output the folder gets too, and its client of twelve seconds."""
    folder.mkdir()
    port = str(free_port())
    out = folder / "server.out"
    server = ["iperf3", "-s", "-1", "-p", port, "-B", "127.0.0.1", "--forceflush"]
    processes.start("server", server, output=out)
    eventually(lambda: "Server listening" in out.read_text(), "the server listens")
    client = ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "12", "-b", "50M", *options]
    processes.start("client", client, output=folder / "client.out")


def ended(page: Page, worker: str) -> bool:
    return page.get(f'benchwatch_run_state{worker},state="finished"}}') == 1


@pytest.mark.slow(13)
def test_client_and_server_are_seen_while_they_run_and_end_alike(exporter: Exporter, processes: Processes) -> None:
    start_pair(processes, exporter.runs / "net", "--forceflush")
    sent, received = (
        f'{name}_throughput_bytes_per_second{worker},direction="{direction}"}}'
        for name, worker, direction in (("iperf", CLIENT, "send"), ("iperf_server", SERVER, "receive"))
    )
    seen: list[Page] = []

    def both_report() -> bool:
        seen.append(exporter.page("net"))
        return {sent, received} <= seen[-1].keys()

    eventually(both_report, "both report")
    page = seen[-1]
    assert page[f'benchwatch_run_state{CLIENT},state="running"}}'] == 1
    assert 0 < page[sent] < 4 * RATE
    assert f'iperf_bytes_total{CLIENT},direction="send"}}' not in page
    eventually(lambda: all(ended(exporter.page("net"), each) for each in (CLIENT, SERVER)), "both have ended")
    page = exporter.page("net")
    assert sent not in page
    of_sender = page[f'iperf_result_throughput_bytes_per_second{CLIENT},direction="send"}}']
    assert 0.2 * RATE < of_sender < 1.1 * RATE  # a busy machine lets it send less
    of_receiver = page[f'iperf_server_result_throughput_bytes_per_second{SERVER},direction="receive"}}']
    assert 0.2 * RATE < of_receiver < 1.1 * RATE


@pytest.mark.slow(13)
def test_a_document_at_the_end_settles_the_counters_exactly(exporter: Exporter, processes: Processes) -> None:
    folder = exporter.runs / "exact"
    start_pair(processes, folder, "-J", "-P", "2", "-R")
    eventually(lambda: ended(exporter.page("exact"), CLIENT), "the client has ended")
    page = exporter.page("exact")
    document = json.loads((folder / "client.out").read_text())
    received = document["end"]["sum_received"]["bytes"]
    assert sum(each["sum"]["bytes"] for each in document["intervals"]) == received
    assert page[f'iperf_bytes_total{CLIENT},direction="receive"}}'] == received
    assert page[f"iperf_streams{CLIENT}}}"] == 2
    assert page[f'iperf_target_bytes_per_second{CLIENT},direction="receive"}}'] == 2 * RATE
    assert page[f"benchwatch_run_start_timestamp_seconds{CLIENT}}}"] == document["start"]["timestamp"]["timesecs"]


def test_a_refused_client_is_a_failed_run(exporter: Exporter) -> None:
    folder = exporter.runs / "refused"
    folder.mkdir()
    with (folder / "client.out").open("w") as output:
        command = ["iperf3", "-c", "127.0.0.1", "-p", str(free_port()), "-t", "1"]
        assert subprocess.run(command, stdout=output, stderr=output, timeout=PATIENCE, check=False).returncode == 1
    failed = f'benchwatch_run_state{CLIENT},state="failed"}}'
    eventually(lambda: exporter.page("refused").get(failed) == 1, "the run has failed")
    # 3.18 says more between the two.
    assert re.search(r'reason="unable to connect to server[^"]*: Connection refused"', exporter.text("live", "runs"))
