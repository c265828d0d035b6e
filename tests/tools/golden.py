"""Whole expositions, compared with the files that each tool's tests have in golden/.

After a change that is meant, write them anew and read the difference:

    UPDATE_GOLDEN=1 pytest tests/tools -k golden; git diff tests/tools
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import PARTS, Part, Sample
from benchwatch.tools.states import State


class Shown:
    """One worker of a run, as the exposition sees it."""

    def __init__(self, run: str, worker: str, state: State, current: bool) -> None:
        self.labels = (("run", run), ("worker", worker))
        self.version = state.version
        self._state = state
        self._current = current

    def samples(self) -> Iterator[Sample]:
        yield from self._state.samples(self._current)


def exposition(run: str, worker: str, state: State, current: bool, parts: Iterable[Part] = PARTS) -> str:
    return Exposition().render([Shown(run, worker, state, current)], parts)


def assert_golden(path: Path, text: str) -> None:
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
