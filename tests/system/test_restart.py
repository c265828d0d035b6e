"""An exporter that is killed in mid-run shows, once it is back, what one that was never killed shows."""

import time
from contextlib import suppress

import pytest

from demo_processes import Processes
from tests.support.servers import Database, Exporter, start_pgbench
from tests.support.waiting import eventually


@pytest.mark.slow(20)
def test_a_killed_exporter_comes_back_with_the_same_totals_and_state(
    exporter: Exporter, processes: Processes, server: Database
) -> None:
    pgbench = start_pgbench(processes, server, exporter.runs / "a", 18, "--progress-timestamp", "-l")
    start_pgbench(processes, server, exporter.runs / "b", 18)
    folder = exporter.runs / "f"
    folder.mkdir()
    output = ["--output-format=json+", "--status-interval=1", "--eta=never", "--output=" + str(folder / "fio.json")]
    job = ["--name=job", "--rw=randrw", "--size=4m", "--ioengine=psync", "--thinktime=50000", "--filename=data"]
    processes.start("fio", ["fio", *job, "--time_based", "--runtime=18", *output], folder=folder)
    other = Exporter(processes, exporter.runs)
    starts: set[float] = set()
    start = 'benchwatch_run_start_timestamp_seconds{worker="db1"}'
    running, stalled = (f'benchwatch_run_state{{worker="db1",state="{state}"}}' for state in ("running", "stalled"))
    eventually(lambda: running in exporter.page("a"), "its first output")
    for _ in range(3):
        time.sleep(2)
        other.kill()
        other.start()
        seen = other.page("a")
        assert pgbench.popen.poll() is not None or seen[running] + seen[stalled] == 1
        eventually(lambda: pgbench.popen.poll() is not None or other.page("a")[running] == 1, "the run goes on")
        eventually(lambda: start in other.page("b") and start in exporter.page("b"), "the first progress line")
        starts.add(other.page("b")[start])
        starts.add(exporter.page("b")[start])
    # On a busy machine a line is seen a moment after it was written, which moves the start that follows from it.
    assert max(starts) - min(starts) < 1.0 or pgbench.popen.poll() is not None
    for run, worker in (("a", "db1"), ("b", "db1"), ("f", "fio")):
        state = f'benchwatch_run_state{{worker="{worker}",state="finished"}}'
        eventually(lambda run=run, state=state: exporter.page(run).get(state) == 1, "the run has finished")
        eventually(lambda run=run, state=state: other.page(run).get(state) == 1, "the other sees it too")
        with suppress(pytest.fail.Exception):
            eventually(lambda run=run: exporter.page(run) == other.page(run), "both have read all, and show the same")
        assert dict(other.page(run).items() ^ exporter.page(run).items()) == {}  # says in what they differ
        assert len(other.page(run)) > 20
