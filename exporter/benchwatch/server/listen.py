"""The server: listens on addresses, with or without TLS."""

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

from ..values.addresses import is_loopback
from ..values.errors import ConfigError
from .app import DOORS
from .connections import IDLE, Doors, Listener, look_after
from .tls import server_contexts
from .webconfig import OPEN, Renewable, WebConfig

_OTHER = "choose another address with --web.listen-address"
_log = logging.getLogger("benchwatch.server")

_STOPPING = 5.0
"""Seconds that unfinished answers have when the server stops."""


def listen_address(text: str) -> tuple[str | None, int]:
    """Host and port of `host:port`, `[::1]:port` or `:port` (all interfaces: host None). Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    bracketed = host != bare
    digits = port.isascii() and port.isdigit()
    if not colon or not digits or int(port) > 65535 or bracketed != (":" in host) or "[" in bare or "]" in bare:
        raise ConfigError(f"listen address {text!r}: expected host:port, [IPv6 address]:port or :port")
    return bare or None, int(port)


class Serving:
    """A running server."""

    def __init__(self, runner: web.AppRunner, doors: Doors) -> None:
        self._runner = runner
        self._doors = doors
        self._listeners: list[Listener] = []
        self._looking_after = asyncio.create_task(look_after(doors, self._listeners))
        self.addresses: list[Any] = []
        """Addresses of the sockets, as the system reports them."""

    async def listen(self, host: str | None, port: int, contexts: Callable[[], ssl.SSLContext] | None) -> None:
        """Also accept connections on this address. Raises OSError."""
        server = self._runner.server
        assert server
        bound = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port, start_serving=False)
        options = {"access_log": None, "logger": _server_log(), "keepalive_timeout": 2 * IDLE, "auto_decompress": False}
        try:
            for each in bound.sockets:
                listening = socket.socket(fileno=os.dup(each.fileno()))
                self._listeners.append(Listener(server, self._doors, listening, contexts, **options))
                self.addresses.append(listening.getsockname())
        finally:
            bound.close()

    async def cleanup(self) -> None:
        """Stop: accept no more connections, and give unfinished answers time to end."""
        self._looking_after.cancel()
        for listener in self._listeners:
            listener.close()
        await self._runner.cleanup()


async def serve(app: web.Application, addresses: Sequence[str], config: Renewable = OPEN) -> Serving:
    """Serve `app` on all of the addresses, until `await serving.cleanup()`.

    Raises ConfigError when an address or certificate cannot be used.
    """
    tls = config.renewed().tls
    contexts = server_contexts(tls, config) if tls else None
    wanted = [(address, *listen_address(address)) for address in addresses]
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOPPING)
    await runner.setup()
    serving = Serving(runner, app[DOORS])
    try:
        for address, host, port in wanted:
            try:
                await serving.listen(host, port, contexts)
            except OSError as error:
                raise ConfigError(f"cannot listen on {address!r}: {error.strerror or error}; {_OTHER}") from error
    except ConfigError:
        await serving.cleanup()
        raise
    _warn_of_openness(serving.addresses, config.renewed())
    return serving


def _warn_of_openness(addresses: Sequence[Any], config: WebConfig) -> None:
    known = config.users or (config.tls and config.tls.client_auth_type == "RequireAndVerifyClientCert")
    for host, port, *_ in addresses:
        if not known and not is_loopback(host):
            _log.warning(
                "everybody who can reach %s port %d can read all runs and push output: to require a password, "
                "set basic_auth_users in --web.config.file",
                *(host, port),
            )


def _server_log() -> logging.Logger:
    """aiohttp's own messages (a request that is not HTTP, for example): one line each."""
    log = logging.getLogger("benchwatch.server.listen")
    if _one_line not in log.filters:
        log.addFilter(_one_line)
    return log


def _one_line(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, web.RequestPayloadError):  # the reader of the body reports it
        return False
    if error is not None:
        text = " ".join(str(error).split())[:200]
        record.msg, record.args = "%s: %s: %s", (record.getMessage(), type(error).__name__, text)
        record.exc_info = None
    return True
