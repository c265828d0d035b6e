"""The server: listens on addresses, with or without TLS."""

import logging
from collections.abc import Sequence

from aiohttp import web

from ..errors import ConfigError
from .tls import server_context
from .webconfig import OPEN, WebConfig

_KEPT_OPEN = 120.0
"""Seconds that a connection may be idle between two requests: longer than any usual scrape interval."""
_STOPPING = 5.0
"""Seconds that answers under way have to end when the server stops."""


def listen_address(text: str) -> tuple[str | None, int]:
    """Host and port of `host:port`, `[::1]:port` or `:port` (all interfaces: host None). Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    bracketed = host != bare
    digits = port.isascii() and port.isdigit()
    if not colon or not digits or int(port) > 65535 or bracketed != (":" in host) or "[" in bare or "]" in bare:
        raise ConfigError(f"listen address {text!r}: expected host:port, [IPv6 address]:port or :port")
    return bare or None, int(port)


async def serve(app: web.Application, addresses: Sequence[str], config: WebConfig = OPEN) -> web.AppRunner:
    """Serve `app` on all of the addresses, until `await runner.cleanup()`; `runner.addresses` are the sockets' own.

    Raises ConfigError when an address or certificate cannot be used.
    """
    context = server_context(config.tls) if config.tls else None
    wanted = [(address, *listen_address(address)) for address in addresses]
    runner = web.AppRunner(
        app, access_log=None, logger=_server_log(), keepalive_timeout=_KEPT_OPEN, shutdown_timeout=_STOPPING
    )
    await runner.setup()
    try:
        for address, host, port in wanted:
            try:
                await web.TCPSite(runner, host, port, ssl_context=context).start()
            except OSError as error:
                raise ConfigError(f"listen address {address!r} cannot be used: {error.strerror or error}") from error
    except ConfigError:
        await runner.cleanup()
        raise
    return runner


def _server_log() -> logging.Logger:
    """aiohttp's own messages (a request that is not HTTP, for example): one line each."""
    log = logging.getLogger("benchwatch.web.server")
    if _one_line not in log.filters:
        log.addFilter(_one_line)
    return log


def _one_line(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, web.RequestPayloadError):  # whoever reads the body says so
        return False
    if error is not None:
        text = " ".join(str(error).split())[:200]
        record.msg, record.args = "%s: %s: %s", (record.getMessage(), type(error).__name__, text)
        record.exc_info = None
    return True
