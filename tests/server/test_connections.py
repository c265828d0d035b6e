import logging
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from benchwatch.server import connections
from benchwatch.server.connections import Doors
from benchwatch.server.webconfig import WebConfig, load_web_config
from tests.support.ports import free_port
from tests.support.serving import NETWORK, FakeBoard, Served, served
from tests.support.waiting import PATIENCE, eventually

from .test_app import raw
from .test_ingest import answer_on

HEALTHY = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(server: Served, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    connection.sendall(data)
    return connection


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(10) == b""
    except ConnectionResetError:
        return True


def closed(server: Served, reason: str) -> float | None:
    return server.metric(f'benchwatch_connections_closed_total{{reason="{reason}"}}')


Deadline = Callable[..., None]


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> Deadline:
    """Makes deadlines such that a test can wait for them; the others do not end while a machine is busy."""

    def swift(*names: str) -> None:
        for name in names:
            monkeypatch.setattr(connections, name, 0.4)

    monkeypatch.setattr(connections, "_SWEEP", 0.02)
    for name in ("HEADERS", "IDLE", "ANSWER"):
        monkeypatch.setattr(connections, name, PATIENCE)
    return swift


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_connection_without_a_whole_request_is_closed_in_time(sent: bytes, deadline: Deadline) -> None:
    deadline("HEADERS")
    with served() as server, connect(server, sent) as connection:
        assert connection.recv(10) == b""
        assert closed(server, "headers") == 1
        assert server.metric("benchwatch_connections") == 0


@pytest.mark.parametrize(("begun", "reason"), [(b"", "idle"), (b"GET /", "headers")])
def test_a_connection_without_a_further_request_is_closed_in_time(
    begun: bytes, reason: str, deadline: Deadline
) -> None:
    with served() as server, connect(server, HEALTHY) as connection:
        assert answer_on(connection).startswith(b"HTTP/1.1 200 OK\r\n")
        assert server.metric("benchwatch_connections") == 1
        deadline("HEADERS" if begun else "IDLE")
        connection.sendall(begun or HEALTHY)
        if not begun:
            assert answer_on(connection).startswith(b"HTTP/1.1 200 OK\r\n")
        assert connection.recv(10) == b""
        assert closed(server, reason) == 1


def test_a_client_that_does_not_take_its_answer_is_closed_in_time(deadline: Deadline) -> None:
    deadline("ANSWER")
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served(FakeBoard(rendered=lambda _: "x" * 30_000_000)) as server, connect(server, request):
        eventually(lambda: closed(server, "answer") == 1, "it is closed")
        assert server.metric("benchwatch_connections") == 0


def test_a_silent_push_is_without_these_deadlines(tmp_path: Path, deadline: Deadline) -> None:
    head = b"PUT /ingest/r/w HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    deadline("IDLE", "ANSWER")
    with served(FakeBoard(push_folder=tmp_path)) as server, connect(server, head) as push:
        eventually(lambda: server.metric("benchwatch_push_active") == 1, "it has begun")
        deadline("HEADERS")
        with connect(server) as other:
            assert other.recv(10) == b""  # so long the push has been silent
        push.sendall(b"2\r\nx\n\r\n0\r\n\r\n")
        assert push.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.fixture(scope="module")
def with_tls(tmp_path_factory: pytest.TempPathFactory) -> WebConfig:
    folder = tmp_path_factory.mktemp("tls")
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
    files = [folder / "key.pem", folder / "certificate.pem"]
    subprocess.run([*request, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    (folder / "web.yml").write_text(f"tls_server_config: {{cert_file: {files[1]}, key_file: {files[0]}}}\n")
    return load_web_config(folder / "web.yml")


def test_a_handshake_that_does_not_go_on_is_closed_in_time(with_tls: WebConfig, deadline: Deadline) -> None:
    deadline("HEADERS")
    with served(config=with_tls) as server, connect(server, b"\x16\x03\x01") as connection:
        assert connection.recv(10) == b""
        assert closed(server, "headers") == 1


def test_a_handshake_that_is_none_is_counted_and_others_are_served(with_tls: WebConfig) -> None:
    with served(config=with_tls) as server:
        with connect(server, b"GET / HTTP/1.1\r\n\r\n") as connection:
            connection.recv(10)
        name = 'benchwatch_requests_refused_total{reason="malformed"}'
        eventually(lambda: server.metric(name) == 1, "it is counted")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(connect(server)) as good:
            good.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert good.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.usefixtures("deadline")
def test_waiting_connections_make_room_the_oldest_without_a_request_first() -> None:
    with served(FakeBoard(rendered=lambda _: "x"), doors=Doors(4)) as server, ExitStack() as stack:
        session = stack.enter_context(requests.Session())
        session.get(server.url)
        held = [stack.enter_context(connect(server, b"GET /")) for _ in range(9)]
        eventually(lambda: closed(server, "room") == 6, "six made room")
        assert server.metric("benchwatch_connections") == 4
        assert all(map(is_closed, held[:6]))
        assert requests.get(f"{server.url}/metrics").text == "x"
        assert closed(server, "room") == 7
        assert is_closed(held[6])
        held[8].sendall(b"-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert held[8].recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.usefixtures("deadline")
def test_the_address_that_holds_most_connections_makes_room() -> None:
    with served(doors=Doors(4)) as server, ExitStack() as stack:
        other = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE, ("127.0.0.9", 0)))
        other.sendall(b"GET /-/healthy HTTP/1.1\r\n")
        held = [stack.enter_context(connect(server, b"GET /")) for _ in range(9)]
        eventually(lambda: closed(server, "room") == 6, "six made room")
        assert all(map(is_closed, held[:6]))
        other.sendall(b"Host: localhost\r\n\r\n")
        assert other.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_when_all_are_busy_a_new_one_waits_until_one_has_ended(tmp_path: Path) -> None:
    head = "PUT /ingest/r/w{} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with served(FakeBoard(push_folder=tmp_path), doors=Doors(2)) as server, ExitStack() as stack:
        first, second = [stack.enter_context(connect(server, head.format(n).encode())) for n in (1, 2)]
        eventually(lambda: server.metric("benchwatch_push_active") == 2, "both push")
        third = stack.enter_context(connect(server, b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        second.sendall(b"0\r\n\r\n")
        assert third.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        first.sendall(b"0\r\n\r\n")
        assert first.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.fixture
def short_of_descriptors(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port and log of a real exporter that may have 64 files open and is known as bench.example."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "benchwatch.yaml").write_text("web: {hosts: [bench.example]}\n")
    port = free_port()
    command = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", str(tmp_path / "runs")]
    command += ["--config.file", str(tmp_path / "benchwatch.yaml"), f"--web.listen-address=127.0.0.1:{port}"]
    limited = ["bash", "-c", 'ulimit -n 64; exec "$@"', "-", *command]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(limited, stderr=log)
    try:
        eventually(lambda: "serving on" in (tmp_path / "log").read_text(), "it serves")
        yield port, tmp_path / "log"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_scrapes_go_on_while_more_connections_are_held_open_than_there_are_descriptors(
    short_of_descriptors: tuple[int, Path],
) -> None:
    port, log = short_of_descriptors
    with ExitStack() as stack:
        for _ in range(120):
            held = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            held.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
        pages = [requests.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) for _ in range(20)]
    assert [page.status_code for page in pages] == [200] * 20
    # Once a busy machine has taken ten seconds for this, they are closed for that.
    closed = r'^benchwatch_connections_closed_total\{reason="(?:room|headers)"\} (\d+)$'
    assert sum(map(int, re.findall(closed, pages[-1].text, re.MULTILINE))) >= 120 - 32
    assert log.stat().st_size < 2000


def test_the_log_says_the_same_thing_once(short_of_descriptors: tuple[int, Path], tmp_path: Path) -> None:
    port, log = short_of_descriptors
    (tmp_path / "runs/r").mkdir()
    (tmp_path / "runs/r/w.push").symlink_to("/dev/full")
    for _ in range(20):
        assert requests.put(f"http://127.0.0.1:{port}/ingest/r/w", data=b"x").status_code == 507
    lines = [line for line in log.read_text().splitlines() if "a push cannot be written to" in line]
    assert len(lines) == 1


def test_names_that_are_served_are_configured(short_of_descriptors: tuple[int, Path]) -> None:
    url = f"http://127.0.0.1:{short_of_descriptors[0]}/-/healthy"
    assert [requests.get(url, headers={"Host": f"{name}.example"}).status_code for name in ("bench", "evil")] == [
        200,
        421,
    ]


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET / HTTP/9.9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"PUT /ingest/r/w HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_without_the_versions_of_programs_and_counted(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), served() as server:
        answer = raw(server.port, sent)
        assert server.metric('benchwatch_requests_refused_total{reason="malformed"}') == 1
    assert answer.startswith(b"HTTP/1.0 400 Bad Request\r\n")
    assert answer.endswith(b"\r\n\r\ncannot read the request: expected HTTP/1.1\n")
    assert b"\r\nServer: benchwatch\r\n" in answer
    assert b"Python" not in answer
    assert b"aiohttp" not in answer
    assert caplog.records == []


def test_a_path_of_a_host_that_is_not_known_is_refused_on_loopback() -> None:
    with served(FakeBoard(rendered=lambda _: "secret"), hosts=["Bench.example"]) as server:

        def ask(host: str) -> tuple[int, str]:
            answer = requests.get(f"{server.url}/metrics", headers={"Host": host})
            return answer.status_code, answer.text

        for host in (
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1",
            "a:b:c",
        ):
            assert ask(host) == (
                421,
                f"this exporter does not answer to the name {host!r}: use localhost or its IP address, "
                "or add the name to web.hosts\n",
            )
        assert server.metric('benchwatch_requests_refused_total{reason="host"}') == 6
        for host in (
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:80",
            "bench.example:9",
        ):
            assert ask(host) == (200, "secret")
        assert raw(server.port, b"GET /metrics HTTP/1.0\r\n\r\n").endswith(b"secret")


@pytest.mark.usefixtures("network")
def test_a_listener_on_a_network_takes_any_name_and_says_that_everybody_may_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING), served(address=NETWORK) as server:
        assert requests.get(f"{server.url}/-/healthy", headers={"Host": "exporter:19777"}).status_code == 200
    [record] = caplog.records
    assert record.getMessage() == (
        f"everybody who can reach {NETWORK} port {server.port} can read all runs and push output: "
        "to require a password, set basic_auth_users in --web.config.file"
    )


@pytest.mark.usefixtures("network")
def test_a_listener_on_a_network_takes_the_names_of_the_configuration_only_where_there_are_some() -> None:
    with served(address=NETWORK, hosts=["exporter"], only_hosts=True) as server:
        for host, status in (("exporter:19777", 200), (f"{NETWORK}:1", 200), ("localhost", 200), ("evil.example", 421)):
            assert requests.get(f"{server.url}/-/healthy", headers={"Host": host}).status_code == status


@pytest.mark.usefixtures("network")
def test_listening_on_loopback_or_with_users_is_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), served():
        pass
    with (
        caplog.at_level(logging.WARNING),
        served(address=NETWORK, config=WebConfig(users={"a": "$2b$04$" + "a" * 53})),
    ):
        pass
    assert caplog.records == []
