"""What stands between the parts of the scale test: a network that can be cut, and whoever is told of alerts."""

import asyncio
import json
import threading
import time
from collections.abc import Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Network:
    """A way from a port of its own to an address, which can be cut: what is under way then gets no further."""

    def __init__(self, target: str) -> None:
        self._target = target.split(":")
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._open.set()
        self._flows: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = self._call(asyncio.start_server(self._connect, "127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """From now on nothing passes, and nobody is told so."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def mend(self) -> None:
        """What comes from now on passes; connections of before are gone."""

        async def mend() -> None:
            for flow in self._flows:
                flow.cancel()
            self._open.set()

        self._call(mend())

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._flows.add(task)
        writers = [writer]
        try:
            await self._open.wait()
            there, back = await asyncio.open_connection(*self._target)
            writers.append(back)
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._flows.discard(task)
            for one in writers:
                one.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        writer.close()


class Listener:
    """Stands where Alertmanager does: knows when each alert was told first."""

    def __init__(self, address: str) -> None:
        self.first: dict[tuple[str, str], float] = {}
        """When, by the alert's name and the worker or instance that it is on."""
        self.alerts: list[dict[str, Any]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in told:
                    labels = alert["labels"]
                    key = (labels["alertname"], labels.get("worker") or labels.get("instance", ""))
                    listener.first.setdefault(key, time.time())
                listener.alerts += told
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                """Nothing."""

        host, _, port = address.rpartition(":")
        server = ThreadingHTTPServer((host, int(port)), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
