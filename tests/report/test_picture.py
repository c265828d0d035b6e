"""`report --png`: what can be told of a picture without reading it. Colours are those of the lines in the report."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchwatch.cli import main
from tests.support.browser import PROGRAM
from tests.support.places import RECORDINGS, Place

pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs Chromium: scripts/setup tests installs it")
FIRST, SECOND = (0x0B, 0x68, 0xB0), (0xC9, 0x53, 0x00)
PROGRESS = RECORDINGS / "dashboards/pgbench-rate-retries-15.18/stderr"
PLOT = slice(250, 560)
"""The rows of the plot."""


def picture(tmp_path: Path, *runs: Path, code: int = 0) -> np.ndarray:
    """Pixels of the picture of these runs: rows, columns, and red, green, blue."""
    path = tmp_path / "runs.png"
    assert main(["report", *map(str, runs), "--output", str(tmp_path / "page.html"), "--png", str(path)]) == code
    with Image.open(path) as image:
        assert (image.format, image.size) == ("PNG", (1200, 630))
        return np.asarray(image.convert("RGB"))


def has(pixels: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((pixels == colour).all(axis=2).any())


def test_a_picture_of_a_run_is_1200_by_630_with_its_throughput(place: Place, tmp_path: Path) -> None:
    pixels = picture(tmp_path, place("a.err", PROGRESS))
    assert has(pixels[PLOT], FIRST)
    assert not has(pixels, SECOND)


def test_a_picture_of_two_runs_has_a_line_and_a_figure_of_each_in_its_colour(place: Place, tmp_path: Path) -> None:
    half = b"".join(PROGRESS.read_bytes().splitlines(keepends=True)[:9])
    pixels = picture(tmp_path, place("a.err", PROGRESS), place("b.err", half))
    for part in (pixels[PLOT], pixels[: PLOT.start]):
        assert has(part, FIRST)
        assert has(part, SECOND)


def test_nothing_that_a_name_holds_leaves_the_picture_or_fails(place: Place, tmp_path: Path) -> None:
    name = "$x^2$ \U0001f600 " + "very long " * 20
    pixels = picture(tmp_path, place(f"{name}.err", PROGRESS))
    assert (pixels[:, 1160:] == 255).all()
    assert (pixels[:250, :1140] < 255).any()


def test_a_run_without_reports_has_a_picture_of_its_figures(place: Place, tmp_path: Path) -> None:
    pixels = picture(tmp_path, place("a.out", RECORDINGS / "pgbench/tpcb-t-mode-15.18.out"), code=1)
    assert (pixels[: PLOT.start] < 255).any()


def test_a_picture_that_cannot_be_written_is_one_sentence(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = place("a.err", PROGRESS)
    nowhere = tmp_path / "none" / "runs.png"
    assert main(["report", str(run), "--output", str(tmp_path / "page.html"), "--png", str(nowhere)]) == 2
    assert capsys.readouterr().err == f"benchwatch: --png: {nowhere} cannot be written: No such file or directory\n"


def test_without_a_chromium_it_says_what_to_install_and_the_report_is_there(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    page = tmp_path / "page.html"
    options = ["--output", str(page), "--png", str(tmp_path / "runs.png")]
    assert main(["report", str(place("a.err", PROGRESS)), *options]) == 2
    assert capsys.readouterr().err == "benchwatch: --png needs Chromium or Chrome: install the package chromium\n"
    assert page.exists() and not (tmp_path / "runs.png").exists()


def test_a_chromium_that_hangs_is_given_up(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexec /bin/sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("benchwatch.report.picture._PATIENCE", 0.5)
    options = ["--output", str(tmp_path / "page.html"), "--png", str(tmp_path / "runs.png")]
    assert main(["report", str(place("a.err", PROGRESS)), *options]) == 2
    assert f"--png: {program} made no picture within 0.5 s" in capsys.readouterr().err
