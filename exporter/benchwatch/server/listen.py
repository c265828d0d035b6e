"""The server: listens on addresses, with or without TLS."""

import logging
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from ..values.addresses import cannot_listen, is_loopback
from ..values.errors import ConfigError
from .answers import LOOPBACK
from .app import OWN
from .webconfig import CurrentConfig, WebConfig

_log = logging.getLogger("benchwatch.server")

IDLE = 120.0
"""Seconds that a connection stays open between two requests: longer than any usual scrape interval."""
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


async def serve(
    app: web.Application, addresses: Sequence[str], config: CurrentConfig = WebConfig, external_url: str = ""
) -> web.AppRunner:
    """Serve `app` on all of the addresses, until `await runner.cleanup()`. People open its pages at `external_url`.

    Raises ConfigError when an address cannot be used.
    """
    wanted = [(address, *listen_address(address)) for address in addresses]
    log_of_aiohttp = logging.getLogger("benchwatch.server.listen")
    log_of_aiohttp.addFilter(_one_line)
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=_STOPPING,
        logger=log_of_aiohttp,
        keepalive_timeout=IDLE,
        auto_decompress=False,
    )
    await runner.setup()
    server = runner.server
    if server is not None:
        app[OWN].connections.set_function(lambda: len(server.connections))
    context = _always_current(config)
    for address, host, port in wanted:
        try:
            await web.TCPSite(runner, host, port, ssl_context=context).start()
        except OSError as error:
            await runner.cleanup()
            raise cannot_listen(address, error) from error
    app[LOOPBACK].update((host, port) for host, port, *_ in runner.addresses if is_loopback(host))
    if not is_loopback(urlsplit(external_url).hostname or ""):
        _warn_of_openness(runner.addresses, config())
    return runner


def _always_current(config: CurrentConfig) -> ssl.SSLContext | None:
    """A context with which each handshake has the certificates of that moment; None without TLS."""

    def renew(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        if context := config().tls:
            connection.context = context

    found = config().tls
    if found:
        found.sni_callback = renew  # called for each handshake, whether or not its client names the server
    return found


def _warn_of_openness(addresses: Sequence[Any], config: WebConfig) -> None:
    known = config.users or (config.tls and config.tls.verify_mode == ssl.CERT_REQUIRED)
    for host, port, *_ in addresses:
        if not known and not is_loopback(host):
            _log.warning(
                "everybody who can reach %s port %d can read all runs and push output: to require a password, "
                "set basic_auth_users in --web.config.file",
                *(host, port),
            )


def _one_line(record: logging.LogRecord) -> bool:
    """Shorten a message of aiohttp (a request that is not HTTP, for example) to one line; whether it is logged."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, web.RequestPayloadError | HttpProcessingError):  # answered: the body, or what is not HTTP
        return False
    if error is not None:
        text = " ".join(str(error).split())[:200]
        record.msg, record.args = "%s: %s: %s", (record.getMessage(), type(error).__name__, text)
        record.exc_info = None
    return True
