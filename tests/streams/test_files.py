import os
from pathlib import Path

import pytest

from benchwatch.streams.files import HEAD, GrowingFile, Rewritten, listing, read_head


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
    assert found.folders == ["run"]
    assert sorted(found.files) == ["db1.err", "link"]
    assert found.files["db1.err"][1:] == (5, 1000.5)


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


def test_a_hole_punched_into_what_was_read_is_not_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"1" * 8192)
    file = growing(path)
    file.read(8192)
    with path.open("r+b") as log:
        log.write(b"\0" * 4096)
        log.seek(0, os.SEEK_END)
        log.write(b"more")
    assert file.read(99)[0] == b"more"


def test_a_head_is_the_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * (HEAD + 5))
    assert len(read_head(path)) == HEAD
