"""One deadline for a whole answer, however it drips: status line, header, length, body; with TLS and without."""

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from urllib3.exceptions import HTTPError

from benchwatch.values.web import session
from tests.support.certificates import make_ca, make_certificate
from tests.support.waiting import PATIENCE

WHOLE = b"HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"

_DRIPS = 60.0


@contextmanager
def dripping(answer: bytes, at: int, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that sends `answer`, from byte `at` on one byte every 50 ms, and more for a minute."""
    over, began = threading.Event(), time.monotonic()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection = listener.accept()[0]
        with context.wrap_socket(connection, server_side=True) if context else connection as client:
            try:
                client.recv(65536)
                client.sendall(answer[:at])
                for place in range(at, len(answer) - 1):
                    client.sendall(answer[place : place + 1])
                    if over.wait(0.05):
                        return
                while not over.wait(0.05) and time.monotonic() < began + _DRIPS:
                    client.sendall(b"x")
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        thread.join(PATIENCE)
        listener.close()


@pytest.mark.parametrize("place", [b"http://[::1", b"http://a:99999999/", b"/\xff"])
@pytest.mark.parametrize("follow", [True, False])
def test_a_redirect_to_no_address_is_an_answer_as_any_other(place: bytes, follow: bool) -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: " + place + b"\r\nContent-Length: 4\r\n\r\nbody"
    with dripping(answer, len(answer)) as port, session(PATIENCE) as web:
        found = web.get(f"http://127.0.0.1:{port}", timeout=PATIENCE, allow_redirects=follow)
        assert (found.status_code, found.content) == (302, b"body")


@pytest.mark.parametrize("at", [0, WHOLE.index(b"X"), WHOLE.index(b"4\r"), WHOLE.index(b"body")])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_answer_that_drips_ends_at_the_deadline(scheme: str, at: int, tmp_path: Path) -> None:
    context = None
    if scheme == "https":
        make_ca(tmp_path)
        make_certificate(tmp_path, "server", 1)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    began = time.monotonic()
    with dripping(WHOLE, at, context) as port, session(0.4) as web:
        with pytest.raises((requests.RequestException, HTTPError)):
            url = f"{scheme}://127.0.0.1:{port}/"
            _ = web.get(url, timeout=PATIENCE, stream=True, verify=str(tmp_path / "ca.crt")).content
        assert 0.35 < time.monotonic() - began < _DRIPS


def test_each_request_of_a_session_has_a_deadline_of_its_own() -> None:
    with dripping(WHOLE + b"x", len(WHOLE)) as port, session(PATIENCE) as web:
        assert web.get(f"http://127.0.0.1:{port}/").content == b"body"


def compressed(times: int) -> bytes:
    """An answer whose body is compressed so many times."""
    body = b"body"
    for _ in range(times):
        body = gzip.compress(body)
    coding = b"Content-Encoding: gzip\r\n" * times
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (coding, len(body), body)


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_is_compressed_twice_is_refused_before_it_unfolds(stream: bool) -> None:
    """A gigabyte of blanks, compressed twice, arrives in two kilobytes."""
    answer = compressed(2)
    with (
        dripping(answer, len(answer)) as port,
        session(PATIENCE) as web,
        pytest.raises(requests.RequestException, match=r"^its answer is compressed more than once$"),
    ):
        web.get(f"http://127.0.0.1:{port}", timeout=PATIENCE, stream=stream)


def test_an_answer_that_is_compressed_once_is_read() -> None:
    answer = compressed(1)
    with dripping(answer, len(answer)) as port, session(PATIENCE) as web:
        assert web.get(f"http://127.0.0.1:{port}", timeout=PATIENCE).text == "body"
