"""Reads pages of a CVM over HTTP.

A GET request on this port can change settings, clear counters or stop the process. The client therefore requests three
paths only, and adds a query only to `/vdisk_stats`: one of harmless characters, from a link on the main page. It
follows no redirect and uses no proxy. A page has a maximum size and one deadline for its connection and all its bytes.
A client has one request in flight at a time.
"""

import http.client
import re
import socket
import threading
import time
from contextlib import closing
from typing import Any, Literal
from urllib.parse import urlsplit

from ..values.version import VERSION
from .cvm_settings import base_url

Path = Literal["/", "/vdisk_stats", "/oplog_flush_stats"]
PATHS: tuple[Path, ...] = ("/", "/vdisk_stats", "/oplog_flush_stats")

Reason = Literal[
    "refused",
    "unreachable",
    "timeout",
    "closed",
    "protocol",
    "http_status",
    "redirect",
    "too_large",
    "truncated",
    "not_a_cvm",
]
"""Why a page could not be used; a label value."""

_QUERY = re.compile(r"(?:[A-Za-z0-9_.:=&,~@-]|%[0-9A-Fa-f]{2}){1,300}", re.ASCII)
_HEADERS = {"User-Agent": f"benchwatch/{VERSION}", "Connection": "close"}
_CHUNK = 65536


class PageError(Exception):
    """A page that could not be fetched or used. `text` says why, in one clause."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason
        self.text = text


def vdisk_query(href: str, url: str) -> str | None:
    """The query of a link, if it leads to a vdisk's page on the same host as `url`; else None."""
    try:
        parts, base = urlsplit(href), urlsplit(url)
        elsewhere = parts.netloc and (parts.scheme not in ("", "http") or parts.netloc.lower() != base.netloc.lower())
    except ValueError:
        return None
    if elsewhere or (parts.scheme and not parts.netloc) or parts.fragment or not href.isprintable() or " " in href:
        return None
    if parts.path not in ("/vdisk_stats", "vdisk_stats") or (parts.netloc and parts.path[0] != "/"):
        return None
    return parts.query if _QUERY.fullmatch(parts.query) else None


class Client:
    """Pages of one CVM. `url` is `http://host:port`; durations are in seconds, `deadline` is for one page."""

    def __init__(
        self,
        url: str,
        *,
        connect_timeout: float = 5.0,
        deadline: float = 60.0,
        max_page_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        self.url = base_url(url)
        self._connect_timeout = min(connect_timeout, deadline)
        self._deadline = deadline
        self._max_page_bytes = max_page_bytes
        self._one_at_a_time = threading.Lock()

    def get(self, path: Path, query: str = "") -> bytes:
        """The page's body. Raises PageError; ValueError for a path or query that must not be requested."""
        if path not in PATHS or (query and (path != "/vdisk_stats" or not _QUERY.fullmatch(query))):
            raise ValueError(f"{path}?{query}: not one of the allowed pages ({', '.join(PATHS)})")
        parts = urlsplit(self.url)
        with self._one_at_a_time, closing(_Connection(parts.hostname or "", parts.port, self._connect_timeout)) as line:
            connected = False
            try:
                line.connect_until(time.monotonic() + self._deadline)
                connected = True
                line.request("GET", f"{path}?{query}" if query else path, headers=_HEADERS)
                with line.getresponse() as response:
                    return self._body(response)
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                raise self._page_error(error, connected) from error

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        if 300 <= response.status < 400:
            raise PageError("redirect", f"redirects to {response.headers.get('Location', '?')!r}, not followed")
        if response.status != 200:
            raise PageError("http_status", f"HTTP status {response.status}")
        expected = response.length
        too_large = PageError("too_large", f"more than {self._max_page_bytes} bytes")
        if expected is not None and expected > self._max_page_bytes:
            raise too_large
        body = bytearray()
        try:
            while chunk := response.read1(_CHUNK):
                body += chunk
                if len(body) > self._max_page_bytes:
                    raise too_large
            if expected is not None and len(body) < expected:
                raise http.client.IncompleteRead(b"")
        except (http.client.HTTPException, ConnectionError) as error:
            of = f" of {expected}" if expected is not None else ""
            raise PageError("truncated", f"ends after {len(body)}{of} bytes") from error
        if expected is None and not response.chunked and _ends_inside(bytes(body)):
            raise PageError("truncated", f"ends inside a table after {len(body)} bytes")
        return bytes(body)

    def _page_error(self, error: Exception, connected: bool) -> PageError:
        where = urlsplit(self.url).netloc
        if isinstance(error, ConnectionRefusedError):
            return PageError("refused", f"connection refused at {where}")
        if isinstance(error, socket.gaierror):
            return PageError("unreachable", f"cannot resolve {where}: {error.strerror}")
        if isinstance(error, TimeoutError) and not connected:
            return PageError("timeout", f"no connection to {where} within {self._connect_timeout:g} s")
        if isinstance(error, TimeoutError):
            return PageError("timeout", f"no complete page within {self._deadline:g} s")
        if isinstance(error, ConnectionError):
            return PageError("closed", f"{where} closed the connection without an answer")
        if isinstance(error, http.client.HTTPException):
            return PageError("protocol", f"{where} does not speak HTTP: {error}"[:200])
        return PageError("unreachable", f"{where}: {error}"[:200])


class _Connection(http.client.HTTPConnection):
    """A connection on which every wait for bytes ends at the same moment.

    The timeout of a plain socket restarts with every byte, so a server that sends a byte now and then could hold its
    reader for ever, even within a header.
    """

    def connect_until(self, end: float) -> None:
        """Connect; wait for bytes until `end`, monotonic seconds."""
        self.connect()
        self.sock = _Socket(fileno=self.sock.detach())
        self.sock.end = end


class _Socket(socket.socket):
    end: float

    def recv_into(self, *arguments: Any, **keywords: Any) -> int:
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.settimeout(left)
        return super().recv_into(*arguments, **keywords)


def _ends_inside(body: bytes) -> bool:
    """Whether a body of unknown length ends inside a tag or table; cut off elsewhere, it is merely shorter."""
    lower = body.lower()
    return lower.rfind(b"<") > lower.rfind(b">") or lower.rfind(b"<table") > lower.rfind(b"</table")
