"""`benchwatch run` with a real pgbench, PostgreSQL and fio, seen by a real exporter."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo_processes import Processes
from tests.support.launching import PATIENT
from tests.support.places import ROOT_IS_A_MOUNT
from tests.support.servers import Database, Exporter
from tests.support.waiting import PATIENCE, eventually

DB1 = 'worker="db1"'


def start(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PATIENT, "run", *arguments]
    environment = os.environ | {"PGPASSFILE": str(folder / "pgpass")}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, cwd=folder, **options)


def pgbench(server: Database, seconds: int) -> list[str]:
    return ["--", *server.postgres.pgbench("-n", "-S", "-c", "2", "-j", "2", "-R", "300", "-T", str(seconds))]


def fio(folder: Path, seconds: int, *more: str) -> list[str]:
    job = ["--name=job", "--rw=randrw", "--size=4m", "--ioengine=psync", "--thinktime=50000"]
    return ["--", "fio", *job, f"--filename={folder}/data", "--time_based", f"--runtime={seconds}", *more]


def record(runs: Path, run: str, worker: str = "db1") -> dict[str, Any]:
    found = yaml.safe_load((runs / run / f"{worker}.yaml").read_text())
    assert isinstance(found, dict)
    return found


def state(exporter: Exporter, run: str, name: str, worker: str = DB1) -> bool:
    return exporter.page(run).get(f'benchwatch_run_state{{{worker},state="{name}"}}') == 1


def test_pgbench_is_seen_live_and_its_totals_are_exact(exporter: Exporter, server: Database, tmp_path: Path) -> None:
    process = start(tmp_path, "--name", "a", "--worker", "db1", "--label", "vm=pg1", *pgbench(server, 10))
    quantile = f'pgbench_latency_window_seconds{{{DB1},quantile="0.99"}}'
    eventually(lambda: quantile in exporter.page("a"), "percentiles are seen live")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    eventually(lambda: state(exporter, "a", "finished"), "it has finished")
    processed = re.search(rb"actually processed: (\d+)", out)
    assert processed
    total = int(processed[1])
    logs = [path for path in (exporter.runs / "a").glob("db1.[0-9]*") if not path.is_symlink()]
    assert len(logs) == 2
    assert sum(log.read_bytes().count(b"\n") for log in logs) == total
    key = f"pgbench_transactions_total{{{DB1}}}"
    eventually(lambda: exporter.page("a").get(key) == total, "the log is read where it is kept")
    assert out == (exporter.runs / "a/db1.out").read_bytes()
    before, _, result = err.partition(b"benchwatch: a: pgbench ")
    assert b" TPS" in result and b"  p99.9 " in result and f"failed 0 of {total:,} transactions".encode() in result
    printed = [line for line in before.splitlines(keepends=True) if not line.startswith(b"benchwatch: ")]
    assert b"".join(printed) == (exporter.runs / "a/db1.err").read_bytes()


def test_the_servers_settings_and_its_disks_are_recorded(server: Database, tmp_path: Path) -> None:
    process = start(tmp_path, "--name", "a", "--worker", "db1", *pgbench(server, 1))
    process.communicate(timeout=PATIENCE)
    parameters = record(tmp_path / "runs", "a")["parameters"]
    running = Path(f"/proc/{server.process.popen.pid}")
    assert parameters["port"] == str(server.postgres.port)
    assert parameters["server_version"].split()[0] == server.postgres.version.split()[2]
    assert parameters["scale_factor"].isdigit()
    assert parameters["host.cpus"] == str(os.cpu_count())
    assert not any("password" in value for value in parameters.values())
    if not ROOT_IS_A_MOUNT:
        pytest.skip("this is a chroot: nothing says whose root the server has, so its disks are not known")
    if os.access(running / "cwd", os.R_OK):
        assert Path(parameters["data.mount_point"]).is_mount()
        assert parameters["data.filesystem"] == parameters["wal.filesystem"]


def test_a_question_that_takes_long_does_not_take_the_others_with_it(server: Database, tmp_path: Path) -> None:
    program, *connection = server.postgres.pgbench()
    psql = [str(Path(program).with_name("psql")), "-X", "-A", "-t", *connection]
    environment = os.environ | {"PGPASSFILE": str(tmp_path / "pgpass")}
    lock = ["-c", "begin", "-c", "lock table pgbench_branches", "-c", "select pg_sleep(600)"]
    locks = "select count(*) from pg_locks where relation = 'pgbench_branches'::regclass and granted"
    holding = subprocess.Popen([*psql, *lock], stdout=subprocess.DEVNULL, env=environment)
    try:
        eventually(lambda: subprocess.check_output([*psql, "-c", locks], env=environment) == b"1\n", "it is held")
        (tmp_path / "script").write_text("select 1;\n")
        options = ("-n", "-t", "1", "-f", str(tmp_path / "script"))
        process = start(tmp_path, "--name", "a", "--worker", "db1", "--", *server.postgres.pgbench(*options))
        process.communicate(timeout=PATIENCE)
    finally:
        holding.kill()
        holding.wait()
    parameters = record(tmp_path / "runs", "a")["parameters"]
    assert parameters["port"] == str(server.postgres.port)
    assert "database_size" in parameters
    assert "scale_factor" not in parameters


def test_several_launchers_record_one_run(exporter: Exporter, server: Database, tmp_path: Path) -> None:
    started = [start(tmp_path, "--name", "many", "--worker", f"db{number}", *pgbench(server, 2)) for number in range(4)]
    assert [process.communicate(timeout=PATIENCE) and process.returncode for process in started] == [0, 0, 0, 0]
    for number in range(4):
        worker = f'worker="db{number}"'
        eventually(lambda worker=worker: state(exporter, "many", "finished", worker), f"{worker} has finished")
        assert record(exporter.runs, "many", f"db{number}")["exit_code"] == 0


@pytest.mark.parametrize("output", [(), ("--output=documents.json",)])
def test_an_interrupted_fio_is_awaited_with_its_final_document(
    exporter: Exporter, tmp_path: Path, output: tuple[str, ...]
) -> None:
    process = start(tmp_path, "--name", "a", "--worker", "db1", *fio(tmp_path, 60, *output), start_new_session=True)
    iops = f'fio_iops{{{DB1},job="job",op="read"}}'
    eventually(lambda: iops in exporter.page("a"), "fio is seen live")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128
    assert re.search(
        rb"benchwatch: a: fio [\d.]+, interrupted \(interrupted by signal 2\), .*\n +IOPS .*\n  read ", err
    )
    assert (record(exporter.runs, "a")["exit_code"], record(exporter.runs, "a")["signal"]) == (128, "SIGINT")
    documents = (exporter.runs / "a/db1.json").read_bytes() if output else out
    assert documents.count(b'"fio version"') >= 2
    assert documents.rstrip().endswith(b"}")
    result = f'fio_result_iops{{{DB1},job="job",op="read"}}'
    eventually(lambda: result in exporter.page("a"), "its results are there")
    eventually(lambda: state(exporter, "a", "interrupted"), "and so is its record")


def test_what_is_pushed_is_what_is_here(
    exporter: Exporter, server: Database, processes: Processes, tmp_path: Path
) -> None:
    process = start(
        tmp_path,
        *("--name", "a", "--worker", "db1", "--runs.path", "here", "--push", exporter.url),
        *pgbench(server, 10),
    )
    quantile = f'pgbench_latency_window_seconds{{{DB1},quantile="0.99"}}'
    eventually(lambda: quantile in exporter.page("a"), "percentiles are seen live over there")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"not delivered" not in err
    here, there = (
        {file.name: file.read_bytes() for file in (place / "a").iterdir()}
        for place in (tmp_path / "here", exporter.runs)
    )
    assert here == there
    assert len(here) == 5
    eventually(lambda: state(exporter, "a", "finished"), "it has finished over there")
