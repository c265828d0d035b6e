"""Which names of runs are taken, and what is replaced."""

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from benchwatch.launch.worker_record import RunRecord
from benchwatch.values.errors import UserError
from tests.support.launching import Launchpad
from tests.support.places import RECORDINGS
from tests.support.waiting import PATIENCE, eventually

REFUSED = 'pgbench: error: connection to server on socket "/nowhere/.s.PGSQL.5432" failed: No such file or directory'
REPORTS = "progress: 1.0 s, 408.0 tps, lat 0.331 ms stddev 0.472"
OPTIONS = ("--no-percentiles", "--", "pgbench", "-S")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    yield made
    made.stop()


def run(place: Launchpad, script: str, *options: str) -> tuple[int, list[str]]:
    """The exit code, and what the launcher says."""
    place.tool("pgbench", script)
    done = place.run("--name", "a", *options, *OPTIONS)
    return done.returncode, [line for line in done.stderr.decode().splitlines() if line.startswith("benchwatch: ")]


def test_a_start_that_failed_before_anything_was_measured_is_replaced(place: Launchpad) -> None:
    assert run(place, f"echo '{REFUSED}' >&2; exit 1")[0] == 1
    code, said = run(place, f"echo '{REPORTS}' >&2")
    assert code == 0
    why = REFUSED.removeprefix("pgbench: error: ")
    assert f"benchwatch: replaces runs/a/pgbench.*: that start failed before anything was measured ({why})" in said
    assert (place.runs / "a/pgbench.err").read_text() == f"{REPORTS}\n"
    assert place.record("a")["exit_code"] == 0


@pytest.mark.parametrize("name", ["runs", "runs/a"])
def test_a_link_to_nothing_is_not_taken_for_a_run(place: Launchpad, name: str) -> None:
    link = place.runs.parent / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to("nothing")
    why = f"{name} already exists and is not a folder: choose another --name or --runs.path"
    assert run(place, "exit 0") == (2, [f"benchwatch: {why}"])


def test_a_worker_that_follows_those_of_its_run_is_said_not_to_be_added_to_them(
    place: Launchpad,
) -> None:
    said = "benchwatch: runs/a has db1, which had already ended: results will not add db2 to theirs"
    assert said not in run(place, f"echo '{REPORTS}' >&2", "--worker", "db1")[1]
    assert said in run(place, f"echo '{REPORTS}' >&2", "--worker", "db2")[1]


@pytest.mark.parametrize("room", [1000, 12])
def test_on_a_full_disk_a_record_takes_what_has_room_in_its_last_block_or_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    record = RunRecord(tmp_path, "a", "db1")
    record.create()
    record.write(start=1790000000.0)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    begins = Path.open

    def opened(path: Path, mode: str = "r", *options: Any, **more: Any) -> Any:
        if mode == "w":
            raise full
        return Cramped(begins(path, mode, *options, **more), room)

    monkeypatch.setattr(Path, "open", opened)
    with nullcontext() if room > 12 else pytest.raises(OSError, match="No space left"):
        record.write(end=1790000060.0, exit_code=0)
    monkeypatch.undo()
    added = "end: 1790000060.0\nexit_code: 0\n" if room > 12 else ""
    assert record.path.read_text() == f"start: 1790000000.0\n{added}"
    record.release()


class Cramped:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def __enter__(self) -> "Cramped":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        return int(self._file.write(data[: self._room]))


@pytest.mark.parametrize("record", ["", "command: [pgbench, -S]\n"])
def test_what_a_launcher_left_that_was_killed_before_the_start_is_replaced(place: Launchpad, record: str) -> None:
    folder = place.runs / "a"
    folder.mkdir(parents=True)
    (folder / "pgbench.yaml").write_text(record)
    (folder / "pgbench.out").touch()
    code, said = run(place, f"echo '{REPORTS}' >&2")
    assert code == 0
    assert "benchwatch: replaces runs/a/pgbench.*: that launcher ended before it started the benchmark" in said
    assert place.record("a")["exit_code"] == 0


