"""HTTP servers for simulated CVMs and their guest, and all that can go wrong between a CVM and its reader."""

import gzip
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from ...values.errors import ConfigError
from ...values.suggestion import did_you_mean
from .cluster import Cluster
from .guest import Guest
from .variations import PAGE_VARIATIONS, SERVER_VARIATIONS, write

HUGE_BYTES = 100 * 1024 * 1024
LATE_SECONDS = 60.0
DRIP_SECONDS = 0.1

_OTHER_PAGE = "<html><body><h1>It works!</h1><p>The server is running.</p></body></html>\n"


class SimulatedCvm:
    """One CVM of a cluster, served on loopback or the given address. Use it as a context manager.

    `variations` are names of page and server variations, which may be changed at any time; ConfigError is raised for an
    unknown name. `requests` are the requested targets, in order; `most_at_once` is the greatest number of requests that
    were under way at one time.
    """

    def __init__(
        self,
        cluster: Cluster,
        number: int = 0,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        variations: Iterable[str] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.cluster = cluster
        self.number = number
        self.guest = Guest(cluster)
        self.variations = set(variations)
        for name in self.variations - PAGE_VARIATIONS.keys() - SERVER_VARIATIONS.keys():
            meant = did_you_mean(name, [*PAGE_VARIATIONS, *SERVER_VARIATIONS])
            raise ConfigError(f"--variation: expected a name that --list shows, got {name!r}{meant}")
        self.requests: list[str] = []
        self.most_at_once = 0
        self.sleep = sleep
        self._at_once = 0
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"cvm": self})
        self._server = _Server((host, port), handler, bind_and_activate=False)
        self._server.server_bind()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where the CVM is served."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> "SimulatedCvm":
        if "refused" not in self.variations:  # a socket that is bound, but does not listen, refuses connections
            self._server.server_activate()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def enter(self, target: str) -> None:
        """Count a request that begins."""
        with self._lock:
            self.requests.append(target)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def leave(self) -> None:
        """Count a request that ends."""
        with self._lock:
            self._at_once -= 1

    def page(self, target: str) -> str | None:
        """The HTML for the target of a request; None if there is no such page."""
        parts = urlsplit(target)
        if "not-a-cvm" in self.variations:
            return _OTHER_PAGE
        if parts.path == "/":
            return write(self.cluster.main(self.number, self.variations), self.variations)
        if parts.path == "/oplog_flush_stats":
            return write(self.cluster.oplog(self.number), ())
        if parts.path != "/vdisk_stats":
            return None
        ids = parse_qs(parts.query).get("vdisk_id")
        vdisk = ids[0] if ids else ""
        if "vdisk-gone" in self.variations and vdisk == self.cluster.vdisks[-1]:
            self.cluster.gone.add(vdisk)
        document = self.cluster.vdisk(self.number, vdisk, self.variations)
        return None if document is None else write(document, self.variations)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of an error, unless the client hung up."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    cvm: ClassVar[SimulatedCvm]
    server_version = "SimulatedStargate"
    sys_version = ""

    def do_GET(self) -> None:
        self.cvm.enter(self.path)
        self._under_way = True
        try:
            self._answer(self.cvm.variations)
        finally:
            self.close_connection = True
            self._leave()

    def _leave(self) -> None:
        if self._under_way:
            self._under_way = False
            self.cvm.leave()

    def log_message(self, format: str, *args: object) -> None:
        """Do not print a line for each request."""

    def _answer(self, variations: set[str]) -> None:
        if "closed" in variations:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif "not-http" in variations:
            self.wfile.write(b"SSH-2.0-OpenSSH_8.0\r\n")
        elif "http500" in variations:
            self._send(b"internal error\n", 500)
        elif "redirect" in variations:
            self._head(302, Location=f"http://127.0.0.1:1/h/gflags?from={self.cvm.number}")
        elif "tangled" in variations:
            self._send(b"<b></p>" * (15 * 1024 * 1024 // 7), 200)
        elif "gzip" in variations:
            body = gzip.compress(b"\0" * HUGE_BYTES)
            self._head(200, Content_Encoding="gzip", Content_Length=str(len(body)))
            self.wfile.write(body)
        elif "huge" in variations:
            self._head(200)
            for chunk in _huge():
                self.wfile.write(chunk)
        else:
            if "late" in variations:
                self.cvm.sleep(LATE_SECONDS)
            page = self.cvm.page(self.path)
            if self.path == "/metrics":
                exposition = self.cvm.guest.exposition(self.cvm.cluster.second)
                self._send(exposition.encode(), 200, "text/plain; version=0.0.4")
            elif page is None:
                self._send(b"<html><body>Not found</body></html>\n", 404)
            else:
                self._page(page.encode(), variations)

    def _page(self, body: bytes, variations: set[str]) -> None:
        part = body[: len(body) // 2]
        if "slow-header" in variations:
            self._drip(b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 100_000)
        elif "slow" in variations:
            self._head(200, Content_Length=str(len(body)))
            self._drip(body)
        elif "truncated" in variations:
            self._head(200, Content_Length=str(len(body)))
            self.wfile.write(part)
        elif "truncated-close" in variations or "no-length" in variations:
            self._head(200)
            self.wfile.write(part if "truncated-close" in variations else body)
        elif "truncated-chunked" in variations or "chunked" in variations:
            self.protocol_version = "HTTP/1.1"
            self._head(200, Transfer_Encoding="chunked")
            for start in range(0, len(body), 1000):
                piece = body[start : start + 1000]
                if start and "truncated-chunked" in variations:
                    self.wfile.write(b"%x\r\n%b" % (len(piece), piece[: len(piece) // 2]))
                    return
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._send(body, 200)

    def _head(self, status: int, content_type: str = "text/html", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _send(self, body: bytes, status: int, content_type: str = "text/html") -> None:
        self._head(status, content_type, Content_Length=str(len(body)))
        self._leave()  # before the last byte, after which the client may send another request
        self.wfile.write(body)

    def _drip(self, body: bytes) -> None:
        for index in range(len(body)):
            self.wfile.write(body[index : index + 1])
            self.wfile.flush()
            self.cvm.sleep(DRIP_SECONDS)


def _huge() -> Iterator[bytes]:
    row = b"<tr><td>31181823</td><td>NFS:31181823</td>" + b"<td>0</td>" * 19 + b"</tr>\n"
    chunk = row * (65536 // len(row))
    yield b"<html><body><table>\n"
    for _ in range(HUGE_BYTES // len(chunk)):
        yield chunk
