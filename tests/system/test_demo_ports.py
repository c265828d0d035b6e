"""Ports of demos that start at the same moment."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.support.ports import free_port


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Mapping[str, int]], dict[str, int]]]:
    """What a demo that starts now chooses, and keeps until the end of the test."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    from demo_ports import Ports

    with ExitStack() as demos:
        yield lambda wanted: demos.enter_context(closing(Ports(wanted)))


def test_demos_that_start_together_choose_different_ports(
    choose: Callable[[Mapping[str, int]], dict[str, int]],
) -> None:
    wanted = {"one": free_port(), "two": 0}
    first, second = choose(wanted), choose(wanted)
    assert first["one"] == wanted["one"]
    assert len({*first.values(), *second.values()}) == 4


def test_a_port_that_another_server_has_is_not_chosen(
    choose: Callable[[Mapping[str, int]], dict[str, int]],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert choose({"one": port})["one"] != port
