"""`benchwatch push`: recorded runs, and runs that something else records."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.launch import delivery
from benchwatch.launch.worker_record import RunRecord
from benchwatch.values.printable import say
from tests.support.ports import free_port
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(FakeExporter(push_folder=tmp_path / "there")) as running:
        yield running


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    made = tmp_path / "runs"
    write(made / "a", {"db1.out": b"1\n", "db1.err": b"2\n", "db1.7": b"3\n", "db1.7.1": b"4\n", "db2.json": b"{}\n"})
    write(made / "a", {"db1.yaml": b"exit_code: 0\n", "run.yaml": b"host: h\n"})
    write(made / "b-1", {"db1.out": b"5\n", "run.yaml": b"repeat_of: b\n"})
    write(made / "b-2", {"db1.out": b"6\n", "run.yaml": b"repeat_of: b\n"})
    return made


def write(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.glob("*/*")}


def test_a_folder_of_runs_is_delivered_and_may_be_again(
    server: Served, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["push", server.url, str(runs)]) == 0
    assert content(tmp_path / "there") == content(runs)
    assert capsys.readouterr().out.splitlines() == [
        f"{runs}/{worker}.* delivered"
        for worker in ("a/db1", "a/db2", "a/run", "b-1/db1", "b-1/run", "b-2/db1", "b-2/run")
    ]
    assert main(["push", server.url, str(runs)]) == 0
    assert content(tmp_path / "there") == content(runs)


def test_pipes_named_like_output_are_not_waited_for(server: Served, runs: Path, tmp_path: Path) -> None:
    for name in ("db1.8", "db2.yaml"):
        os.mkfifo(runs / "a" / name)
    assert main(["push", server.url, str(runs / "a")]) == 0
    assert {"a/db1.7", "a/db2.json"} <= content(tmp_path / "there").keys()


def test_a_run_may_have_folders_of_its_own(server: Served, runs: Path, tmp_path: Path) -> None:
    write(runs / "b-1" / "perf", {"perf.data": b"7\n"})
    assert main(["push", server.url, str(runs / "b-1")]) == 0
    assert content(tmp_path / "there") == {"b-1/db1.out": b"5\n", "b-1/run.yaml": b"repeat_of: b\n"}


def test_an_experiment_is_all_its_repeats(server: Served, runs: Path, tmp_path: Path) -> None:
    assert main(["push", server.url, str(runs / "b")]) == 0
    assert content(tmp_path / "there") == {name: data for name, data in content(runs).items() if name.startswith("b-")}


def test_what_was_delivered_in_part_is_completed(server: Served, runs: Path, tmp_path: Path) -> None:
    write(tmp_path / "there" / "a", {"db1.out": b"1", "db1.yaml": b"exit_code:\n"})
    assert main(["push", server.url, str(runs / "a")]) == 0
    assert content(tmp_path / "there") == {name: data for name, data in content(runs).items() if name.startswith("a/")}


def test_another_run_of_that_name_is_refused_and_left_alone(
    server: Served, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "there" / "a", {"db1.out": b"another\n", "db1.yaml": b"exit_code: 1\n"})
    assert main(["push", server.url, str(runs / "a")]) == 1
    address = server.url.removeprefix("http://")
    refusal = "a/db1.out already exists, with other content: push under another name"
    assert capsys.readouterr().err == f"benchwatch: {address} refuses the push: {refusal}\n"
    there = {name: data for name, data in content(tmp_path / "there").items() if name.startswith("a/db1")}
    assert there == {"a/db1.out": b"another\n", "a/db1.yaml": b"exit_code: 1\n"}


def test_an_exporter_without_room_is_not_taken_for_one_that_does_not_run(
    server: Served, runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchwatch.runs.append.free_bytes", lambda _: 5)
    assert main(["push", server.url, str(runs / "a")]) == 1
    address = server.url.removeprefix("http://")
    why = "the pushes' file system has 5 bytes free; 1073741824 must stay free (push.keep_free_bytes)"
    assert capsys.readouterr().err == f"benchwatch: {address} cannot take the push now: {why}\n"


def test_names_that_the_exporter_does_not_take_are_refused_by_it(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "runs" / "my run?x", {"db1.out": b"1\n"})
    assert main(["push", server.url, str(tmp_path / "runs")]) == 1
    assert "refuses the push: run 'my run?x' cannot be used as a name" in capsys.readouterr().err
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere", "no such run"), ("empty", "nothing to send in"), ("runs", "Connection refused")],
)
def test_what_cannot_be_sent_is_said(
    runs: Path, tmp_path: Path, path: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["push", f"127.0.0.1:{free_port()}", str(tmp_path / path)]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_named_and_the_other_runs_are_sent(
    server: Served, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "a" / "db1.json").mkdir()
    assert main(["push", server.url, str(runs)]) == 1
    assert capsys.readouterr().err == f"benchwatch: {runs}/a/db1.json cannot be read: Is a directory\n"
    assert "b-2/db1.out" in content(tmp_path / "there")


@pytest.mark.parametrize("name", ["b-1", "b-1/db1.yaml"])
def test_a_folder_or_record_that_cannot_be_read_is_named(
    server: Served, runs: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(runs / "b-1", {"db1.yaml": b"exit_code: 0\n"})
    scan, read = os.scandir, Path.read_bytes

    def denied(path: object) -> None:
        if str(path) == str(runs / name):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", lambda path: denied(path) or scan(path))
    monkeypatch.setattr(Path, "read_bytes", lambda path: denied(path) or read(path))
    assert main(["push", server.url, str(runs)]) == 1
    said = capsys.readouterr()
    assert said.err == f"benchwatch: {runs / name} cannot be read: Permission denied\n"
    assert "b-2/db1.* delivered" in said.out


def test_another_run_in_the_place_of_one_that_was_sent_is_not_appended_to_it(
    server: Served, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "_EVERY", 0.01)
    record = RunRecord(runs, "b-1", "db1")
    write(runs / "b-1", {"db1.out": b"the first run\n"})
    following = delivery.Delivery(server.url, record, takes_name=False)
    following.follow()
    there = tmp_path / "there/b-1/db1.out"
    eventually(lambda: there.exists() and there.read_bytes() == b"the first run\n", "it is sent")
    record.write(labels={"of": "the second"})
    write(runs / "b-1", {"db1.out": b""})
    refusal = "refuses the push: b-1/db1.out now belongs to another run: push that under another name"
    eventually(lambda: following.trouble.endswith(refusal), "it is refused")
    write(runs / "b-1", {"db1.out": b"the second run, which has more\n"})
    following.end(1.0)
    assert refusal.removeprefix("refuses the push") in following.finish()
    assert there.read_bytes() == b"the first run\n"


def test_a_run_that_is_removed_here_keeps_its_record_there(
    server: Served, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "_EVERY", 0.01)
    record = RunRecord(runs, "a", "db1")
    following = delivery.Delivery(server.url, record, takes_name=False)
    following.follow()
    there = tmp_path / "there/a/db1.yaml"
    eventually(lambda: there.exists() and there.read_bytes() == b"exit_code: 0\n", "it is sent")
    shutil.rmtree(runs / "a")
    following.end(1.0)
    assert following.finish() == ""
    assert there.read_bytes() == b"exit_code: 0\n"


def test_follow_sends_what_comes_and_the_rest_at_the_end(tmp_path: Path) -> None:
    port, runs, there = free_port(), tmp_path / "runs", tmp_path / "there"
    process = subprocess.Popen(
        [sys.executable, "-m", "benchwatch", "push", "--follow", f"127.0.0.1:{port}", str(runs)],
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr
    assert process.stderr.readline() == f"benchwatch: {runs} does not exist yet: waiting for it\n".encode()
    write(runs / "a", {"db1.out": b"one\n"})
    line = process.stderr.readline()
    assert (
        line == f"benchwatch: a/db1: 127.0.0.1:{port} cannot be reached now (Connection refused): retrying\n".encode()
    )
    with served(FakeExporter(push_folder=there), port=port):
        eventually(lambda: content(there) == {"a/db1.out": b"one\n"}, "the first arrives")
        write(runs / "b", {"db1.out": b"two\n"})
        eventually(lambda: content(there) == content(runs), "another run arrives")
        write(runs / "b", {"db1.out": b"two\nthree\n", "db1.yaml": b"exit_code: 0\n"})
        write(runs / "c", {"db1.out": b"four\n"})
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said) == (0, b"benchwatch: a/db1: delivered again\n")
        assert content(there) == content(runs)


def test_follow_says_what_was_not_delivered(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchwatch.launch.push._PATIENCE", 0.1)
    monkeypatch.setattr("benchwatch.launch.push._EVERY", 0.01)
    monkeypatch.setattr(delivery, "_RETRY", 0.01)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    url = f"127.0.0.1:{free_port()}"
    troubles: list[str] = []

    def say_and_end(sentence: str) -> None:
        """Ends it once both of its files cannot be delivered."""
        say(sentence)
        troubles.append(sentence)
        if len(troubles) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("benchwatch.launch.push.say", say_and_end)
    try:
        assert main(["push", "--follow", url, str(runs / "b-1")]) == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert all(trouble.endswith(" cannot be reached now (Connection refused): retrying") for trouble in troubles[:2])
    said = capsys.readouterr().err
    assert f"2 bytes were not delivered to {url}: Connection refused; they are in {runs / 'b-1'}\n" in said
