"""An exporter that is killed in mid-run shows, once it is back, what one that was never killed shows."""

import time

import pytest

from demo_processes import Processes

from .conftest import Exporter, Page, Server, eventually
from .test_stall import start_pgbench

# Begin and end of a pgbench run come from when its lines arrived, which each exporter sees at its own polls.
BY_ARRIVAL = ("benchwatch_run_start_timestamp_seconds", "benchwatch_run_end_timestamp_seconds")


def test_a_killed_exporter_comes_back_with_the_same_totals_and_state(
    exporter: Exporter, processes: Processes, server: Server
) -> None:
    pgbench = start_pgbench(processes, server, exporter.runs / "a", 18, "--progress-timestamp", "-l")
    folder = exporter.runs / "f"
    folder.mkdir()
    output = ["--output-format=json+", "--status-interval=1", "--eta=never", "--output=" + str(folder / "fio.json")]
    job = ["--name=job", "--rw=randrw", "--size=4m", "--ioengine=psync", "--thinktime=2000", "--filename=data"]
    processes.start("fio", ["fio", *job, "--time_based", "--runtime=18", *output], folder=folder)
    other = Exporter(processes, exporter.runs)
    for _ in range(3):
        time.sleep(2)
        other.kill()
        other.start()
        seen = other.page("a")
        running = 'benchwatch_run_state{worker="db1",state="running"}'
        assert pgbench.popen.poll() is not None or seen[running] == 1
    for run, worker in (("a", "db1"), ("f", "fio")):
        state = f'benchwatch_run_state{{worker="{worker}",state="finished"}}'
        eventually(lambda run=run, state=state: exporter.page(run).get(state) == 1, 30, "the run has finished")
        eventually(lambda run=run, state=state: other.page(run).get(state) == 1, 30, "the other sees it too")
        never_killed, killed = exporter.page(run), other.page(run)
        assert exact(killed) == exact(never_killed)
        assert by_arrival(killed) == pytest.approx(by_arrival(never_killed), abs=1)
        assert len(exact(killed)) > 50 and len(by_arrival(killed)) == 2


def exact(page: Page) -> Page:
    return {series: value for series, value in page.items() if not series.startswith(BY_ARRIVAL)}


def by_arrival(page: Page) -> Page:
    return {series: value for series, value in page.items() if series.startswith(BY_ARRIVAL)}
