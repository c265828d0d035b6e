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
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, ProtocolError

from ..settings.cvm_settings import base_url
from ..values.errors import reason_of, root_cause
from ..values.version import VERSION
from ..values.web import session

Path = Literal["/", "/vdisk_stats", "/oplog_flush_stats"]
PATHS: tuple[Path, ...] = ("/", "/vdisk_stats", "/oplog_flush_stats")

NoAnswer = Literal["refused", "unreachable", "timeout", "closed"]
Reason = NoAnswer | Literal["protocol", "http_status", "redirect", "too_large", "truncated", "not_a_cvm"]
"""Why a page could not be used; a label value."""

_QUERY = r"(?:[A-Za-z0-9_.:=&,~@-]|%[0-9A-Fa-f]{2}){1,300}"
_VDISK_LINK = re.compile(rf"(?:(?:(?i:http):)?//([^/?#]*)/|/)?vdisk_stats\?({_QUERY})", re.ASCII)
_HEADERS = {"User-Agent": f"benchwatch/{VERSION}", "Accept-Encoding": "identity", "Connection": "close"}
_CHUNK = 65536


class PageError(Exception):
    """A page that could not be fetched or used. `text` says why, in one clause."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason
        self.text = text


def vdisk_query(href: str, url: str) -> str | None:
    """The query of a link, if it leads to a vdisk's page on the same host as `url`; else None."""
    own = urlsplit(url).netloc
    match = _VDISK_LINK.fullmatch(href)
    return match[2] if match and (own if match[1] is None else match[1]).lower() == own.lower() else None


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
        if path not in PATHS or (query and (path != "/vdisk_stats" or not re.fullmatch(_QUERY, query, re.ASCII))):
            raise ValueError(f"{path}?{query}: not one of the allowed pages ({', '.join(PATHS)})")
        request = requests.Request("GET", self.url, headers=_HEADERS).prepare()
        request.url = f"{self.url}{path}{f'?{query}' if query else ''}"
        times = self._connect_timeout, self._deadline
        with self._one_at_a_time, session(self._deadline) as web:
            web.trust_env = False  # no proxy, no password from a file
            try:
                with web.send(request, timeout=times, stream=True, allow_redirects=False) as response:
                    return self._body(response)
            except (requests.RequestException, HTTPError, OSError) as error:
                raise self._page_error(error) from error

    def get_vdisk(self, links: Sequence[str]) -> bytes:
        """The page of a vdisk, found by the links in its row of the main page. Raises PageError."""
        query = next(filter(None, (vdisk_query(href, self.url) for href in links)), None)
        if query is None:
            raise PageError("not_a_cvm", f"no link to the vdisk's page on {self.url}: found {list(links[:1])!r}")
        return self.get("/vdisk_stats", query)

    def _body(self, response: requests.Response) -> bytes:
        if 300 <= response.status_code < 400:
            raise PageError("redirect", f"redirects to {response.headers.get('Location', '?')!r}, not followed")
        if response.status_code != 200:
            raise PageError("http_status", f"HTTP status {response.status_code}")
        expected = response.raw.length_remaining
        too_large = PageError("too_large", f"more than {self._max_page_bytes} bytes")
        if (expected or 0) > self._max_page_bytes:
            raise too_large
        body = bytearray()
        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                body += chunk
                if len(body) > self._max_page_bytes:
                    raise too_large
        except ProtocolError as error:
            of = f" of {expected}" if expected is not None else ""
            raise PageError("truncated", f"ends after {len(body)}{of} bytes") from error
        if expected is None and not response.raw.chunked and _ends_inside(bytes(body)):
            raise PageError("truncated", f"ends inside a table after {len(body)} bytes")
        return bytes(body)

    def _page_error(self, error: Exception) -> PageError:
        """The reason in what requests and urllib3 wrapped."""
        where = urlsplit(self.url).netloc
        cause = root_cause(error)
        if isinstance(error, requests.ConnectTimeout):
            return PageError("timeout", f"no connection to {where} within {self._connect_timeout:g} s")
        if isinstance(cause, TimeoutError):
            return PageError("timeout", f"no complete page within {self._deadline:g} s")
        if isinstance(cause, ConnectionRefusedError):
            return PageError("refused", f"connection refused at {where}")
        if isinstance(cause, socket.gaierror):
            return PageError("unreachable", f"cannot resolve {where}: {cause.strerror}")
        if isinstance(cause, ConnectionError):
            return PageError("closed", f"{where} closed the connection without an answer")
        if isinstance(cause, http.client.HTTPException):
            return PageError("protocol", f"{where} does not speak HTTP: {reason_of(error)}")
        return PageError("unreachable", f"{where}: {reason_of(error)}")


def _ends_inside(body: bytes) -> bool:
    """Whether a body of unknown length ends inside a tag or table; cut off elsewhere, it is merely shorter."""
    lower = body.lower()
    return lower.rfind(b"<") > lower.rfind(b">") or lower.rfind(b"<table") > lower.rfind(b"</table")
