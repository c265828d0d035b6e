from pathlib import Path

import pytest

from benchwatch.cli import main
from tests.support.launching import Launchpad


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launchpad:
    place = Launchpad(tmp_path)
    place.tool("pgbench", "true")
    monkeypatch.setenv("PATH", place.environment["PATH"])
    monkeypatch.chdir(place.folder)
    return place


def test_a_warmup_of_nothing_is_recorded(place: Launchpad) -> None:
    assert place.run("--name", "a", "--warmup", "0", "--", "pgbench").returncode == 0
    assert place.record("a")["warmup"] == 0


def test_an_objective_of_nothing_is_refused(place: Launchpad, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--name", "a", "--objective", "0s", "--", "pgbench"]) == 2
    assert "--objective: expected a latency above 0, such as 1ms, got '0s'" in capsys.readouterr().err
    assert not place.runs.exists()
