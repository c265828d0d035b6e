import errno
import os
import random
import re
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from benchwatch.runs import append
from benchwatch.settings.settings import PushSettings
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE, eventually


def curl(url: str, *options: str) -> subprocess.Popen[bytes]:
    """curl as the landing page has it, sending what it is given."""
    command = ["curl", "-sS", *options, "-T", "-", url]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def write(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin
    process.stdin.write(data)
    process.stdin.flush()


def finish(process: subprocess.Popen[bytes]) -> str:
    answer, errors = process.communicate(timeout=PATIENCE)
    assert errors == b""
    return answer.decode()


def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def arrives(file: Path, data: bytes) -> None:
    eventually(lambda: content(file) == data, f"{data!r} is in {file}")


def chunked(server: Served, path: str, *chunks: bytes, headers: str = "") -> socket.socket:
    """A connection on which a push has begun with these chunks."""
    connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    connection.sendall(
        f"PUT {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Transfer-Encoding: chunked\r\n\r\n".encode()
    )
    for chunk in chunks:
        connection.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    return connection


def answer_on(connection: socket.socket) -> bytes:
    """A whole answer, in however many parts it comes."""
    head = b""
    with connection.makefile("rb") as answer:
        while not head.endswith(b"\r\n\r\n"):
            line = answer.readline()
            assert line, head
            head += line
        length = re.search(rb"(?i)\r\nContent-Length: (\d+)", head)
        return head + answer.read(int(length[1]) if length else 0)


def test_bytes_are_in_the_file_while_the_push_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    file = folder / "nightly" / "db1.push"
    with served(FakeExporter(push_folder=folder)) as server:
        push = curl(f"{server.url}/ingest/nightly/db1")
        sent = b""
        for number in range(3):
            line = f"progress: {number + 1}.0 s, 100.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n".encode()
            write(push, line)
            sent += line
            arrives(file, sent)
        assert push.poll() is None
        assert server.metric("benchwatch_push_active") == 1
        assert server.metric("benchwatch_push_bytes_total") == len(sent)
        assert server.metric('benchwatch_push_requests_total{code="200"}') == 0
        assert finish(push) == f"{len(sent)} bytes received for worker db1 of run nightly\n"
        assert server.metric("benchwatch_push_active") == 0
        assert server.metric('benchwatch_push_requests_total{code="200"}') == 1
    assert file.read_bytes() == sent


def test_a_part_of_a_line_is_there_before_the_line_ends(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        push = curl(f"{server.url}/ingest/nightly/db1")
        write(push, b"progress: 1.0 s, ")
        arrives(tmp_path / "nightly/db1.push", b"progress: 1.0 s, ")
        finish(push)


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_whole_file_can_be_sent_at_once(tmp_path: Path, method: str) -> None:
    data = random.Random(1).randbytes(3_000_000)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.request(method, f"{server.url}/ingest/r/w", data=data)
    assert (answer.status_code, answer.text) == (200, "3000000 bytes received for worker w of run r\n")
    assert (tmp_path / "r/w.push").read_bytes() == data


def test_an_empty_push_is_taken(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert requests.put(f"{server.url}/ingest/r/w").text == "0 bytes received for worker w of run r\n"


def test_fifty_pushes_at_once_keep_their_bytes_apart(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        expected = {}
        failures = []

        def send(number: int) -> None:
            generator = random.Random(number)
            pieces = [generator.randbytes(generator.randint(1, 9000)) for _ in range(40)]
            expected[number] = b"".join(pieces)
            answer = requests.put(f"{server.url}/ingest/many/db{number}", data=iter(pieces), timeout=PATIENCE)
            if answer.text != f"{len(expected[number])} bytes received for worker db{number} of run many\n":
                failures.append(answer.text)

        threads = [threading.Thread(target=send, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert server.metric("benchwatch_push_bytes_total") == sum(map(len, expected.values()))
        assert server.metric('benchwatch_push_requests_total{code="200"}') == 50
    assert {path.name for path in (tmp_path / "many").iterdir()} == {f"db{number}.push" for number in range(50)}
    for number, data in expected.items():
        assert (tmp_path / f"many/db{number}.push").read_bytes() == data


@pytest.mark.parametrize("reset", [False, True])
def test_a_broken_connection_keeps_what_came(tmp_path: Path, reset: bool) -> None:
    file = tmp_path / "r/w.push"
    with served(FakeExporter(push_folder=tmp_path)) as server:
        connection = chunked(server, "/ingest/r/w", b"first\n", b"second\nthi")
        connection.sendall(b"ff\r\nrd is cut")
        if reset:
            eventually(lambda: content(file).endswith(b"cut"), "all that was sent is in the file")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        eventually(lambda: server.metric('benchwatch_push_requests_total{code="499"}') == 1, "the push has ended")
        assert server.metric("benchwatch_push_active") == 0
        assert file.read_bytes() == b"first\nsecond\nthird is cut"
        assert server.metric("benchwatch_push_bytes_total") == 25


def test_a_later_push_goes_on_in_the_file(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        requests.put(f"{server.url}/ingest/r/w", data=b"one\n")
        requests.put(f"{server.url}/ingest/r/w", data=b"two\n")
    assert (tmp_path / "r/w.push").read_bytes() == b"one\ntwo\n"


def test_a_later_push_begins_a_line_where_the_one_before_broke_off(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        requests.put(f"{server.url}/ingest/r/w", data=b"progress: 1.0 s, 12")
        answer = requests.put(f"{server.url}/ingest/r/w", data=b"pgbench (15.18)\n")
    assert answer.text.startswith("16 bytes received")
    assert (tmp_path / "r/w.push").read_bytes() == b"progress: 1.0 s, 12\npgbench (15.18)\n"


def test_a_second_push_to_the_same_worker_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "r/w.push"
    with served(FakeExporter(push_folder=tmp_path)) as server:
        first = curl(f"{server.url}/ingest/r/w")
        write(first, b"one\n")
        arrives(file, b"one\n")
        second = requests.put(f"{server.url}/ingest/r/w", data=b"intruder\n")
        other = requests.put(f"{server.url}/ingest/r/w2", data=b"neighbour\n")
        write(first, b"two\n")
        assert finish(first) == "8 bytes received for worker w of run r\n"
        again = requests.put(f"{server.url}/ingest/r/w", data=b"three\n")
    sentence = "worker w of run r is already being pushed: use another worker name\n"
    assert (second.status_code, second.text) == (409, sentence)
    assert (other.status_code, again.status_code) == (200, 200)
    assert file.read_bytes() == b"one\ntwo\nthree\n"


def test_no_more_pushes_than_the_limit_are_taken_at_a_time(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), push_limit=2) as server:
        connections = [chunked(server, f"/ingest/r/w{number}", b"x") for number in range(2)]
        eventually(lambda: server.metric("benchwatch_push_active") == 2, "two pushes go on")
        refused = requests.put(f"{server.url}/ingest/r/w2", data=b"x")
        connections[0].sendall(b"0\r\n\r\n")
        eventually(lambda: server.metric("benchwatch_push_active") == 1, "one push is left")
        taken = requests.put(f"{server.url}/ingest/r/w2", data=b"x")
        for connection in connections:
            connection.close()
        eventually(lambda: server.metric("benchwatch_push_active") == 0, "no push is left")
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "10"
    assert refused.text == "2 pushes are active, the maximum: try again later\n"
    assert taken.status_code == 200


@pytest.mark.parametrize("declared", [True, False])
def test_a_push_longer_than_allowed_is_cut_there(tmp_path: Path, declared: bool) -> None:
    with served(FakeExporter(push_folder=tmp_path), push_settings=PushSettings(max_push_bytes=10)) as server:
        data = b"0123456789abc"
        answer = requests.put(f"{server.url}/ingest/r/w", data=data if declared else iter([data]))
        exact = requests.put(f"{server.url}/ingest/r/w2", data=iter([b"01234", b"56789"]))
    assert (answer.status_code, answer.text) == (413, "the push exceeds 10 bytes (push.max_push_bytes)\n")
    assert content(tmp_path / "r/w.push") == (b"" if declared else b"0123456789")
    assert exact.status_code == 200
    assert content(tmp_path / "r/w2.push") == b"0123456789"


def test_pushes_are_refused_where_they_are_switched_off() -> None:
    with served() as server:
        answer = requests.put(f"{server.url}/ingest/r/w", data=b"x")
    assert (answer.status_code, answer.text) == (403, "this exporter does not accept pushes (push.enabled is false)\n")


def test_pushes_from_web_pages_are_refused(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.post(f"{server.url}/ingest/r/w", data=b"x", headers={"Origin": "http://elsewhere.example"})
    assert (answer.status_code, answer.text) == (403, "pushes from web pages are not accepted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path",
    [
        "/ingest/../etc/x",
        "/ingest/%2e%2e/x",
        "/ingest/..%2f..%2fetc/x",
        "/ingest/r/..",
        "/ingest/r/.hidden",
        "/ingest/r/",
        "/ingest//w",
        "/ingest/r",
        "/ingest/",
        "/ingest/r/w/more",
        "/ingest/r/a%00b",
        "/ingest/r/a%0ab",
        "/ingest/r/a%20b",
        "/ingest/r/%C3%A9",
        "/ingest/r/%ff",
        "/ingest/r/a%5cb",
        f"/ingest/r/{'x' * 129}",
    ],
)
def test_other_names_are_refused_and_nothing_is_written(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "runs"
    with served(FakeExporter(push_folder=folder)) as server, chunked(server, path, b"x\n") as connection:
        answer = answer_on(connection)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"expected" in answer
    assert list(tmp_path.iterdir()) == []


def test_a_refused_name_is_said(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.put(f"{server.url}/ingest/a/%7Bhost%7D", data=b"x")
    assert answer.status_code == 400
    assert answer.text.startswith("worker '{host}' cannot be used as a name: expected 1 to 128 letters")


@pytest.mark.parametrize("name", ["a", "x" * 128, "db-1_a.b", "-", "0"])
def test_allowed_names_become_file_names(tmp_path: Path, name: str) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert requests.put(f"{server.url}/ingest/{name}/{name}", data=b"x").status_code == 200
    assert (tmp_path / name / f"{name}.push").read_bytes() == b"x"


def test_a_full_disk_is_507_and_the_next_push_finds_everything_in_order(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/full.push").symlink_to("/dev/full")
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.put(f"{server.url}/ingest/r/full", data=b"x" * 100)
        again = requests.put(f"{server.url}/ingest/r/full", data=b"x")
        assert server.metric("benchwatch_push_bytes_total") == 0
        assert server.metric('benchwatch_push_requests_total{code="507"}') == 2
        assert requests.put(f"{server.url}/ingest/r/other", data=b"x").status_code == 200
    expected = f"r/full.push cannot be written: {os.strerror(errno.ENOSPC)}\n"
    assert (answer.status_code, answer.text) == (507, expected)
    assert (again.status_code, again.text) == (507, expected)


def test_curl_is_told_of_a_full_disk_in_the_middle_of_a_push(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/full.push").symlink_to("/dev/full")
    with served(FakeExporter(push_folder=tmp_path)) as server:
        push = curl(f"{server.url}/ingest/r/full")
        write(push, b"one\n")
        eventually(lambda: server.metric('benchwatch_push_requests_total{code="507"}') == 1, "the push is refused")
        assert requests.get(f"{server.url}/-/healthy").status_code == 200
        answer, _ = push.communicate(timeout=PATIENCE)
    assert answer.decode() == f"r/full.push cannot be written: {os.strerror(errno.ENOSPC)}\n"


def test_what_fits_on_a_disk_that_fills_up_is_kept_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    room = 7

    def write_where_there_is_room(descriptor: int, data: bytes) -> int:
        nonlocal room
        if Path(f"/proc/self/fd/{descriptor}").readlink() != tmp_path / "r/w.push":
            return write(descriptor, data)
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, data[:room])
        room -= written
        return written

    monkeypatch.setattr(os, "write", write_where_there_is_room)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        answer = requests.put(f"{server.url}/ingest/r/w", data=b"0123456789")
        assert server.metric("benchwatch_push_bytes_total") == 7
    assert answer.status_code == 507
    assert (tmp_path / "r/w.push").read_bytes() == b"0123456"


def in_the_way_of_the_folder(folder: Path) -> int:
    folder.mkdir()
    (folder / "r").write_bytes(b"")
    return errno.ENOTDIR


def in_the_way_of_the_file(folder: Path) -> int:
    (folder / "r" / "w.push").mkdir(parents=True)
    return errno.EISDIR


def a_folder_that_cannot_be(folder: Path) -> int:
    folder.write_bytes(b"")
    return errno.ENOTDIR


def a_pipe_that_nobody_reads(folder: Path) -> int:
    (folder / "r").mkdir(parents=True)
    os.mkfifo(folder / "r/w.push")
    return 0


@pytest.mark.parametrize(
    "obstacle", [in_the_way_of_the_folder, in_the_way_of_the_file, a_folder_that_cannot_be, a_pipe_that_nobody_reads]
)
def test_what_cannot_be_written_is_500_with_the_reason(tmp_path: Path, obstacle: Callable[[Path], int]) -> None:
    folder = tmp_path / "runs"
    reason = obstacle(folder)
    with served(FakeExporter(push_folder=folder)) as server:
        answer = requests.put(f"{server.url}/ingest/r/w", data=b"x" * 200_000, timeout=PATIENCE)
        assert requests.get(f"{server.url}/-/healthy", timeout=PATIENCE).status_code == 200
    assert answer.status_code == 500
    assert answer.text.startswith("r/w.push cannot be written: ")
    if reason:
        assert answer.text == f"r/w.push cannot be written: {os.strerror(reason)}\n"


def test_a_client_that_asks_first_is_told_to_go_on(tmp_path: Path) -> None:
    headers = "Expect: 100-continue\r\n"
    board = FakeExporter(push_folder=tmp_path)
    with served(board) as server, chunked(server, "/ingest/r/w", headers=headers) as connection:
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"3\r\nabc\r\n0\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert (tmp_path / "r/w.push").read_bytes() == b"abc"


def test_a_body_that_is_no_longer_http_keeps_what_came_before(tmp_path: Path) -> None:
    file = tmp_path / "r/w.push"
    with served(FakeExporter(push_folder=tmp_path)) as server:
        with chunked(server, "/ingest/r/w", b"good\n") as connection:
            arrives(file, b"good\n")
            connection.sendall(b"zz\r\nnot a chunk\r\n")
        eventually(lambda: server.metric('benchwatch_push_requests_total{code="499"}') == 1, "the push has ended")
    assert file.read_bytes() == b"good\n"


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (b"one\ntwo\nthree\n", b"zero\none\ntwo\nthree\n"),  # it is repeated
        (b"one\n", b"zero\none\ntw\none\n"),  # another one: this is the whole of it
        (b"", b"zero\none\ntw"),
        (b"one\nthree\n", b"zero\none\ntw\none\nthree\n"),  # another one that begins in the same way
        (b"three\n", b"zero\none\ntw\nthree\n"),  # it goes on
    ],
)
def test_a_push_that_repeats_one_that_broke_off_goes_on_after_it(tmp_path: Path, again: bytes, expected: bytes) -> None:
    file = tmp_path / "r/w.push"
    with served(FakeExporter(push_folder=tmp_path)) as server:
        requests.put(f"{server.url}/ingest/r/w", data=b"zero\n")
        connection = chunked(server, "/ingest/r/w", b"one\ntw")
        arrives(file, b"zero\none\ntw")
        connection.close()
        eventually(lambda: server.metric('benchwatch_push_requests_total{code="499"}') == 1, "the push has ended")
        with chunked(server, "/ingest/r/w", *(again[n : n + 3] for n in range(0, len(again), 3)), b"") as connection:
            assert answer_on(connection).startswith(b"HTTP/1.1 200 OK")
    assert file.read_bytes() == expected


def test_a_push_of_which_not_a_byte_fits_does_not_keep_others_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, full = os.write, threading.Event()

    def write_unless_full(descriptor: int, data: memoryview) -> int:
        if full.is_set() and Path(f"/proc/self/fd/{descriptor}").readlink().suffix == ".push":
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return really(descriptor, data)

    monkeypatch.setattr(os, "write", write_unless_full)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        url = f"{server.url}/ingest/r/w"
        assert requests.put(url, data=b"one").status_code == 200
        full.set()
        assert requests.put(url, data=b"two").status_code == 507
        full.clear()
        assert requests.put(url, data=b"two").text == "3 bytes received for worker w of run r\n"
    assert (tmp_path / "r/w.push").read_bytes() == b"one\ntwo"


def test_another_long_push_that_begins_like_one_that_broke_off_is_copied_in_pieces_as_far_as_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, read = os.pread, [0]

    def note(descriptor: int, size: int, offset: int) -> bytes:
        read.append(size)
        return really(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", note)
    long, file = random.Random(1).randbytes(3_000_000), tmp_path / "r/w.push"
    limits = PushSettings(keep_free_bytes=0, max_push_bytes=len(long))
    monkeypatch.setattr(append, "free_bytes", lambda _: 5_500_000 - (file.stat().st_size if file.exists() else 0))
    with served(FakeExporter(push_folder=tmp_path), push_settings=limits) as server:
        url = f"{server.url}/ingest/r/w"
        first = requests.put(url, data=(part for part in (long, b"too much")))
        assert (first.status_code, file.read_bytes() == long) == (413, True)
        assert requests.put(url, data=long[:-1] + b"\n").status_code == 507
    assert 5_000_000 < file.stat().st_size <= 5_500_000
    assert (long + b"\n" + long).startswith(file.read_bytes())
    assert max(read) <= 1024 * 1024


def test_silent_and_half_open_clients_hold_up_nobody(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        silent = [chunked(server, f"/ingest/r/w{number}") for number in range(20)]
        half = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for connection in half:
            connection.sendall(b"PUT /ingest/r/")
        eventually(lambda: server.metric("benchwatch_push_active") == 20, "the silent pushes go on")
        assert requests.put(f"{server.url}/ingest/r/busy", data=b"x", timeout=PATIENCE).status_code == 200
        for connection in [*silent, *half]:
            connection.close()


def test_stopping_the_server_ends_pushes_at_once_and_keeps_what_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To wait for the client's end would fail the test.
    monkeypatch.setattr("benchwatch.server.listen._STOPPING", 9 * PATIENCE)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        connection = chunked(server, "/ingest/r/w", b"so far\n")
        arrives(tmp_path / "r/w.push", b"so far\n")
    with connection:
        assert connection.recv(10) == b""
    assert (tmp_path / "r/w.push").read_bytes() == b"so far\n"


def test_the_kernel_asks_after_a_silent_client_within_a_minute(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server, chunked(server, "/ingest/r/w", b"x"):
        arrives(tmp_path / "r/w.push", b"x")
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # proc(5): local address, remote address, state (01 established), queues, timer (02 keepalive) and when it ends
    [timer] = [row[5] for row in rows if row[1] == f"0100007F:{server.port:04X}" and row[3] == "01"]
    kind, left = timer.split(":")
    assert kind == "02"
    assert 0 < int(left, 16) <= 60 * os.sysconf("SC_CLK_TCK")


def test_the_benchmark_goes_on_when_the_exporter_is_gone(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        url = f"{server.url}/ingest/r/w"
        benchmark = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done; echo done > finished"
        command = f"({benchmark}) 2>&1 | tee -p kept.log | curl -sS -T - {url}"
        running = subprocess.Popen(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.DEVNULL)
        eventually(lambda: content(tmp_path / "r/w.push").startswith(b"line 1\n"), "the push has begun")
    running.wait(PATIENCE)
    assert (tmp_path / "finished").exists()
    assert (tmp_path / "kept.log").read_text() == "".join(f"line {number}\n" for number in range(1, 9))