def test_a_record_that_somebody_wrote_before_the_start_is_kept(place: Launchpad) -> None:
    (place.runs / "a").mkdir(parents=True)
    (place.runs / "a/pgbench.yaml").write_text("labels: {storage: new}\n")
    assert run(place, "exit 0")[0] == 2
    assert (place.runs / "a/pgbench.yaml").read_text() == "labels: {storage: new}\n"


@pytest.mark.parametrize(
    "script",
    [
        f"echo '{REPORTS}' >&2; exit 1",
        "echo something that only its user understands; exit 1",
        "exit 0",
    ],
)
def test_what_may_have_measured_something_is_kept(place: Launchpad, script: str) -> None:
    run(place, script)
    before = {file.name: file.read_bytes() for file in (place.runs / "a").iterdir()}
    code, said = run(place, "exit 0")
    assert (code, "already exists: choose another --name or --worker, or add --overwrite" in said[-1]) == (2, True)
    assert {file.name: file.read_bytes() for file in (place.runs / "a").iterdir()} == before


def test_overwrite_replaces_this_worker_and_no_other(place: Launchpad) -> None:
    run(place, f"echo '{REPORTS}' >&2")
    (place.runs / "a/pgbench.77").write_text("0 1 1000 0 1790000000 1\n")
    (place.runs / "a/pgbench2.out").write_text("of another")
    code, said = run(place, "echo new", "--overwrite")
    assert (code, "benchwatch: replaces runs/a/pgbench.*" in said) == (0, True)
    assert {file.name for file in (place.runs / "a").iterdir()} == {
        "pgbench.out",
        "pgbench.err",
        "pgbench.yaml",
        "pgbench2.out",
    }
    assert (place.runs / "a/pgbench.out").read_text() == "new\n"


def test_a_worker_whose_name_continues_that_of_another_keeps_its_log(place: Launchpad) -> None:
    run(place, f"echo '{REPORTS}' >&2", "--worker", "db.1")
    log = place.runs / "a/db.1.4711"
    log.write_text("0 1 1000 0 1790000000 1\n")
    assert run(place, f"echo '{REPORTS}' >&2", "--worker", "db")[0] == 0, "its name is not taken"
    assert run(place, f"echo '{REPORTS}' >&2", "--worker", "db", "--overwrite")[0] == 0
    assert log.exists()
    assert run(place, f"echo '{REPORTS}' >&2", "--worker", "db.1", "--overwrite")[0] == 0
    assert not log.exists()


def test_what_was_to_be_replaced_stays_if_nothing_is_started(place: Launchpad) -> None:
    run(place, f"echo '{REPORTS}' >&2")
    before = {file.name: file.read_bytes() for file in (place.runs / "a").iterdir()}
    code, said = run(place, "exit 0", "--overwrite", "--push", "ftp://x")
    assert (code, "--push: expected" in said[-1]) == (2, True)
    assert {file.name: file.read_bytes() for file in (place.runs / "a").iterdir()} == before


def test_what_was_to_be_replaced_stays_on_a_file_system_without_room_for_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a").mkdir()
    (tmp_path / "a/pgbench.out").write_text("measured")
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(UserError, match="a cannot be written to: No space left on device; nothing was started"):
        RunRecord(tmp_path, "a", "pgbench").create(overwrite=True)
    monkeypatch.undo()
    assert [(file.name, file.read_text()) for file in (tmp_path / "a").iterdir()] == [("pgbench.out", "measured")]


def test_a_worker_that_is_being_recorded_is_never_replaced(place: Launchpad) -> None:
    place.tool("pgbench", "echo READY; while [ ! -e stop ]; do sleep 0.1; done")
    first = place.start("--name", "a", *OPTIONS)
    out = place.runs / "a/pgbench.out"
    eventually(lambda: out.exists() and out.read_bytes() == b"READY\n", "it runs")
    second = place.run("--name", "a", "--overwrite", *OPTIONS)
    assert second.returncode == 2
    assert second.stderr == (
        b"benchwatch: runs/a/pgbench.yaml is still being recorded: choose another --name or --worker\n"
    )
    (place.folder / "stop").touch()
    assert first.wait(PATIENCE) == 0
    assert run(place, "exit 0", "--overwrite")[0] == 0


