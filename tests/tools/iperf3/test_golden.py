"""Whole expositions of some recordings, before the last line and after it.

To write them anew after a wanted change, and look at what changed:

    BENCHWATCH_WRITE_GOLDEN=1 python -m pytest tests/tools/iperf3/test_golden.py && git diff tests/tools/iperf3/golden
"""

import os
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import State

from .recordings import data_of, state_of

GOLDEN = Path(__file__).parent / "golden"
FILES = [
    "json-udp-omit-3.18.out",
    "stream-p2-bidir-3.22.out",
    "stream-sigint-3.22.out",
    "stream-udp-3.22.server.out",
    "text-p4-bidir-3.12.out",
    "text-udp-reverse-p2-3.12.out",
]


class Shown:
    """A state as a source of samples."""

    labels = (("run", "golden"), ("worker", "iperf3"))

    def __init__(self, state: State, current: bool) -> None:
        self._state = state
        self._current = current

    @property
    def version(self) -> Hashable:
        return self._state.version

    def samples(self) -> Iterator[Sample]:
        return self._state.samples(self._current)


def lines(text: str) -> list[tuple[str, float | str]]:
    """The lines, with numbers as numbers: how they are written is not this package's business."""
    found: list[tuple[str, float | str]] = []
    for line in text.splitlines():
        start, _, end = line.rpartition(" ")
        found.append((start, end) if line.startswith("#") else (start, float(end)))
    return found


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("moment", ["running", "ended"])
def test_the_exposition_is_the_golden_one(file: str, moment: str) -> None:
    data = data_of(file)
    if moment == "running":
        if file.startswith("json-"):
            pytest.skip("there is one document, at the end")
        ends = [data.find(mark) for mark in (b'{"event":"error"', b'{"event":"end"', b"\n[ ID]")]
        data = (
            data[: data.rindex(b"\n[ ID]")] if file.startswith("text-") else data[: min(end for end in ends if end > 0)]
        )
    state = state_of(data)
    assert bool(state.outcome) == (moment == "ended")
    found = Exposition().render([Shown(state, current=moment == "running")])
    golden = GOLDEN / f"{file.removesuffix('.out')}.{moment}.prom"
    if os.environ.get("BENCHWATCH_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found)
    assert lines(found) == lines(golden.read_text())
