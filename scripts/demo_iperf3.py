"""iperf3 in the demo: a client and its server on loopback, at a given rate."""

from collections.abc import Iterator
from pathlib import Path

from demo_ports import Ports
from demo_runs import Benchmark, Part, Place

_USUAL = 5201
_LISTENS = "0A"


def benchmarks(place: Place) -> Iterator[Benchmark]:
    """One, of two workers."""
    yield Benchmark("iperf3", _parts)


def _parts(seconds: int) -> list[Part]:
    """They hold the claim on their port as long as somebody holds them."""
    ports = Ports({"server": _USUAL})
    port = ports["server"]
    reports = ["--forceflush", "--interval=1", f"--port={port}"]  # 3.12 has no --json-stream
    server = ["iperf3", "--server", "--one-off", "--bind=127.0.0.1", *reports]
    client = ["iperf3", "--client=127.0.0.1", f"--time={seconds}", "--bitrate=200M", *reports]
    return [Part("server", server, lambda: _listens(ports["server"])), Part("client", client)]


def _listens(port: int) -> bool:
    """Whether a server does, without connecting to it: it would take that for its only test."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(row[1].endswith(f":{port:04X}") and row[3] == _LISTENS for row in rows)
