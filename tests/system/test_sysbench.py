"""A real sysbench on a real PostgreSQL, seen live by a real exporter."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwatch.tools.sysbench import FAMILIES
from demo_processes import Process, Processes
from tests.support.launching import PATIENT
from tests.support.places import ROOT_IS_A_MOUNT
from tests.support.servers import Database, Exporter, Page
from tests.support.timelines import read_timelines
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")
DB1 = '{worker="db1"}'
LATENCY_WINDOW = FAMILIES.get("live", "latency")
TEST = "oltp_read_write"


def command(server: Database, folder: Path, *arguments: str) -> list[str]:
    """sysbench on the server's tables; the password is that of its user."""
    password = (folder / "pgpass").read_text().strip().rpartition(":")[2]
    connection = {"host": "127.0.0.1", "port": server.postgres.port, "user": "benchwatch", "db": "postgres"}
    options = [f"--pgsql-{name}={value}" for name, value in (connection | {"password": password}).items()]
    return ["sysbench", TEST, "--db-driver=pgsql", *options, "--tables=1", "--table-size=2000", *arguments]


@pytest.fixture
def tables(server: Database, tmp_path: Path) -> Database:
    subprocess.run(command(server, tmp_path, "prepare"), check=True, capture_output=True, timeout=PATIENCE)
    return server


def start(processes: Processes, server: Database, folder: Path, *arguments: str) -> Process:
    folder.mkdir()
    flags = ["--report-interval=1", "--percentile=99", "--threads=2", *arguments, "run"]
    return processes.start(
        "sysbench",
        command(server, folder.parents[1], *flags),
        folder=folder,
        output=folder / "db1.out",
        log=folder / "db1.err",
    )


def is_in(exporter: Exporter, run: str, state: str) -> bool:
    return exporter.page(run).get(f'benchwatch_run_state{{worker="db1",state="{state}"}}') == 1


def shown(page: Page, start: str) -> Page:
    return {series: value for series, value in page.items() if series.startswith(start)}


@pytest.mark.slow(20)
def test_a_frozen_server_stalls_the_run_and_the_next_line_has_the_true_latency(
    exporter: Exporter, processes: Processes, tables: Database
) -> None:
    # The 100th: of hundreds of events in the line after the freeze only two were frozen.
    start(processes, tables, exporter.runs / "a", "--time=16", "--percentile=100")
    window = 'sysbench_latency_window_seconds{worker="db1",quantile="1"}'
    eventually(lambda: window in exporter.page("a"), "a percentile is seen live")
    begun = exporter.page("a")[f"benchwatch_run_start_timestamp_seconds{DB1}"]
    assert time.time() - PATIENCE < begun < time.time()
    tables.freeze(signal.SIGSTOP)
    stopped = time.monotonic()
    eventually(lambda: is_in(exporter, "a", "stalled"), "the run is stalled")
    page = exporter.page("a")
    assert page.get(f"sysbench_tps{DB1}", 0) == 0
    assert not shown(page, "sysbench_latency")
    frozen = page[f"sysbench_transactions_total{DB1}"]
    lasted = time.monotonic() - stopped
    tables.freeze(signal.SIGCONT)
    eventually(lambda: is_in(exporter, "a", "finished"), "it has finished")
    # It was shown for one interval, which a busy machine may let pass between two looks.
    (timeline,) = read_timelines([exporter.runs / "a"])
    (latency,) = timeline.get(LATENCY_WINDOW)
    assert latency.values.max() > 0.98 * lasted, "the latency of what was frozen, in bins 1.8 % wide"
    page = exporter.page("a")
    text = (exporter.runs / "a/db1.out").read_text()
    transactions = int(re.findall(r"transactions: +(\d+)", text)[-1])
    assert page[f"sysbench_transactions_total{DB1}"] == page[f"sysbench_result_transactions{DB1}"] == transactions
    assert transactions >= frozen
    tps = float(re.findall(r"transactions: .*\((\S+) per sec", text)[-1])
    assert page[f"sysbench_result_tps{DB1}"] == tps
    length = float(re.findall(r"total time: +([\d.]+)s", text)[-1])
    ended = page[f"benchwatch_run_end_timestamp_seconds{DB1}"]
    assert ended - page[f"benchwatch_run_start_timestamp_seconds{DB1}"] == pytest.approx(length, abs=0.01)


