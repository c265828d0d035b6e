"""Reads pages of a CVM over HTTP, and nothing else.

GET requests on this port can change settings, clear counters or stop the process. So only three paths can be requested.
Only `/vdisk_stats` can have a query, which comes from a link of the main page and has only harmless characters.
Redirects, proxies and netrc files are ignored. A page has one deadline for all its bytes and a maximum size; a client
has one request in flight at a time.
"""

import http.client
import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlsplit

import requests
import urllib3

from ..values.version import VERSION
from .deadline import Deadline, DeadlineAdapter
from .settings import base_url

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
_CHUNK = 65536


class PageError(Exception):
    """A page that could not be fetched or used. `text` is one clause for people."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason
        self.text = text


def vdisk_query(href: str, url: str) -> str | None:
    """The query of a link to a vdisk's page on the same host as `url`; None for any other link."""
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
    """Pages of one CVM. `url` is `http://host:port`; durations are in seconds."""

    def __init__(
        self,
        url: str,
        *,
        connect_timeout: float = 5.0,
        deadline: float = 60.0,
        max_page_bytes: int = 16 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = base_url(url)
        self._connect_timeout = connect_timeout
        self._deadline = Deadline(deadline, clock)
        self._max_page_bytes = max_page_bytes
        self._one_at_a_time = threading.Lock()
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.mount("http://", DeadlineAdapter(self._deadline))
        self._session.headers = requests.structures.CaseInsensitiveDict(
            {"User-Agent": f"benchwatch/{VERSION}", "Accept-Encoding": "identity", "Connection": "close"}
        )

    def get(self, path: Path, query: str = "") -> bytes:
        """The page's body. Raises PageError; ValueError for a path or query that is never asked for."""
        if path not in PATHS or (query and (path != "/vdisk_stats" or not _QUERY.fullmatch(query))):
            raise ValueError(f"{path}?{query}: not one of the allowed pages ({', '.join(PATHS)})")
        with self._one_at_a_time:
            self._deadline.start()
            try:
                return self._get(f"{self.url}{path}?{query}" if query else f"{self.url}{path}")
            except (
                requests.RequestException,
                urllib3.exceptions.HTTPError,
                http.client.HTTPException,
                OSError,
            ) as error:
                raise self._page_error(error) from error

    def _get(self, url: str) -> bytes:
        request = self._session.prepare_request(requests.Request("GET", url))
        timeouts = (min(self._connect_timeout, self._deadline.seconds), self._deadline.seconds)
        with self._session.send(request, stream=True, timeout=timeouts, allow_redirects=False) as response:
            if response.is_redirect or 300 <= response.status_code < 400:
                raise PageError("redirect", f"redirects to {response.headers.get('Location', '?')!r}, not followed")
            if response.status_code != 200:
                raise PageError("http_status", f"HTTP status {response.status_code}")
            return self._body(response)

    def _body(self, response: requests.Response) -> bytes:
        length = response.headers.get("Content-Length", "")
        chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
        expected = int(length) if length.isdecimal() and len(length) < 20 and not chunked else None
        too_large = PageError("too_large", f"more than {self._max_page_bytes} bytes")
        if expected is not None and expected > self._max_page_bytes:
            raise too_large
        body = bytearray()
        try:
            while chunk := response.raw.read1(_CHUNK):
                body += chunk
                if len(body) > self._max_page_bytes:
                    raise too_large
                self._deadline.remaining()
        except (urllib3.exceptions.ProtocolError, http.client.HTTPException) as error:
            told = f" of {expected}" if expected is not None else ""
            raise PageError("truncated", f"ends after {len(body)}{told} bytes") from error
        if expected is None and not chunked and _ends_inside(bytes(body)):
            raise PageError("truncated", f"ends inside a table after {len(body)} bytes")
        return bytes(body)

    def _page_error(self, error: BaseException) -> PageError:
        """What a failed request means, from the chain of errors behind it."""
        where = urlsplit(self.url).netloc
        chain = _chain(error)
        for cause in chain:
            if isinstance(cause, ConnectionRefusedError):
                return PageError("refused", f"connection refused at {where}")
            if isinstance(cause, socket.gaierror):
                return PageError("unreachable", f"cannot resolve {where}: {cause.strerror}")
        for cause in chain:
            if isinstance(cause, urllib3.exceptions.ConnectTimeoutError):
                return PageError("timeout", f"no connection to {where} within {self._connect_timeout:g} s")
            if isinstance(cause, (TimeoutError, urllib3.exceptions.TimeoutError)):
                return PageError("timeout", f"no complete page within {self._deadline.seconds:g} s")
            if isinstance(cause, (http.client.RemoteDisconnected, ConnectionError)):
                return PageError("closed", f"{where} closed the connection without an answer")
            if isinstance(cause, (http.client.HTTPException, urllib3.exceptions.HeaderParsingError)):
                return PageError("protocol", f"{where} does not speak HTTP: {cause}"[:200])
        return PageError("unreachable", f"{where}: {chain[-1]}"[:200])


def _chain(error: BaseException) -> list[BaseException]:
    """The error and all its causes, each once."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and not any(cause is other for other in found):
            found.append(cause)
            waiting += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]
    return found


def _ends_inside(body: bytes) -> bool:
    """Whether a body of unknown length ends inside a tag or table; cut off elsewhere, it is merely shorter."""
    lower = body.lower()
    return lower.rfind(b"<") > lower.rfind(b">") or lower.rfind(b"<table") > lower.rfind(b"</table")
