"""The connections of the server: their maximum, their deadlines, and which one is closed to make room for another.

A client has `HEADERS` seconds for its TLS handshake or a whole request and `IDLE` seconds between two requests; an
answer is written within `ANSWER` seconds. Pushes have no deadline here (see ingest). At the maximum, a new connection
replaces one that waits for its client: of the address with the most such connections, one that never completed a
request, otherwise the oldest. So a client that holds connections open cannot block a scrape, which sends its request
immediately.
"""

import asyncio
import logging
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from ..metrics.samples import Family, Sample
from ..values.addresses import is_loopback
from .process import OwnSource

_log = logging.getLogger("benchwatch.server")

HEADERS = 10.0
IDLE = 120.0
"""Longer than any usual scrape interval."""
ANSWER = 60.0
_MOST = 512
_SOON = 5.0
"""Seconds after which a connection may be closed to make room although its answer is not completely sent."""
_SWEEP = 1.0
_ACCEPT = 16
"""Connections accepted before something else gets its turn."""

OPEN = Family("benchwatch_connections", "gauge", "Connections to this exporter that are open.")
CLOSED = Family(
    "benchwatch_connections_closed_total",
    "counter",
    "Connections that this exporter closed, by why: headers (no complete request in time), idle (no further request), "
    "answer (the client did not take it in time), room (another one needed the place).",
    ("reason",),
)
REFUSED = Family(
    "benchwatch_requests_refused_total",
    "counter",
    "Requests that were refused, by why: malformed (not HTTP, or no TLS handshake), host (a name that is not served on "
    "loopback), password (none or a wrong one), too_many_passwords (too many were being checked), "
    "rate_limit.",
    ("reason",),
)
FAMILIES = (OPEN, CLOSED, REFUSED)


def most_connections() -> int:
    """Maximum of connections: half of the descriptors that this process may have, at most 512."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if soft == resource.RLIM_INFINITY else max(4, min(_MOST, soft // 2))


class Doors(OwnSource):
    """The open connections, and counters of closed and refused ones."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = most_connections() if limit is None else limit
        self.connections: set[Connection] = set()
        self._closed = Counter({"headers": 0, "idle": 0, "answer": 0, "room": 0})
        self._refused = Counter({"malformed": 0, "host": 0, "password": 0, "too_many_passwords": 0, "rate_limit": 0})

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield Sample(OPEN, (), len(self.connections))
        for family, counts in ((CLOSED, self._closed), (REFUSED, self._refused)):
            for reason, count in counts.items():
                yield Sample(family, (reason,), count)

    def refused(self, reason: str) -> None:
        """Count a request that is refused."""
        self._refused[reason] += 1

    def make_room(self, now: float) -> bool:
        """Close the connection that matters least; returns whether there was one."""
        waiting = [each for each in self.connections if each.waiting]
        idlers = waiting or [each for each in self.connections if each.expires and now - each.since > _SOON]
        if not idlers:
            return False
        share = Counter(each.address for each in idlers)
        self._close(min(idlers, key=lambda each: (-share[each.address], each.served, each.since)), "room")
        return True

    def sweep(self, now: float) -> None:
        """Close connections that are past their deadlines."""
        for each in [each for each in self.connections if each.expires and now >= each.expires]:
            self._close(each, "answer" if not each.waiting else "headers" if each.owes_headers else "idle")

    def _close(self, connection: "Connection", reason: str) -> None:
        self._closed[reason] += 1
        connection.abort()
        self.connections.discard(connection)


