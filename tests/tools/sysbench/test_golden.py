"""The whole exposition of some recordings."""

from pathlib import Path

import pytest

from tests.tools.golden import assert_golden, exposition

from .recordings import data_of, state_of

GOLDEN = Path(__file__).parent / "golden"


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
    assert_golden(GOLDEN / f"{name}.txt", exposition(name, "sysbench", state_of(data_of(name)), current))
