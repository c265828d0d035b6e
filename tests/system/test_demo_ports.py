"""Ports of demos that start at the same moment."""

import itertools
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.support import ports
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
    with socket.create_server(("127.0.0.1", 0)) as server:
        wanted = {"one": server.getsockname()[1], "two": 0}
    first, second = choose(wanted), choose(wanted)
    assert first["one"] == wanted["one"]
    assert len({*first.values(), *second.values()}) == 4


def test_a_port_that_another_server_has_is_not_chosen(
    choose: Callable[[Mapping[str, int]], dict[str, int]],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert choose({"one": port})["one"] != port


def test_a_port_that_a_test_has_claimed_is_not_chosen_before_its_server_binds_it(
    choose: Callable[[Mapping[str, int]], dict[str, int]],
) -> None:
    port = free_port()
    assert choose({"one": port})["one"] != port


def test_the_port_of_the_demos_iperf3_is_not_chosen_before_its_server_binds_it(
    choose: Callable[[Mapping[str, int]], dict[str, int]],
) -> None:
    from demo_iperf3 import benchmarks
    from demo_postgres import Postgres
    from demo_processes import Processes
    from demo_runs import Place

    nowhere = Path()
    (made,) = benchmarks(Place(nowhere, Postgres(Processes(nowhere, {}), nowhere, 0)))
    server, client = made.parts(1)
    (port,) = {int(word.removeprefix("--port=")) for word in client.command if word.startswith("--port=")}
    assert f"--port={port}" in server.command and not server.ready()
    assert choose({"one": port})["one"] != port


def test_a_port_that_a_demo_has_chosen_is_given_to_no_test_before_its_server_binds_it(
    choose: Callable[[Mapping[str, int]], dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port() + 1
    chosen = choose({"one": port})["one"]
    monkeypatch.setattr(ports, "_next", itertools.count(chosen - ports._FIRST))
    assert free_port() != chosen