class Connection(web.RequestHandler):
    """One connection, from its acceptance."""

    def __init__(self, server: web.Server, doors: Doors, address: str, *, loopback: bool, **options: Any) -> None:
        super().__init__(server, **options)
        self.doors = doors
        self.address = address
        """The client's address."""
        self.loopback = loopback
        """Whether the address on which it was accepted is a loopback address."""
        self.served = False
        """Whether it has completed a request."""
        self.waiting = True
        """Whether it waits for its client."""
        self.owes_headers = True
        self.since = self._loop.time()
        self.expires: float | None = self.since + HEADERS
        self.opening: asyncio.Task[None] | None = None
        """The task that opens it, including the TLS handshake."""
        self._opened: asyncio.Transport | None = None

    def answering(self, *, patiently: bool) -> None:
        """Note that a request is being answered; `patiently`: without a deadline."""
        self._become(waiting=False, owes_headers=False, seconds=None if patiently else ANSWER)
        self.served = True

    def _become(self, *, waiting: bool, owes_headers: bool, seconds: float | None) -> None:
        self.waiting, self.owes_headers, self.since = waiting, owes_headers, self._loop.time()
        self.expires = None if seconds is None else self.since + seconds

    def abort(self) -> None:
        """Close it at once, without sending the rest."""
        if self._opened:
            self._opened.abort()
        elif self.opening:
            self.opening.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._opened = cast(asyncio.Transport, transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """See asyncio.Protocol."""
        self.doors.connections.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        if self.waiting and not self.owes_headers:  # the first bytes of the next request
            self._become(waiting=True, owes_headers=True, seconds=HEADERS)
        super().data_received(data)

    async def finish_response(self, *arguments: Any) -> Any:
        """Write an answer, then wait for the client's next request."""
        try:
            return await super().finish_response(*arguments)
        finally:
            self._become(waiting=True, owes_headers=False, seconds=IDLE)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is not HTTP with one sentence, which says nothing about the program, and count it."""
        reason = " ".join(str(exc).split())[:200]
        if isinstance(exc, HttpProcessingError):
            self.doors.refused("malformed")
            _log.debug("cannot read a request from %s: %s", self.address, reason)
            sentence = "cannot read the request: expected HTTP/1.1"
        else:
            _log.error("a request from %s failed: %s: %s", self.address, type(exc).__name__, reason)
            sentence = "benchwatch failed to answer this request: see its log."
        if request.writer.output_size > 0:
            raise ConnectionError("part of another answer has already been sent")
        headers = {"Server": "benchwatch", "X-Content-Type-Options": "nosniff"}
        answer = web.Response(status=status, text=sentence + "\n", headers=headers)
        answer.force_close()
        return answer


class Listener:
    """Accepts connections on one address."""

    def __init__(
        self,
        server: web.Server,
        doors: Doors,
        listening: socket.socket,
        contexts: Callable[[], ssl.SSLContext] | None,
        **options: Any,
    ) -> None:
        self._server = server
        self._doors = doors
        self._socket = listening
        self._contexts = contexts
        self._options = options
        self._loopback = is_loopback(listening.getsockname()[0])
        self._loop = asyncio.get_running_loop()
        listening.setblocking(False)
        listening.listen(128)
        self._paused = True
        self.resume()

    def resume(self) -> None:
        """Accept connections again if there was no room."""
        if self._paused:
            self._paused = False
            self._loop.add_reader(self._socket, self._accept)

    def close(self) -> None:
        """Stop accepting."""
        self._loop.remove_reader(self._socket)
        self._socket.close()

    def _accept(self) -> None:
        if len(self._doors.connections) >= self._doors.limit:
            self._make_room()
            return  # closed connections release their descriptors before the next turn
        for _ in range(min(_ACCEPT, self._doors.limit - len(self._doors.connections))):
            try:
                connection, peer = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                _log.warning("cannot accept a connection: %s", error.strerror)
                self._make_room()
                return
            self._open(connection, peer[0])

    def _make_room(self) -> None:
        if not self._doors.make_room(self._loop.time()):
            self._paused = True
            self._loop.remove_reader(self._socket)

    def _open(self, connection: socket.socket, address: str) -> None:
        protocol = Connection(
            self._server, self._doors, address, loop=self._loop, loopback=self._loopback, **self._options
        )
        self._doors.connections.add(protocol)
        protocol.opening = self._loop.create_task(self._connect(connection, protocol))

    async def _connect(self, connection: socket.socket, protocol: Connection) -> None:
        try:
            context = self._contexts and self._contexts()
            await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=context)
        except BaseException as error:
            connection.close()
            self._doors.connections.discard(protocol)
            if isinstance(error, ssl.SSLError):
                self._doors.refused("malformed")
            if not isinstance(error, OSError):
                raise
            _log.debug("a connection from %s failed to open: %s", protocol.address, error)


async def look_after(doors: Doors, listeners: Sequence[Listener]) -> None:
    """Forever: close connections past their deadlines, and let listeners accept again when there is room."""
    while True:
        await asyncio.sleep(_SWEEP)
        doors.sweep(asyncio.get_running_loop().time())
        for listener in listeners:
            listener.resume()
