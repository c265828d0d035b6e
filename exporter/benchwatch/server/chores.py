"""Long work for pages: in a thread, in turn with other work, repeated only while somebody asks for its result."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

from ..values.errors import UserError
from .cells import note

_log = logging.getLogger("benchwatch.server")
_T = TypeVar("_T")
_Html = TypeVar("_Html", str, str | None)


async def in_turn(lock: asyncio.Lock, work: Callable[[], _T]) -> tuple[_T, float]:
    """What `work` returns, done in a thread while `lock` is held, and the seconds of processor time that it took."""

    def timed() -> tuple[_T, float]:
        begun = time.thread_time()
        return work(), time.thread_time() - begun

    async with lock:
        return await asyncio.to_thread(timed)


def shown(work: Callable[[], _Html]) -> _Html:
    """The HTML that `work` returns, or a note on why it cannot: a fault in one part must not affect the others."""
    try:
        return work()
    except (UserError, OSError) as error:
        return note(str(error))
    except Exception as error:
        _log.warning("a part of a page cannot be drawn: %s: %s", type(error).__name__, error, exc_info=True)
        return note(f"cannot be drawn: {type(error).__name__}; see the exporter's log")


class PagePart(NamedTuple):
    """A part of the page, which is sent only if the browser has another version of it."""

    version: str
    html: str


class Chore:
    """A part that is drawn repeatedly; `work` returns HTML, or None if nothing has changed."""

    def __init__(self, lock: asyncio.Lock, pause: float, work: Callable[[], str | None]) -> None:
        self.part: PagePart | None = None
        self.task: asyncio.Task[None] | None = None
        self._lock = lock
        self._pause = pause
        self._work = work
        self._due = 0.0

    def start(self, share: float) -> None:
        """Draw it again, unless it is being drawn or not yet due.

        `share`: seconds of pause after it for each second of processor time.
        """
        if self.task is None and time.monotonic() >= self._due:
            self.task = asyncio.create_task(self._draw(share))

    async def _draw(self, share: float) -> None:
        try:
            html, cost = await in_turn(self._lock, partial(shown, self._work))
        finally:
            self.task = None
        self._due = time.monotonic() + max(self._pause, 0.0 if self.part is None else cost * share)
        if html is not None:
            self.part = PagePart(f"{time.monotonic_ns():x}", html)
