import http.client
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import bcrypt
import pytest

from benchwatch.launch.delivery import Delivery
from benchwatch.launch.worker_record import RunRecord
from benchwatch.server.webconfig import load_web_config
from benchwatch.values.errors import UserError
from tests.support.ports import free_address, free_port
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no exporter that does not answer."""
    monkeypatch.setattr("benchwatch.launch.delivery._LAST_PATIENCE", PATIENCE)


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    made = RunRecord(tmp_path / "here", "r", "db1")
    made.create()
    made.write(command=["pgbench"])
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(FakeExporter(push_folder=tmp_path / "there")) as running:
        yield running


def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def test_files_arrive_while_they_grow_and_the_record_with_them(
    record: RunRecord, server: Served, tmp_path: Path
) -> None:
    there = tmp_path / "there/r"
    delivery = Delivery(server.url, record)
    assert delivery.start() == ""
    assert (there / "db1.yaml").read_bytes() == record.path.read_bytes()
    with record.file("out").open("ab", buffering=0) as out:
        for piece in (b"one\n", b"two\n"):
            out.write(piece)
            eventually(lambda: content(there / "db1.out") == content(record.file("out")), "it arrives")
    large = random.Random(1).randbytes(3_500_000)
    record.file("1234.1").write_bytes(large)
    record.write(exit_code=0)
    assert delivery.finish() == ""
    assert (there / "db1.1234.1").read_bytes() == large
    assert (there / "db1.yaml").read_bytes() == record.path.read_bytes()


def test_the_log_of_a_worker_whose_name_continues_this_one_is_not_sent(
    record: RunRecord, server: Served, tmp_path: Path
) -> None:
    for name in ("db1.7", "db1.2.out", "db1.2.7"):
        (record.folder / name).write_text("line\n")
    delivery = Delivery(server.url, record)
    assert (delivery.start(), delivery.finish()) == ("", "")
    assert {file.name for file in (tmp_path / "there/r").iterdir()} == {"db1.yaml", "db1.7"}


def test_a_file_that_cannot_be_read_is_not_taken_for_an_exporter_that_cannot_be_reached(
    record: RunRecord, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwatch.launch.delivery._LAST_PATIENCE", 1.0)
    record.file("json").mkdir()
    delivery = Delivery(server.url, record)
    delivery.start()
    why = f"{record.file('json')} cannot be read: Is a directory"
    eventually(lambda: delivery.trouble == f"{why}: retrying", "it is named")
    assert f": {why}; they are in" in delivery.finish()


def test_an_address_needs_no_scheme(record: RunRecord, server: Served, tmp_path: Path) -> None:
    delivery = Delivery(server.url.removeprefix("http://"), record)
    assert (delivery.start(), delivery.finish()) == ("", "")
    assert (tmp_path / "there/r/db1.yaml").read_bytes() == record.path.read_bytes()


def test_an_exporter_that_goes_away_and_comes_back_gets_the_rest(record: RunRecord, tmp_path: Path) -> None:
    there = tmp_path / "there"
    port = free_port()
    with served(FakeExporter(push_folder=there), port=port) as server:
        delivery = Delivery(server.url, record)
        delivery.start()
        record.file("out").write_bytes(b"one\n")
        eventually(lambda: content(there / "r/db1.out") == b"one\n", "the first arrives")
    record.file("out").write_bytes(b"one\ntwo\n")
    with served(FakeExporter(push_folder=there), port=port):
        eventually(lambda: content(there / "r/db1.out") == b"one\ntwo\n", "the rest arrives")
        assert delivery.finish() == ""


def test_a_record_whose_answer_was_lost_is_sent_again_though_it_has_grown(
    record: RunRecord, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwatch.launch.delivery._RETRY", 0.05)
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    answers: list[int] = []
    grown = threading.Event()

    class LosesAnswers(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            first = {"If-None-Match": "*"} if "If-None-Match" in self.headers else {}
            connection.request("PUT", self.path, body, first)
            answer = connection.getresponse()
            text = answer.read()
            answers.append(answer.status)
            if grown.is_set():
                self.send_response(answer.status)
                self.end_headers()
                self.wfile.write(text)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), LosesAnswers) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        delivery = Delivery(f"http://127.0.0.1:{proxy.server_port}", record)
        assert "cannot be reached now" in delivery.start()
        record.write(start=1790000000.0)
        grown.set()
        record.file("out").write_bytes(b"one\n")
        there = tmp_path / "there/r"
        eventually(lambda: content(there / "db1.out") == b"one\n", "the output arrives")
        assert delivery.finish() == ""
        proxy.shutdown()
        thread.join()
    connection.close()
    assert set(answers) == {200}
    assert content(there / "db1.yaml") == content(record.path)


def test_of_a_server_that_is_no_exporter_only_the_status_is_said(record: RunRecord) -> None:
    """Such as a file server, whose answer is a page for a browser."""
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        delivery = Delivery(f"http://{address}", record)
        reason = "501 Unsupported method ('PUT')"
        assert delivery.start() == f"{address} cannot take the push now ({reason}): retrying"
        delivery.withdraw()
        server.shutdown()


def test_an_answer_that_is_nested_too_deeply_is_read_as_text(record: RunRecord) -> None:
    class Nested(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(409)
            self.end_headers()
            self.wfile.write(b"[" * 100_000)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Nested) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises(UserError, match=r"refuses the push: \[{300};"):
            Delivery(f"http://127.0.0.1:{server.server_port}", record).start()
        server.shutdown()


@pytest.mark.parametrize("code", [408, 429, 507])
def test_an_exporter_without_a_place_or_room_for_now_is_tried_again(
    record: RunRecord, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr("benchwatch.launch.delivery._RETRY", 0.05)
    codes = [code, 200, code, code]
    taken: list[bytes] = []

    class Busy(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = codes.pop(0) if codes else 200
            if answer == 200:
                taken.append(body)
            self.send_response(answer)
            self.end_headers()
            self.wfile.write(b"no place\n")

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        delivery = Delivery(f"http://127.0.0.1:{server.server_port}", record)
        assert delivery.start() == f"127.0.0.1:{server.server_port} cannot take the push now (no place): retrying"
        record.file("out").write_bytes(b"one\n")
        eventually(lambda: len(taken) == 2, "record and output are taken")
        assert delivery.finish() == ""
        server.shutdown()
        thread.join()
    assert taken == [record.path.read_bytes(), b"one\n"]


def test_an_exporter_that_comes_back_without_what_it_had_gets_all_of_it_again(
    record: RunRecord, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    with served(FakeExporter(push_folder=there)) as server:
        delivery = Delivery(server.url, record)
        delivery.start()
        record.file("out").write_bytes(b"one\n")
        record.file("7").write_bytes(b"1\n")
        eventually(lambda: content(there / "r/db1.out") + content(there / "r/db1.7") == b"one\n1\n", "they arrive")
    shutil.rmtree(there)
    record.file("out").write_bytes(b"one\ntwo\n")
    with served(FakeExporter(push_folder=there), port=server.port):
        eventually(lambda: content(there / "r/db1.out") == b"one\ntwo\n", "all of it arrives")
        record.file("7").write_bytes(b"1\n2\n")
        record.write(exit_code=0)
        assert delivery.finish() == ""
    found = {file.name: file.read_bytes() for file in (there / "r").iterdir()}
    assert found == {f"db1.{name}": record.file(name).read_bytes() for name in ("out", "7", "yaml")}


def test_a_name_is_not_taken_by_a_worker_whose_name_begins_alike(
    record: RunRecord, server: Served, tmp_path: Path
) -> None:
    (tmp_path / "there/r").mkdir(parents=True)
    (tmp_path / "there/r/db1.b.out").write_bytes(b"of another\n")
    delivery = Delivery(server.url, record)
    assert (delivery.start(), delivery.finish()) == ("", "")
    assert (tmp_path / "there/r/db1.yaml").read_bytes() == record.path.read_bytes()


def test_files_of_another_worker_whose_name_begins_alike_are_left_alone(
    record: RunRecord, server: Served, tmp_path: Path
) -> None:
    for name in ("db1.1.out", "db1.1.yaml", "db1.b.err", "db1.notes"):
        (record.folder / name).write_text("of another\n")
    record.file("out").write_bytes(b"one\n")
    delivery = Delivery(server.url, record)
    assert delivery.start() == delivery.finish() == ""
    assert {file.name for file in (tmp_path / "there/r").iterdir()} == {"db1.yaml", "db1.out"}


def test_what_was_not_delivered_is_said(record: RunRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwatch.launch.delivery._LAST_PATIENCE", 0.3)
    address = free_address()
    delivery = Delivery(f"http://bob:secret@{address}", record)
    assert delivery.start() == f"{address} cannot be reached now (Connection refused): retrying"
    record.file("out").write_bytes(b"12345")
    assert delivery.finish() == (
        f"5 bytes were not delivered to {address}: Connection refused; they are in {record.folder}"
    )


def test_a_name_that_is_there_is_refused(record: RunRecord, server: Served, tmp_path: Path) -> None:
    (tmp_path / "there/r").mkdir(parents=True)
    (tmp_path / "there/r/db1.push").write_bytes(b"of another\n")
    with pytest.raises(UserError, match="worker db1 of run r already exists: push under another name; nothing was"):
        Delivery(server.url, record).start()
    assert not (tmp_path / "there/r/db1.yaml").exists()


@pytest.mark.parametrize(("user", "taken"), [("bob:secret@", True), ("bob:wrong@", False), ("", False)])
def test_a_user_is_named_in_the_url(record: RunRecord, tmp_path: Path, user: str, taken: bool) -> None:
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{bob: '{hashed}'}}\n")
    config = load_web_config(tmp_path / "web.yml")
    with served(FakeExporter(push_folder=tmp_path / "there"), config=config) as server:
        delivery = Delivery(server.url.replace("//", f"//{user}"), record)
        if taken:
            assert delivery.start() == delivery.finish() == ""
        else:
            with pytest.raises(UserError, match="expected a user and password"):
                delivery.start()
    assert (tmp_path / "there/r/db1.yaml").exists() == taken


def test_a_certificate_that_is_not_trusted_ends_it_before_the_start(record: RunRecord, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
    subprocess.run([*request, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (tmp_path / "web.yml").write_text(f"tls_server_config: {{cert_file: {certificate}, key_file: {key}}}\n")
    config = load_web_config(tmp_path / "web.yml")
    with served(FakeExporter(), config=config) as server, pytest.raises(UserError, match="CERTIFICATE_VERIFY_FAILED"):
        Delivery(server.url.replace("http:", "https:"), record).start()


@pytest.mark.parametrize("url", ["19777", "ftp://host", "http://", "http://bob:secret@"])
def test_what_is_no_url_is_refused_without_showing_a_password(record: RunRecord, url: str) -> None:
    with pytest.raises(UserError) as caught:
        Delivery(url, record)
    assert "--push: expected HOST:PORT or a URL" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_benchmark_that_did_not_start_makes_way_for_another(
    record: RunRecord, server: Served, tmp_path: Path
) -> None:
    delivery = Delivery(server.url, record)
    delivery.start()
    delivery.withdraw()
    there = tmp_path / "there/r/db1.yaml"
    assert there.read_bytes() == b""
    record.write(exit_code=0)
    again = Delivery(server.url, record)
    assert (again.start(), again.finish()) == ("", "")
    assert there.read_bytes() == record.path.read_bytes()


def test_a_benchmark_that_did_not_start_takes_no_name_of_an_exporter_that_comes_back(
    record: RunRecord, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwatch.launch.delivery._RETRY", PATIENCE)
    delivery = Delivery(f"http://{free_address()}", record)
    send, tried = delivery._round, threading.Event()

    def try_to_send() -> None:
        try:
            send()
        finally:
            tried.set()

    monkeypatch.setattr(delivery, "_round", try_to_send)
    delivery.start()
    assert tried.wait(PATIENCE)
    delivery._place = f"{server.url}/ingest/r/db1"
    delivery.withdraw()
    delivery._thread.join()
    assert not (tmp_path / "there/r").exists()
