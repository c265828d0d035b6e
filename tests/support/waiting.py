"""Waiting until something holds, however busy the machine is."""

import time
from collections.abc import Callable

import pytest

PATIENCE = 120.0
"""Seconds after which what has not come is given up. Nobody waits that long but for a fault."""


def eventually(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Waits until the condition holds; fails the test, saying what was awaited, if it does not in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"after {seconds:g} s still not so: {what}")
        time.sleep(0.02)
