"""What a command line may name besides files and folders of runs: archives, globs, standard input, nested folders."""

import gzip
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from benchwatch.runs import observed_run
from tests.compare.made import place, summary
from tests.support.places import RECORDINGS

FIO = RECORDINGS / "fio/json-si1-randrw-3.39.out"
Listed = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> Listed:
    def listed(*paths: object) -> list[dict[str, Any]]:
        assert main(["list", "--json", *map(str, paths)]) == 0
        return list(json.loads(capsys.readouterr().out)["runs"])

    return listed


def test_folders_are_searched_at_any_depth(listed: Listed, tmp_path: Path) -> None:
    for size in ("4k", "8k"):
        for depth in ("1", "32"):
            (tmp_path / "fio" / size / depth).mkdir(parents=True)
            (tmp_path / "fio" / size / depth / "randrw.json").write_bytes(FIO.read_bytes())
    found = {run["path"] for run in listed(tmp_path / "fio")}
    assert found == {str(tmp_path / "fio" / size / depth) for size in ("4k", "8k") for depth in ("1", "32")}


def test_folders_of_one_name_are_called_by_their_paths(listed: Listed, tmp_path: Path) -> None:
    for size in ("4k", "8k"):
        (tmp_path / "fio" / size / "1").mkdir(parents=True)
        for mode in ("a", "b"):
            (tmp_path / "fio" / size / "1" / f"{mode}.json").write_bytes(FIO.read_bytes())
    names = {f"{tmp_path}/fio/{size}/1" for size in ("4k", "8k")}
    assert {run["run"].removesuffix("/a").removesuffix("/b") for run in listed(tmp_path / "fio")} == names


def test_archives_in_an_archive_are_opened_too(listed: Listed, tmp_path: Path) -> None:
    inner = tmp_path / "night"
    (inner / "x").mkdir(parents=True)
    (inner / "x/a.json.gz").write_bytes(gzip.compress(FIO.read_bytes()))
    (inner / "x/broken.json.gz").write_bytes(b"not packed")
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "night.tar.gz", "w:gz") as archive:
        archive.add(inner, "night")
    (packed / "b.json").write_bytes(FIO.read_bytes())
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        archive.add(packed, "packed")
    assert sorted(run["run"] for run in listed(tmp_path / "all.tar")) == ["b", "x"]


def test_a_damaged_archive_that_a_glob_matches_hides_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = gzip.compress(FIO.read_bytes())
    for name, content in (("a", whole), ("b", whole[:500]), ("c", whole)):
        (tmp_path / f"{name}.json.gz").write_bytes(content)
    assert main(["list", "--json", f"{tmp_path}/*.gz"]) == 0
    out, err = capsys.readouterr()
    assert sorted(run["run"] for run in json.loads(out)["runs"]) == ["a", "c"]
    assert err.startswith(f"benchwatch: {tmp_path}/b.json.gz: cannot be unpacked: ")


def test_files_beside_folders_below_the_first_level_are_a_run(listed: Listed, tmp_path: Path) -> None:
    place(tmp_path / "a/b", 1000.0)
    place(tmp_path / "a/b/c", 2000.0)
    assert {(run["run"], run["rate"]) for run in listed(tmp_path / "a")} == {("b", 1000.0), ("c", 2000.0)}


