"""Workers of a run that followed each other have results of their own; only what ran together is added."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from tests.compare.made import progress, summary
from tests.support.places import RECORDINGS

from .conftest import Show


def worker(folder: Path, name: str, begin: float, seconds: int, tps: float) -> Path:
    """A pgbench that began so many seconds after the others' origin, by its own times; gives its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = re.sub(r"\d{10}\.000", lambda found: f"{float(found[0]) + begin:.3f}", progress([tps] * seconds))
    (folder / f"{name}.err").write_text(lines)
    (folder / f"{name}.out").write_text(summary(tps, seconds=seconds))
    return folder


def one_after_the_other(folder: Path, factor: float = 1.0) -> Path:
    for number, tps in enumerate((817.0, 1563.0, 2400.0)):
        worker(folder, "abc"[number], 200 * number, 60, factor * tps)
    return folder


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


def results(show: Show, run: Path) -> dict[str, tuple[list[str], float]]:
    """Workers and throughput of each result by its name."""
    found = json.loads(show(run, "--json")[1])["subjects"][0]["results"]
    rates = [[one["value"] for one in each["figures"] if one["name"] == "throughput"] for each in found]
    return {each["run"]: (each["workers"], *rate) for each, rate in zip(found, rates, strict=True)}


def test_workers_that_followed_each_other_are_results_of_their_own(show: Show, tmp_path: Path) -> None:
    night = one_after_the_other(tmp_path / "night")
    code, out, _ = show(night)
    assert (code, heads(out)) == (
        0,
        [f"night/{name}: pgbench 15.18, finished, 1m 00s" for name in "abc"],
    )
    assert [float(rate.replace(",", "")) for rate in re.findall(r"([\d,]+)\s+160 µs", out)] == [817, 1563, 2400]
    assert "stalls: none" in out
    assert " s, but their throughputs are added" not in out


@pytest.mark.parametrize("overlap", [0.0, 1.0, 12.0])
def test_a_moment_of_overlap_is_no_common_run(show: Show, tmp_path: Path, overlap: float) -> None:
    worker(tmp_path / "night", "a", 0, 60, 817.0)
    worker(tmp_path / "night", "b", 60 - overlap, 60, 1563.0)
    assert results(show, tmp_path / "night") == {
        "night/a": (["a"], 817.0),
        "night/b": (["b"], 1563.0),
    }


def test_forty_databases_that_were_started_within_seconds_are_one_result(show: Show, tmp_path: Path) -> None:
    for number in range(40):
        worker(tmp_path / "night", f"db{number}", number / 4, 15, 100.0)
    ((name, (workers, rate)),) = results(show, tmp_path / "night").items()
    assert (name, len(workers), rate) == ("night", 40, 4000.0)


def test_a_long_worker_does_not_join_those_that_followed_each_other_beside_it(show: Show, tmp_path: Path) -> None:
    worker(tmp_path / "night", "long", 0, 300, 100.0)
    worker(tmp_path / "night", "one", 10, 60, 817.0)
    worker(tmp_path / "night", "two", 69, 60, 1563.0)
    assert results(show, tmp_path / "night") == {
        "night/long, one": (["long", "one"], 917.0),
        "night/two": (["two"], 1563.0),
    }


def test_phases_of_several_workers_are_added_phase_by_phase(show: Show, tmp_path: Path) -> None:
    for phase, begin in enumerate((0, 100)):
        for number in range(4):
            worker(tmp_path / "night", f"p{phase}db{number}", begin + number, 60, 100.0)
    assert {name: rate for name, (_, rate) in results(show, tmp_path / "night").items()} == {
        "night/p0db0, p0db1 and 2 more": 400.0,
        "night/p1db0, p1db1 and 2 more": 400.0,
    }


@pytest.mark.parametrize(("later", "number"), [(0.0, 2), (60.0, 1), (-3600.0, 1)])
def test_times_of_copied_files_say_nothing(show: Show, tmp_path: Path, later: float, number: int) -> None:
    """`later`: the last write after the creation, seconds. Before it, `cp -a` has kept the time."""
    for name in ("a", "b"):
        (tmp_path / f"night/{name}.out").parent.mkdir(exist_ok=True)
        (tmp_path / f"night/{name}.out").write_text(summary(1000.0, seconds=60))
        os.utime(tmp_path / f"night/{name}.out", (time.time() + later,) * 2)
    assert len(results(show, tmp_path / "night")) == number


def test_fio_runs_of_one_folder_are_not_added(show: Show, tmp_path: Path) -> None:
    recordings = [RECORDINGS / f"fio/json-si1-randrw-{version}.out" for version in ("3.28", "3.33", "3.42")]
    for recording in recordings:
        (tmp_path / "disks").mkdir(exist_ok=True)
        (tmp_path / "disks" / recording.name).write_bytes(recording.read_bytes())
    assert len(heads(show(tmp_path / "disks")[1])) == 3


def test_a_requirement_is_one_on_each_result(show: Show, tmp_path: Path) -> None:
    code, out, _ = show(one_after_the_other(tmp_path / "night"), "--require", "tps >= 1000")
    assert code == 3
    assert out.endswith("NOT MET: tps >= 1000: 817 (in night/a)\n")


def listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["list", str(folder), "--json"]) == 0
    return list(json.loads(capsys.readouterr().out)["runs"])


def test_each_has_its_row_in_the_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one_after_the_other(tmp_path / "runs/night")
    found = [(one["run"], one["workers"], one["rate"]) for one in listed(tmp_path / "runs", capsys)]
    assert found == [("night/c", 1, 2400.0), ("night/b", 1, 1563.0), ("night/a", 1, 817.0)]


def test_each_is_compared_with_the_one_of_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base, other = (str(one_after_the_other(tmp_path / name, factor)) for name, factor in (("old", 1.0), ("new", 2.0)))
    worker(tmp_path / "new", "d", 1000, 60, 5.0)
    assert main(["compare", base, other, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    found = {
        one["base"]["name"]: (one["others"][0]["name"], one["others"][0]["measures"][0]["change"])
        for one in json.loads(out)["comparisons"]
    }
    assert found == {f"old/{name}": (f"new/{name}", 1.0) for name in "abc"}
    assert err == "benchwatch: not compared: new/d: not every side has workers or points of these names\n"
    for form, heading in (("markdown", "## new/a against old/a"), ("terminal", "base: old/a: pgbench 15.18")):
        assert main(["compare", base, other, "--format", form]) == 0
        assert heading in capsys.readouterr().out


def test_what_has_no_counterpart_is_not_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = one_after_the_other(tmp_path / "old")
    other = worker(tmp_path / "new", "x", 0, 60, 5.0)
    assert main(["compare", str(base), str(other)]) == 1
    assert capsys.readouterr().err == (
        "benchwatch: nothing to compare: no worker or point of one side has the name of one of "
        "the other (old/a, old/b, old/c; new); compare their files instead\n"
    )
    assert main(["compare", str(base / "b.out"), str(other)]) == 0


def test_a_report_shows_each_and_no_stall_between_them(tmp_path: Path) -> None:
    night = one_after_the_other(tmp_path / "night")
    assert main(["report", str(night), "--output", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "night/b, night/c against night/a" in page
    assert "Marked:" not in page
