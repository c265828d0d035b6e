"""What `benchwatch run --push` sends: pieces of files with their places, and records."""

import os
import random
import threading
from pathlib import Path

import pytest
import requests

from benchwatch.server.ingest import LARGEST_PIECE
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE


def put(server: Served, path: str, data: bytes, **headers: str) -> tuple[int, str]:
    answer = requests.put(f"{server.url}/ingest/{path}", data=data, headers=headers, timeout=PATIENCE)
    return answer.status_code, answer.text.strip()


def piece(server: Served, data: bytes, offset: int, stream: str = "out") -> tuple[int, str]:
    return put(server, f"r/db1?stream={stream}&offset={offset}", data)


def test_pieces_make_the_file(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert piece(server, b"one\n", 0) == (200, "4 bytes are stored")
        assert piece(server, b"two", 4) == (200, "7 bytes are stored")
        assert server.metric("benchwatch_push_bytes_total") == 7
        assert server.metric('benchwatch_push_requests_total{code="200"}') == 2
    assert (tmp_path / "r/db1.out").read_bytes() == b"one\ntwo"


def test_a_piece_that_is_sent_again_changes_nothing(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        for data, offset in ((b"onetwo", 0), (b"one", 0), (b"twothree", 3), (b"", 11)):
            assert piece(server, data, offset)[0] == 200
        assert server.metric("benchwatch_push_bytes_total") == 11
    assert (tmp_path / "r/db1.out").read_bytes() == b"onetwothree"


def test_other_content_and_gaps_are_refused(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        piece(server, b"one", 0)
        other = "r/db1.out already exists, with other content: push under another name"
        assert piece(server, b"two", 0) == (409, other)
        gap = "r/db1.out has 3 bytes: expected an offset of at most 3, got 4"
        assert piece(server, b"x", 4) == (416, gap)
        url, where = f"{server.url}/ingest/r/db1", {"stream": "out", "offset": "4"}
        answer = requests.put(url, b"x", params=where, headers={"Accept": "application/json"})
        assert answer.json() == {"error": gap, "reason": "gap", "size": 3}
    assert (tmp_path / "r/db1.out").read_bytes() == b"one"


def test_pieces_that_overlap_make_the_file(tmp_path: Path) -> None:
    generator = random.Random(7)
    data = generator.randbytes(300_000)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        there = 0
        while there < len(data):
            start = generator.randint(max(0, there - 20_000), there)
            end = min(len(data), start + generator.randint(1, 60_000))
            assert piece(server, data[start:end], start)[0] == 200
            there = max(there, end)
    assert (tmp_path / "r/db1.out").read_bytes() == data


def test_logs_of_threads_have_their_own_files(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        for stream in ("out", "err", "json", "1234", "1234.7"):
            assert piece(server, stream.encode(), 0, stream)[0] == 200
    names = {path.name: path.read_text() for path in (tmp_path / "r").iterdir()}
    assert names == {f"db1.{stream}": stream for stream in ("out", "err", "json", "1234", "1234.7")}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("stream=yaml&offset=0", "stream=yaml: expected out, err, json, or the number of a log"),
        ("stream=../x&offset=0", "stream=../x: expected out, err, json, or the number of a log"),
        ("offset=0", "stream=: expected out, err, json, or the number of a log"),
        ("stream=out", "offset=: expected a number of bytes"),
        ("stream=out&offset=-1", "offset=-1: expected a number of bytes"),
    ],
)
def test_a_place_that_is_none_is_refused(tmp_path: Path, query: str, sentence: str) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert put(server, f"r/db1?{query}", b"x") == (400, sentence)
    assert not list(tmp_path.iterdir())


def test_a_piece_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert piece(server, bytes(LARGEST_PIECE), 0)[0] == 200
        assert piece(server, bytes(LARGEST_PIECE + 1), 0)[0] == 413
        chunks = iter([bytes(LARGEST_PIECE), b"x"])
        answer = requests.put(f"{server.url}/ingest/r/x?stream=out&offset=0", data=chunks, timeout=PATIENCE)
        assert answer.status_code == 413


def test_forty_workers_send_pieces_at_once(tmp_path: Path) -> None:
    expected = {number: random.Random(number).randbytes(50_000) for number in range(40)}
    with served(FakeExporter(push_folder=tmp_path)) as server:

        def send(number: int) -> None:
            with requests.Session() as session:
                for start in range(0, 50_000, 5_000):
                    url = f"{server.url}/ingest/r/db{number}?stream=out&offset={start}"
                    session.put(url, data=expected[number][start : start + 5_000], timeout=PATIENCE).raise_for_status()

        threads = [threading.Thread(target=send, args=(number,)) for number in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all((tmp_path / f"r/db{number}.out").read_bytes() == data for number, data in expected.items())


def test_a_record_replaces_the_one_before(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert put(server, "r/db1.yaml", b"labels: {a: b}\n") == (200, "r/db1.yaml is stored")
        assert put(server, "r/db1.yaml", b"exit_code: 0\n") == (200, "r/db1.yaml is stored")
        assert put(server, "r/run.yaml", b"disks: {sdb: log}\n") == (200, "r/run.yaml is stored")
    assert (tmp_path / "r/db1.yaml").read_bytes() == b"exit_code: 0\n"
    assert {path.name for path in (tmp_path / "r").iterdir()} == {"db1.yaml", "run.yaml"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"what: 1\n", "r/db1.yaml:1: what: no such key"),
        (b"labels: {job: x}\n", "r/db1.yaml: labels: expected a name of letters, digits and _ other than"),
        (b"\xff\xfe\xff", "r/db1.yaml: cannot be read: expected UTF-8 text"),
        (b"a: [", "r/db1.yaml:1: expected YAML"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_and_leaves_the_one_before(
    tmp_path: Path, data: bytes, sentence: str
) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        put(server, "r/db1.yaml", b"exit_code: 0\n")
        code, text = put(server, "r/db1.yaml", data)
    assert (code, text[: len(sentence)]) == (400, sentence)
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == {"db1.yaml": b"exit_code: 0\n"}


def test_a_record_may_be_wanted_only_if_the_name_is_new(tmp_path: Path) -> None:
    new = {"If-None-Match": "*"}
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert put(server, "r/db1.yaml", b"exit_code: 0\n", **new)[0] == 200
        assert put(server, "r/db1.yaml", b"exit_code: 0\n", **new)[0] == 200
        taken = "worker db1 of run r already exists: push under another name"
        assert put(server, "r/db1.yaml", b"exit_code: 1\n", **new) == (412, taken)
        assert put(server, "r/db1.yaml", b"")[0] == 200
        assert put(server, "r/db1.yaml", b"exit_code: 1\n", **new)[0] == 200
        assert put(server, "r/db2", b"by curl\n")[0] == 200
        assert put(server, "r/db2.yaml", b"exit_code: 0\n", **new)[0] == 412


def test_a_failed_start_that_is_replaced_does_not_take_the_log_of_another_worker_with_it(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        for name, data in {"db.7": "1\n", "db.err": "pgbench: error: no\n", "db.1.out": "2\n", "db.1.7": "3\n"}.items():
            (tmp_path / "r").mkdir(exist_ok=True)
            (tmp_path / "r" / name).write_text(data)
        (tmp_path / "r/db.yaml").write_text("exit_code: 1\n")
        code, said = put(server, "r/db.yaml", b"command: [pgbench]\n", **{"If-None-Match": "*"})
    assert (code, "replaces a start that failed" in said) == (200, True)
    assert {file.name for file in (tmp_path / "r").iterdir()} == {"db.yaml", "db.1.out", "db.1.7"}


def test_a_record_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert put(server, "r/db1.yaml", b"#" * 300_000)[0] == 413


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir(mode=0o500)
    with served(FakeExporter(push_folder=tmp_path)) as server:
        assert put(server, "r/db1.yaml", b"")[0] == 500
