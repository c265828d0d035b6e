import os
import shutil
import signal
from pathlib import Path

import pytest

from benchwatch.launch.benchmark_files import Memory, OwnFiles, rescue
from benchwatch.launch.worker_record import RunRecord
from benchwatch.machine.host import Host
from benchwatch.tools.launcher import ExtraLog


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
    files = OwnFiles(record, host(tmp_path, "4000"))
    place = files.offer(ExtraLog("log", "", 1_024_000))
    folder = place.prefix.parent
    assert (folder.parent, place.prefix.name, place.room) == (Path("/dev/shm"), "db1", 1_024_000)
    shutil.rmtree(folder)
    place = files.offer(ExtraLog("log", "", 1_024_001))
    assert place.prefix == record.folder / "db1"
    assert place.room > 0


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /dev/shm."""
    made = tmp_path / "memory"
    made.mkdir()
    monkeypatch.setattr("benchwatch.launch.benchmark_files.MEMORY", made)
    return made


@pytest.fixture
def files(record: RunRecord, memory: Path, tmp_path: Path) -> OwnFiles:
    return OwnFiles(record, host(tmp_path, "4000"))


@pytest.fixture
def log(files: OwnFiles) -> Path:
    """A log in memory."""
    path = files.offer(ExtraLog("log", "", 1)).prefix.with_suffix(".7")
    path.write_text("a line\n")
    return path


def test_a_log_stays_in_memory_and_is_named_if_the_folder_takes_it_no_more(
    record: RunRecord, files: OwnFiles, log: Path
) -> None:
    files.link(1)
    assert record.file("7").readlink() == log
    (record.folder / ".db1.7").mkdir()
    why = f"cannot be copied to {record.folder} and stays in place: Is a directory"
    assert files.keep() == f"{log} {why}"
    assert record.file("7").read_text() == "a line\n"


def test_a_log_comes_to_the_folder_to_which_its_run_was_renamed(record: RunRecord, files: OwnFiles, log: Path) -> None:
    files.link(1)
    renamed = record.folder.rename(record.folder.with_name("b"))
    assert files.keep() == ""
    assert not (renamed / "db1.7").is_symlink()
    assert (renamed / "db1.7").read_text() == "a line\n"
    assert not log.parent.exists()


def test_what_leaves_memory_is_on_disk_first(
    record: RunRecord, files: OwnFiles, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.link(1)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_ino, log.exists())))
    assert files.keep() == ""
    assert synced == [(record.file("7").stat().st_ino, True)]
    assert not log.parent.exists()


@pytest.fixture
def killed(record: RunRecord, memory: Path) -> Path:
    """The log in memory of a launcher that was killed, as was its benchmark."""
    made = Memory(record)
    (made.folder / "db1.7").write_text("a line\n")
    os.close(made._lock)
    return made.folder / "db1.7"


def test_logs_that_a_killed_launcher_left_in_memory_come_to_the_run(record: RunRecord, killed: Path) -> None:
    killed.with_name("db1.7.1").write_text("another\n")  # it was not linked yet
    record.file("7").symlink_to(killed)
    assert list(rescue(record.folder.parent)) == [
        f"{record.folder} now has its log, which an earlier launcher left in memory"
    ]
    assert [record.file(number).read_text() for number in ("7", "7.1")] == ["a line\n", "another\n"]
    assert not record.file("7").is_symlink() and not killed.parent.exists()
    assert list(rescue(record.folder.parent)) == []


def test_logs_that_a_killed_launcher_left_in_memory_come_to_a_run_that_was_renamed(
    record: RunRecord, killed: Path
) -> None:
    record.file("7").symlink_to(killed)
    renamed = record.folder.rename(record.folder.with_name("b"))
    assert list(rescue(record.folder.parent)) == [
        f"{renamed} now has its log, which an earlier launcher left in memory"
    ]
    assert (renamed / "db1.7").read_text() == "a line\n"
    assert not killed.parent.exists()


def test_the_log_of_a_launcher_that_lives_stays_in_memory(record: RunRecord, log: Path) -> None:
    assert list(rescue(record.folder.parent)) == []
    assert log.exists()


def test_logs_that_cannot_be_copied_stay_and_those_of_a_run_that_was_removed_go(
    record: RunRecord, killed: Path
) -> None:
    (record.folder / ".db1.7").mkdir()
    why = f"cannot be copied to {record.folder}: Is a directory; it stays there"
    assert list(rescue(record.folder.parent)) == [f"{killed}, which an earlier launcher left in memory, {why}"]
    assert killed.exists()
    shutil.rmtree(record.folder)
    assert list(rescue(record.folder.parent)) == []
    assert not killed.parent.exists()


def test_logs_of_another_folder_of_runs_are_left_alone_and_to_another_launcher(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[object] = []
    monkeypatch.setattr("fcntl.flock", lambda *asked: locked.append(asked))
    assert list(rescue(tmp_path / "others")) == [] == locked
    assert killed.exists()


def test_folders_of_others_in_memory_are_left_alone(
    record: RunRecord, killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert list(rescue(record.folder.parent)) == []
    assert killed.exists()


def test_files_of_others_are_not_linked(record: RunRecord, tmp_path: Path) -> None:
    files = OwnFiles(record, Host())
    files.expect_log(tmp_path / "mine", "log", named=True)
    for name in ("mine.7", "mine.7.1", "mine.8", "mine.7.old", "other.7"):
        (tmp_path / name).touch()
    files.link(7)
    assert files.missing() == ""
    assert {path.name for path in record.folder.iterdir()} == {"db1.yaml", "db1.out", "db1.7", "db1.7.1"}


def test_ctrl_c_while_a_place_in_memory_is_made_leaves_nothing_there(
    record: RunRecord, files: OwnFiles, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mkdtemp(**_: object) -> str:
        (memory / "own").mkdir()
        signal.raise_signal(signal.SIGINT)
        return str(memory / "own")

    monkeypatch.setattr("tempfile.mkdtemp", mkdtemp)
    with pytest.raises(KeyboardInterrupt):
        files.offer(ExtraLog("log", "", 1))
    files.keep()
    assert not list(memory.iterdir())
