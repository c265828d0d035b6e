import errno
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from benchwatch.runs import recognition
from benchwatch.runs.observed_run import ObservedRun
from tests.compare.made import place, progress
from tests.support.places import RECORDINGS

Listed = Callable[..., tuple[int, str, str]]
DAY = 86400


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listed:
    """Lists the folder `runs`, in which there are three runs: of an hour, three days and forty days ago."""
    monkeypatch.chdir(tmp_path)
    now = round(time.time())
    for name, age, more in (
        ("new", 3600, "labels: {cluster: a, vm: pg1}"),
        ("old", 3 * DAY, "labels: {cluster: a}\nrepeat_of: night"),
        ("ancient", 40 * DAY, "labels: {cluster: b}\nexit_code: 130\nsignal: SIGINT"),
    ):
        start = f"start: {now - age}\nend: {now - age + 60}\n"
        place(tmp_path / "runs" / name, 1000.0, record=f"{start}{more}\n")
    (tmp_path / "runs/ancient/db.out").write_text("pgbench (15.18)\n")
    (tmp_path / "runs/notes").mkdir()
    (tmp_path / "runs/notes/readme.txt").write_text("remember the milk\n")

    def listed(*arguments: str) -> tuple[int, str, str]:
        code = main(["list", *arguments])
        return (code, *capsys.readouterr())

    return listed


def runs(out: str) -> list[dict[str, Any]]:
    content = json.loads(out)
    assert content["schema"] == 1
    return list(content["runs"])


def runs_of_show(out: str) -> list[float]:
    """The throughput of each result that `show` prints as JSON."""
    results = json.loads(out)["subjects"][0]["results"]
    figures = [figure for result in results for figure in result["figures"]]
    return [figure["value"] for figure in figures if figure["name"] == "throughput"]


def test_runs_are_listed_the_latest_first_with_their_result(listed: Listed) -> None:
    code, out, err = listed()
    head, *lines = out.splitlines()
    assert (code, err, head.split()) == (0, "", ["run", "state", "tool", "began", "length", "result", "labels"])
    assert [line.split()[:3] for line in lines] == [
        ["new", "finished", "pgbench"],
        ["old", "finished", "pgbench"],
        ["ancient", "interrupted", "pgbench"],
    ]
    assert lines[0].endswith(" UTC  1m 00s  1,000 TPS, mean 160 µs  cluster=a, vm=pg1")


