"""The whole exposition of some recordings, compared with files in golden/.

After a change that is meant: `UPDATE_GOLDEN=1 pytest tests/tools/sysbench/test_golden.py`, and read the difference.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Sample
from benchwatch.tools.sysbench.state import SysbenchState

from .recordings import data_of, state_of

GOLDEN = Path(__file__).parent / "golden"


class Worker:
    """One worker of a run, as the exposition sees it."""

    def __init__(self, run: str, state: SysbenchState, current: bool) -> None:
        self.labels = (("run", run), ("worker", "sysbench"))
        self.version = state.version
        self._state = state
        self._current = current

    def samples(self) -> Iterator[Sample]:
        yield from self._state.samples(self._current)


@pytest.mark.parametrize(
    ("name", "current"),
    [
        ("rw-rate", True),
        ("rw-t8-histogram", False),
        ("fileio-rndrw-t4", True),
        ("threads", True),
        ("memory", False),
        ("checkpoints", False),
    ],
)
def test_exposition(name: str, current: bool) -> None:
    text = Exposition().render([Worker(name, state_of(data_of(name)), current)])
    path = GOLDEN / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
