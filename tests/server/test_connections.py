import logging
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from benchwatch.server.webconfig import Users, WebConfig, load_web_config
from tests.support.ports import free_port
from tests.support.serving import NETWORK, FakeExporter, Served, served
from tests.support.waiting import PATIENCE, eventually

from .test_app import raw


def connect(server: Served, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    connection.sendall(data)
    return connection


@pytest.fixture(scope="module")
def with_tls(tmp_path_factory: pytest.TempPathFactory) -> WebConfig:
    folder = tmp_path_factory.mktemp("tls")
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
    files = [folder / "key.pem", folder / "certificate.pem"]
    subprocess.run([*request, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    (folder / "web.yml").write_text(f"tls_server_config: {{cert_file: {files[1]}, key_file: {files[0]}}}\n")
    return load_web_config(folder / "web.yml")


def test_a_handshake_that_is_none_or_does_not_go_on_leaves_others_alone(with_tls: WebConfig) -> None:
    with served(config=with_tls) as server, connect(server, b"\x16\x03\x01"):
        with connect(server, b"GET / HTTP/1.1\r\n\r\n") as connection:
            connection.recv(10)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(connect(server)) as good:
            good.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert good.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.fixture
def short_of_descriptors(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port and log of a real exporter that may have 64 files open at first and is known as bench.example."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "benchwatch.yaml").write_text("web: {hosts: [bench.example]}\n")
    port = free_port()
    command = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", str(tmp_path / "runs")]
    command += ["--config.file", str(tmp_path / "benchwatch.yaml"), f"--web.listen-address=127.0.0.1:{port}"]
    limited = ["bash", "-c", 'ulimit -S -n 64; exec "$@"', "-", *command]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(limited, stderr=log)
    try:
        eventually(lambda: "serving on" in (tmp_path / "log").read_text(), "it serves")
        yield port, tmp_path / "log"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_a_scrape_is_answered_while_500_idle_connections_are_open(short_of_descriptors: tuple[int, Path]) -> None:
    """The exporter may have 64 files open at first, and raises that to what the system allows."""
    port, log = short_of_descriptors
    with ExitStack() as stack:
        for number in range(500):
            held = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            held.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" if number % 2 else b"")
        page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE)
        assert page.status_code == 200
        open_ones = re.search(r"^benchwatch_connections (\S+)$", page.text, re.MULTILINE)
        assert open_ones and float(open_ones[1]) == 501
    assert log.stat().st_size < 2000


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
def test_what_is_not_http_is_refused_and_others_are_served(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), served() as server:
        answer = raw(server.port, sent)
        assert requests.get(f"{server.url}/-/healthy", timeout=PATIENCE).status_code == 200
    assert answer.startswith(b"HTTP/1.0 400 Bad Request\r\n")
    assert caplog.records == []


def test_a_path_of_a_host_that_is_not_known_is_refused_on_loopback() -> None:
    with served(FakeExporter(rendered=lambda _: "secret"), hosts=["Bench.example"]) as server:

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
        served(address=NETWORK, config=WebConfig(users=Users({"a": "$2b$04$" + "a" * 53}))),
    ):
        pass
    assert caplog.records == []


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(("url", "warnings"), [("http://127.0.0.1:19777/", 0), ("http://bench.example/", 1)])
def test_a_container_whose_port_is_published_on_loopback_is_without_a_warning(
    url: str, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), served(address=NETWORK, external_url=url):
        pass
    assert len(caplog.records) == warnings
