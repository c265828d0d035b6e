"""An ended run has the same results wherever it is shown: landing page, watch, compare, report."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.model.run import Measured, Worker
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings
from tests.support.pages import Page
from tests.support.places import NOW, RECORDINGS, Place

PGBENCH = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"


@pytest.fixture
def pgbench(place: Place) -> Path:
    """A run with a transaction log that has ended."""
    for name, recording in (("db1.err", "stderr"), ("db1.out", "stdout"), ("db1.30137", "db1.30137")):
        place(f"a/{name}", PGBENCH / recording)
    return place("a/run.yaml", b"{}").parent


def exporter(folder: Path, now: float = NOW) -> Exporter:
    """One that has read the runs of that folder."""
    runs = Runs([folder], RunsSettings(), Buckets())
    while runs.poll(now):
        pass
    return Exporter(runs)


def landing(folder: Path, now: float = NOW) -> Worker:
    ((view,),) = (run.workers for run in exporter(folder, now).runs())
    return view


def watched(folder: Path) -> tuple[Measured, ...]:
    return landing(folder).result


def compared(run: Path, capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], float]:
    """The figures of a run in a comparison with a copy of it, by operation and measure."""
    copy = shutil.copytree(run, run.parent.parent / "others" / "copy")
    assert main(["compare", str(run), str(copy), "--format", "json"]) == 0
    measures = json.loads(capsys.readouterr().out)["others"][0]["measures"]
    return {(one.get("op", ""), one["name"]): one["base"] for one in measures}


def test_pgbench(pgbench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    view, (result,), figures = landing(pgbench.parent), watched(pgbench.parent), compared(pgbench, capsys)
    latencies = sorted(int(line.split()[2]) for line in (pgbench / "db1.30137").read_text().splitlines())
    assert view.p99 == pytest.approx(latencies[-(-99 * len(latencies) // 100) - 1] / 1e6, rel=0.016)
    assert result.quantiles["1"] == latencies[-1] / 1e6
    assert (view.throughput, view.latency) == (result.rate, result.latency)
    assert figures["", "throughput"] == view.throughput
    assert figures["", "latency_mean"] == view.latency
    quantiles = {name: figures["", f"latency_{name}"] for name in ("p50", "p95", "p99", "p99_9", "max")}
    assert list(quantiles.values()) == list(result.quantiles.values())
    assert view.p99 == result.quantiles["0.99"] == quantiles["p99"]


def test_percentiles_of_a_log_that_lacks_a_part_of_the_run_are_none(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    disk_full = RECORDINGS / "pgbench/txlog-disk-full-15.18"
    for name, recording in (("db.err", "stderr"), ("db.out", "stdout"), ("db.18245", "pgb.18245")):
        run = place(f"a/{name}", disk_full / recording).parent
    view, (result,) = landing(run.parent), watched(run.parent)
    assert (view.p99, result.quantiles, view.throughput) == (None, {}, 24943.799063)
    assert main(["show", str(run), "--require", "p99 < 1s"]) == 3
    out = capsys.readouterr().out
    assert "  ! a: a log has 8,738 of 74,697 transactions, so there are no percentiles\n" in out
    assert out.endswith("NOT MET: p99 < 1s: not measured\n")
    assert main(["report", str(run), "--output", str(run.parent / "page.html")]) == 0
    assert "Latency distribution" not in (run.parent / "page.html").read_text()


def test_a_log_that_lacks_a_hundredth_is_named_where_the_report_leaves_out_failed_transactions(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place("a/db.100", RECORDINGS / "pgbench/txlog-disk-full-15.18/pgb.18245")
    log.write_text("".join(f"0 {number} 100 0 1795168289 1\n" for number in range(1, 691)))
    (log.parent / "db.out").write_text(
        "transaction type: <builtin: TPC-B (sort of)>\nnumber of transactions actually processed: 700\n"
        "number of failed transactions: 300 (30.000%)\ntps = 70.000000 (without initial connection time)\n"
    )
    assert main(["show", str(log.parent)]) == 0
    assert "  ! a: a log has 690 of 700 transactions, so there are no percentiles\n" in capsys.readouterr().out


def test_fio(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    run = place("a/disk1.out", FIO).parent
    view, results, figures = landing(run.parent), {one.op: one for one in watched(run.parent)}, compared(run, capsys)
    assert view.throughput == pytest.approx(figures["all", "throughput"])
    assert view.latency == pytest.approx(figures["all", "latency_mean"])
    assert view.p99 is not None
    assert min(one.quantiles["0.99"] for one in results.values()) <= view.p99
    assert view.p99 <= max(one.quantiles["0.99"] for one in results.values())
    for op in ("read", "write"):
        result = results[op]
        assert (figures[op, "throughput"], figures[op, "latency_mean"]) == (result.rate, result.latency)
        assert figures[op, "latency_p99"] == result.quantiles["0.99"]
        assert figures[op, "latency_max"] == result.quantiles["1"]
        assert figures[op, "bandwidth"] == result.bandwidth


def test_the_report_has_them_too(pgbench: Path, tmp_path: Path) -> None:
    (result,) = watched(pgbench.parent)
    assert main(["report", str(pgbench), "--output", str(tmp_path / "page.html")]) == 0
    page = Page(tmp_path / "page.html")
    assert page.rows()["latency p99"] == [f"{1e3 * result.quantiles['0.99']:.7g} ms"]
    tiles = dict(zip(page.text("dt"), page.text("dd"), strict=True))
    assert tiles["latency p99"] == f"{1e3 * result.quantiles['0.99']:.3g} ms"


def test_with_a_warm_up_there_is_one_result_and_the_tools_own_is_named_as_such(
    pgbench: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tools_own = landing(pgbench.parent)
    (pgbench / "run.yaml").write_text("warmup: 5s\n")
    view = landing(pgbench.parent)
    assert view.warmup == 5.0
    assert (view.throughput, view.latency, view.p99) == (None, None, None)
    assert main(["show", str(pgbench), "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["subjects"][0]["results"]
    figures = {one["name"]: one["value"] for one in shown["figures"]}
    assert main(["list", str(pgbench.parent), "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert (listed["rate"], listed["latency_mean_seconds"], listed["latency_p99_seconds"]) == (
        figures["throughput"],
        figures["latency_mean"],
        figures["latency_p99"],
    )
    copy = shutil.copytree(pgbench, tmp_path / "others" / "copy")
    assert main(["compare", str(pgbench), str(copy), "--format", "markdown"]) == 0
    base = capsys.readouterr().out.splitlines()[2]
    assert tools_own.throughput is not None and tools_own.latency is not None
    whole = f"whole run: {tools_own.throughput:.1f} TPS, mean {1e3 * tools_own.latency:.2f} ms"
    assert base.endswith(f"without the first 5 s; {whole}")


def test_the_last_report_of_a_run_without_an_end_is_no_result(place: Place) -> None:
    place("a/db1.err", b"progress: 1.0 s, 408.0 tps, lat 0.331 ms stddev 0.472\n" * 3, NOW - 400)
    for record in (b"{}", b"exit_code: 1"):
        folder = place("a/run.yaml", record, NOW - 400).parents[1]
        view = landing(folder)
        assert view.state in ("abandoned", "failed")
        assert (view.throughput, view.latency, view.p99) == (None, None, None)
        assert watched(folder) == ()


@pytest.mark.parametrize(
    ("ahead", "seconds", "grew", "state", "said"),
    [
        (-3600, 40, 40, "running", ["its clock is 1h 00m behind the clock of its files"]),
        (3600, 40, 40, "running", ["its clock is 1h 00m ahead of the clock of its files"]),
        (-3600, 40, 0, "abandoned", []),  # a copy of an old file has the right clock
        (-3600, 3, 0, "abandoned", []),
    ],
)
def test_a_clock_that_differs_is_named_and_no_stall(
    ahead: int, seconds: int, grew: int, state: str, said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time()
    line = "progress: {:.3f} s, 100.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n"
    path = tmp_path / "runs/a/db1.err"
    path.parent.mkdir(parents=True)
    path.write_text("".join(line.format(now + ahead + second) for second in range(1, seconds + 1)))
    os.utime(path, (now + grew,) * 2)
    view = landing(tmp_path / "runs", now + grew)
    assert list(view.notes) == said
    assert main(["show", str(tmp_path / "runs/a"), "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["subjects"][0]["results"]
    assert shown["state"] == state
    notes = [one["text"] for one in shown["findings"] if one["kind"] == "reading"]
    assert notes == [f"a: {text}" for text in said]
