"""How every request is checked and answered: compressed where that helps, a failure with its status and one sentence.

A program that accepts JSON gets the sentence as `error`, with further fields, instead of plain text. Before any page
answers, two guards may refuse: of the name in `Host`, and of user and password, if `--web.config.file` requires them.
"""

import asyncio
import gzip
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from ipaddress import ip_address

from aiohttp import web
from aiohttp.typedefs import Middleware

from .own_metrics import OwnMetrics
from .webconfig import CurrentConfig

LOOPBACK = web.AppKey("loopback", set[tuple[str, int]])
"""The loopback addresses that the server listens on, each with its port."""
USER = web.RequestKey("user", str)
"""The user who sent the request, if users are configured."""
_PORT = re.compile(r":[0-9]*\Z")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_log = logging.getLogger("benchwatch.server")
_COMPRESS_IN_THREAD = 1_000_000
"""Bytes above which a page is compressed in a thread, so that nothing else waits."""


class Refused(Exception):
    """A request that is refused: its HTTP status, a sentence, headers, and fields for a program."""

    def __init__(
        self, status: int, sentence: str, headers: Mapping[str, str] | None = None, **fields: str | int
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers
        self.fields = fields

    def answer(self, request: web.Request) -> web.Response:
        """The answer to that request."""
        return said(request, str(self), self.status, self.headers, error=str(self), **self.fields)


def said(
    request: web.Request, sentence: str, status: int, headers: Mapping[str, str] | None, **fields: str | int
) -> web.Response:
    """A sentence or, for a program that accepts JSON, the fields."""
    if "application/json" in request.headers.get("Accept", ""):
        return web.json_response(fields, status=status, headers=headers)
    return web.Response(status=status, text=sentence + "\n", headers=headers)


@web.middleware
async def answer_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every failure with a plain sentence, and log unexpected ones in one line."""
    try:
        return await handler(request)
    except Refused as refused:
        return refused.answer(request)
    except web.HTTPNotFound:
        text = '<!doctype html><title>Not found</title><p>Page not found. <a href="/">Go to the overview</a></p>\n'
        return web.Response(status=404, text=text, content_type="text/html")
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        sentence = f"Method not allowed: use {allowed}, not {error.method}."
        return Refused(405, sentence, {"Allow": allowed}).answer(request)
    except web.HTTPException:
        raise
    except Exception as error:
        place = error.__traceback__
        while place and place.tb_next:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else "?"
        _log.error("%s %s failed: %s: %s (%s)", request.method, request.path, type(error).__name__, error, where)
        _log.debug("traceback of that failure", exc_info=error)
        return Refused(500, "benchwatch failed to answer this request: see its log.").answer(request)


async def answer(
    request: web.Request, text: str | bytes, headers: Mapping[str, str], status: int = 200
) -> web.Response:
    """The text, compressed if the client can unpack it and is not on loopback, where compression only costs time."""
    body = text.encode() if isinstance(text, str) else text
    more = {**headers, "Vary": "Accept-Encoding"}
    if not on_loopback(request) and accepts_gzip(request.headers.get("Accept-Encoding", "")):
        more["Content-Encoding"] = "gzip"
        body = await asyncio.to_thread(_compress, body) if len(body) > _COMPRESS_IN_THREAD else _compress(body)
    return web.Response(body=body, headers=more, status=status)


def on_loopback(request: web.Request) -> bool:
    """Whether the request came to a listener that only this machine reaches."""
    address = request.transport.get_extra_info("sockname") if request.transport else None
    return address is not None and tuple(address[:2]) in request.app[LOOPBACK]


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header (RFC 9110, 12.5.3) allows gzip."""
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().replace(" ", "").split(","):
        coding, _, weight = part.partition(";q=")
        with suppress(ValueError):
            weights[coding] = float(weight or 1)
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, 1, mtime=0)


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