def test_a_run_that_cannot_be_read_is_named_and_hides_no_other(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def denied(path: object) -> object:
        if str(path) == "runs/old":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(str(path))

    monkeypatch.setattr(os, "scandir", denied)
    code, out, err = listed()
    assert (code, err) == (0, "benchwatch: runs/old: cannot be read: Permission denied; expected a file or a folder\n")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["new", "ancient"]


def test_a_run_that_a_bug_keeps_from_being_read_is_named_and_hides_no_other(
    listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ObservedRun.look

    def fail(self: ObservedRun, *arguments: Any) -> None:
        if self.name == "old":
            raise ValueError("not thought of")
        real(self, *arguments)

    monkeypatch.setattr(ObservedRun, "look", fail)
    code, out, err = listed()
    sentence = "runs/old: cannot be read: ValueError: not thought of; please report this"
    assert (code, err) == (0, f"benchwatch: {sentence}\n")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["new", "ancient"]


def test_a_file_and_a_record_that_cannot_be_read_are_named(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    real = recognition.read_head

    def denied(path: Path) -> bytes:
        if path.name == "secret.out":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(recognition, "read_head", denied)
    Path("runs/new/secret.out").write_text("pgbench (15.18)\n")
    Path("runs/ancient/run.yaml").write_text("labels: [\n")
    for label in ("cluster=a", "cluster=c"):
        _, _, err = listed("--label", label)
        assert err.splitlines()[:2] == [
            "benchwatch: runs/ancient/run.yaml:1: expected YAML: did not find expected node content; correct it: until "
            "then the run is shown without it",
            "benchwatch: runs/new/secret.out cannot be read: Permission denied",
        ]


def test_archives_in_a_folder_are_named(listed: Listed) -> None:
    Path("runs/new/db.out.gz").write_bytes(b"")
    Path("runs/notes/a.TAR").write_bytes(b"")
    code, out, err = listed()
    sentence = "archives in a folder are not opened; name them, such as 'runs/new/*.gz'"
    assert (code, err) == (0, f"benchwatch: runs/new/db.out.gz and 1 more: {sentence}\n")
    assert len(out.splitlines()) == 4


def test_labels_and_ages_filter(listed: Listed) -> None:
    assert [run["run"] for run in runs(listed("--json", "--label", "cluster=a")[1])] == ["new", "old"]
    assert [run["run"] for run in runs(listed("--json", "--label", "cluster=a", "--label", "vm=pg1")[1])] == ["new"]
    assert [run["run"] for run in runs(listed("--json", "--newer", "7d")[1])] == ["new", "old"]
    assert [run["run"] for run in runs(listed("--json", "--older", "1d", "--newer", "7d")[1])] == ["old"]
    code, out, err = listed("--label", "cluster=c")
    assert (code, out, err) == (1, "", "benchwatch: no matching runs in runs\n")


def test_json_has_documented_keys(listed: Listed) -> None:
    new, old, ancient = runs(listed("--json")[1])
    assert (new["rate"], new["unit"], new["latency_mean_seconds"], new["latency_p99_seconds"]) == (
        *(1000.0, "TPS"),
        *(0.00016, None),
    )
    assert new["seconds"] == pytest.approx(60.02, abs=0.001)
    assert (new["tools"], new["workers"], new["labels"]["vm"]) == (["pgbench"], 1, "pg1")
    assert (new["experiment"], old["experiment"], ancient["reason"]) == (None, "night", "ended by SIGINT")
    documented = (Path(__file__).parents[2] / "docs/results.md").read_text().partition("## List")[2]
    assert [key for key in new if f"`{key}`" not in documented] == []


def test_the_path_of_a_run_is_what_show_accepts(
    listed: Listed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place(tmp_path / "made", [500.0] * 60)
    (tmp_path / "loose/more").mkdir(parents=True)
    for name in ("db.err", "db.out"):
        shutil.copyfile(tmp_path / "made" / name, tmp_path / "loose" / name)
    shutil.copyfile(RECORDINGS / "fio/json-si1-randrw-3.39.out", tmp_path / "loose/disk.json")
    (tmp_path / "loose/disk.err").write_text("fio: a warning\n")
    shutil.copyfile(RECORDINGS / "pgbench/tpcb-15.18.out", tmp_path / "loose/more/tpcb.out")
    rows = runs(listed("--json", "loose", "runs")[1])
    assert {row["run"]: row["path"] for row in rows} == {
        **{"db": "loose/db.out", "disk": "loose/disk.json", "more": "loose/more"},
        **{name: f"runs/{name}" for name in ("new", "old", "ancient")},
    }
    rates = {row["run"]: row["rate"] for row in rows if row["rate"] is not None}
    for row in rows:
        if row["run"] in rates:
            assert main(["show", row["path"], "--json"]) == 0
            assert row["rate"] in runs_of_show(capsys.readouterr().out)
    two = tmp_path / "two.out"
    two.write_bytes((tmp_path / "made/db.out").read_bytes() * 2)
    assert [row["path"] for row in runs(listed("--json", "two.out#1")[1])] == ["two.out#1"]


def test_percentiles_come_from_the_transaction_log(listed: Listed, tmp_path: Path) -> None:
    start = round(time.time()) - 3600
    lines = (f"0 {number} {5000 if number % 50 else 9000} 0 {start + 1} 1\n" for number in range(60_000))
    (tmp_path / "runs/new/db.77").write_text("".join(lines))
    assert runs(listed("--json")[1])[0]["latency_p99_seconds"] == pytest.approx(0.009, rel=0.016)
    (tmp_path / "runs/logs").mkdir()
    (tmp_path / "runs/logs/pgbench_log.5").write_text("0 1 5000 0 1790000001 1\n" * 100)
    assert "logs" in [run["run"] for run in runs(listed("--json")[1])]


def test_the_result_of_a_run_without_an_end_is_that_of_its_reports(
    listed: Listed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "runs/old"
    (old / "db.out").unlink()
    (old / "db.err").write_text(progress([1000.0] * 5))
    os.utime(old / "db.err", (time.time() - 3 * DAY,) * 2)
    (old / "run.yaml").write_text("{}")
    shutil.copyfile(RECORDINGS / "iperf3/json-server-killed-3.12.out", tmp_path / "runs/new/db.out")
    (tmp_path / "runs/new/run.yaml").unlink()
    found = {run["run"]: (run["state"], run["rate"], run["latency_mean_seconds"]) for run in runs(listed("--json")[1])}
    assert found["old"] == ("abandoned", 1000.0, pytest.approx(0.00016))
    state, rate, _ = found["new"]
    assert main(["show", str(tmp_path / "runs/new"), "--json"]) == 0
    (shown,) = runs_of_show(capsys.readouterr().out)
    assert (state, rate) == ("failed", shown)


def test_it_is_the_result_of_show_with_a_warm_up_too(
    listed: Listed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place(tmp_path / "runs/cold", [100.0] * 20 + [1000.0] * 40, record="warmup: 20s\n")
    (row,) = (run for run in runs(listed("--json")[1]) if run["run"] == "cold")
    assert main(["show", str(tmp_path / "runs/cold"), "--json"]) == 0
    (shown,) = runs_of_show(capsys.readouterr().out)
    assert row["rate"] == shown == pytest.approx(1000.0)


def test_runs_that_failed_end_the_list(listed: Listed, tmp_path: Path) -> None:
    (tmp_path / "runs/broken").mkdir()
    error = "pgbench: error: connection to server failed: no such host\n"
    (tmp_path / "runs/broken/db.err").write_text(error)
    found = [(run["run"], run["state"]) for run in runs(listed("--json")[1])]
    assert found == [
        ("new", "finished"),
        ("old", "finished"),
        ("ancient", "interrupted"),
        ("broken", "failed"),
    ]


def test_workers_of_a_run_are_one_line(listed: Listed, tmp_path: Path) -> None:
    for name in ("db1", "db2"):
        (tmp_path / "runs/new" / f"{name}.out").write_bytes((RECORDINGS / "pgbench/tpcb-15.18.out").read_bytes())
    new = runs(listed("--json")[1])[0]
    assert (new["workers"], new["unit"]) == (3, "TPS")
    assert new["rate"] > 1000
    (tmp_path / "runs/new/other.out").write_bytes((RECORDINGS / "sysbench/rw-t8-1.0.20/rw-t8-1.0.20.out").read_bytes())
    new = runs(listed("--json")[1])[0]
    assert (new["tools"], new["rate"]) == (["pgbench", "sysbench"], None)  # whose transactions are not the same


@pytest.mark.parametrize("command", ["list", "history"])
def test_without_a_folder_of_runs_here_a_sentence_says_what_to_name(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([command]) == 2
    assert capsys.readouterr().err == (
        "benchwatch: no folder runs here: name a folder of runs, or change to the folder in which they were recorded\n"
    )
