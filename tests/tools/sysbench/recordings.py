"""The recordings of sysbench, and how a test reads them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit import KitState
from benchwatch.tools.sysbench import SYSBENCH

ROOT = Path(__file__).parents[2] / "recordings" / "sysbench"
STREAMS = {path.parent.name.removesuffix("-1.0.20"): path for path in sorted(ROOT.glob("*/*.out"))}
"""The standard output of each recording, by its name; without the version if that is 1.0.20."""
OLD = [name for name in STREAMS if name.endswith(("-0.4.12", "-0.4.12.10", "-0.5"))]
NAMES = [name for name in STREAMS if name not in OLD]
ARRIVED = 1795350000.0
"""A time after all recordings."""
LINE = (
    "[ {0}s ] thds: 4 tps: {1}.00 qps: {1}.00 (r/w/o: {1}.00/0.00/0.00) lat (ms,99%): 2.00 err/s: 0.00 reconn/s: 0.00\n"
)
"""A line of a database test, to be given its seconds and its rate."""


def data_of(name: str) -> bytes:
    return STREAMS[name].read_bytes()


def text_of(name: str) -> str:
    return data_of(name).decode()


def timing_of(name: str) -> list[tuple[float, int]]:
    """When how many bytes arrived from standard output, Unix seconds; the times when they were recorded."""
    lines = (STREAMS[name].parent / "timing.log").read_text().splitlines()
    begun = float(lines[0].split("=")[1].split(";")[0])
    fields = [line.split(maxsplit=3) for line in lines[1:]]
    return [(begun + float(field[0]), int(field[2])) for field in fields if field[1] == "out"]


def parse(data: bytes, cuts: Iterable[int] = ()) -> list[Any]:
    """All records of a stream that arrives in pieces cut at `cuts`."""
    parser = SYSBENCH.parser("text")
    places = [0, *sorted(cuts), len(data)]
    records: list[Any] = []
    for start, stop in pairwise(places):
        records += parser.feed(data[start:stop])
    return [*records, *parser.close()]


def new_state() -> KitState:
    state = SYSBENCH.state(Buckets())
    assert isinstance(state, KitState)
    return state


def read(*streams: bytes, arrived: float = ARRIVED) -> list[KitState]:
    """The states of the runs in these streams, read one after the other."""
    states = [new_state()]
    for number, data in enumerate(streams):
        for record in parse(data):
            if isinstance(record, Begin):
                states.append(new_state())
            elif not isinstance(record, Misread):
                states[-1].apply(record, f"stream {number}", arrived)
    return states


def state_of(*streams: bytes, arrived: float = ARRIVED) -> KitState:
    """The state of the one run in these streams."""
    (state,) = read(*streams, arrived=arrived)
    return state


def misread(data: bytes) -> list[str]:
    """The reasons of what was not understood."""
    return [record.reason for record in parse(data) if isinstance(record, Misread)]


def values(state: KitState, current: bool = True) -> dict[tuple[str, ...], Any]:
    """What the state exports, by name (without `sysbench_`) and label values."""
    samples: Sequence[Sample] = list(state.samples(current))
    found = {(sample.family.name.removeprefix("sysbench_"), *sample.labels): sample.value for sample in samples}
    assert len(found) == len(samples), "two samples of one series"
    assert {sample.family for sample in samples} <= set(SYSBENCH.families)
    assert all(len(sample.labels) == len(sample.family.labels) for sample in samples)
    return found
