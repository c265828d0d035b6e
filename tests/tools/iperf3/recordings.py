"""The recordings of iperf3: the client's output, its command and the server's output."""

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.iperf3 import IPERF3
from benchwatch.tools.states import State

ROOT = Path(__file__).parents[2] / "recordings" / "iperf3"
NAMES = sorted(path.stem for path in ROOT.glob("*.cmd"))
FILES = sorted(path.name for path in ROOT.iterdir() if path.suffix in (".out", ".err"))
ARRIVED = 1795400000.0
"""A time after all recordings."""


def client(name: str) -> str:
    """The client's output of a recording."""
    return f"{name}.out"


def server(name: str) -> str:
    return f"{name}.server.out"


def data_of(file: str) -> bytes:
    return (ROOT / file).read_bytes()


def parse(data: bytes, cuts: Iterable[int] = ()) -> list[Any]:
    """All records of a stream that arrives in pieces cut at `cuts`."""
    parser = IPERF3.parser("text")
    records: list[Any] = []
    for start, stop in pairwise([0, *sorted(cuts), len(data)]):
        records += parser.feed(data[start:stop])
    return [*records, *parser.close()]


def misread(data: bytes) -> list[tuple[str, str]]:
    return [(record.reason, record.where) for record in parse(data) if isinstance(record, Misread)]


def read(*streams: bytes, arrived: float = ARRIVED) -> list[State]:
    """The states of the tests in these streams, one stream read after the other."""
    states: list[State] = [IPERF3.state(Buckets())]
    for number, data in enumerate(streams):
        for record in parse(data):
            if isinstance(record, Begin):
                states.append(IPERF3.state(Buckets()))
            elif not isinstance(record, Misread):
                states[-1].apply(record, f"stream {number}", arrived)
    return states


def state_of(*streams: bytes, arrived: float = ARRIVED) -> State:
    """The state of one test after these streams."""
    (state,) = read(*streams, arrived=arrived)
    return state


def values(state: State, current: bool = True) -> dict[tuple[str, ...], Any]:
    """What a state exports: by name and label values."""
    samples = list(state.samples(current))
    found = {(sample.family.name, *sample.labels): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def parts(data: bytes) -> Mapping[str, Any]:
    """The JSON of one test, by json alone: start, intervals, end."""
    if data.startswith(b"{\n"):
        return dict(json.loads(data))
    events = [json.loads(line) for line in data.splitlines() if line.startswith(b'{"event"')]
    found: dict[str, Any] = {event["event"]: event["data"] for event in events}
    return found | {"intervals": [event["data"] for event in events if event["event"] == "interval"]}
