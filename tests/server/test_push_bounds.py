"""What pushes may take, and who has to make room when there are too many of them."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from benchwatch.runs import append
from benchwatch.settings import record as runfile
from benchwatch.settings.settings import PushSettings
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE

from .test_ingest import answer_on, arrives, chunked, content

_CODE = 'benchwatch_push_requests_total{{code="{}"}}'


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Sets the size of the file system of `tmp_path`, bytes."""

    def hold(size: int) -> None:
        def free(folder: Path) -> int:
            assert folder.is_relative_to(tmp_path)
            return size - sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())

        monkeypatch.setattr(append, "free_bytes", free)

    yield hold


NO_ROOM = "the pushes' file system has {} bytes free; 0 must stay free (push.keep_free_bytes)"
TO_THE_LAST_BYTE = PushSettings(keep_free_bytes=0)


def put(server: Served, where: str, data: bytes = b"0123456789", **headers: str) -> tuple[int, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = requests.put(f"{server.url}/ingest/{where}", data=data, headers=named, timeout=PATIENCE)
    return answer.status_code, answer.text.strip()


def test_pushes_take_the_room_that_there_is_and_keep_it(tmp_path: Path, disk: Callable[[int], None]) -> None:
    disk(25)
    with served(FakeExporter(push_folder=tmp_path), push_settings=TO_THE_LAST_BYTE) as server:
        assert put(server, "r/a")[0] == put(server, "r/b")[0] == 200
        assert put(server, "r/a") == put(server, "s/c") == (507, NO_ROOM.format(5))
        assert put(server, "r/b?stream=out&offset=0") == (507, NO_ROOM.format(5))
        assert put(server, "r/b.yaml", b"labels: {a: b}")[0] == 507
        assert server.metric(_CODE.format(507)) == 4
        (tmp_path / "r/a.push").unlink()
        assert put(server, "r/a")[0] == 200
        assert server.metric("benchwatch_push_bytes_total") == 30
    assert content(tmp_path / "r/a.push") == content(tmp_path / "r/b.push") == b"0123456789"
    assert {path.name for path in tmp_path.rglob("*")} == {"r", "a.push", "b.push"}


def test_a_piece_that_is_stored_already_needs_no_room(tmp_path: Path, disk: Callable[[int], None]) -> None:
    disk(15)
    with served(FakeExporter(push_folder=tmp_path), push_settings=TO_THE_LAST_BYTE) as server:
        assert put(server, "r/b?stream=out&offset=0")[0] == 200
        assert put(server, "r/b?stream=out&offset=0") == (200, "10 bytes are stored")
        assert put(server, "r/b?stream=out&offset=0", b"012345678901234") == (200, "15 bytes are stored")
        assert put(server, "r/b?stream=out&offset=10", b"012345")[0] == 507
    assert content(tmp_path / "r/b.out") == b"012345678901234"


def test_a_push_that_repeats_what_is_stored_needs_no_room(tmp_path: Path, disk: Callable[[int], None]) -> None:
    disk(10)
    space = append.Room(TO_THE_LAST_BYTE, lambda _: None)
    first = append.PushFile(tmp_path / "r/w.push", space)
    first.append(b"0123456789")
    second = append.PushFile(tmp_path / "r/w.push", space, first.span)
    second.append(b"01234")
    second.append(b"56789")
    with pytest.raises(append.NotStored):
        second.append(b"x")
    assert content(tmp_path / "r/w.push") == b"0123456789"


def test_a_push_that_fills_the_disk_is_told_so_while_it_goes_on(tmp_path: Path, disk: Callable[[int], None]) -> None:
    disk(8)
    with served(FakeExporter(push_folder=tmp_path), push_settings=TO_THE_LAST_BYTE) as server:
        with chunked(server, "/ingest/r/w", b"first\n") as push:
            arrives(tmp_path / "r/w.push", b"first\n")
            push.sendall(b"7\r\nsecond\n\r\n")
            answer = answer_on(push)
        assert answer.startswith(b"HTTP/1.1 507 Insufficient Storage\r\n")
        assert answer.endswith(f"{NO_ROOM.format(2)}\n".encode())
    assert content(tmp_path / "r/w.push") == b"first\n"


def test_the_folder_has_a_budget_of_bytes_in_which_each_file_takes_a_block_more(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "before/w.out").write_bytes(b"0123456789")
    limit = 2 * (4096 + 10) + 5
    with served(
        FakeExporter(push_folder=tmp_path),
        push_settings=PushSettings(keep_free_bytes=0, max_folder_bytes=limit),
    ) as server:
        assert put(server, "r/a")[0] == 200
        sentence = f"the folder of pushes takes {limit - 5} bytes, and the limit is {limit} (push.max_folder_bytes)"
        assert put(server, "r/a") == put(server, "s/a", b"") == (507, sentence)
        assert put(server, "r/a", b"\n1234")[0] == 200
    assert not (tmp_path / "s").exists()


def test_some_of_the_file_system_stays_free(tmp_path: Path) -> None:
    settings = PushSettings(keep_free_bytes=1 << 60)
    with served(FakeExporter(push_folder=tmp_path / "not/yet"), push_settings=settings) as server:
        status, sentence = put(server, "r/w")
    assert status == 507
    assert sentence.startswith("the pushes' file system has ")
    assert sentence.endswith(f" bytes free; {1 << 60} must stay free (push.keep_free_bytes)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("codings", [["gzip"], ["deflate"], ["gzip, gzip"], ["br"], ["gzip;q=1"], ["identity", "gzip"]])
def test_a_compressed_body_is_415_and_nothing_is_written(tmp_path: Path, codings: Sequence[str]) -> None:
    headers = "".join(f"Content-Encoding: {coding}\r\n" for coding in codings)
    with served(FakeExporter(push_folder=tmp_path)) as server, chunked(server, "/ingest/r/w", headers=headers) as push:
        answer = answer_on(push)
    assert answer.startswith(b"HTTP/1.1 415 Unsupported Media Type\r\n")
    assert answer.endswith(f"Content-Encoding: {', '.join(codings)}: expected none\n".encode())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_what_a_browser_sends_is_refused_without_an_origin_too(tmp_path: Path, site: str) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.post(f"{server.url}/ingest/r/w", data=b"x", headers={"Sec-Fetch-Site": site})
    assert (answer.status_code, answer.text) == (403, "pushes from web pages are not accepted\n")
    assert list(tmp_path.iterdir()) == []


def test_at_the_maximum_of_pushes_the_next_one_is_told_to_try_again(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), push_limit=2) as server, ExitStack() as stack:
        pushes = []
        for name in "ab":
            pushes.append(stack.enter_context(chunked(server, f"/ingest/r/{name}", b"one\n")))
            arrives(tmp_path / f"r/{name}.push", b"one\n")
        answer = answer_on(stack.enter_context(chunked(server, "/ingest/r/c", b"one\n")))
        assert answer.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert b"Retry-After: 10\r\n" in answer
        assert answer.endswith(b"2 pushes are active, the maximum: try again later\n")
        for push in pushes:
            push.sendall(b"4\r\ntwo\n\r\n0\r\n\r\n")
            assert push.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        assert put(server, "r/c", b"two\n")[0] == 200
    assert {content(tmp_path / f"r/{name}.push") for name in "ab"} == {b"one\ntwo\n"}


def test_pieces_have_a_quarter_of_the_places(tmp_path: Path) -> None:
    where = "/ingest/r/{}?stream=out&offset=0"
    with served(FakeExporter(push_folder=tmp_path), push_limit=4) as server, ExitStack() as stack:
        begun = "Expect: 100-continue\r\n"
        first = stack.enter_context(chunked(server, where.format("a"), b"x", headers=begun))
        assert first.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert put(server, "r/b?stream=out&offset=0")[0] == 429
        first.sendall(b"0\r\n\r\n")
        assert first.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        assert put(server, "r/b?stream=out&offset=0")[0] == 200


def test_a_piece_that_does_not_come_in_time_is_408(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwatch.server.ingest._BODY_SECONDS", 0.5)
    where = "/ingest/r/w?stream=out&offset=0"
    with served(FakeExporter(push_folder=tmp_path)) as server, chunked(server, where, b"x") as piece:
        answer = answer_on(piece)
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert answer.endswith(b"the body did not arrive within 0.5 s\n")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_hangs_holds_up_no_scrape_and_what_came_meanwhile_is_written_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, hangs, goes_on = os.write, threading.Event(), threading.Event()

    def hang(descriptor: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == tmp_path / "r/w.push":
            hangs.set()
            assert goes_on.wait(PATIENCE)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", hang)
    lines = [f"line {number}\n".encode() for number in range(50)]
    board = FakeExporter(push_folder=tmp_path, rendered=lambda _: "x")
    with served(board) as server, chunked(server, "/ingest/r/w", *lines) as push:
        assert hangs.wait(PATIENCE)
        for _ in range(5):
            assert requests.get(f"{server.url}/metrics", timeout=PATIENCE).text == "x"
        goes_on.set()
        push.sendall(b"0\r\n\r\n")
        assert push.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert content(tmp_path / "r/w.push") == b"".join(lines)


def test_a_piece_that_is_under_way_when_the_exporter_stops_is_503(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        piece = chunked(server, "/ingest/r/w?stream=out&offset=0", b"x", headers="Expect: 100-continue\r\n")
        assert piece.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        server.call(server.pushes.stop)
        piece.sendall(b"0\r\n\r\n")
        answer = answer_on(piece)
        piece.close()
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert answer.endswith(b"this exporter is shutting down\n")


@pytest.mark.parametrize(
    "record",
    [
        b"labels: {date: !!timestamp 2024-02-30}",
        b"start: " + b"1" * 5000,
        b"labels: {a: !!timestamp x}",
        b"[" * 3000,
        b"\xff",
        b"a: b: c",
        b"unknown: 1",
    ],
)
def test_a_record_that_cannot_be_used_is_400_and_leaves_nothing(tmp_path: Path, record: bytes) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        status, sentence = put(server, "r/run.yaml", record)
    assert status == 400
    assert sentence.startswith("r/run.yaml")
    assert len(sentence) <= 500
    assert list((tmp_path / "r").iterdir()) == []


@pytest.mark.parametrize(
    "error", [ValueError("no such day\n"), RecursionError("too deep"), KeyError("x"), MemoryError()]
)
def test_whatever_a_parser_raises_the_answer_is_400(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> runfile.RunFile:
        raise error

    monkeypatch.setattr(append, "load_runfile", fail)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        status, sentence = put(server, "r/w.yaml", b"{}")
    assert status == 400
    assert sentence.startswith(f"r/w.yaml: expected a record in YAML: {type(error).__name__}:")
    assert list((tmp_path / "r").iterdir()) == []
