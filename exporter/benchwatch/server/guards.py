"""Access checks before any page answers; each refuses with one sentence and counts that.

The name in `Host`; the user and password that `--web.config.file` requires (see webconfig).
"""

import re
from collections.abc import Collection
from ipaddress import ip_address

from aiohttp import web
from aiohttp.typedefs import Middleware

from .answers import Handler, Refused, on_loopback
from .own_metrics import OwnMetrics
from .webconfig import CurrentConfig

USER = web.RequestKey("user", str)
"""The user who sent the request, if users are configured."""
_PORT = re.compile(r":[0-9]*\Z")


def check_host(own: OwnMetrics, hosts: Collection[str], *, everywhere: bool) -> Middleware:
    """A check against DNS rebinding, with which any web page could read what this machine serves on loopback.

    On loopback, requests must name an IP address (which no web page can claim as its own name), localhost, or a
    configured name; on a network, any name is served unless the configuration lists names.
    """
    known = {"localhost", *(host.lower().rstrip(".") for host in hosts)}

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Host", "")
        if given and (everywhere or on_loopback(request)):
            name = _PORT.sub("", given).lower().rstrip(".")
            if name not in known and not _is_address(name):
                own.refused("host")
                sentence = f"this exporter does not answer to the name {given[:100]!r}: use localhost or its IP address"
                raise Refused(421, f"{sentence}, or add the name to web.hosts")
        return await handler(request)

    return check


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def check_user(config: CurrentConfig, own: OwnMetrics) -> Middleware:
    """A check of the user and password, if users are configured."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if users := config().users:
            request[USER] = await users.admitted(request.headers.get("Authorization"))
            if not request[USER]:
                own.refused("password")
                more = {"WWW-Authenticate": 'Basic realm="benchwatch", charset="UTF-8"'}
                raise Refused(401, "expected a user and password that have access", more)
        return await handler(request)

    return check
