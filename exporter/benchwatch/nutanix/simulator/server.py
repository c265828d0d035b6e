"""HTTP servers for simulated CVMs and their guest."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from .cluster import Cluster
from .guest import Guest
from .page_html import render


class CvmHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    cvm: ClassVar["SimulatedCvm"]
    server_version = "SimulatedStargate"
    sys_version = ""

    def do_GET(self) -> None:
        """Send the page, or the guest's metrics."""
        if self.path == "/metrics":
            exposition = self.cvm.guest.exposition(self.cvm.cluster.second)
            self.reply(exposition, 200, "text/plain; version=0.0.4")
        elif (page := self.cvm.page(self.path)) is not None:
            self.reply(page, 200)
        else:
            self.reply("<html><body>Not found</body></html>\n", 404)

    def log_message(self, format: str, *args: object) -> None:
        """Do not print a line for each request."""

    def head(self, status: int, content_type: str = "text/html", **headers: str) -> None:
        """Send the header."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def reply(self, text: str, status: int, content_type: str = "text/html") -> None:
        """Send header and body."""
        body = text.encode()
        self.head(status, content_type, Content_Length=str(len(body)))
        self.wfile.write(body)


class SimulatedCvm:
    """One CVM of a cluster, served on loopback or the given address. Use it as a context manager."""

    handler: type[CvmHandler] = CvmHandler

    def __init__(self, cluster: Cluster, number: int = 0, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.cluster = cluster
        self.number = number
        self.guest = Guest(cluster)
        self._server = _Server((host, port), type("Handler", (self.handler,), {"cvm": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where the CVM is served."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> "SimulatedCvm":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def page(self, target: str) -> str | None:
        """The HTML for the target of a request; None if there is no such page."""
        document = self.cluster.page(self.number, target)
        return None if document is None else render(document)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of an error, unless the client hung up."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
