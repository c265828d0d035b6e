"""`benchwatch run --at`. Moments of starts are compared loosely, and chosen again later: the machine may be busy."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from benchwatch.launch.schedule import Schedule
from benchwatch.values.errors import UserError
from tests.support.launching import Launchpad
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

LEADS = (3, 15, 60, 15, 60)
"""Seconds to prepare a start: the first that is enough counts."""
NOT_ENOUGH = rb"nothing was started|--at: expected a time in the future"
WAITS = rb"benchwatch: starts at \S+, in .*; this machine's clock is "


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    made.tool("pgbench", "date +%s.%N")
    yield made
    made.stop()


def in_time(launch: Callable[[float], subprocess.CompletedProcess[bytes]]) -> subprocess.CompletedProcess[bytes]:
    """A start that was prepared before its moment."""
    for lead in LEADS:
        done = launch(lead)
        if not re.search(NOT_ENOUGH, done.stderr):
            return done
    pytest.fail("the machine is too busy to prepare a start within a minute")


def test_it_starts_at_the_moment_and_not_before_and_the_record_says_so(place: Launchpad) -> None:
    at = 0.0

    def launch(lead: float) -> subprocess.CompletedProcess[bytes]:
        nonlocal at
        at = round(time.time() + lead, 3)
        return place.run("--name", "a", "--at", str(at), "--no-percentiles", "--", "pgbench")

    done = in_time(launch)
    assert done.returncode == 0
    record = place.record("a")
    assert at <= float(done.stdout) < at + 60
    assert record["scheduled"]["at"] == at
    assert 0 <= record["scheduled"]["late"] < 10
    assert record["start"] == pytest.approx(at + record["scheduled"]["late"], abs=0.001)
    assert re.search(WAITS, done.stderr)
    assert b"benchwatch: started " in done.stderr


def test_a_time_that_is_past_is_refused_before_anything_is_made(place: Launchpad) -> None:
    done = place.run("--name", "a", "--at", "2020-01-01T00:00:00Z", "--", "pgbench")
    assert done.returncode == 2
    assert done.stderr.startswith(b"benchwatch: --at: expected a time in the future; 2020-01-01T00:00:00Z was ")
    assert not place.runs.exists()


def test_a_preparation_that_takes_longer_than_there_is_time_starts_nothing(place: Launchpad) -> None:
    place.tool("psql", "sleep 2")
    done = place.run("--name", "a", "--at", "+1s", "--", "pgbench")
    assert done.returncode == 2
    assert re.search(rb"--at: the benchmark was prepared .* after .*: nothing was started", done.stderr)
    assert not (place.runs / "a").exists()


@pytest.mark.parametrize(("ends", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_it_waits_gives_the_name_back_here_and_at_the_exporter(
    place: Launchpad, ends: signal.Signals, code: int
) -> None:
    there = place.folder / "there"
    with served(FakeExporter(push_folder=there)) as server:
        launcher = place.start("--name", "a", "--at", "+1h", "--push", server.url, "--repeat", "2", "--", "pgbench")
        assert launcher.stderr
        read = b""
        while not re.search(WAITS, read):
            line = launcher.stderr.readline()
            assert line, read
            read += line
        eventually(lambda: yaml.safe_load((there / "a-1/pgbench.yaml").read_text()).get("scheduled"), "it is announced")
        if ends > signal.SIGUSR1:  # which is for a benchmark; of two signals the one with the lower number comes first
            launcher.send_signal(signal.SIGUSR1)
        launcher.send_signal(ends)
        assert launcher.wait(PATIENCE) == code
        assert b"%s ended the wait for " % ends.name.encode() in launcher.stderr.read()
        assert not list(place.runs.iterdir())
        assert place.run("--name", "a", "--push", server.url, "--repeat", "2", "--", "pgbench").returncode == 0
        assert yaml.safe_load((there / "a-1/pgbench.yaml").read_text())["exit_code"] == 0


def test_a_terminal_shows_the_time_that_is_left(place: Launchpad) -> None:
    launcher = place.on_a_terminal("--name", "a", "--at", "+1h", "--", "pgbench")
    launcher.read_until(rb"a  starts in (1:00:00|5\d:\d\d)")
    os.write(launcher.terminal, b"\x03")
    assert launcher.read_to_the_end() == 130
    assert not list(place.runs.iterdir())


def test_a_lost_terminal_does_not_end_the_wait(place: Launchpad) -> None:
    for lead in LEADS:
        launcher = place.on_a_terminal("--name", "a", "--at", f"+{lead}s", "--", "pgbench")
        launcher.read_until(WAITS + b"|" + NOT_ENOUGH)
        launcher.close()
        if launcher.wait() == 0:
            break
    assert place.record("a")["exit_code"] == 0


class Clock:
    """A wall clock that is set while somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
        self._real, self._looks, self._jump = time.time, 0, jump
        monkeypatch.setattr("benchwatch.launch.schedule.time.time", self.time)

    def time(self) -> float:
        self._looks += 1
        return self._real() + (self._jump if self._looks > 4 else 0.0)


def test_a_clock_that_is_set_while_it_waits_counts_as_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before = time.monotonic()
    at = time.time() + 3600
    Clock(monkeypatch, 3599.5)
    schedule = Schedule(at)
    schedule.wait()
    assert time.monotonic() - before < 60
    record, sentence = schedule.kept(time.time())
    assert 0 <= record["late"] < 60
    by = re.search(r"; meanwhile the clock was set by \+(\S+) s", sentence)
    assert by and float(by[1]) == pytest.approx(3599.5, abs=5)  # between two looks at clocks others may have their turn


def test_a_clock_that_jumps_far_beyond_the_moment_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch, 7200)
    with pytest.raises(UserError, match=r"ago; meanwhile the clock was set by \+7(200|199)\.\d+ s, .* nothing was"):
        Schedule(time.time() + 3600).wait()


def test_of_a_series_the_first_run_waits(place: Launchpad) -> None:
    done = in_time(lambda lead: place.run("--name", "a", "--at", f"+{lead}s", "--repeat", "2", "--", "pgbench"))
    assert done.returncode == 0
    assert "scheduled" in place.record("a-1")
    assert "scheduled" not in place.record("a-2")


def test_two_launchers_start_at_one_moment(place: Launchpad) -> None:
    names = ("db1", "db2")
    for lead in LEADS:
        at = int(time.time()) + lead
        options = ("--name", "a", "--at", str(at), "--overwrite")
        each = [place.start(*options, "--worker", name, "--", "pgbench") for name in names]
        if [launcher.wait(PATIENCE) for launcher in each] == [0, 0]:
            break
    assert {place.record("a", name)["scheduled"]["at"] for name in names} == {float(at)}
    assert [path.name for path in place.runs.iterdir()] == ["a"]
