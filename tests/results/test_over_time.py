"""`benchwatch history`: change points, what changed with them, exit codes."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchwatch.cli import main
from benchwatch.compare.statistics import change_points
from tests.compare.made import START, place
from tests.support.browser import PROGRAM
from tests.support.pages import Page

History = Callable[..., tuple[int, str, str]]
DAY = 86400


@pytest.fixture
def history(capsys: pytest.CaptureFixture[str]) -> History:
    def history(*arguments: object) -> tuple[int, str, str]:
        code = main(["history", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return history


def nights(folder: Path, values: Sequence[float], **more: object) -> Path:
    """A run a night; from the result that `since` says on with another setting."""
    since = more.pop("since", len(values))
    for number, value in enumerate(values):
        start = START + number * DAY
        buffers = "16GB" if number >= since else "8GB"  # type: ignore[operator]
        record = (
            f"labels: {{branch: main}}\nparameters: {{shared_buffers: {buffers}}}\nstart: {start}\nend: {start + 60}\n"
        )
        place(folder / f"night{number:03}", float(value), record=record, **more)
    return folder


def noisy(*levels: tuple[float, int], seed: int = 1) -> list[float]:
    """Results around levels, with a deviation of 1 %."""
    chance = np.random.default_rng(seed)
    return [float(chance.normal(level, level / 100)) for level, number in levels for _ in range(number)]


def test_a_step_is_found_with_the_parameter_that_changed_and_fails_if_worse(history: History, tmp_path: Path) -> None:
    folder = nights(tmp_path / "runs", noisy((1000.0, 20), (950.0, 12)), since=20)
    code, out, _ = history(folder, "--fail-on", "worse")
    assert code == 3
    (line,) = [line.strip() for line in out.splitlines() if "from night" in line]
    assert line.startswith("-5.") and "from night020 on (" in line
    assert line.endswith("worse; changed with it: shared_buffers: 8GB -> 16GB")
    assert history(folder)[0] == 0


def test_a_rise_and_a_steady_series_do_not_fail(history: History, tmp_path: Path) -> None:
    code, out, _ = history(nights(tmp_path / "up", noisy((1000.0, 20), (1100.0, 12))), "--fail-on", "worse")
    assert (code, "better; no recorded parameter changed with it" in out) == (0, True)
    code, out, _ = history(nights(tmp_path / "steady", noisy((1000.0, 40))), "--fail-on", "worse")
    assert (code, "no change found" in out) == (0, True)


def test_a_level_that_recovered_does_not_fail(history: History, tmp_path: Path) -> None:
    values = noisy((1000.0, 20), (900.0, 15), (1000.0, 15))
    code, out, _ = history(nights(tmp_path / "runs", values), "--fail-on", "worse")
    assert (code, out.count(" on (")) == (0, 2)


def test_higher_latencies_are_worse(history: History, tmp_path: Path) -> None:
    for number in range(24):
        start = START + number * DAY
        latency = 0.1 if number < 12 else 0.2
        record = f"start: {start}\nend: {start + 60}\n"
        place(tmp_path / f"runs/n{number:02}", 1000.0, record=record, latency=latency + number / 1000)
    assert history(tmp_path / "runs", "--metric", "mean", "--fail-on", "worse")[0] == 3
    assert history(tmp_path / "runs", "--metric", "throughput", "--fail-on", "worse")[0] == 0


def test_csv_has_every_result_and_its_change(history: History, tmp_path: Path) -> None:
    values = noisy((1000.0, 20), (900.0, 20))
    rows = list(csv.DictReader(io.StringIO(history(nights(tmp_path / "runs", values), "--csv")[1])))
    assert [float(row["value"]) for row in rows] == pytest.approx(values, abs=1e-5)
    assert [row["run"] for row in rows if row["verdict"] == "worse"] == ["night020"]
    assert {(row["measure"], row["unit"]) for row in rows} == {("throughput", "per second")}


def test_labels_and_unfinished_runs_are_left_out(history: History, tmp_path: Path) -> None:
    folder = nights(tmp_path / "runs", [1000.0, 1001.0])
    place(folder / "other", 5.0, record="labels: {branch: topic}\n")
    place(folder / "failed", 7.0, record="labels: {branch: main}\nexit_code: 1\n")
    out = history(folder, "--label", "branch=main")[1]
    assert "TPS of 2 runs" in out
    code, _, err = history(folder, "--label", "branch=none")
    assert (code, err) == (1, f"benchwatch: no matching finished runs with throughput in {folder}\n")
    assert history(folder, "--metric", "tps99")[0] == 2
    assert history(folder, "--metric", "bandwith")[2].endswith("; did you mean bandwidth?\n")


def test_false_alarms_are_rare_and_clear_steps_are_found() -> None:
    chance = np.random.default_rng(3)
    assert sum(len(change_points(chance.normal(100, 2, 250).tolist())) for _ in range(20)) <= 3
    found = 0
    for _ in range(20):
        values = chance.normal(100, 2, 90)
        values[60:] += 4
        found += any(abs(at - 60) <= 3 for at in change_points(values.tolist()))
    assert found >= 18


@pytest.mark.parametrize("values", [[], [1.0] * 3, [1.0] * 100, [0.0] * 50])
def test_too_few_or_equal_results_have_no_change(values: list[float]) -> None:
    assert change_points(values) == []


def test_history_is_a_page_with_a_point_a_run_and_a_ring_at_the_change(history: History, tmp_path: Path) -> None:
    folder = nights(tmp_path / "runs", noisy((1000.0, 20), (950.0, 12)), since=20)
    output = tmp_path / "history.html"
    assert history(folder, "--output", output)[0] == 0
    page = Page(output)
    assert page.text("h2") == ["pgbench: TPS of 32 runs"]
    assert page.text("p")[0].startswith("-5.") and "from night020 on" in page.text("p")[0]
    lines = page.drawing("pgbench: TPS").lines
    result, mean = lines["result"], lines["mean"]
    assert [place for place, size in enumerate(result["marker"]["size"]) if size > 7] == [20]
    assert result["text"][0].startswith("night000, ")
    assert (len(result["x"]), mean["x"][1:4]) == (32, [20, 20, 21])
    assert mean["y"][2] is None, "a break between two levels"


@pytest.mark.skipif(not PROGRAM, reason="needs Chromium: scripts/setup tests installs it")
def test_history_is_a_picture(history: History, tmp_path: Path) -> None:
    folder = nights(tmp_path / "runs", noisy((1000.0, 12)))
    path = tmp_path / "history.png"
    assert history(folder, "--png", path)[0] == 0
    assert path.read_bytes().startswith(b"\x89PNG")
