"""deploy/Caddyfile in front of a real exporter."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.server.test_tls import pair
from tests.support.certificates import make_ca, make_certificate
from tests.support.ports import free_port
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

CADDYFILE = Path(__file__).parents[2] / "deploy/Caddyfile"
pytestmark = pytest.mark.skipif(shutil.which("caddy") is None, reason="needs caddy")


@contextmanager
def proxied(folder: Path, exporter: int, config: Path = CADDYFILE, scheme: str = "http") -> Iterator[str]:
    """The URL of a proxy in front of the exporter on that port."""
    port = free_port()
    url = f"{scheme}://localhost:{port}"
    names = {"SITE": url, "EXPORTER": f"127.0.0.1:{exporter}", "HEADERS": "1s"}
    environment = os.environ | {f"BENCHWATCH_{name}": value for name, value in names.items()} | {"HOME": str(folder)}
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _listens(port), "the proxy listens")
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        return True
    except OSError:
        return False


def test_scrapes_and_growing_pushes_pass_and_a_request_that_does_not_end_is_closed(tmp_path: Path) -> None:
    with (
        served(FakeExporter(rendered=lambda _: "a 1\n", push_folder=tmp_path)) as server,
        proxied(tmp_path, server.port) as url,
    ):
        assert requests.get(f"{url}/metrics", timeout=PATIENCE).text == "a 1\n"
        at = "127.0.0.1", int(url.rpartition(":")[2])
        with socket.create_connection(at, PATIENCE) as push, socket.create_connection(at, PATIENCE) as held:
            push.sendall(b"PUT /ingest/r/w HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            push.sendall(b"5\r\nline\n\r\n")
            eventually(lambda: _content(tmp_path / "r/w.push") == b"line\n", "what is pushed arrives at once")
            held.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            assert held.recv(10) in (b"", b"HTTP/1.1 4")
            push.sendall(b"0\r\n\r\n")  # silent for longer than a request may take to arrive
            assert push.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_what_the_comments_offer_for_clients_with_certificates_holds(tmp_path: Path) -> None:
    made = tmp_path / "made"
    make_ca(made)
    for number, name in enumerate(("server", "prometheus", "stranger"), 11):
        make_certificate(made, name, number)
    text = CADDYFILE.read_text()
    begin, end = text.index("\t# tls server.crt"), text.index("\t#\n\t# basicauth")
    offered = text[begin:end].replace("\t# ", "\t").replace("Of these clients", "# Of these clients")
    offered = offered.replace("tls server.crt server.key", f"tls {made}/server.crt {made}/server.key")
    config = tmp_path / "Caddyfile"
    config.write_text(text[:begin] + offered.replace(" clients.crt", f" {made}/ca.crt") + text[end:])
    with (
        served(FakeExporter(rendered=lambda _: "a 1\n")) as server,
        proxied(tmp_path, server.port, config, "https") as url,
    ):

        def status(certificate: tuple[str, str] | None) -> int:
            answer = requests.get(f"{url}/metrics", verify=str(made / "ca.crt"), cert=certificate, timeout=PATIENCE)
            return answer.status_code

        assert [status(pair(made, name)) for name in ("prometheus", "stranger")] == [200, 403]
        with pytest.raises(requests.ConnectionError):
            status(None)


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""
