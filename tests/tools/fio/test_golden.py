"""Whole expositions of some recordings, before the last document and after it.

To write them anew after a wanted change, and look at what changed:

    BENCHWATCH_WRITE_GOLDEN=1 python -m pytest tests/tools/fio/test_golden.py && git diff tests/tools/fio/golden
"""

import os
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Sample
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.state import FioState

from .recordings import ARRIVED, data_of, texts_of

GOLDEN = Path(__file__).parent / "golden"
NAMES = [
    "client-clones-jsonplus-si1-3.33.out",
    "json-multi-stonewall-3.42.out",
    "json-si1-randrw-3.33.out",
    "json-sync-fsync8-3.33.out",
    "json-unified1-3.42.out",
    "jsonplus-numjobs64-3.33.out",
    "jsonplus-si1-libaio-qd16-3.7.out",
    "jsonplus-si1-libaio-qd16-3.42.out",
    "sigint-json-outputfile-3.33/out.json",
]


class Shown:
    """A state as a source of samples."""

    labels = (("run", "golden"), ("worker", "fio"))

    def __init__(self, state: FioState, current: bool) -> None:
        self._state = state
        self._current = current

    @property
    def version(self) -> Hashable:
        return self._state.version

    def samples(self) -> Iterator[Sample]:
        return self._state.samples(self._current)


def exposition(data: bytes, current: bool) -> str:
    state = FIO.state(Buckets(per_octave=1))
    parser = FIO.parser("text")
    for record in [*parser.feed(data), *parser.close()]:
        state.apply(record, "stdout", ARRIVED)
    return Exposition().render([Shown(state, current)])


def lines(text: str) -> list[tuple[str, float | str]]:
    """The lines, with numbers as numbers: how they are written is not this package's business."""
    found: list[tuple[str, float | str]] = []
    for line in text.splitlines():
        start, _, end = line.rpartition(" ")
        found.append((start, end) if line.startswith("#") else (start, float(end)))
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("moment", ["running", "ended"])
def test_the_exposition_is_the_golden_one(name: str, moment: str) -> None:
    data = data_of(name)
    if moment == "running":
        data = data[: data.rindex(texts_of(data)[-1])]
        if not texts_of(data):
            pytest.skip("a client prints one document")
    found = exposition(data, current=moment == "running")
    golden = GOLDEN / f"{Path(name).with_suffix('').as_posix().replace('/', '-')}.{moment}.prom"
    if os.environ.get("BENCHWATCH_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found)
    assert lines(found) == lines(golden.read_text())
