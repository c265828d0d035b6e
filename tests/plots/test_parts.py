"""Latencies of 0, which `pgbench -S -r` writes, and parts of a page that cannot be drawn."""

import json
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.history.find import find_runs
from benchwatch.history.replayed_run import timelines
from benchwatch.metrics.buckets import Buckets
from benchwatch.plots.benchmark import shown
from benchwatch.server import run_plots
from benchwatch.settings.settings import RunsSettings
from tests.support.pages import Page
from tests.support.places import Place

BEGIN = 1_790_000_000


@pytest.fixture
def zeros(place: Place) -> Path:
    """A run whose latencies are 0 us (three of four) and 3 us, below the resolution of progress lines."""
    return run_with(place, "zeros", [0, 0, 0, 3])


def run_with(place: Place, name: str, latencies: list[int]) -> Path:
    lines = [
        f"{n % 4} {n} {latencies[n % len(latencies)]} 0 {BEGIN + n // 100} {n % 100 * 10_000 + 5_000}\n"
        for n in range(2000)
    ]
    place(f"{name}/db1.77", "".join(lines).encode())
    progress = [
        f"progress: {BEGIN + second}.000 s, 100.0 tps, lat 0.000 ms stddev 0.000, 0 failed\n" for second in range(1, 20)
    ]
    return place(f"{name}/db1.err", "".join(progress).encode()).parent


def report(folder: Path, output: Path) -> tuple[int, Page]:
    status = main(["report", str(folder), "--output", str(output)])
    return status, Page(output)


def page_of(folder: Path) -> str:
    found = find_runs([folder], RunsSettings(), Buckets())
    return run_plots.drawn(list(timelines(found, families=shown(), latencies=True)))


def test_a_latency_of_0_is_drawn_at_the_resolution_and_the_caption_says_so(zeros: Path, tmp_path: Path) -> None:
    status, page = report(zeros, tmp_path / "page.html")
    assert status == 0
    assert page.text("h3") == [
        "Throughput",
        "Mean latency",
        "Latency percentiles",
        "Latency heatmap",
        "Latency distribution",
        "Latency by percentile",
    ]
    _, mean, percentiles, _, _, distribution = page.text("figcaption")
    assert percentiles.endswith("0, which is below the tool's resolution, is drawn as 2.99 µs.")
    assert mean.endswith("0, which is below the tool's resolution, is drawn as 1 µs.")
    assert distribution.endswith("0, which is below the tool's resolution, is drawn as 3.01 µs.")


def test_only_latencies_of_0_are_drawn_too(place: Place, tmp_path: Path) -> None:
    status, page = report(run_with(place, "still", [0]), tmp_path / "page.html")
    assert status == 0
    assert len(page.text("h3")) == 6
    assert all("NaN" not in json.dumps(drawing.figure) for drawing in page.drawings())


def test_a_page_of_latencies_of_0_is_whole(zeros: Path) -> None:
    html = page_of(zeros)
    assert "cannot be drawn" not in html
    for title in ("Result", "Over time", "Latency distribution", "Environment", "Latency by percentile"):
        assert f">{title}<" in html


FAULTS = {
    "benchwatch.plots.figure._heat": "Latency heatmap",
    "benchwatch.plots.distributions._bins": "Latency distribution",
    "benchwatch.plots.benchmark.throughput": "Throughput",
    "benchwatch.plots.benchmark._LEVELS": "Latency percentiles",
}


@pytest.mark.parametrize("broken", FAULTS)
def test_a_plot_that_cannot_be_drawn_takes_no_other_with_it(
    broken: str, zeros: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(broken, None)
    status, page = report(zeros, tmp_path / "page.html")
    (sentence,) = [line for line in capsys.readouterr().err.splitlines() if "cannot be drawn" in line]
    assert status == 1
    assert f"{FAULTS[broken]}: cannot be drawn: TypeError in " in sentence
    assert FAULTS[broken] in page.text("h3")
    left = 6 - (2 if broken.endswith("_bins") else 1)
    assert len(page.text("figcaption")) == len(page.drawings()) == left
    html = page_of(zeros)
    assert html.count("cannot be drawn: TypeError in ") == 1
    assert html.count("<figcaption>") == left


def test_a_section_that_cannot_be_made_takes_no_other_with_it(
    zeros: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchwatch.plots.run_tables.settings", None)
    status, page = report(zeros, tmp_path / "page.html")
    assert status == 1
    assert [line.partition(": ")[2].partition(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "Parameters",
        "Environment",
    ]
    assert len(page.text("figcaption")) == 6
    html = page_of(zeros)
    assert [title for title in ("Parameters", "Environment") if f"{title}: cannot be drawn: TypeError in" in html] == [
        "Parameters",
        "Environment",
    ]
    assert ">Result<" in html and html.count("<figcaption>") == 6
