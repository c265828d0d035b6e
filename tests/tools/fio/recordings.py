"""The recordings of fio, how a test reads them, and what they say when read by simpler means."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import Counters
from benchwatch.tools.fio.state import FioState

ROOT = Path(__file__).parents[2] / "recordings" / "fio"
STREAMS = sorted(path for path in ROOT.rglob("*") if path.is_file() and path.suffix != ".cmd")
"""Every recorded stream: standard outputs, standard errors and --output files."""
NAMES = [str(path.relative_to(ROOT)) for path in STREAMS if not path.name.startswith("stored-")]
ARRIVED = 1795190000.0
"""A time after all recordings."""


def data_of(name: str) -> bytes:
    return (ROOT / name).read_bytes()


def texts_of(data: bytes) -> list[bytes]:
    """The documents of a stream as fio printed them, whole ones only."""
    texts = []
    for start in re.finditer(rb'\{\n  "fio version"', data):
        end = data.find(b"\n}\n", start.start())
        text = data[start.start() : end + 3]
        if end >= 0 and text.count(b'"fio version"') == 1:
            texts.append(text)
    return texts


def plain(text: bytes) -> Any:
    """A document as plain JSON, without the entries that stand for no job."""
    tree = json.loads(re.sub(rb" : -?nan", b" : 0", text).decode("utf-8", "replace"), strict=False)
    if "jobs" in tree:
        tree["jobs"] = [job for job in tree["jobs"] if "jobname" in job]
    return tree


def documents_of(name: str) -> list[Any]:
    return [plain(text) for text in texts_of(data_of(name))]


def with_documents() -> list[str]:
    return [name for name in NAMES if texts_of(data_of(name))]


def shown_as(document: Any, job: Any, direction: str) -> str:
    """The operation under which what fio prints under a direction is shown."""
    shared = document.get("global options", {})
    options = {**(shared if isinstance(shared, dict) else {}), **job.get("job options", {})}
    verification = "verify" in options and options.get("rw") in ("write", "randwrite", "trimwrite")
    return "verify" if direction == "read" and verification else direction


def doctored(text: bytes, **numbers: int) -> bytes:
    """A document with other numbers under these keys, wherever they occur."""
    for key, value in numbers.items():
        text, count = re.subn(rb'"%s" : -?\d+' % key.encode(), b'"%s" : %d' % (key.encode(), value), text)
        assert count, f"the document has no {key}"
    return text


def new_state() -> FioState:
    return FIO.state(Buckets())


def parse(data: bytes, cuts: Iterable[int] = (), kind: str = "text") -> list[Any]:
    """All records of a stream that arrives in pieces cut at `cuts`."""
    parser = FIO.parser(kind)
    places = [0, *sorted(cuts), len(data)]
    records: list[Any] = []
    for start, stop in pairwise(places):
        records += parser.feed(data[start:stop])
    return [*records, *parser.close()]


def comparable(records: Iterable[Any]) -> list[Any]:
    """The records with documents as JSON, in which also their raw parts are equal if they are."""
    return [msgspec.json.encode(record.document) if isinstance(record, Counters) else record for record in records]


def read(
    *streams: bytes,
    arrived: float = ARRIVED,
    on_document: Callable[[FioState], None] | None = None,
    kind: str = "text",
) -> list[FioState]:
    """The states of the runs in these streams, read one after the other."""
    states = [new_state()]
    for number, data in enumerate(streams):
        for record in parse(data, kind=kind):
            if isinstance(record, Begin):
                states.append(new_state())
            elif not isinstance(record, Misread):
                states[-1].apply(record, f"stream {number}", arrived)
                if on_document and isinstance(record, Counters):
                    on_document(states[-1])
    return states


def state_of(*streams: bytes, arrived: float = ARRIVED, kind: str = "text") -> FioState:
    """The state of the one run in these streams."""
    (state,) = read(*streams, arrived=arrived, kind=kind)
    return state


def misread(data: bytes, kind: str = "text") -> list[str]:
    """The reasons of what was not understood."""
    return [record.reason for record in parse(data, kind=kind) if isinstance(record, Misread)]


def values(state: FioState, current: bool = True) -> dict[tuple[str, ...], Any]:
    """What the state exports, by name and label values."""
    samples: Sequence[Sample] = list(state.samples(current))
    found = {(sample.family.name, *sample.labels): sample.value for sample in samples}
    assert len(found) == len(samples), "two samples of one series"
    assert {sample.family for sample in samples} <= set(FIO.families)
    assert all(len(sample.labels) == len(sample.family.labels) for sample in samples)
    return found


def after_each(name: str, current: bool = True) -> list[dict[tuple[str, ...], Any]]:
    """What is exported after each document of a recording."""
    found: list[dict[tuple[str, ...], Any]] = []
    read(data_of(name), on_document=lambda state: found.append(values(state, current)))
    return found
