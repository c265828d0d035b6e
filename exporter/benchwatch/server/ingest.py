"""Accepts benchmark output by HTTP and appends it to files in the run's folder, where it is read like any other output.

`PUT` or `POST /ingest/<run>/<worker>`, for example `... | curl -T - http://host:port/ingest/<run>/<worker>`: the body
lasts as long as the benchmark, and every piece of it is in `<folder>/<run>/<worker>.push` as soon as it has arrived.
A client may be silent for any time, because a stalled benchmark prints nothing; TCP keepalive detects one that is gone.
A later push to the same name continues the same file (see runs.append.PushFile).

`benchwatch run --push` sends pieces instead, each with its offset: `?stream=<suffix>&offset=<bytes>` puts the body into
`<folder>/<run>/<worker>.<suffix>`, where `suffix` is out, err, json, or <pid>[.<thread>] of a transaction log. Bytes
that are already there must be the same, so a piece whose answer was lost can be sent again.

`/ingest/<run>/<worker>.yaml` replaces the worker's record (see settings.record), and `/ingest/<run>/run.yaml` the
run's; with `If-None-Match: *` only if there is nothing of that worker yet, just that record, or an empty one, or a
start that failed before anything was measured, whose files are removed.

A separate thread writes what arrives, in order, so that nothing else waits for the disk.
"""

import asyncio
import logging
import re
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aiohttp import StreamReader, web
from prometheus_client import Counter, Gauge

from ..history.find import failed_start
from ..runs.append import LARGEST_PIECE, STREAM, NotStored, PushedPart, PushFile, Reason, Room, put_record
from ..settings.record import SUFFIX
from ..settings.settings import PushSettings
from ..values import names
from .answers import Refused, said
from .own_metrics import OwnMetrics

_log = logging.getLogger("benchwatch.server")

CLIENT_GONE = 499
"""Counted as the status of a push whose connection broke: nobody receives an answer."""
_OFFSET = re.compile(r"[0-9]{1,18}")
_LARGEST_RECORD = 256 * 1024
_BODY_SECONDS = 120.0
"""Seconds within which a piece or record must arrive."""
_BEHIND = 4
"""Chunks of a push that may wait for the disk before its client has to wait."""
_REMEMBERED = 1000
"""Broken pushes whose stored bytes are recognised in the next push to the same name."""
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))
_STATUSES: Mapping[Reason, int] = {
    "no_room": 507,
    "gap": 416,
    "other_content": 409,
    "taken": 412,
    "invalid": 400,
    "failed": 500,
}
"""The status of what was not stored."""


def check_name(what: str, name: str) -> str:
    """The name of a run or worker. Raises Refused if it cannot be one."""
    try:
        return names.check_name(what, name)
    except ValueError as error:
        raise Refused(400, str(error)) from None


