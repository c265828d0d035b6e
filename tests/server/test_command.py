import asyncio
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from benchwatch.server.command import _watch


def work(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_looks_that_take_long_leave_nine_tenths_of_the_processor_to_others() -> None:
    looks: list[float] = []
    stopping = asyncio.Event()

    def look(_now: float, _elapsed: float) -> Iterator[None]:
        looks.append(time.monotonic())
        work(0.02)
        yield
        if len(looks) == 3:
            stopping.set()

    given: Any = SimpleNamespace(steps=look, more=False, news=lambda _: ())
    asyncio.run(_watch(given, 0.01, stopping, given))
    assert all(later - earlier >= 0.2 for earlier, later in pairwise(looks))
    assert len(looks) == 3


def test_others_get_their_turn_during_a_look_at_many_runs() -> None:
    turns: list[int] = []
    seen: list[int] = []

    async def serve() -> None:
        stopping = asyncio.Event()

        def look(_now: float, _elapsed: float) -> Iterator[None]:
            for _ in range(3):
                seen.append(len(turns))
                work(0.06)
                yield
            stopping.set()

        async def others() -> None:
            while not stopping.is_set():
                turns.append(1)
                await asyncio.sleep(0)

        given: Any = SimpleNamespace(steps=look, more=False, news=lambda _: ())
        await asyncio.gather(_watch(given, 0.01, stopping, given), others())

    asyncio.run(serve())
    assert seen == [0, 1, 2]
