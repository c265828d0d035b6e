"""What is shown while nothing goes on any more, with a real pgbench, PostgreSQL and fio."""

import os
import signal
import subprocess
import time

import pytest
import requests

from demo_processes import Processes
from tests.support.servers import Database, Exporter, Page, start_pgbench
from tests.support.waiting import PATIENCE, eventually

DB1, FIO = '{worker="db1"}', '{worker="fio"'


def shown(page: Page, start: str) -> Page:
    return {series: value for series, value in page.items() if series.startswith(start)}


@pytest.mark.slow(20)
def test_a_frozen_server_shows_no_throughput_no_latency_and_no_burst_afterwards(
    exporter: Exporter, processes: Processes, server: Database
) -> None:
    start_pgbench(processes, server, exporter.runs / "stall", 20, "--progress-timestamp", "-l")
    eventually(lambda: exporter.page("stall").get(f"pgbench_tps{DB1}", 0) > 100, "pgbench makes transactions")
    time.sleep(3)
    server.freeze(signal.SIGSTOP)
    frozen = time.time()
    state = 'benchwatch_run_state{worker="db1",state="stalled"}'
    looks: list[Page] = []

    def stalled() -> bool:
        looks.append(exporter.page("stall"))
        # Where pgbench has its turn too late, it is silent for a moment.
        return looks[-1][state] == 1 and f"pgbench_tps{DB1}" in looks[-1]

    eventually(stalled, "the run is stalled")  # pgbench does not end before its server goes on
    page = looks[-1]
    assert page[f"pgbench_tps{DB1}"] == 0
    assert not shown(page, "pgbench_latency_average") | shown(page, "pgbench_latency_window")
    assert not shown(page, "pgbench_latency_stddev")
    before = page[f"pgbench_transactions_total{DB1}"]
    time.sleep(2)
    assert exporter.page("stall")[f"pgbench_transactions_total{DB1}"] == before
    assert exporter.page("stall")[f"benchwatch_run_last_report_timestamp_seconds{DB1}"] > frozen
    server.freeze(signal.SIGCONT)
    eventually(lambda: exporter.page("stall")[state] == 0, "it runs, or has ended after all that time")
    eventually(lambda: exporter.page("stall")['benchwatch_run_state{worker="db1",state="finished"}'] == 1, "ended")
    page = exporter.page("stall")
    logged = sum(log.read_bytes().count(b"\n") for log in (exporter.runs / "stall").glob("pgbench_log.*"))
    assert page[f"pgbench_transactions_total{DB1}"] == page[f"pgbench_result_transactions{DB1}"] == logged


@pytest.mark.slow(14)
def test_a_frozen_fio_worker_shows_growing_age_no_latency_and_no_burst_afterwards(
    exporter: Exporter, processes: Processes
) -> None:
    folder = exporter.runs / "stall"
    folder.mkdir()
    job = ["--name=job", "--rw=randread", "--bs=4k", "--size=4m", "--ioengine=psync", "--thinktime=20000"]
    output = ["--output-format=json+", "--status-interval=1", "--eta=never", "--output=" + str(folder / "fio.json")]
    fio = processes.start(
        "fio", ["fio", *job, "--filename=" + str(folder / ".data"), "--time_based", "--runtime=600", *output]
    )
    rate = f'fio_iops{FIO},job="job",op="read"}}'
    eventually(lambda: exporter.page("stall").get(rate, 0) > 5, "fio reads")
    time.sleep(3)
    worker = int(subprocess.run(["pgrep", "-P", str(fio.popen.pid)], capture_output=True, text=True).stdout.split()[0])
    os.kill(worker, signal.SIGSTOP)
    state = 'benchwatch_run_state{worker="fio",state="stalled"}'
    eventually(lambda: exporter.page("stall")[state] == 1, "the run is stalled")
    page = exporter.page("stall")
    assert not shown(page, "fio_latency") | shown(page, "fio_iops")
    landing = requests.get(exporter.url, timeout=PATIENCE).text
    assert "IOPS</td>" not in landing, "no throughput on the landing page either"
    reported = f"benchwatch_run_last_report_timestamp_seconds{FIO}}}"
    assert time.time() - page[reported] > 2
    assert shown(page, "fio_ios_total")
    os.kill(worker, signal.SIGCONT)
    after: dict[float, float] = {}

    def reads_on() -> bool:
        page = exporter.page("stall")
        after.update({page[reported]: page[rate]} if rate in page else {})
        return len(after) >= 5

    eventually(reads_on, "five reports with a rate")
    assert max(after.values()) < 1.5 * 50  # a thinktime of 20 ms lets no more than 50 through in a second
    assert min(after.values()) >= 0
    fio.popen.send_signal(signal.SIGINT)
    ends = [f'benchwatch_run_state{FIO},state="{end}"}}' for end in ("finished", "interrupted")]
    eventually(lambda: any(exporter.page("stall")[end] for end in ends), "it has ended")
    result = f'fio_result_iops{FIO},job="job",op="read"}}'
    eventually(lambda: result in exporter.page("stall"), "its results are there")
    assert exporter.page("stall")[result] < 50
