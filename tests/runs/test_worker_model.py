import pytest

from benchwatch.model.run import Loss, Measured
from tests.support.places import RECORDINGS, Place
from tests.support.shown import shown_workers

PROGRESS = RECORDINGS / "pgbench" / "progress-timestamp-15.18.err"
FIO = RECORDINGS / "fio" / "jsonplus-si1-libaio-qd16-3.42.out"


def test_a_pgbench_that_runs(place: Place) -> None:
    lines = PROGRESS.read_bytes().splitlines(keepends=True)
    place("test1/run.yaml", b"{command: pgbench -nT600 -P 1, latency_objective: 5ms}", 1795168149.6)
    path = place("test1/db1.err", b"".join(lines[:2]), 1795168149.6)
    (worker,) = shown_workers(path.parent)
    assert (worker.run, worker.name, worker.tool, worker.state) == ("test1", "db1", "pgbench", "running")
    assert (worker.duration, worker.objective, worker.report_interval) == (600, 0.005, 1)
    assert (worker.last_report, worker.end) == (1795168149.54, None)
    assert worker.now == (Measured(rate=42610.7, latency=0.000046, time=1795168149.54),)
    assert worker.result == ()


def test_a_pgbench_that_has_ended_has_results_and_no_present() -> None:
    (worker,) = shown_workers(RECORDINGS / "pgbench" / "txlog-j2-15.18")
    assert worker.state == "finished"
    assert worker.now == ()
    (result,) = worker.result
    assert (result.rate, result.latency) == (6448.700587, 0.00062)
    assert list(result.quantiles) == ["0.5", "0.95", "0.99", "0.999", "1"]
    assert worker.lost == {"failed": Loss(0, 1000, True)}


def test_a_pgbench_that_failed_says_why() -> None:
    (worker,) = shown_workers(RECORDINGS / "pgbench" / "conn-refused-15.18.err")
    assert worker.state == "failed"
    assert worker.reason == 'connection to server at "127.0.0.1", port 55999 failed: Connection refused'


def test_a_fio_that_runs(place: Place) -> None:
    documents = FIO.read_bytes().split(b"\n}\n")
    path = place("disk1.json", b"\n}\n".join(documents[:2]) + b"\n}\n", 1795168695.9)
    (worker,) = shown_workers(path)
    assert (worker.state, worker.duration) == ("running", 3)
    assert [(one.job, one.op) for one in worker.now] == [("rrw", "read"), ("rrw", "write")]
    read = worker.now[0]
    assert read.rate is not None
    assert read.bandwidth == pytest.approx(read.rate * 4096, rel=1e-3)
    assert list(read.quantiles) == ["0.5", "0.95", "0.99", "0.999", "1"]
    assert sorted(read.quantiles.values()) == list(read.quantiles.values())


def test_a_fio_that_has_ended() -> None:
    (worker,) = shown_workers(FIO)
    read, write = worker.result
    assert (read.job, read.op, write.op) == ("rrw", "read", "write")
    assert (read.rate, read.latency) == (48397.86737754082, 0.000147031876048)
    assert read.quantiles == {
        "0.5": 140288e-9,
        "0.95": 173056e-9,
        "0.99": 205824e-9,
        "0.999": 2310144e-9,
        "1": 0.00362504,
    }
    assert worker.now == ()


def test_the_highest_latency_is_known_of_a_tool_that_reports_it_apart() -> None:
    fileio = RECORDINGS / "sysbench" / "fileio-rndrd-t8-histogram-1.0.20"
    (worker,) = shown_workers(fileio)
    (result,) = worker.result
    assert result.quantiles == {"0.99": 1e-05, "1": 0.17764}


@pytest.mark.parametrize(
    ("command", "seconds"),
    [("pgbench -P 1 -T 60 db", 60), ("pgbench --time=60 db", 60), ("pgbench -nST60", 60), ("pgbench -t 60 -P 1", None)],
)
def test_how_long_it_takes_is_in_the_command(place: Place, command: str, seconds: float | None) -> None:
    place("test1/run.yaml", f"command: {command}".encode())
    path = place("test1/db1.err", PROGRESS)
    (worker,) = shown_workers(path.parent)
    assert worker.duration == seconds


@pytest.mark.parametrize(("record", "seconds"), [("", None), ("parameters: {planned_seconds: 360}", 360)])
def test_how_long_several_jobs_take_is_in_the_record_alone(place: Place, record: str, seconds: float | None) -> None:
    place("test1/run.yaml", record.encode())
    stonewalled = (RECORDINGS / "fio" / "json-multi-stonewall-3.42.out").read_bytes()
    path = place("test1/disk1.json", stonewalled)
    (worker,) = shown_workers(path.parent)
    assert worker.duration == seconds


def test_how_the_output_was_read_is_known(place: Place) -> None:
    report = (RECORDINGS / "pgbench" / "tpcb-15.18.out").read_bytes()
    (worker,) = shown_workers(place("test1/db1.out", report * 3).parent)
    assert worker.notes == ("run 3 of 3 in this file",)
