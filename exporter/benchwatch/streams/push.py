"""Takes benchmark output sent by HTTP and appends it to the run's folder, from where it is read like any other.

`PUT` or `POST /ingest/<run>/<worker>`, for example `... | curl -T - http://host:port/ingest/<run>/<worker>`: the body
lasts as long as the benchmark, and every piece of it is in `<folder>/<run>/<worker>.push` as soon as it has arrived.
There is no limit to how long a client may be silent, as a stalled benchmark prints nothing; one that is gone is noticed
by TCP keepalive. A later push to the same name goes on in the same file, on a line of its own if the one before broke
off within a line.

`benchwatch run --push` sends pieces instead, each with its place: `?stream=<suffix>&offset=<bytes>` puts the body into
`<folder>/<run>/<worker>.<suffix>`, where `suffix` is out, err, json, or <pid>[.<thread>] of a transaction log. What is
there already has to be the same and is passed over, so a piece whose answer was lost can be sent again. A gap, or other
content, is refused with 409.

`/ingest/<run>/<worker>.yaml` takes the worker's record (see runfile), and `/ingest/<run>/run.yaml` the run's, in place
of the one there is; with `If-None-Match: *` only if there is nothing of that worker yet, or just that record.
"""

import asyncio
import errno
import logging
import os
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import TracebackType

from aiohttp import StreamReader, web

from ..config import RunsSettings
from ..errors import ConfigError
from ..exposition import Family, Sample
from ..runfile import SUFFIX, load_runfile
from . import names

_log = logging.getLogger("benchwatch.web")

CLIENT_GONE = 499
"""Counted as the code of a push whose connection broke: there is nobody to answer."""
STREAM = re.compile(r"out|err|json|[0-9]{1,10}(\.[0-9]{1,5})?")
"""What may stand behind a worker's name, in the name of a file that is sent in pieces."""
_OFFSET = re.compile(r"[0-9]{1,18}")
LARGEST_PIECE = 1024 * 1024
"""Bytes that are taken in one piece of a stream."""
_LARGEST_RECORD = 256 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))

REQUESTS = Family(
    "benchwatch_push_requests_total",
    "counter",
    "Pushes that have ended, by HTTP status code; 499 where the client's connection broke.",
    ("code",),
)
ACTIVE = Family("benchwatch_push_active", "gauge", "Pushes going on now.")
BYTES = Family("benchwatch_push_bytes_total", "counter", "Bytes taken from pushes and written to files.")
FAMILIES = (REQUESTS, ACTIVE, BYTES)


