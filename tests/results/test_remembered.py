"""What `list` and `history` remember of runs: it is used only as long as reading would say the same."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwatch.cli import main
from benchwatch.results import remembered
from benchwatch.runs import files
from benchwatch.values import forked
from tests.compare.made import START, place, progress
from tests.support.places import RECORDINGS

Asked = Callable[..., tuple[str, int]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache; files count as settled at once."""
    monkeypatch.setattr(files, "SETTLED", -1.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/benchwatch"


@pytest.fixture
def asked(cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What a command prints, and how many runs it reads."""
    real, read = remembered.of_run, []

    def counted(run: Any, **more: Any) -> Any:
        read.append(run.name)
        return real(run, **more)

    monkeypatch.setattr(remembered, "of_run", counted)

    def asked(*arguments: object) -> tuple[str, int]:
        read.clear()
        main([*map(str, arguments)])
        return capsys.readouterr().out, len(read)

    return asked


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number in range(3):
        start = START + 3600 * number
        record = f"labels: {{branch: main}}\nstart: {start}\nend: {start + 60}\n"
        place(tmp_path / f"runs/n{number}", 1000.0 + number, record=record)
    return tmp_path / "runs"


def test_a_run_is_read_once(asked: Asked, runs: Path) -> None:
    first = asked("list", "--json", runs)
    assert (first[1], asked("list", "--json", runs)) == (3, (first[0], 0))


def test_history_reads_what_list_read_for_intervals_and_list_uses_what_history_read(asked: Asked, runs: Path) -> None:
    listed = asked("list", runs)
    first = asked("history", runs)
    assert (first[1], asked("history", runs)) == (3, (first[0], 0))
    assert asked("list", runs) == (listed[0], 0)


def test_a_run_with_other_files_is_read_again(asked: Asked, runs: Path) -> None:
    asked("list", runs)
    (runs / "n1/run.yaml").write_text("labels: {branch: topic}\n")
    out, read = asked("list", "--json", runs)
    assert (read, [run["labels"]["branch"] for run in json.loads(out)["runs"]].count("topic")) == (1, 1)
    shutil.copytree(runs / "n0", runs / "n7")
    assert asked("list", runs)[1] == 1
    (runs / "n2/later.out").write_text("remember the milk\n")
    assert asked("list", runs)[1] == 1
    shutil.rmtree(runs / "n0")
    out, read = asked("list", "--json", runs)
    assert (read, [run["run"] for run in json.loads(out)["runs"]]) == (0, ["n1", "n2", "n7"])


def test_labels_choose_among_remembered_runs(asked: Asked, runs: Path) -> None:
    assert asked("list", runs, "--label", "branch=topic") == ("", 0)
    assert asked("list", runs, "--label", "branch=main")[1] == 3
    assert asked("list", runs, "--label", "branch=topic") == ("", 0)


def test_an_active_run_is_read_each_time(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "runs/now").mkdir(parents=True)
    now = int(time.time())
    (tmp_path / "runs/now/db.err").write_text(progress([100.0] * 3).replace(str(START)[:-1], str(now)[:-1]))
    for _ in range(2):
        out, read = asked("list", "--json", tmp_path / "runs")
        assert (read, json.loads(out)["runs"][0]["end"]) == (1, None)


def test_files_that_changed_a_moment_ago_are_read_again(
    asked: Asked, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SETTLED", 1e6)
    assert [asked("list", runs)[1] for _ in range(2)] == [3, 3]


def test_a_record_that_cannot_be_read_is_read_again(asked: Asked, runs: Path) -> None:
    (runs / "n1/run.yaml").write_text("labels: [\n")
    assert [asked("list", runs)[1] for _ in range(2)] == [3, 1]


@pytest.mark.parametrize("content", [b"", b"\x80", b"{}", b"\xff" * 1000])
def test_a_damaged_cache_counts_for_nothing(content: bytes, asked: Asked, runs: Path, cache: Path) -> None:
    first = asked("list", runs)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(content or whole[:-9])
    assert asked("list", runs) == first
    assert file.read_bytes() == whole


def test_another_version_and_other_settings_read_again(
    asked: Asked, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked("list", runs)
    settings = tmp_path / "benchwatch.yaml"
    settings.write_text("runs: {abandoned_after: 1h}\n")
    assert asked("list", runs, f"--config.file={settings}")[1] == 3
    asked("list", runs)
    monkeypatch.setattr(remembered, "VERSION", "0.0")
    assert asked("list", runs)[1] == 3


def test_a_full_disk_leaves_no_part_of_a_cache_behind(
    asked: Asked, runs: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:9])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        first = asked("list", runs)
    assert [*cache.iterdir()] == []
    assert asked("list", runs) == first


def test_an_older_file_of_the_program_counts_as_another_program(
    asked: Asked, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(remembered.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(remembered, "__file__", str(package / "results/remembered.py"))
    assert [asked("list", runs)[1] for _ in range(2)] == [3, 0]
    changed = package / "compare/result.py"
    changed.write_text(changed.read_text() + "# another build\n")
    os.utime(changed, (1e9, 1e9))
    assert asked("list", runs)[1] == 3


@pytest.mark.parametrize("home", ["", "relative", "/dev/null", "/nowhere/at/all"])
def test_without_a_folder_for_it_nothing_is_remembered(
    home: str, asked: Asked, runs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", "/nowhere")
    first = asked("list", runs)
    assert (first[1], asked("list", runs)) == (3, first)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_loose_files_and_odd_names_are_remembered_too(asked: Asked, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    report = (RECORDINGS / "fio/json-si1-randrw-3.39.out").read_bytes()
    for name in ("a.json", "b.json", "c d.json", "\udcff.json", "\n.json"):
        (folder / name).write_bytes(report)
    first = asked("list", *folder.iterdir())
    assert (first[1], asked("list", *folder.iterdir())) == (5, (first[0], 0))


def test_a_deleted_run_is_forgotten_and_one_that_was_not_asked_for_is_not(
    asked: Asked, runs: Path, cache: Path
) -> None:
    asked("list", runs)
    (file,) = cache.iterdir()
    shutil.rmtree(runs / "n0")
    (runs / "n1/run.yaml").touch()
    assert asked("list", runs / "n1")[1] == 1
    assert (b"n0/n0" in file.read_bytes(), asked("list", runs)[1]) == (False, 0)


@pytest.mark.parametrize("tool", ["pgbench", "fio", "sysbench", "iperf3"])
def test_what_is_remembered_is_what_reading_says(tool: str, asked: Asked, tmp_path: Path) -> None:
    for number, path in enumerate(sorted((RECORDINGS / tool).rglob("*.out"))[::5]):
        folder = tmp_path / f"runs/{number}"
        folder.mkdir(parents=True)
        shutil.copyfile(path, folder / "w.out")
    listed, _ = asked("list", "--json", tmp_path / "runs")
    results, _ = asked("history", "--csv", tmp_path / "runs")
    assert asked("history", "--csv", tmp_path / "runs")[0] == results
    assert asked("list", "--json", tmp_path / "runs")[0] == listed
    assert len(results.splitlines()) > 3


def test_a_table_of_the_latest_results_reads_intervals_for_these_alone(asked: Asked, tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    for number in range(40):
        start = START + 3600 * number
        record = f"start: {start}\nend: {start + 60}\n"
        place(tmp_path / f"runs/n{number:02}", chance.normal(1000, 10, 60), record=record)
    asked("list", tmp_path / "runs")
    table, read = asked("history", tmp_path / "runs")
    assert (read, table.count(" to ")) == (30, 30)
    every, read = asked("history", "--csv", tmp_path / "runs")
    assert (read, sum("," in line.split(",throughput,")[1] for line in every.splitlines()[1:])) == (10, 40)
    assert asked("history", tmp_path / "runs") == (table, 0)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """So many runs that several processes read them."""
    for number in range(120):
        start = START + 3600 * number
        place(tmp_path / f"runs/n{number:03}", 1000.0 + number, record=f"start: {start}\nend: {start + 60}\n")
    return tmp_path / "runs"


def test_many_runs_are_read_by_several_processes_as_by_one(
    asked: Asked, many: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(forked, "MANY", 1000)
        alone, read = asked("list", "--json", many)
    shutil.rmtree(cache)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert (read, asked("list", "--json", many)) == (120, (alone, 0))
    assert asked("list", "--json", many) == (alone, 0)
    assert sorted(run["rate"] for run in json.loads(alone)["runs"]) == [1000.0 + number for number in range(120)]


def test_what_a_killed_process_does_not_read_is_read_all_the_same(
    asked: Asked, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, own = remembered.of_run, os.getpid()

    def killed(run: Any, **more: Any) -> Any:
        if run.name == "n050" and os.getpid() != own:
            os._exit(1)
        return real(run, **more)

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(remembered, "of_run", killed)
    out, read = asked("list", "--json", many)
    assert (len(json.loads(out)["runs"]), read) == (120, 24)


def test_a_run_that_only_its_reports_measured_has_its_throughput_in_the_list(asked: Asked, tmp_path: Path) -> None:
    out, _ = asked("list", "--json", RECORDINGS / "hammerdb/test-driver-iterations-4.12")
    assert [(run["state"], run["rate"]) for run in json.loads(out)["runs"]] == [("finished", 12060.0)]
