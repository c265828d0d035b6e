"""Addresses of servers on command lines."""

import os
from urllib.parse import urlsplit

from .errors import ConfigError, UserError

DEFAULT_EXPORTER = "127.0.0.1:19777"
"""Where an exporter listens by default; the port is not registered."""


def server_url(text: str, where: str) -> str:
    """Reads `http(s)://[user:password@]host[:port][/path]`; http:// may be missing. Returns it without a final slash.

    Raises UserError for anything else; its message names `where` and hides user and password.
    """
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        usable = parts.scheme in ("http", "https") and host.isprintable() and " " not in host and parts.port != 0
    except ValueError:
        usable, host = False, ""
    if not usable or not host or host.isdecimal():
        raise UserError(
            f"{where}: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got {without_user(text)!r}"
        )
    return url.rstrip("/")


def cannot_listen(address: str, error: OSError | OverflowError) -> ConfigError:
    """The error of a server that could not listen on an address."""
    number = getattr(error, "errno", None) or 0
    reason = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or error
    return ConfigError(f"cannot listen on {address!r}: {reason}; choose another address with --web.listen-address")


def is_loopback(host: str) -> bool:
    """Whether a host is localhost or a loopback address."""
    return host in ("::1", "localhost") or host.startswith(("127.", "::ffff:127."))


def without_user(url: str) -> str:
    """The URL without user and password."""
    scheme, separator, rest = url.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
