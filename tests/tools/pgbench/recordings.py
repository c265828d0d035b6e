"""The recordings of pgbench, and how a test reads them."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.pgbench.state import PgbenchState

ROOT = Path(__file__).parents[2] / "recordings" / "pgbench"
NAMES = sorted({path.name if path.is_dir() else path.stem for path in ROOT.iterdir()})
LOGS = sorted(
    path
    for path in ROOT.glob("*/*")
    if re.fullmatch(r"(pgbench_log|myrun|pgb)\.\d+(\.\d+)?", path.name) and path.stat().st_size
)
TRANSACTION_LOGS = [path for path in LOGS if not path.parent.name.startswith(("agglog", "sigkill"))]
TEXTS = sorted(
    path
    for path in [*ROOT.glob("*.*"), *ROOT.glob("*/*")]
    if (path.suffix in (".err", ".out", ".log") and path.name != "timing.log")
    or path.name in ("stderr", "stdout", "err", "out")
)
ARRIVED = 1795190000.0
"""A time after all recordings."""
PROGRESS = "progress: {}.0 s, {}.0 tps, lat 1.000 ms stddev 0.500, 0 failed\n"
"""A progress line, to be given its seconds and its rate."""


def streams(name: str) -> dict[str, bytes]:
    """The streams of one recording by name, in the order stderr, stdout, logs."""
    paths = [
        path for path in [*TEXTS, *LOGS] if path.parent.name == name or (path.parent == ROOT and path.stem == name)
    ]
    return {path.name: path.read_bytes() for path in paths}


def command(name: str) -> str:
    """The .cmd file of a recording."""
    inside = ROOT / name / f"{name}.cmd"
    return (inside if inside.exists() else ROOT / f"{name}.cmd").read_text()


def new_state() -> PgbenchState:
    state = PGBENCH.state(Buckets())
    assert isinstance(state, PgbenchState)
    return state


def parse(kind: str, data: bytes, cuts: Iterable[int] = ()) -> list[Any]:
    """All records of a stream that arrives in pieces cut at `cuts`."""
    parser = PGBENCH.parser(kind)
    places = [0, *sorted(cuts), len(data)]
    records: list[Any] = []
    for start, stop in pairwise(places):
        records += parser.feed(data[start:stop])
    return [*records, *parser.close()]


def text_records(text: str) -> list[Any]:
    return parse("text", text.encode())


def read(parts: dict[str, bytes], arrived: float = ARRIVED) -> list[PgbenchState]:
    """The states of the runs in these streams, one stream read after the other."""
    states = [new_state()]
    for stream, data in parts.items():
        kind = PGBENCH.recognise(data)
        for record in parse(kind, data) if kind else ():
            if isinstance(record, Begin):
                states.append(new_state())
            elif not isinstance(record, Misread):
                states[-1].apply(record, stream, arrived)
    return states


def state_of(*texts: str, arrived: float = ARRIVED) -> PgbenchState:
    """The state of one run after these texts, each a stream."""
    (state,) = read({f"stream {number}": text.encode() for number, text in enumerate(texts)}, arrived)
    return state


def values(state: PgbenchState, current: bool = True) -> dict[tuple[str, ...], Any]:
    """What the state exports: by name and label values."""
    samples: Sequence[Sample] = list(state.samples(current))
    found = {(sample.family.name, *sample.labels): sample.value for sample in samples}
    assert len(found) == len(samples), "two samples of one series"
    return found


def counters(state: PgbenchState) -> dict[str, int]:
    return {
        sample.family.name: int(sample.value)  # type: ignore[arg-type]
        for sample in state.samples(True)
        if sample.family.kind == "counter"
    }
