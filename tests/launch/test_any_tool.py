"""A tool that the launcher has never heard of: it is known by the table of tools alone."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.launch import preparation
from benchwatch.tools.launcher import Command, CommandLine, ExtraLog, Facts, Launcher
from benchwatch.tools.registry import TOOLS, names
from benchwatch.values.errors import UserError
from benchwatch.values.suggestion import either
from tests.support.launching import Launchpad
from tests.support.waiting import PATIENCE
from tests.tools.toy import TOY, output

COMMAND = Command(
    length=90.0,
    log=ExtraLog("trace", "", 1000.0, flags=lambda room: (f"--trace={room.prefix}",)),
    added=("--report=1",),
    remarks=("toys are small",),
    facts=lambda *_: Facts({"paint": "red"}, {"shelf": "top"}, here=True, remarks=("the box is closed",)),
)


class ToyLauncher:
    def __init__(self) -> None:
        self.asked: list[tuple[Sequence[str], str]] = []

    def __call__(self, line: CommandLine) -> Command:
        self.asked.append(line[:2])
        if "--help" in line.arguments:
            raise UserError("toy --help is no benchmark")
        return COMMAND


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launchpad:
    place = Launchpad(tmp_path)
    place.tool("toy", 'echo "$*"; echo played >"${2#*=}.$$"', "toy 3.1 for all")
    monkeypatch.setenv("PATH", place.environment["PATH"])
    monkeypatch.chdir(place.folder)
    monkeypatch.setattr(preparation, "_PATIENCE", PATIENCE)  # a busy machine is no tool that does not answer
    return place


@pytest.fixture
def known() -> Iterator[Callable[[Launcher | None], None]]:
    """Puts the toy into the table."""
    before = len(TOOLS)

    def add(launcher: Launcher | None) -> None:
        TOOLS.append(replace(TOY, launcher=launcher))

    yield add
    del TOOLS[before:]


def plays(place: Launchpad, script: str = "cat said") -> None:
    """The toy does this; what it may say is the output of twenty seconds from now on."""
    (place.folder / "said").write_bytes(output(20, lambda _: 100, start=int(time.time()) + 1))
    place.tool("toy", script)


def test_what_a_launcher_says_is_done_said_and_recorded(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    launcher = ToyLauncher()
    known(launcher)
    assert main(["run", "--name", "a", "--", "toy", "--cars=2"]) == 0
    shown = capfd.readouterr()
    assert launcher.asked == [(("--cars=2",), ""), (("--cars=2",), "toy 3.1 for all")]
    record = place.record("a", "toy")
    command, report, trace, given = record["command"]
    assert (command, report, given) == ("toy", "--report=1", "--cars=2")
    assert shown.out == f"{report} {trace} {given}\n"
    assert trace.startswith("--trace=/dev/shm/benchwatch-a-")
    assert shown.err.splitlines() == [
        "benchwatch: toys are small",
        "benchwatch: the box is closed",
        "benchwatch: records runs/a/toy.*",
        f"benchwatch: adds {report} (log: up to about 0 MB in /dev/shm)",
        "benchwatch: a: nothing was measured: no recognised output",
    ]
    parameters = record["parameters"]
    assert {name: parameters[name] for name in ("toy_version", "paint", "shelf", "planned_seconds")} == {
        "toy_version": "3.1",
        "paint": "red",
        "shelf": "top",
        "planned_seconds": "90",
    }
    assert "host.name" in parameters
    (log,) = (place.runs / "a").glob("toy.[0-9]*")
    assert (log.read_text(), log.is_symlink()) == ("played\n", False)


def test_a_run_ends_with_its_result_and_what_can_be_done_next(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(None)
    plays(place)
    assert main(["run", "--name", "a", "--require", "tps > 1", "--", "toy"]) == 2
    assert "--require 'tps > 1': unknown figure 'tps'; toy has laps/s, throughput," in capfd.readouterr().err
    assert main(["run", "--name", "a", "--require", "failed == 3", "--require", "laps/s > 150", "--", "toy"]) == 3
    said = capfd.readouterr().err.splitlines()
    place_of = next(place for place, line in enumerate(said) if "a: toy 1.0, finished, " in line)
    assert [line for line in said[place_of + 1 :] if "load average" not in line] == [
        "         laps/s  p95 per report, averaged      p95",
        "  left      100                   2.50 ms  2.50 ms",
        "  right    50.0                   2.50 ms  2.50 ms",
        "  all       150                   2.50 ms",
        "  failed 3 of 3,003 laps (0.0999 %)",
        "  stalls: none",
        "  steady: yes",
        "benchwatch: met: failed == 3: 3",
        "benchwatch: NOT MET: laps/s > 150: 150 (all)",
        "benchwatch: next: benchwatch show runs/a --json",
        "      benchwatch report runs/a",
    ]


def test_a_run_of_a_series_without_a_result_does_not_meet_a_requirement(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(None)
    plays(place, "cat said 2>/dev/null; rm -f said")
    assert main(["run", "--name", "a", "--repeat", "2", "--require", "laps/s > 1", "--", "toy"]) == 3
    said = capfd.readouterr().err.splitlines()
    assert "benchwatch: NOT MET: laps/s > 1: not measured in a-2" in said


def test_the_result_of_a_worker_is_without_one_whose_name_begins_likewise(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(None)
    plays(place)
    assert main(["run", "--name", "a", "--worker", "db.2", "--", "toy"]) == 0
    assert main(["run", "--name", "a", "--worker", "db", "--require", "laps/s < 200", "--", "toy"]) == 0
    assert "benchwatch: met: laps/s < 200: 150 (all)" in capfd.readouterr().err.splitlines()


def test_a_log_that_does_not_come_is_called_by_its_name(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(ToyLauncher())
    place.tool("toy", "true")
    assert main(["run", "--name", "a", "--", "toy"]) == 0
    last = capfd.readouterr().err.splitlines()[-2]
    assert last.startswith("benchwatch: the trace /")
    assert last.endswith("/toy.* was not found: no percentiles")


def test_a_tool_that_may_not_write_here_is_offered_no_room_for_its_log(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(ToyLauncher())
    place.tool("doas", 'exec "$@"')
    assert main(["run", "--name", "a", "--", "doas", "toy", "--cars=2", "/dev/null"]) == 0
    assert "no percentiles: doas may keep toy from writing a trace here" in capfd.readouterr().err
    assert place.record("a", "toy")["command"] == ["doas", "toy", "--report=1", "--cars=2", "/dev/null"]


def test_a_launcher_refuses_what_is_no_benchmark(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(ToyLauncher())
    assert main(["run", "--name", "a", "--", "toy", "--help"]) == 2
    assert capfd.readouterr().err == "benchwatch: toy --help is no benchmark\n"
    assert not place.runs.exists()


def test_a_tool_without_a_launcher_is_started_as_it_is(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(None)
    assert main(["run", "--name", "a", "--", "toy", "--cars=2", "/tmp=nowhere"]) == 0
    shown = capfd.readouterr()
    assert shown.out == "--cars=2 /tmp=nowhere\n"
    assert "benchwatch: benchwatch knows no reporting flags for this tool, so it added none\n" in shown.err
    record = place.record("a", "toy")
    assert record["command"] == ["toy", "--cars=2", "/tmp=nowhere"]
    assert record["parameters"]["toy_version"] == "3.1"
    assert "client.host.name" in record["parameters"]
    assert "host.name" not in record["parameters"]


def test_it_is_named_where_no_benchmark_is_found(
    place: Launchpad, known: Callable[[Launcher | None], None], capfd: pytest.CaptureFixture[str]
) -> None:
    known(None)
    assert "toy" in names()
    assert main(["run", "--", "true"]) == 2
    assert f"the word {either(sorted(tool.program or tool.name for tool in TOOLS))} in it" in capfd.readouterr().err
