"""The last reading of each source, by threads that read at their own pace."""

import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from .model import Page, Past
from .screen import ScreenMoment
from .sources import PrometheusReading, Reading, SourceUnreadable, WatchedExporter, WatchedPrometheus

_OVERDUE = 5.0
"""Seconds beyond two intervals after which a silent exporter counts as lost."""
_OLD = 10.0
"""Seconds after which a verdict is no longer shown."""


class ReadSource(Protocol):
    """Something to read repeatedly."""

    def read(self) -> object:
        """What there is now. Raises SourceUnreadable."""


class Readings:
    """The last readings. `interval`: seconds between two of the exporter."""

    def __init__(self, exporter: WatchedExporter, prometheus: WatchedPrometheus | None, interval: float) -> None:
        self._exporter = exporter
        self._prometheus = prometheus
        self._interval = interval
        self._results: queue.SimpleQueue[tuple[ReadSource, object]] = queue.SimpleQueue()
        self._page: Page | None = None
        self._read_at: float | None = None
        self._clock_ahead = 0.0
        self._problem: SourceUnreadable | None = None
        self._past: Past = {}
        self._told: PrometheusReading | None = None
        self._told_at = 0.0
        self._alerts_problem = ""

    def read_once(self) -> None:
        """Read each source once."""
        sources: list[ReadSource] = [self._exporter, *([self._prometheus] if self._prometheus else [])]
        for source in sources:
            self._results.put((source, _read(source)))

    def start(self, wake: Callable[[], None], alerts_every: float) -> None:
        """Read repeatedly in the background; `wake` is called after each reading of the exporter."""
        self._start(self._exporter, self._interval, wake)
        if self._prometheus:
            self._start(self._prometheus, max(self._interval, alerts_every), lambda: None)

    def _start(self, source: ReadSource, interval: float, done: Callable[[], None]) -> None:
        def read_on() -> None:
            due = time.monotonic()
            while True:
                self._results.put((source, _read(source)))
                done()
                due = max(due + interval, time.monotonic())
                time.sleep(max(0.0, due - time.monotonic()))

        threading.Thread(target=read_on, daemon=True).start()

    def take(self) -> bool:
        """Take over what has been read; true if there is a new page."""
        fresh = False
        self._past = {}
        while not self._results.empty():
            source, result = self._results.get()
            if isinstance(result, Exception) and not isinstance(result, SourceUnreadable):
                raise result
            if source is self._prometheus:
                self._told = result if isinstance(result, PrometheusReading) else None
                self._told_at = time.monotonic()
                self._alerts_problem = self._told.problem if self._told else str(result)
            elif isinstance(result, SourceUnreadable):
                self._problem = result
            elif isinstance(result, Reading):
                self._page, self._clock_ahead = result.page, result.clock_ahead
                self._past = {**self._past, **result.past}
                self._read_at, self._problem, fresh = time.monotonic(), None, True
        return fresh

    def moment(self) -> ScreenMoment:
        """The current state of knowledge."""
        now = time.time() - self._clock_ahead
        silent = 0.0 if self._read_at is None else time.monotonic() - self._read_at
        overdue = SourceUnreadable("does not answer") if silent > 2 * self._interval + _OVERDUE else None
        problem = self._problem or overdue
        return ScreenMoment(
            now=now,
            page=self._page,
            read_at=None if self._read_at is None else now - silent,
            problem=str(problem or ""),
            advice=problem.advice if problem else "",
            alerts=self._told.alerts if self._told else None,
            alerts_problem=self._alerts_problem,
            past=self._past,
            verdicts=self._told.verdicts if self._told and time.monotonic() - self._told_at < _OLD else {},
        )


def _read(source: ReadSource) -> object:
    """What was read, or why it could not be."""
    try:
        return source.read()
    except Exception as error:
        return error
