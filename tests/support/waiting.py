"""Waiting until something holds, however busy the machine is."""

import time
from collections.abc import Callable

import pytest

PATIENCE = 120.0
"""Seconds after which what has not come is given up. Nobody waits that long but for a fault."""


_OFTEN, _RARELY = 0.02, 0.25
"""Seconds between two looks at a condition: at one that costs next to nothing, and at most."""
_SHARE = 20
"""How many times longer than a look the wait for the next one is, so that waiting takes no processor from others."""


def eventually(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Waits until the condition holds; fails the test, saying what was awaited, if it does not in that time."""
    deadline = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        if condition():
            return
        ended = time.monotonic()
        if ended > deadline:
            pytest.fail(f"after {seconds:g} s still not so: {what}")
        time.sleep(min(max(_OFTEN, _SHARE * (ended - begun)), _RARELY))
