"""A time limit for a whole HTTP exchange.

The timeout of a socket restarts with every byte, so a peer that sends one now and then could hold a reader for ever,
even within a header. Here every wait on the socket ends at the same deadline.
"""

import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool


class Deadline:
    """A moment `seconds` after `start`, on `clock` (monotonic seconds)."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = 0.0

    def start(self) -> None:
        """Count from now on."""
        self._end = self._clock() + self.seconds

    def remaining(self) -> float:
        """Seconds left, more than 0. Raises TimeoutError when there are none."""
        left = self._end - self._clock()
        if left <= 0:
            raise TimeoutError(f"not done within {self.seconds:g} s")
        return left


class _Socket(socket.socket):
    """A connected socket that waits for bytes until the deadline only."""

    deadline: Deadline

    def recv_into(self, *arguments: Any, **keywords: Any) -> int:
        self.settimeout(self.deadline.remaining())
        return super().recv_into(*arguments, **keywords)


class DeadlineAdapter(HTTPAdapter):
    """Sends each request over a connection of its own that obeys the deadline; plain HTTP, no proxies, no retries."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()

        class Connection(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                timeout = self.sock.gettimeout()
                self.sock = _Socket(fileno=self.sock.detach())
                self.sock.deadline = deadline
                self.sock.settimeout(timeout)

        class Pool(HTTPConnectionPool):
            ConnectionCls = Connection

        self._pool_class = Pool

    def get_connection_with_tls_context(
        self, request: requests.PreparedRequest, verify: Any, proxies: Any = None, cert: Any = None
    ) -> HTTPConnectionPool:
        """A pool for the one connection of this request."""
        parts = urlsplit(request.url or "")
        return self._pool_class(str(parts.hostname), parts.port, maxsize=1)
