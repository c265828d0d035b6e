import os
from pathlib import Path

import pytest

from tests.support.launching import Launchpad
from tests.support.places import RECORDINGS


@pytest.fixture
def place(tmp_path: Path) -> Launchpad:
    return Launchpad(tmp_path)


@pytest.mark.parametrize("wrapper", [["timeout", "200"], ["setsid"]])
def test_ctrl_c_reaches_a_benchmark_in_a_process_group_of_its_own(place: Launchpad, wrapper: list[str]) -> None:
    ends_by_itself = "for i in $(seq 1000); do sleep 0.1; done"
    place.tool("pgbench", f"trap 'echo INT; exit 3' INT; echo READY; {ends_by_itself}")
    launcher = place.on_a_terminal("--name", "a", "--", *wrapper, "pgbench")
    launcher.read_until(b"READY")
    os.write(launcher.terminal, b"\x03")
    assert launcher.read_to_the_end() == 3
    assert (place.runs / "a/pgbench.out").read_bytes().startswith(b"READY\nINT\n")  # timeout may send it twice
    assert place.record("a")["signal"] == "SIGINT"


def test_fios_jobs_are_shown_in_place_of_its_documents(place: Launchpad) -> None:
    place.tool("fio", f"cat {RECORDINGS}/fio/json-multi-stonewall-3.42.out", "fio-3.42")
    launcher = place.on_a_terminal("--name", "a", "--", "fio", "--name=j")
    assert launcher.read_to_the_end() == 0
    assert b"fio version" not in launcher.shown
    assert b"benchwatch: a: fio 3.42, finished" in launcher.shown
    assert b"\r\n  reader read    32,068   125 MiB/s  " in launcher.shown


def test_a_terminal_without_cursor_movements_gets_no_status_line(place: Launchpad) -> None:
    """That of an editor or of a CI server: TERM=dumb."""
    place.environment["TERM"] = "dumb"
    place.tool("pgbench", "sleep 1.5; echo done")
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench")
    assert launcher.read_to_the_end() == 0
    assert b"\x1b" not in launcher.shown
