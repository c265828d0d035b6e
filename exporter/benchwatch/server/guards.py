"""Access checks before any page answers; each refuses with one sentence and counts that.

The name in `Host`; the rate, certificate, user and password that `--web.config.file` requires (see webconfig).
"""

import re
import time
from collections.abc import Awaitable, Callable, Collection
from ipaddress import ip_address

from aiohttp import web
from aiohttp.typedefs import Middleware

from .connections import Connection, Doors
from .tls import may_pass
from .users import TooManyChecks, Users
from .webconfig import Renewable, Tls, WebConfig

USER = web.RequestKey("user", str)
"""The user who sent the request, if users are configured."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_PORT = re.compile(r":[0-9]*\Z")


def check_host(doors: Doors, hosts: Collection[str], *, everywhere: bool) -> Middleware:
    """A check against DNS rebinding, with which any web page could read what this machine serves on loopback.

    On loopback, requests must name an IP address (which no web page can claim as its own name), localhost, or a
    configured name; on a network, any name is served unless the configuration lists names.
    """
    known = {"localhost", *(host.lower().rstrip(".") for host in hosts)}

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        connection, given = request.protocol, request.headers.get("Host", "")
        if given and (everywhere or (isinstance(connection, Connection) and connection.loopback)):
            name = _PORT.sub("", given).lower().rstrip(".")
            if name not in known and not _is_address(name):
                doors.refused("host")
                sentence = f"this exporter does not answer to the name {given[:100]!r}: use localhost or its IP address"
                raise refusal(web.HTTPMisdirectedRequest, f"{sentence}, or add the name to web.hosts")
        return await handler(request)

    return check


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def guards(config: Renewable, doors: Doors) -> list[Middleware]:
    """The checks that the web configuration requires of a request."""
    users: Users | None = None
    rate = config.renewed()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        nonlocal users
        now = config.renewed()
        if now.tls:
            _check_certificate(request, now.tls)
        if now.users:
            if users is None or now.users is not users.hashes:
                users = Users(now.users)
            request[USER] = await _known(request, users, doors)
        return await handler(request)

    return [_check_rate(rate, doors), check] if rate.interval else [check]


def _check_certificate(request: web.Request, tls: Tls) -> None:
    certificate = request.transport.get_extra_info("peercert") if request.transport else None
    if not may_pass(certificate, tls):
        raise refusal(web.HTTPForbidden, "the client certificate names nobody who has access")


async def _known(request: web.Request, users: Users, doors: Doors) -> str:
    """The user who sent the request. Raises web.HTTPException if nobody is recognised."""
    try:
        user = await users.admitted(request.headers.get("Authorization"), request.remote or "")
    except TooManyChecks:
        doors.refused("too_many_passwords")
        sentence = "too many passwords are being checked at the moment: try again in a second"
        raise refusal(web.HTTPTooManyRequests, sentence, **{"Retry-After": "1"}) from None
    if not user:
        doors.refused("password")
        more = {"WWW-Authenticate": 'Basic realm="benchwatch", charset="UTF-8"'}
        raise refusal(web.HTTPUnauthorized, "expected a user and password that have access", **more)
    return user


def _check_rate(config: WebConfig, doors: Doors) -> Middleware:
    """A token bucket: `burst` requests at once, and one more each interval."""
    left, filled = float(config.burst), time.monotonic()

    @web.middleware
    async def check_rate(request: web.Request, handler: Handler) -> web.StreamResponse:
        nonlocal left, filled
        now = time.monotonic()
        left, filled = min(config.burst, left + (now - filled) / config.interval), now
        if left < 1:
            doors.refused("rate_limit")
            wait = {"Retry-After": str(max(1, round(config.interval)))}
            raise refusal(web.HTTPTooManyRequests, "more requests than rate_limit allows", **wait)
        left -= 1
        return await handler(request)

    return check_rate


def refusal(kind: type[web.HTTPException], sentence: str, **more: str) -> web.HTTPException:
    """An answer that refuses with a sentence; `more` are headers."""
    return kind(text=sentence + "\n", headers=more)
