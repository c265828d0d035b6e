import os
import shutil
from pathlib import Path

import pytest

from benchwatch.launch.files import OwnFiles, place_log
from benchwatch.launch.memory import Memory, rescue
from benchwatch.launch.record import RunRecord
from benchwatch.machine.host import Host


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    made = RunRecord(tmp_path / "runs", "a", "db1")
    made.create()
    return made


def host(folder: Path, available: str) -> Host:
    (folder / "meminfo").write_text(f"MemAvailable: {available} kB\n")
    return Host(folder, folder)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm")
def test_a_log_goes_to_memory_if_it_takes_a_quarter_of_it_at_most(record: RunRecord, tmp_path: Path) -> None:
    machine = host(tmp_path, "4000")
    place = place_log(record, 1_024_000, machine)
    assert (place.folder.parent, place.memory is not None, place.room) == (Path("/dev/shm"), True, 1_024_000)
    assert place.memory
    place.memory.give_back()
    assert not place.folder.exists()
    place = place_log(record, 1_024_001, machine)
    assert (place.folder, place.memory) == (record.folder, None)
    assert place.room > 0


@pytest.fixture
def memory(record: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setattr("benchwatch.launch.memory.MEMORY", tmp_path)
    return Memory(record)


def test_a_log_stays_in_memory_and_is_named_if_the_folder_takes_it_no_more(record: RunRecord, memory: Memory) -> None:
    files = OwnFiles(record, Host())
    files.expect_log(memory.folder / "db1", memory)
    (memory.folder / "db1.7").write_text("a line\n")
    files.link(1)
    assert record.file("7").readlink() == memory.folder / "db1.7"
    (record.folder / ".db1.7").mkdir()
    why = f"cannot be copied to {record.folder} and stays in place: Is a directory"
    assert files.keep() == f"{memory.folder}/db1.7 {why}"
    assert record.file("7").read_text() == "a line\n"


def test_what_leaves_memory_is_on_disk_first(
    record: RunRecord, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OwnFiles(record, Host())
    files.expect_log(memory.folder / "db1", memory)
    log = memory.folder / "db1.7"
    log.write_text("a line\n")
    files.link(1)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_ino, log.exists())))
    assert files.keep() == ""
    assert synced == [(record.file("7").stat().st_ino, True)]
    assert not memory.folder.exists()


def killed(memory: Memory) -> None:
    """As the kernel does when the launcher and the benchmark are gone."""
    os.close(memory._lock)


def test_logs_that_a_killed_launcher_left_in_memory_come_to_the_run(record: RunRecord, memory: Memory) -> None:
    for number in ("7", "7.1"):  # the second was not linked yet
        (memory.folder / f"db1.{number}").write_text(f"{number}\n")
    record.file("7").symlink_to(memory.folder / "db1.7")
    assert rescue(record.folder.parent) == [], "it lives"
    killed(memory)
    assert rescue(record.folder.parent) == [
        f"{record.folder} now has its log, which a launcher that was killed left in memory"
    ]
    assert [record.file(number).read_text() for number in ("7", "7.1")] == ["7\n", "7.1\n"]
    assert not record.file("7").is_symlink() and not memory.folder.exists()
    assert rescue(record.folder.parent) == []


def test_logs_that_cannot_be_copied_stay_and_those_of_a_run_that_was_removed_go(
    record: RunRecord, memory: Memory
) -> None:
    log = memory.folder / "db1.7"
    log.write_text("a line\n")
    killed(memory)
    (record.folder / ".db1.7").mkdir()
    why = f"cannot be copied to {record.folder}: Is a directory; it stays there"
    assert rescue(record.folder.parent) == [f"{log}, of a launcher that was killed, {why}"]
    assert log.exists()
    shutil.rmtree(record.folder)
    assert rescue(record.folder.parent) == []
    assert not memory.folder.exists()


def test_logs_of_another_folder_of_runs_are_left_alone_and_to_another_launcher(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.folder / "db1.7").write_text("a line\n")
    killed(memory)
    locked: list[object] = []
    monkeypatch.setattr("fcntl.flock", lambda *asked: locked.append(asked))
    assert rescue(tmp_path / "others") == [] == locked
    assert (memory.folder / "db1.7").exists()


def test_folders_of_others_in_memory_are_left_alone(
    record: RunRecord, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.folder / "db1.7").write_text("a line\n")
    killed(memory)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert rescue(record.folder.parent) == []
    assert (memory.folder / "db1.7").exists()


def test_files_of_others_are_not_linked(record: RunRecord, tmp_path: Path) -> None:
    files = OwnFiles(record, Host())
    files.expect_log(tmp_path / "mine")
    for name in ("mine.7", "mine.7.1", "mine.8", "mine.7.old", "other.7"):
        (tmp_path / name).touch()
    files.link(7)
    assert files.missing() == ""
    assert {path.name for path in record.folder.iterdir()} == {"db1.yaml", "db1.out", "db1.7", "db1.7.1"}
