import os
import time
from pathlib import Path

import pytest

from benchwatch.runs.files import HEAD, Folder, GrowingFile, Rewritten, listing, read_head


def growing(path: Path) -> GrowingFile:
    return GrowingFile(path, listing(path.parent).files[path.name].identity)


def test_a_folder_lists_its_folders_and_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".file").write_text("x")
    (tmp_path / "db1.err").write_bytes(b"12345")
    os.utime(tmp_path / "db1.err", (1000.5, 1000.5))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "link").symlink_to("db1.err")
    found = listing(tmp_path)
    assert found.folders == {"run"}
    assert sorted(found.files) == ["db1.err", "link"]
    assert found.files["db1.err"][1:3] == (5, 1000.5)


def test_bytes_are_read_once_as_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"abcdef")
    file = growing(path)
    assert [file.read(4)[0], file.read(4)[0], file.read(4)[0]] == [b"abcd", b"ef", b""]
    with path.open("ab") as more:
        more.write(b"gh")
    os.utime(path, (77.0, 77.0))
    assert file.read(4) == (b"gh", 77.0)
    assert file.offset == 8


def test_a_renamed_file_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"ab")
    file = growing(path)
    file.read(9)
    path.rename(tmp_path / "out.1")
    file.path = tmp_path / "out.1"
    with file.path.open("ab") as more:
        more.write(b"cd")
    assert file.read(9)[0] == b"cd"


@pytest.mark.parametrize("again", [b"x", b"other text that is longer"])
def test_a_file_written_anew_in_place_is_noticed(tmp_path: Path, again: bytes) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"first text")
    file = growing(path)
    file.read(99)
    path.write_bytes(again)
    with pytest.raises(Rewritten):
        file.read(99)


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"text")
    file = growing(path)
    file.read(99)
    (tmp_path / "new").write_bytes(b"text and more")
    (tmp_path / "new").replace(path)
    with pytest.raises(Rewritten):
        file.read(99)


def test_a_file_that_did_not_change_is_not_looked_into_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"1" * 1_000_000)
    file = growing(path)
    monkeypatch.setattr("benchwatch.runs.files.SETTLED", 3600.0)
    while file.read(100_000)[0]:
        pass
    monkeypatch.setattr("benchwatch.runs.files.SETTLED", 0.0)
    file.read(99)
    later = time.monotonic() + 1000
    monkeypatch.setattr("benchwatch.runs.files.time.monotonic", lambda: later)
    assert file.rests(listing(tmp_path).files["log"])


@pytest.mark.parametrize("size", [10, 16_384, 16_385, 40_000, 100_000])
@pytest.mark.parametrize("place", ["first", "last"])
def test_another_byte_at_the_beginning_or_end_of_what_was_read_is_another_file(
    tmp_path: Path, size: int, place: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"1" * size)
    file = growing(path)
    assert file.read(1_000_000)[0] == b"1" * size
    with path.open("r+b") as log:
        log.seek(0 if place == "first" else size - 1)
        log.write(b"2")
        log.seek(0, os.SEEK_END)
        log.write(b"more")
    with pytest.raises(Rewritten):
        file.read(99)


def test_a_file_read_to_its_end_rests_for_a_second_unless_its_status_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"one\n")
    file, status = growing(path), listing(tmp_path).files["out"]
    passed = 0.0
    monkeypatch.setattr("benchwatch.runs.files.time.time_ns", lambda: status.changed + round(passed * 1e9))
    monkeypatch.setattr("benchwatch.runs.files.time.monotonic", lambda: 1000 + passed)
    assert not file.rests(status)

    file.read(99)  # so soon that another change might not show
    assert not file.rests(status)
    passed = 0.1
    file.read(2)
    assert file.rests(status)
    assert not file.rests(status._replace(size=8))
    assert not file.rests(status._replace(changed=status.changed + 1))
    passed = 1.2
    assert not file.rests(status)
    file.read(2)
    assert file.rests(status)

    partly = growing(path)
    partly.read(2)
    assert not partly.rests(status)


def test_a_large_folder_is_listed_when_something_came_or_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwatch.runs.files.SETTLED", 0.0)
    folder = Folder(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("later")
    assert folder.look(0.0)
    assert (folder.folders, folder.files) == ({"run"}, ["file"])
    (tmp_path / "run" / "inner").touch()
    assert not folder.look(1.0)
    time.sleep(0.05)
    (tmp_path / "file").rename(tmp_path / "other")
    assert folder.look(2.0)
    assert folder.files == ["other"]
    (tmp_path / ".hidden").touch()
    assert not folder.look(3.0)


def test_a_link_whose_target_comes_later_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwatch.runs.files.SETTLED", 0.0)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "target")
    folder = Folder(tmp_path / "runs")
    folder.look(0.0)
    (tmp_path / "target").mkdir()
    assert folder.look(1.0)
    assert folder.folders == {"link"}


def test_a_head_is_the_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * (HEAD + 5))
    assert len(read_head(path)) == HEAD


def test_a_hole_is_skipped_however_large_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"begin\n")
    os.truncate(path, 1 << 40)
    with path.open("ab") as writer:
        writer.write(b"end\n")
    file = growing(path)
    text = b""
    for _ in range(4):
        data, _ = file.read(1 << 18)
        text += data.replace(b"\0", b"")
    assert (text, file.offset) == (b"begin\nend\n", (1 << 40) + 4)
