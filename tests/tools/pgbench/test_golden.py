"""The whole exposition of some recordings."""

from pathlib import Path

import pytest

from benchwatch.metrics.samples import PARTS, Part
from tests.tools.golden import assert_golden, exposition

from .recordings import read, streams

GOLDEN = Path(__file__).parent / "golden"


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
    assert_golden(GOLDEN / f"{name}.txt", exposition(name, "pgbench", state, current))


@pytest.mark.parametrize("part", PARTS)
def test_results_are_in_one_part_and_what_changes_in_the_other(part: Part) -> None:
    (state,) = read(streams("multi-script-r-18.6"))
    text = exposition("run", "pgbench", state, True, [part])
    assert ("pgbench_tps{" in text, "pgbench_transactions_total{" in text) == (part == "live", part == "live")
    assert ("pgbench_result_tps{" in text, "pgbench_clients{" in text) == (part == "runs", part == "runs")