class Pushes:
    """The active pushes, and counters of all pushes among the exporter's `own` metrics.

    At most `limit` at a time, and a quarter as many pieces and records, which are short.
    """

    def __init__(self, own: OwnMetrics, *, limit: int = 256, settings: PushSettings | None = None) -> None:
        self._settings = settings or PushSettings()
        written = Counter(
            "benchwatch_push_bytes", "Bytes taken from pushes and written to files.", registry=own.registry
        )
        self._room = Room(self._settings, written.inc)
        self._limit = limit
        self._bodies = 0
        self._tasks: dict[tuple[str, str], asyncio.Task[object] | None] = {}
        self._broken: dict[Path, PushedPart] = {}
        self._codes = Counter(
            "benchwatch_push_requests",
            "Pushes that have ended, by HTTP status code; 499 where the client's connection broke.",
            ["code"],
            registry=own.registry,
        )
        self._codes.labels(200)
        active = Gauge("benchwatch_push_active", "Pushes under way.", registry=own.registry)
        active.set_function(lambda: len(self._tasks))
        self._writer = ThreadPoolExecutor(1, "push")
        self._stopped = False

    def stop(self) -> None:
        """Abort active pushes; what has arrived is kept."""
        self._stopped = True
        for task in filter(None, self._tasks.values()):
            task.cancel()
        self._writer.shutdown(wait=False)

    async def take(self, request: web.Request, folder: Path | None) -> web.Response:
        """Receive one push to its end, into `folder`, and answer it."""
        try:
            fields = await self._take(request, folder)
        except Refused as refusal:
            refused = refusal
        except NotStored as error:
            size = {} if error.size is None else {"size": error.size}
            refused = Refused(_STATUSES[error.reason], str(error), None, reason=error.reason, **size)
        except (ConnectionError, asyncio.CancelledError) as error:
            self._codes.labels(CLIENT_GONE).inc()
            if isinstance(error, asyncio.CancelledError):
                raise
            return web.Response(status=CLIENT_GONE, reason="Client Closed Request")
        else:
            self._codes.labels(200).inc()
            return said(request, fields["stored"], 200, None, **fields)
        self._codes.labels(refused.status).inc()
        return refused.answer(request)

    async def _take(self, request: web.Request, folder: Path | None) -> dict[str, str]:
        """Receive it; the fields of the answer: what is `stored`, and why the start failed that it `replaced`."""
        if folder is None:
            raise Refused(403, "this exporter does not accept pushes (push.enabled is false)")
        self._check_running()
        if "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:  # sent by every browser
            raise Refused(403, "pushes from web pages are not accepted")
        coding = ", ".join(request.headers.getall("Content-Encoding", []))
        if coding.strip().lower() not in ("", "identity"):
            raise Refused(415, f"Content-Encoding: {coding[:100]}: expected none", {"Accept-Encoding": "identity"})
        if "worker" not in request.match_info:
            raise Refused(400, "expected /ingest/<run>/<worker>")
        run = check_name("run", request.match_info["run"])
        worker = check_name("worker", request.match_info["worker"])
        if worker.endswith(SUFFIX):
            return await self._take_record(request, folder / run / worker)
        if "stream" in request.query or "offset" in request.query:
            return await self._take_piece(request, folder / run, worker)
        if (run, worker) in self._tasks:
            raise Refused(409, f"worker {worker} of run {run} is already being pushed: use another worker name")
        self._check_length(request.content_length or 0)
        _check_number(len(self._tasks), self._limit)
        self._tasks[run, worker] = asyncio.current_task()
        path = folder / run / f"{worker}.push"
        file = PushFile(path, self._room, self._broken.pop(path, None))
        try:
            _keep_alive(request)
            taken = await self._copy(request.content, f"worker {worker} of run {run}", file)
        except BaseException:
            if file.span:
                self._broken[path] = file.span
                if len(self._broken) > _REMEMBERED:
                    del self._broken[next(iter(self._broken))]
            raise
        finally:
            del self._tasks[run, worker]
        return {"stored": f"{taken} bytes received for worker {worker} of run {run}"}

    async def _take_record(self, request: web.Request, path: Path) -> dict[str, str]:
        check_name("worker", path.stem)
        only_new = request.headers.get("If-None-Match") == "*"
        data = await self._body(request, _LARGEST_RECORD)
        replaced = await self._write(put_record, path, data, self._room, failed_start if only_new else None)
        stored = f"{path.parent.name}/{path.name} is stored"
        if not replaced:
            return {"stored": stored}
        stored += f", and replaces a start that failed before anything was measured ({replaced})"
        return {"stored": stored, "replaced": replaced}

    async def _take_piece(self, request: web.Request, folder: Path, worker: str) -> dict[str, str]:
        suffix, offset = (request.query.get(name, "") for name in ("stream", "offset"))
        if not STREAM.fullmatch(suffix):
            raise Refused(400, f"stream={suffix[:100]}: expected out, err, json, or the number of a log")
        if not _OFFSET.fullmatch(offset):
            raise Refused(400, f"offset={offset[:100]}: expected a number of bytes")
        data = await self._body(request, LARGEST_PIECE)
        self._check_length(int(offset) + len(data))
        await self._write(PushFile(folder / f"{worker}.{suffix}", self._room).place, data, int(offset))
        return {"stored": f"{int(offset) + len(data)} bytes are stored"}

    async def _body(self, request: web.Request, largest: int) -> bytes:
        """The whole of a short body."""
        _check_number(self._bodies, max(1, self._limit // 4))
        self._bodies += 1
        data = bytearray()
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for chunk in _chunks(request.content, request.path):
                    data += chunk
                    if max(len(data), request.content_length or 0) > largest:
                        raise Refused(413, f"the body exceeds the maximum of {largest} bytes")
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {_BODY_SECONDS} s") from None
        finally:
            self._bodies -= 1
        return bytes(data)

    async def _copy(self, body: StreamReader, whose: str, file: PushFile) -> int:
        """Write a body as it arrives; wait for the disk only if it is far behind. Returns the number of bytes.

        What has arrived is written even if the client is gone; what cannot be written ends the push at once.
        """
        taken = 0
        writes: deque[asyncio.Future[None]] = deque()

        def write(call: Callable[..., None], *data: bytes) -> None:
            writes.append(self._write(call, *data))
            writes[-1].add_done_callback(end_if_failed)

        def end_if_failed(written: asyncio.Future[None]) -> None:
            if not written.cancelled() and (error := written.exception()):
                body.set_exception(error)

        try:
            async for data in _chunks(body, whose):
                allowed = data[: self._settings.max_push_bytes - taken]
                write(file.append, allowed)
                taken += len(allowed)
                self._check_length(taken + len(data) - len(allowed))
                if len(writes) > _BEHIND:
                    await writes.popleft()
            if taken:
                write(file.finish)
            else:
                write(file.append, b"")
        finally:
            if writes:
                await asyncio.wait(writes)
        for written in writes:
            written.result()
        return taken

    def _write(self, call: Callable[..., Any], *arguments: Any) -> "asyncio.Future[Any]":
        """Run something on the disk thread, after everything requested before."""
        self._check_running()
        return asyncio.get_running_loop().run_in_executor(self._writer, call, *arguments)

    def _check_running(self) -> None:
        if self._stopped:
            raise Refused(503, "this exporter is shutting down")

    def _check_length(self, length: int) -> None:
        if length > self._settings.max_push_bytes:
            raise Refused(413, f"the push exceeds {self._settings.max_push_bytes} bytes (push.max_push_bytes)")


async def _chunks(body: StreamReader, whose: str) -> AsyncIterator[bytes]:
    """The bytes of a body as they arrive. Raises Refused if they violate HTTP."""
    try:
        while data := await body.readany():
            yield data
    except ConnectionError:
        _log.debug("the push for %s broke off", whose)
        raise
    except web.RequestPayloadError as error:
        reason = " ".join(str(error).split()).removeprefix("400, message: ")
        raise Refused(400, f"cannot read the body: {reason}") from error


def _check_number(active: int, most: int) -> None:
    if active >= most:
        sentence = f"{most} pushes are active, the maximum: try again later"
        raise Refused(429, sentence, {"Retry-After": "10"})


def _keep_alive(request: web.Request) -> None:
    """Let the kernel detect within two minutes that a silent client is gone."""
    connection = request.transport.get_extra_info("socket") if request.transport else None
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        for option, value in _KEEPALIVE:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
