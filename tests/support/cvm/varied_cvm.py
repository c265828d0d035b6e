"""Simulated CVMs with all that can go wrong between a CVM and its reader."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.server import CvmHandler, SimulatedCvm

from .page_variations import PAGE_VARIATIONS, write

RESTART_SECONDS = 30
"""When a restart happens, seconds after the start."""
HUGE_BYTES = 100 * 1024 * 1024
LATE_SECONDS = 60.0
DRIP_SECONDS = 0.1

SERVER_VARIATIONS: Mapping[str, str] = {
    "refused": "connections are refused",
    "late": "the answer begins after 60 s",
    "slow": "the body drips, a byte every 0.1 s",
    "slow-header": "the header drips, a byte every 0.1 s",
    "truncated": "the body ends half-way, Content-Length says more",
    "truncated-chunked": "the body ends half-way through its chunks",
    "truncated-close": "the body ends half-way, without its length",
    "no-length": "the whole body without its length",
    "chunked": "the body comes in chunks",
    "http500": "HTTP status 500",
    "huge": "a body of 100 MB without its length",
    "tangled": "15 MB of tags that are never closed, which take a browser's parser hours",
    "gzip": "a body of 100 MB compressed to 100 kB, although not requested",
    "redirect": "a redirect to /h/gflags on another port",
    "not-a-cvm": "another server's page",
    "not-http": "an answer that is not HTTP",
    "closed": "the connection is closed without an answer",
    "restart": "Stargate restarts after 30 s: incarnation and start time change",
    "vdisk-gone": "the last vdisk is listed once; then its page is missing (404), and it is no longer listed",
}

_OTHER_PAGE = "<html><body><h1>It works!</h1><p>The server is running.</p></body></html>\n"


class _Handler(CvmHandler):
    cvm: "VariedCvm"  # type: ignore[misc,assignment]

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

    def reply(self, text: str, status: int, content_type: str = "text/html") -> None:
        body = text.encode()
        self.head(status, content_type, Content_Length=str(len(body)))
        self._leave()  # before the last byte, after which the client may send another request
        self.wfile.write(body)

    def _answer(self, variations: set[str]) -> None:
        if "closed" in variations:
            self.connection.shutdown(socket.SHUT_RDWR)
        elif "not-http" in variations:
            self.wfile.write(b"SSH-2.0-OpenSSH_8.0\r\n")
        elif "http500" in variations:
            self.reply("internal error\n", 500)
        elif "redirect" in variations:
            self.head(302, Location=f"http://127.0.0.1:1/h/gflags?from={self.cvm.number}")
        elif "tangled" in variations:
            self.reply("<b></p>" * (15 * 1024 * 1024 // 7), 200)
        elif "gzip" in variations:
            body = gzip.compress(b"\0" * HUGE_BYTES)
            self.head(200, Content_Encoding="gzip", Content_Length=str(len(body)))
            self.wfile.write(body)
        elif "huge" in variations:
            self.head(200)
            for chunk in _huge():
                self.wfile.write(chunk)
        else:
            if "late" in variations:
                self.cvm.sleep(LATE_SECONDS)
            page = self.cvm.page(self.path)
            if page is None:
                super().do_GET()
            else:
                self._page(page, variations)

    def _page(self, page: str, variations: set[str]) -> None:
        body = page.encode()
        part = body[: len(body) // 2]
        if "slow-header" in variations:
            self._drip(b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 100_000)
        elif "slow" in variations:
            self.head(200, Content_Length=str(len(body)))
            self._drip(body)
        elif "truncated" in variations:
            self.head(200, Content_Length=str(len(body)))
            self.wfile.write(part)
        elif "truncated-close" in variations or "no-length" in variations:
            self.head(200)
            self.wfile.write(part if "truncated-close" in variations else body)
        elif "truncated-chunked" in variations or "chunked" in variations:
            self.protocol_version = "HTTP/1.1"
            self.head(200, Transfer_Encoding="chunked")
            for start in range(0, len(body), 1000):
                piece = body[start : start + 1000]
                if start and "truncated-chunked" in variations:
                    self.wfile.write(b"%x\r\n%b" % (len(piece), piece[: len(piece) // 2]))
                    return
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.reply(page, 200)

    def _drip(self, body: bytes) -> None:
        for index in range(len(body)):
            self.wfile.write(body[index : index + 1])
            self.wfile.flush()
            self.cvm.sleep(DRIP_SECONDS)


class VariedCvm(SimulatedCvm):
    """One CVM of a cluster. `variations` are names of page and server variations, which may be changed at any time.

    `requests` are the requested targets, in order; `most_at_once` is the greatest number of requests that were under
    way at one time.
    """

    handler = _Handler

    def __init__(
        self,
        cluster: Cluster,
        number: int = 0,
        *,
        variations: Iterable[str] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.variations = set(variations)
        assert self.variations <= PAGE_VARIATIONS.keys() | SERVER_VARIATIONS.keys()
        self.requests: list[str] = []
        self.most_at_once = 0
        self.sleep = sleep
        self._at_once = 0
        self._bound: socket.socket | None = None
        self._lock = threading.Lock()
        self._last = cluster.vdisks[-1]
        super().__init__(cluster, number)

    def __enter__(self) -> "VariedCvm":
        super().__enter__()
        if "refused" in self.variations:  # a socket that is bound, but does not listen, refuses connections
            super().__exit__()
            self._bound = socket.socket()
            self._bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._bound.bind(("127.0.0.1", urlsplit(self.url).port))
        return self

    def __exit__(self, *_: object) -> None:
        if self._bound:
            self._bound.close()
        else:
            super().__exit__()

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
        if "not-a-cvm" in self.variations:
            return _OTHER_PAGE
        vdisks = self.cluster.vdisks
        if "vdisk-gone" in self.variations and target.endswith(f"?vdisk_id={self._last}") and self._last in vdisks:
            vdisks.remove(self._last)
        document = self.cluster.page(self.number, target)
        html = None if document is None else write(document, self.variations)
        if html and "restart" in self.variations and self.cluster.second >= RESTART_SECONDS:
            return html.replace("30986558", "30986559").replace("20240506-", "20240507-")
        return html


def _huge() -> Iterator[bytes]:
    row = b"<tr><td>31181823</td><td>NFS:31181823</td>" + b"<td>0</td>" * 19 + b"</tr>\n"
    chunk = row * (65536 // len(row))
    yield b"<html><body><table>\n"
    for _ in range(HUGE_BYTES // len(chunk)):
        yield chunk
