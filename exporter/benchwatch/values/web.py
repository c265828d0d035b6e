"""Sessions of `requests` whose answers have one deadline, for the connection, the header and the body together.

The timeout of a socket restarts with every byte, so a server that sends a byte now and then could hold its reader for
ever, even within a header.
"""

import http.client
import io
import socket
import time
from math import inf
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


def session(deadline: float) -> requests.Session:
    """A session for one request at a time, each of which must be answered within `deadline` seconds.

    Reading an answer after that raises requests.ConnectionError or, from the raw stream, urllib3's HTTPError.
    """
    made = _Session()
    adapter = _Adapter(deadline)
    for scheme in ("http://", "https://"):
        made.mount(scheme, adapter)
    return made


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where an answer leads; None also if that is no address, which requests raises as ValueError."""
        try:
            target = super().get_redirect_target(resp)
            urlsplit(target or "").port  # noqa: B018
        except ValueError:
            return None
        return target


class _Adapter(HTTPAdapter):
    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._end = inf
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
        super().init_poolmanager(*arguments, **keywords)
        self.poolmanager.pool_classes_by_scheme = {
            scheme: type("Pool", (pool,), {"ConnectionCls": self._connection(pool.ConnectionCls)})
            for scheme, pool in (("http", HTTPConnectionPool), ("https", HTTPSConnectionPool))
        }

    def _connection(self, kind: type) -> type:
        return type("Connection", (kind,), {"response_class": self._response})

    def _response(self, sock: socket.socket, *arguments: Any, **keywords: Any) -> http.client.HTTPResponse:
        answer = http.client.HTTPResponse(sock, *arguments, **keywords)
        answer.fp.close()
        answer.fp = cast(io.BufferedReader, io.BufferedReader(_Bounded(sock, self._end)))
        return answer

    def send(self, *arguments: Any, **keywords: Any) -> requests.Response:
        self._end = time.monotonic() + self._deadline
        answer = super().send(*arguments, **keywords)
        if "," in answer.headers.get("Content-Encoding", ""):  # a kilobyte may unfold to a gigabyte
            answer.close()
            raise requests.exceptions.ContentDecodingError("its answer is compressed more than once")
        return answer


class _Bounded(io.RawIOBase):
    """What arrives at a socket until a moment, `end` (monotonic seconds)."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock = sock
        self._end = end
        self._stream = cast(BinaryIO, sock.makefile("rb", buffering=0))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        return self._stream.readinto(buffer)  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self._stream.close()
        super().close()
