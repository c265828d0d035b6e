import os
from pathlib import Path

import pytest

from benchwatch.launch.files import OwnFiles, place_log
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
    assert (place.folder.parent, place.in_memory, place.room) == (Path("/dev/shm"), True, 1_024_000)
    place.give_back()
    assert not place.folder.exists()
    place = place_log(record, 1_024_001, machine)
    assert (place.folder, place.in_memory) == (record.folder, False)
    assert place.room > 0


def test_a_log_stays_in_memory_and_is_named_if_the_folder_takes_it_no_more(record: RunRecord, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    files = OwnFiles(record, Host())
    files.expect_log(memory / "db1", memory)
    (memory / "db1.7").write_text("a line\n")
    files.link(1)
    assert record.file("7").readlink() == memory / "db1.7"
    (record.folder / ".db1.7").mkdir()
    assert files.keep() == f"{memory}/db1.7 cannot be copied to {record.folder} and stays in place: Is a directory"
    assert record.file("7").read_text() == "a line\n"


def test_what_leaves_memory_is_on_disk_first(
    record: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    files = OwnFiles(record, Host())
    files.expect_log(memory / "db1", memory)
    log = memory / "db1.7"
    log.write_text("a line\n")
    files.link(1)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_ino, log.exists())))
    assert files.keep() == ""
    assert synced == [(record.file("7").stat().st_ino, True)]
    assert not memory.exists()


def test_files_of_others_are_not_linked(record: RunRecord, tmp_path: Path) -> None:
    files = OwnFiles(record, Host())
    files.expect_log(tmp_path / "mine")
    for name in ("mine.7", "mine.7.1", "mine.8", "mine.7.old", "other.7"):
        (tmp_path / name).touch()
    files.link(7)
    assert files.missing() == ""
    assert {path.name for path in record.folder.iterdir()} == {"db1.yaml", "db1.out", "db1.7", "db1.7.1"}