def test_links_are_looked_for_once_for_all_files_beside_each_other(
    listed: Listed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(observed_run, "dangling", lambda folder: looked.append(folder) or {})
    (tmp_path / "r").mkdir()
    for number in range(5):
        (tmp_path / f"r/r{number}.json").write_bytes(FIO.read_bytes())
    assert len(listed(*(tmp_path / "r").iterdir())) == 5
    assert looked == []


def test_a_link_to_a_folder_above_ends_the_search(listed: Listed, tmp_path: Path) -> None:
    place(tmp_path / "a/b/c", 1000.0)
    (tmp_path / "a/b/again").symlink_to(tmp_path / "a")
    assert [run["run"] for run in listed(tmp_path / "a")] == ["c"]


def test_a_glob_that_the_shell_left_alone_is_expanded(listed: Listed, tmp_path: Path) -> None:
    for number in range(3):
        place(tmp_path / f"night-{number}", 1000.0)
    assert len(listed(tmp_path / "night-[01]")) == 2
    assert len(listed(tmp_path / "**/*.out")) == 3


def test_a_compressed_file_is_the_run_of_its_name(
    tmp_path: Path, listed: Listed, capsys: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(tmp_path / "night.log.gz", "wb") as file:
        file.write((summary(1000.0) + summary(2000.0)).encode())
    (run,) = listed(tmp_path / "night.log.gz")
    assert (run["run"], run["rate"]) == ("night", 2000.0)
    assert main(["show", f"{tmp_path}/night.log.gz#1", "--csv"]) == 0
    assert ",throughput,per second,higher,1000.0" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tgz", "tar.xz"])
def test_an_archive_is_what_it_holds(listed: Listed, tmp_path: Path, suffix: str) -> None:
    for number in range(2):
        place(tmp_path / f"runs/night-{number}", 1000.0 + number)
    mode = {"tar": "w", "tar.xz": "w:xz"}.get(suffix, "w:gz")
    with tarfile.open(tmp_path / f"all.{suffix}", mode) as archive:  # type: ignore[call-overload]
        archive.add(tmp_path / "runs", "runs")
    found = {(run["run"], run["path"], run["rate"]) for run in listed(tmp_path / f"all.{suffix}")}
    assert found == {("night-0", "all/runs/night-0", 1000.0), ("night-1", "all/runs/night-1", 1001.0)}


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        member = tarfile.TarInfo("../../escaped")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    assert main(["show", str(tmp_path / "bad.tar")]) == 2
    assert "bad.tar: cannot be unpacked:" in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs zstd")
def test_zst_is_unpacked_by_its_program(listed: Listed, tmp_path: Path) -> None:
    place(tmp_path / "runs/night", 1000.0)
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        archive.add(tmp_path / "runs", "runs")
    (tmp_path / "one.out").write_text(summary(2000.0))
    for name in ("all.tar", "one.out"):
        subprocess.run(["zstd", "-q", tmp_path / name], check=True)
    (run,) = listed(tmp_path / "all.tar.zst")
    assert (run["run"], run["path"], run["rate"]) == ("night", "all/runs/night", 1000.0)
    (run,) = listed(tmp_path / "one.out.zst")
    assert (run["run"], run["path"], run["rate"]) == ("one", f"{tmp_path}/one.out.zst", 2000.0)


def test_without_zstd_a_sentence_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "x.zst").write_bytes(b"anything")
    assert main(["show", str(tmp_path / "x.zst")]) == 2
    assert "needs the program zstd: install the package zstd" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "says"), [("x.gz", "cannot be unpacked: Not a gzipped file"), ("x.zst", "x.zst: ")])
def test_an_archive_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    (tmp_path / name).write_bytes(b"no archive")
    assert main(["show", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


def test_a_dash_is_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchwatch.values import input_files

    for text, code, shown in ((summary(1000.0), 0, "1,000"), ("remember the milk\n", 1, "")):
        input_files._standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert main(["show", "-"]) == code
        assert shown in capsys.readouterr().out
    place(tmp_path / "base", 1000.0)
    input_files._standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(summary(2000.0).encode())))
    assert main(["compare", str(tmp_path / "base"), "-"]) == 0
    assert "+100" in capsys.readouterr().out


def test_a_base_that_matches_several_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(2):
        place(tmp_path / f"night-{number}", 1000.0)
    assert main(["compare", str(tmp_path / "night-*"), str(tmp_path / "night-1")]) == 2
    assert "expected one run, got 2" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["show"], ["push", "127.0.0.1:9"]], ids=lambda command: command[0])
def test_a_glob_that_matches_nothing_is_not_taken_for_an_experiment(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command, "nightly/*.txt"]) == 2
    assert capsys.readouterr().err == "benchwatch: nightly/*.txt: matches no file and no folder\n"
