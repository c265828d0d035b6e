"""Commands on runs whose folders have names that are not UTF-8, or with control characters."""

import json
import os
from pathlib import Path

import pytest

from benchwatch.cli import main
from tests.support.places import RECORDINGS, Place

NAMES = {rb"\xff": b"a\xff", rb"\xfe": b"a\xfe", rb"\x1b]52;": b"a\x1b]52;"}


@pytest.fixture
def folders(place: Place) -> list[str]:
    recording = RECORDINGS / "pgbench" / "tpcb-15.18.out"
    return [str(place(f"{os.fsdecode(name)}/x.out", recording).parent) for name in NAMES.values()]


def test_compare_names_each(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--format", "json", *folders]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    found = json.loads(out)
    assert found["base"]["name"] == r"a\xff"
    assert main(["compare", *folders]) == 0
    out = capsys.readouterr().out
    assert all("a" + name.decode() in out for name in NAMES)
    assert all(char.isprintable() for char in out.replace("\n", ""))


def test_backfill_names_each(folders: list[str], tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    assert main(["backfill", *folders, "--output", str(output)]) == 0
    text = output.read_bytes().decode()
    assert all(f'run="a{name.decode()}"'.replace("\\", "\\\\") in text for name in NAMES)


def test_report_names_each(folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / os.fsdecode(b"out\xff.html")
    assert main(["report", *folders, "--output", str(output)]) == 1  # it says that there is nothing to draw
    text = output.read_bytes().decode()
    assert all("a" + name.decode() in text for name in NAMES)
    assert r"out\xff.html: 3 runs" in capsys.readouterr().out
