from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Family, Sample
from benchwatch.nutanix import families as nutanix
from benchwatch.runs.worker_families import FAMILIES as RUNS
from benchwatch.server.process import FAMILIES as PROCESS
from benchwatch.tools.registry import TOOLS
from benchwatch.watch.metrics_page import SampleReader, live, read_page, slow
from benchwatch.watch.model import Cvm, Measured, Page
from tests.support.places import RECORDINGS, Place

GOLDEN = Path(__file__).parents[1] / "nutanix" / "published.prom"
PROGRESS = RECORDINGS / "pgbench" / "progress-timestamp-15.18.err"
FIO = RECORDINGS / "fio" / "jsonplus-si1-libaio-qd16-3.42.out"


def page_of(text: str) -> Page:
    return read_page(SampleReader(live() | slow()).read(text))


def exported(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    assert main(["metrics", str(path)]) == 0
    return capsys.readouterr().out


def test_a_pgbench_that_runs(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    lines = PROGRESS.read_bytes().splitlines(keepends=True)
    place("test1/run.yaml", b"{command: pgbench -nT600 -P 1, latency_objective: 5ms}", 1795168149.6)
    path = place("test1/db1.err", b"".join(lines[:2]), 1795168149.6)
    (worker,) = page_of(exported(capsys, path.parent)).workers
    assert (worker.run, worker.name, worker.tool, worker.state) == ("test1", "db1", "pgbench", "running")
    assert (worker.duration, worker.objective, worker.report_interval) == (600, 0.005, 1)
    assert (worker.last_report, worker.end) == (1795168149.54, None)
    assert worker.now == (Measured(rate=42610.7, latency=0.000046, time=1795168149.54),)
    assert worker.result == ()


def test_a_pgbench_that_has_ended_has_results_and_no_present(capsys: pytest.CaptureFixture[str]) -> None:
    (worker,) = page_of(exported(capsys, RECORDINGS / "pgbench" / "txlog-j2-15.18")).workers
    assert worker.state == "finished"
    assert worker.now == (Measured(),)
    (result,) = worker.result
    assert (result.rate, result.latency) == (6448.700587, 0.00062)
    assert list(result.quantiles) == ["0.5", "0.95", "0.99", "0.999", "1"]
    assert worker.lost == {"failed": (0, 1000)}


def test_a_pgbench_that_failed_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    (worker,) = page_of(exported(capsys, RECORDINGS / "pgbench" / "conn-refused-15.18.err")).workers
    assert worker.state == "failed"
    assert worker.reason == 'connection to server at "127.0.0.1", port 55999 failed: Connection refused'


def test_a_fio_that_runs(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    documents = FIO.read_bytes().split(b"\n}\n")
    path = place("disk1.json", b"\n}\n".join(documents[:2]) + b"\n}\n", 1795168695.9)
    (worker,) = page_of(exported(capsys, path)).workers
    assert (worker.state, worker.duration) == ("running", 3)
    assert [(one.job, one.op) for one in worker.now] == [("rrw", "read"), ("rrw", "write")]
    read = worker.now[0]
    assert read.rate is not None
    assert read.bandwidth == pytest.approx(read.rate * 4096, rel=1e-3)
    assert list(read.quantiles) == ["0.5", "0.95", "0.99", "0.999", "1"]
    assert sorted(read.quantiles.values()) == list(read.quantiles.values())


def test_a_fio_that_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    (worker,) = page_of(exported(capsys, FIO)).workers
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
    assert [one.rate for one in worker.now] == [None, None]


def test_the_highest_latency_is_known_of_a_tool_that_reports_it_apart(capsys: pytest.CaptureFixture[str]) -> None:
    fileio = RECORDINGS / "sysbench" / "fileio-rndrd-t8-histogram-1.0.20"
    (worker,) = page_of(exported(capsys, fileio)).workers
    (result,) = worker.result
    assert result.quantiles == {"0.99": 1e-05, "1": 0.17764}


@pytest.mark.parametrize(
    ("command", "seconds"),
    [("pgbench -P 1 -T 60 db", 60), ("pgbench --time=60 db", 60), ("pgbench -nST60", 60), ("pgbench -t 60 -P 1", None)],
)
def test_how_long_it_takes_is_in_the_command(
    capsys: pytest.CaptureFixture[str], place: Place, command: str, seconds: float | None
) -> None:
    place("test1/run.yaml", f"command: {command}".encode())
    path = place("test1/db1.err", PROGRESS)
    (worker,) = page_of(exported(capsys, path.parent)).workers
    assert worker.duration == seconds


@pytest.mark.parametrize(("record", "seconds"), [("", None), ("parameters: {planned_seconds: 360}", 360)])
def test_how_long_several_jobs_take_is_in_the_record_alone(
    capsys: pytest.CaptureFixture[str], place: Place, record: str, seconds: float | None
) -> None:
    place("test1/run.yaml", record.encode())
    stonewalled = (RECORDINGS / "fio" / "json-multi-stonewall-3.42.out").read_bytes()
    path = place("test1/disk1.json", stonewalled)
    (worker,) = page_of(exported(capsys, path.parent)).workers
    assert worker.duration == seconds


def test_vdisks_and_their_cvm() -> None:
    written = 'nutanix_vdisk_write_destination_ratio{cvm="cvm-a",vdisk="31181823",destination="%s"} %s\n'
    page = page_of(GOLDEN.read_text() + written % ("oplog", 0.25) + written % ("estore_ssd", 0.75))
    assert page.cvms == (Cvm("cvm-a", True, 1790000000.5),)
    (vdisk,) = [vdisk for vdisk in page.vdisks if vdisk.vdisk == "31181823"]
    assert (vdisk.vm, vdisk.disk, vdisk.role) == ("db1", "scsi.1", "data")
    assert (vdisk.rates, vdisk.latencies) == ({"read": 2192, "write": 986}, {"read": 0.000104, "write": 0.002198})
    assert (vdisk.random, vdisk.oplog) == ({"read": 1, "write": 1}, 0.25)


def test_names_come_through_whatever_is_in_them() -> None:
    class Source:
        labels = (("run", 'a\n"b\\ {c="d"} # 1\r\x1b[2J\u2028'), ("worker", "\x85 , }"))
        version = 0

        def samples(self) -> list[Sample]:
            family = Family("benchwatch_run_state", "gauge", "State.", ("state",))
            return [Sample(family, ("running",), 1), Sample(family, ("failed",), 0)]

    (worker,) = page_of(Exposition().render([Source()])).workers
    assert (("run", worker.run), ("worker", worker.name)) == Source.labels
    assert worker.state == "running"


def test_what_is_not_a_number_is_not_measured() -> None:
    reader = SampleReader(live())
    line = 'pgbench_tps{run="a",worker="b"} '
    assert [sample.value for sample in reader.read(f"# HELP pgbench_tps x\n{line}3.5\n{line}NaN\n{line}+Inf\n")] == [
        3.5
    ]
    assert [sample.value for sample in reader.read(f"{line}4.5\n")] == [4.5]


def test_what_is_no_exposition_is_refused() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        SampleReader(live()).read('pgbench_tps{run="a",worker="b"} fast')


def test_every_name_is_one_that_the_exporter_has_in_that_part() -> None:
    families = {family.name: family for family in (*PROCESS, *RUNS, *nutanix.FAMILIES)}
    families |= {family.name: family for tool in TOOLS for family in tool.families}
    assert {families[name].part for name in live()} == {"live"}
    assert {families[name].part for name in slow()} == {"runs", "nutanix"}


def test_how_the_output_was_read_is_known(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    report = (RECORDINGS / "pgbench" / "tpcb-15.18.out").read_bytes()
    (worker,) = page_of(exported(capsys, place("test1/db1.out", report * 3).parent)).workers
    assert worker.remarks == ("run 3 of 3 in this file",)
