"""The last reading of each source, by threads that read at their own pace."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .known import Judged, Known
from .sources import SourceUnreadable, WatchedExporter, WatchedPrometheus

_PROMETHEUS_EVERY = 2.0
"""Shortest time between two readings of Prometheus, seconds."""
_OVERDUE = 5.0
"""Seconds beyond two intervals after which a silent exporter counts as lost."""
_OLD = 10.0
"""Seconds after which a verdict is no longer shown, but not before two intervals have passed."""

_Read = TypeVar("_Read")


class _Source(Generic[_Read]):
    """What was read last, when (monotonic seconds), and what is wrong since."""

    def __init__(self, read: Callable[[], _Read]) -> None:
        self._read = read
        self.last: _Read | None = None
        self.time = 0.0
        self.fault: Exception | None = None

    def read(self) -> None:
        try:
            self.last, self.time = self._read(), time.monotonic()
            self.fault = None
        except Exception as error:  # `moment` raises a fault of ours where it ends the command
            self.fault = error

    def start(self, interval: float, done: Callable[[], None]) -> None:
        """Read repeatedly in a thread; `done` is called after each reading."""

        def read_on() -> None:
            due = time.monotonic()
            while True:
                self.read()
                done()
                due = max(due + interval, time.monotonic())
                time.sleep(max(0.0, due - time.monotonic()))

        threading.Thread(target=read_on, daemon=True).start()


class Readings:
    """The last readings. `interval`: seconds between two of the exporter."""

    def __init__(self, exporter: WatchedExporter, prometheus: WatchedPrometheus | None, interval: float) -> None:
        self._exporter = _Source(exporter.read)
        self._prometheus = _Source(prometheus.read) if prometheus else None
        self._interval = interval

    def read_once(self) -> None:
        """Read each source once."""
        self._exporter.read()
        if self._prometheus:
            self._prometheus.read()

    def start(self, wake: Callable[[], None]) -> None:
        """Read repeatedly in the background; `wake` is called after each reading of the exporter."""
        self._exporter.start(self._interval, wake)
        if self._prometheus:
            self._prometheus.start(max(self._interval, _PROMETHEUS_EVERY), lambda: None)

    def moment(self) -> Known:
        """What is known now."""
        page, fault = self._exporter.last, self._exporter.fault
        if fault is not None and not isinstance(fault, SourceUnreadable):
            raise fault
        silent = time.monotonic() - self._exporter.time if page else 0.0
        overdue = SourceUnreadable("does not answer") if silent > 2 * self._interval + _OVERDUE else None
        problem = fault or overdue
        now = time.time() - (page.clock_ahead if page else 0.0)
        read_at = now - silent if page else None
        return Known(now, page, read_at, str(problem or ""), problem.advice if problem else "", self._judged())

    def _judged(self) -> Judged:
        if self._prometheus is None:
            return Judged()
        if self._prometheus.fault:
            raise self._prometheus.fault
        judged = self._prometheus.last or Judged()
        old = time.monotonic() - self._prometheus.time >= max(_OLD, 2 * self._interval)
        return judged._replace(verdicts={}) if old else judged
