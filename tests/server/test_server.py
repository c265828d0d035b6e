import asyncio
import socket

import pytest
import requests
from aiohttp import web

from benchwatch.server.app import make_app
from benchwatch.server.ingest import Pushes
from benchwatch.server.listen import listen_address, serve
from benchwatch.server.own_metrics import OwnMetrics
from benchwatch.values.errors import ConfigError
from tests.support.serving import FakeExporter


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:19777", ("127.0.0.1", 19777)),
        ("bench.lan:80", ("bench.lan", 80)),
        (":19777", (None, 19777)),
        ("[::1]:0", ("::1", 0)),
        ("[::]:65535", ("::", 65535)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, address: tuple[str | None, int]) -> None:
    assert listen_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["", "19777", "localhost", "localhost:", "localhost:http", ":-1", ":65536", ":²", "::1:80", "[::1]", "[a]:1"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        listen_address(text)
    assert str(caught.value) == f"listen address {text!r}: expected host:port, [IPv6 address]:port or :port"


def app() -> web.Application:
    own = OwnMetrics()
    return make_app(FakeExporter(), Pushes(own), own, clock=lambda: 0.0)


def test_several_addresses_are_served_at_once() -> None:
    async def both() -> list[int]:
        runner = await serve(app(), ["127.0.0.1:0", "127.0.0.2:0"])
        try:
            urls = [f"http://{host}:{port}/-/healthy" for host, port in runner.addresses]
            assert [url.split(":")[1] for url in urls] == ["//127.0.0.1", "//127.0.0.2"]
            return [(await asyncio.to_thread(requests.get, url)).status_code for url in urls]
        finally:
            await runner.cleanup()

    assert asyncio.run(both()) == [200, 200]


def test_an_address_in_use_is_named_and_nothing_stays_open() -> None:
    async def serve_on(port: int) -> None:
        await serve(app(), ["127.0.0.1:0", f"127.0.0.1:{port}"])

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            asyncio.run(serve_on(port))
    assert str(caught.value) == (
        f"cannot listen on '127.0.0.1:{port}': Address already in use; choose another address with --web.listen-address"
    )