@pytest.mark.slow(15)
def test_a_stopped_sysbench_stalls_and_a_killed_one_says_nothing(
    exporter: Exporter, processes: Processes, tables: Database
) -> None:
    process = start(processes, tables, exporter.runs / "a", "--time=120")
    eventually(lambda: exporter.page("a").get(f"sysbench_tps{DB1}", 0) > 0, "sysbench makes transactions")
    process.popen.send_signal(signal.SIGSTOP)
    eventually(lambda: is_in(exporter, "a", "stalled"), "silence is a stall")
    assert not shown(exporter.page("a"), "sysbench_tps")
    process.popen.send_signal(signal.SIGCONT)
    eventually(lambda: is_in(exporter, "a", "running"), "it runs again")
    before = exporter.page("a")[f"sysbench_transactions_total{DB1}"]
    process.popen.kill()
    process.popen.wait()
    eventually(lambda: is_in(exporter, "a", "stalled"), "nothing says that it has ended")
    page = exporter.page("a")
    assert page[f"sysbench_transactions_total{DB1}"] >= before
    assert not shown(page, "sysbench_result")


@pytest.mark.slow(14)
def test_a_forced_shutdown_is_a_failed_run_with_results(
    exporter: Exporter, processes: Processes, tables: Database
) -> None:
    process = start(processes, tables, exporter.runs / "a", "--time=8", "--forced-shutdown=1")
    text = exporter.runs / "a/db1.out"
    eventually(lambda: text.exists() and "[ 1s ]" in text.read_text(), "sysbench makes transactions")
    tables.freeze(signal.SIGSTOP)
    code = process.popen.wait(PATIENCE)
    if code == -signal.SIGSEGV:
        pytest.skip("sysbench itself crashed, as Debian's build with PostgreSQL now and then does")
    assert code == 2
    eventually(lambda: is_in(exporter, "a", "failed"), "it has failed")
    page = exporter.page("a")
    (reason,) = shown(page, "benchwatch_run_reason_info")
    assert "The --max-time limit has expired" in reason
    assert page[f"sysbench_transactions_total{DB1}"] == page[f"sysbench_result_transactions{DB1}"] > 0


@pytest.mark.slow(12)
def test_checkpoints_do_not_end_the_run(exporter: Exporter, processes: Processes, tables: Database) -> None:
    process = start(processes, tables, exporter.runs / "a", "--time=8", "--report-checkpoints=2,4")
    text = exporter.runs / "a/db1.out"
    totals = []
    while process.popen.poll() is None:
        page, finished = exporter.page("a"), is_in(exporter, "a", "finished")
        assert not finished or text.read_text().count("Threads fairness") == 3
        totals += shown(page, "sysbench_transactions_total").values()
        time.sleep(0.2)
    eventually(lambda: is_in(exporter, "a", "finished"), "it has finished")
    assert totals
    assert totals == sorted(totals)
    counts = [int(count) for count in re.findall(r"transactions: +(\d+)", text.read_text())]
    assert len(counts) == 3
    assert exporter.page("a")[f"sysbench_transactions_total{DB1}"] == sum(counts)


@pytest.mark.slow(16)
def test_run_adds_flags_records_facts_and_hides_the_password(
    exporter: Exporter, tables: Database, tmp_path: Path
) -> None:
    launcher = [sys.executable, "-c", PATIENT, "run", "--name", "a", "--worker", "db1", "--"]
    process = subprocess.Popen(
        [*launcher, *command(tables, tmp_path, "--threads=2", "--time=10", "run")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PGPASSFILE": "/dev/null"},
    )
    window = 'sysbench_latency_window_seconds{worker="db1",quantile="0.99"}'
    eventually(lambda: window in exporter.page("a"), "a percentile is seen live")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert b"adds --report-interval=1 --percentile=99 --histogram=on" in err
    eventually(lambda: is_in(exporter, "a", "finished"), "it has finished")
    page = exporter.page("a")
    total = int(re.findall(rb"transactions: +(\d+)", out)[-1])
    assert page[f"sysbench_transactions_total{DB1}"] == page[f"sysbench_latency_seconds_count{DB1}"] == total
    recorded = (exporter.runs / "a/db1.yaml").read_text()
    password = (tmp_path / "pgpass").read_text().strip().rpartition(":")[2]
    assert password not in recorded + exporter.text()
    assert f"test: {TEST}" in recorded
    assert "planned_seconds: '10'" in recorded
    assert f"server_version: {tables.postgres.version.split()[2]}" in recorded
    assert "data.filesystem" in recorded or os.geteuid() or not ROOT_IS_A_MOUNT
