"""What stands between the parts of the scale test: a network that can be cut, and whoever is told of alerts."""

import asyncio
import json
import ssl
import threading
import time
from collections.abc import Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests


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
        self.first: dict[tuple[str, str, str], float] = {}
        """When, by the alert's name and the instance and worker that it is on."""
        self.alerts: list[dict[str, Any]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in told:
                    labels = alert["labels"]
                    key = (labels["alertname"], labels.get("instance", ""), labels.get("worker", ""))
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


class Gate:
    """A receiver with TLS that lets writes pass to the real one, or answers them with a status of its own."""

    def __init__(self, target: str, authority: Path, certificate: Path, key: Path) -> None:
        self.status = 0
        """What it answers; 0 for what the real one answers."""
        gate = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = gate.status
                if not status:
                    with requests.Session() as session:
                        session.trust_env = False
                        names = (
                            "Authorization",
                            "Content-Encoding",
                            "Content-Type",
                            "X-Prometheus-Remote-Write-Version",
                        )
                        kept = {name: self.headers[name] for name in names if name in self.headers}
                        status = session.post(
                            f"https://{target}/api/v1/write", body, headers=kept, verify=str(authority), timeout=30
                        ).status_code
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.send_header("Connection", "close")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                """Nothing."""

        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.num_tickets = 0  # a session that is resumed shows no certificate
        self.present(certificate, key)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        server.socket = self._context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def present(self, certificate: Path, key: Path) -> None:
        """Shows this certificate from the next connection on."""
        self._context.load_cert_chain(certificate, key)