def test_a_shorter_series_does_not_mix_with_a_longer_one_of_its_name(place: Launchpad) -> None:
    place.tool("pgbench", f"echo '{REPORTS}' >&2")
    assert place.run("--name", "a", "--repeat", "3", *OPTIONS).returncode == 0
    done = place.run("--name", "a", "--repeat", "2", "--overwrite", *OPTIONS)
    assert done.returncode == 2
    assert (
        b"a-3/pgbench.yaml belongs to an earlier, longer series a: choose another --name, or remove it" in done.stderr
    )
    assert place.run("--name", "a", "--repeat", "3", "--overwrite", *OPTIONS).returncode == 0
    assert len(list(place.runs.iterdir())) == 3


def test_a_run_a_series_and_a_sweep_do_not_share_a_name(place: Launchpad) -> None:
    place.tool("pgbench", f"echo '{REPORTS}' >&2")
    kinds = {"run": (), "series": ("--repeat", "2"), "sweep": ("--sweep", "T=1,2")}

    def start(name: str, kind: str) -> tuple[int, bytes]:
        words = ["pgbench", "-T", "{T}" if kind == "sweep" else "1"]
        done = place.run("--name", name, *kinds[kind], "--no-percentiles", "--", *words)
        return done.returncode, done.stderr

    for first in kinds:
        assert start(first, first)[0] == 0
        for second in kinds:
            if second != first:
                code, said = start(first, second)
                assert code == 2
                assert ("is already a run" if first == "run" else f"belongs to the {first} {first}").encode() in said


def test_a_series_with_a_failed_run_is_not_proposed_for_a_comparison(place: Launchpad) -> None:
    def proposed(*options: str) -> list[str]:
        said = place.run(*options, *OPTIONS).stderr.decode()
        return [line.partition("compare ")[2] for line in said.splitlines() if "next: benchwatch compare" in line]

    place.tool("pgbench", f"echo '{REPORTS}' >&2")
    assert proposed("--name", "a") == []
    place.tool("pgbench", f"echo '{REPORTS}' >&2; test -e failed && exit 0; touch failed; exit 1")
    assert place.run("--name", "b", "--repeat", "2", *OPTIONS).returncode == 1
    assert proposed("--name", "c") == ["runs/a runs/c"]


def test_only_a_run_that_can_be_compared_is_proposed(place: Launchpad) -> None:
    """Another kind of test of the same tool cannot: the latest run of the same kind is."""

    def proposed(name: str, recording: str) -> list[str]:
        place.tool("sysbench", f"cat {RECORDINGS}/sysbench/{recording}/{recording}.out")
        said = place.run("--name", name, "--", "sysbench", "cpu", "run").stderr.decode()
        return [line.partition("compare ")[2] for line in said.splitlines() if "next: benchwatch compare" in line]

    assert proposed("cpu1", "cpu-1.0.20") == []
    assert proposed("files1", "fileio-rndrw-t4-1.0.20") == []
    assert proposed("cpu2", "cpu-1.0.20") == ["runs/cpu1 runs/cpu2"]
    assert proposed("files2", "fileio-rndrw-t4-1.0.20") == ["runs/files1 runs/files2"]


def test_ctrl_c_while_the_name_is_taken_leaves_nothing(place: Launchpad, monkeypatch: pytest.MonkeyPatch) -> None:
    place.tool("pgbench", "exit 0")
    create = RunRecord.create

    def interrupted(record: RunRecord, overwrite: bool = False) -> str:
        replaced = create(record, overwrite)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return replaced

    monkeypatch.setattr(RunRecord, "create", interrupted)
    monkeypatch.setenv("PATH", place.environment["PATH"])
    monkeypatch.chdir(place.folder)
    assert main(["run", "--name", "a", *OPTIONS]) == 130
    assert list(place.runs.iterdir()) == []


def test_an_object_that_a_record_holds_twice_is_written_twice(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, "a", "b")
    record.create()
    disks = {"sdb": "log"}
    record.write(disks=disks, found={"host": "db1", "disks": disks})
    record.check()
    record.release()


def test_nothing_is_left_of_a_run_whose_record_was_being_written_at_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RunRecord(tmp_path, "a", "db1")
    record.create()

    def replace(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        record.write(host="db1")
    record.remove()
    assert not record.folder.exists()