class Refused(Exception):
    """A push that is not taken, or not to its end: an HTTP status and a sentence for the client."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def check_name(what: str, name: str) -> str:
    """The name of a run or worker, if it can be one. Raises Refused."""
    try:
        return names.check_name(what, name)
    except ValueError as error:
        raise Refused(400, str(error)) from None


class PushFile:
    """The file that one push is appended to. Raises Refused when the file system does."""

    def __init__(self, path: Path) -> None:
        self.written = 0
        """How many bytes were written."""
        self._path = path

    def __enter__(self) -> "PushFile":
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
            self._descriptor = os.open(self._path, flags, 0o666)
        except OSError as error:
            raise self._refused(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def begin(self) -> None:
        """Go on behind what is there, on a line of its own."""
        try:
            size = os.fstat(self._descriptor).st_size
            within_a_line = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"
        except OSError as error:
            raise self._refused(error) from error
        if within_a_line:
            self.append(b"\n")

    def place(self, data: bytes, offset: int) -> None:
        """Have these bytes at that place, which is behind or within what is there, and then the same."""
        try:
            size = os.fstat(self._descriptor).st_size
            there = os.pread(self._descriptor, len(data), offset)
        except OSError as error:
            raise self._refused(error) from error
        if offset > size:
            raise Refused(409, f"{self._name} has {size} bytes, so that none can be put at {offset}")
        if there != data[: len(there)]:
            raise Refused(409, f"{self._name} is there already, with other content: push under another name")
        self.append(data[len(there) :])

    def append(self, data: bytes) -> None:
        """Write all of it, at once."""
        rest = memoryview(data)
        try:
            while rest:
                count = os.write(self._descriptor, rest)
                self.written += count
                rest = rest[count:]
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> Refused:
        return cannot_write(self._path, error)

    @property
    def _name(self) -> str:
        return f"{self._path.parent.name}/{self._path.name}"


def cannot_write(path: Path, error: OSError) -> Refused:
    """The refusal of a push that the file system does not take."""
    _log.error("a push cannot be written to %s: %s", path, error.strerror)
    where = f"{path.parent.name}/{path.name}"
    return Refused(507 if error.errno in _FULL else 500, f"{where} cannot be written: {error.strerror}")


def put_record(path: Path, data: bytes, *, only_new: bool = False) -> None:
    """Put a record in place of the one there is. Raises Refused when it is none that can be used."""
    beside = path.with_name(f".{path.name}.pushed")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists() or any(path.parent.glob(f"{path.stem}.*"))
        if only_new and there and not (path.exists() and path.read_bytes() == data):
            run, worker = path.parent.name, path.stem
            raise Refused(412, f"worker {worker} of run {run} is there already: push under another name")
        try:
            beside.write_bytes(data)
            load_runfile(beside, RunsSettings())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    except ConfigError as error:
        raise Refused(400, str(error).replace(str(beside), f"{path.parent.name}/{path.name}")[:500]) from error


class Pushes:
    """The pushes that are going on, and counters of all there were (a source of samples, see exposition.Source).

    At most `limit` at a time; none longer than `largest` bytes, if that is given.
    """

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, *, limit: int = 256, largest: int | None = None) -> None:
        self.version = 0
        self._limit = limit
        self._largest = largest
        self._tasks: dict[tuple[str, str], asyncio.Task[object]] = {}
        self._codes: Counter[int] = Counter({200: 0})
        self._bytes = 0

    def samples(self) -> Iterator[Sample]:
        """See exposition.Source."""
        for code, count in sorted(self._codes.items()):
            yield Sample(REQUESTS, (str(code),), count)
        yield Sample(ACTIVE, (), len(self._tasks))
        yield Sample(BYTES, (), self._bytes)

    def stop(self) -> None:
        """Break off the pushes that are going on; what came of them is kept."""
        for task in self._tasks.values():
            task.cancel()

    async def take(self, request: web.Request, folder: Path | None) -> web.Response:
        """Take one push to its end, into `folder`, and answer it."""
        try:
            sentence, status = await self._take(request, folder), 200
        except Refused as refusal:
            sentence, status = str(refusal), refusal.status
        except (ConnectionError, asyncio.CancelledError) as error:
            self._count(CLIENT_GONE)
            if isinstance(error, asyncio.CancelledError):
                raise
            return web.Response(status=CLIENT_GONE, reason="Client Closed Request")
        self._count(status)
        return web.Response(status=status, text=sentence + "\n")

    def _count(self, code: int) -> None:
        self._codes[code] += 1
        self.version += 1

    async def _take(self, request: web.Request, folder: Path | None) -> str:
        if folder is None:
            raise Refused(403, "this exporter takes no pushes")
        if "Origin" in request.headers:
            raise Refused(403, "pushes from web pages are not taken")
        given = request.match_info
        if "worker" not in given:
            raise Refused(400, "expected /ingest/<run>/<worker>")
        run, worker = check_name("run", given["run"]), check_name("worker", given["worker"])
        if worker.endswith(SUFFIX):
            return await self._take_record(request, folder / run / worker)
        if "stream" in request.query or "offset" in request.query:
            return await self._take_piece(request, folder / run, worker)
        if (run, worker) in self._tasks:
            raise Refused(409, f"worker {worker} of run {run} is being pushed already: push under another name")
        if len(self._tasks) >= self._limit:
            raise Refused(503, f"{self._limit} pushes are going on, and no more are taken at a time")
        self._check_length(request.content_length or 0)
        task = asyncio.current_task()
        assert task
        self._tasks[run, worker] = task
        self.version += 1
        try:
            with PushFile(folder / run / f"{worker}.push") as file:
                file.begin()
                await _say_continue(request)
                _keep_alive(request)
                taken = await self._copy(request.content, file, f"worker {worker} of run {run}")
        finally:
            del self._tasks[run, worker]
            self.version += 1
        return f"{taken} bytes taken for worker {worker} of run {run}"

    async def _take_record(self, request: web.Request, path: Path) -> str:
        check_name("worker", path.stem)
        only_new = request.headers.get("If-None-Match") == "*"
        put_record(path, await self._body(request, _LARGEST_RECORD), only_new=only_new)
        return f"{path.parent.name}/{path.name} is taken"

    async def _take_piece(self, request: web.Request, folder: Path, worker: str) -> str:
        suffix, offset = (request.query.get(name, "") for name in ("stream", "offset"))
        if not STREAM.fullmatch(suffix):
            raise Refused(400, f"stream={suffix[:100]}: expected out, err, json, or the number of a log")
        if not _OFFSET.fullmatch(offset):
            raise Refused(400, f"offset={offset[:100]}: expected a number of bytes")
        data = await self._body(request, LARGEST_PIECE)
        with PushFile(folder / f"{worker}.{suffix}") as file:
            try:
                file.place(data, int(offset))
            finally:
                self._bytes += file.written
        return f"{int(offset) + len(data)} bytes are there"

    async def _body(self, request: web.Request, largest: int) -> bytes:
        """The whole of a short body."""
        largest = largest if self._largest is None else min(largest, self._largest)
        if (request.content_length or 0) > largest:
            raise Refused(413, f"more than {largest} bytes are not taken here")
        await _say_continue(request)
        data = bytearray()
        async for chunk in _chunks(request.content, request.path):
            data += chunk
            if len(data) > largest:
                raise Refused(413, f"more than {largest} bytes are not taken here")
        return bytes(data)

    def _check_length(self, length: int) -> None:
        if self._largest is not None and length > self._largest:
            raise Refused(413, f"more than {self._largest} bytes are not taken in one push")

    async def _copy(self, body: StreamReader, file: PushFile, whose: str) -> int:
        taken = 0
        async for data in _chunks(body, whose):
            allowed = data if self._largest is None else data[: self._largest - taken]
            before = file.written
            try:
                file.append(allowed)
            finally:
                self._bytes += file.written - before
                self.version += 1
            taken += len(allowed)
            self._check_length(taken + len(data) - len(allowed))
        return taken


async def _chunks(body: StreamReader, whose: str) -> AsyncIterator[bytes]:
    """The bytes of a body as they come. Raises Refused when they do not keep to HTTP."""
    taken = 0
    while True:
        try:
            data = await body.readany()
        except ConnectionError:
            _log.warning("the push for %s broke off after %d bytes", whose, taken)
            raise
        except web.RequestPayloadError as error:
            reason = " ".join(str(error).split()).removeprefix("400, message: ")
            raise Refused(400, f"the body cannot be read: {reason}") from error
        if not data:
            return
        taken += len(data)
        yield data


async def _say_continue(request: web.Request) -> None:
    """Tell a client that asks first (curl does) to go on; one that was refused has not sent its body in vain."""
    if request.headers.get("Expect", "").lower() == "100-continue" and request.version >= (1, 1):
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # aiohttp takes anything else for a response under way


def _keep_alive(request: web.Request) -> None:
    """Have the kernel find out within two minutes that a silent client is gone."""
    connection = request.transport.get_extra_info("socket") if request.transport else None
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        for option, value in _KEEPALIVE:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
