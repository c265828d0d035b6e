"""The whole exposition of some recordings, compared with files in golden/.

After a change that is meant: `UPDATE_GOLDEN=1 pytest tests/tools/pgbench/test_golden.py`, and read the difference.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import PARTS, Part, Sample
from benchwatch.tools.pgbench.state import PgbenchState

from .recordings import read, streams

GOLDEN = Path(__file__).parent / "golden"


class Worker:
    """One worker of a run, as the exposition sees it."""

    def __init__(self, run: str, state: PgbenchState, current: bool) -> None:
        self.labels = (("run", run), ("worker", "pgbench"))
        self.version = state.version
        self._state = state
        self._current = current

    def samples(self) -> Iterator[Sample]:
        yield from self._state.samples(self._current)


@pytest.mark.parametrize(
    ("name", "current"),
    [
        ("tpcb-9.3.19", False),
        ("zerotx-sleep2.5-9.4.14", True),
        ("multi-script-r-9.6.5", False),
        ("rate-lat-10bp", True),
        ("tpcb-15.18", False),
        ("sigint-mid-15.18", True),
        ("serial-maxtries3-detailed-18.6", False),
        ("txlog-failures-detailed-18.6", True),
    ],
)
def test_exposition(name: str, current: bool) -> None:
    (state,) = read(streams(name))
    text = Exposition().render([Worker(name, state, current)])
    path = GOLDEN / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("part", PARTS)
def test_results_are_in_one_part_and_what_changes_in_the_other(part: Part) -> None:
    (state,) = read(streams("multi-script-r-18.6"))
    text = Exposition().render([Worker("run", state, current=True)], [part])
    assert ("pgbench_tps{" in text, "pgbench_transactions_total{" in text) == (part == "live", part == "live")
    assert ("pgbench_result_tps{" in text, "pgbench_clients{" in text) == (part == "runs", part == "runs")
