import asyncio
import time
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from benchwatch.server.command import _watch


def test_looks_that_take_long_leave_nine_tenths_of_the_processor_to_others() -> None:
    looks: list[float] = []
    stopping = asyncio.Event()

    def look(_now: float, _elapsed: float) -> bool:
        looks.append(time.monotonic())
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass
        if len(looks) == 3:
            stopping.set()
        return False

    given: Any = SimpleNamespace(poll=look, news=lambda _: (), sum_up=lambda: None)
    asyncio.run(_watch(given, 0.01, stopping, given, given))
    assert all(later - earlier >= 0.2 for earlier, later in pairwise(looks))
    assert len(looks) == 3
