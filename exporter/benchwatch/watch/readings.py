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
"""Seconds after which a slow time is no longer shown, but not before two intervals have passed."""

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

    def read_on(self, interval: float, done: Callable[[], None]) -> None:
        """Read repeatedly, without an end; `done` is called after each reading."""
        due = time.monotonic()
        while True:
            self.read()
            done()
            due = max(due + interval, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


class Readings:
    """The last readings. `interval`: seconds between two of the exporter."""

    def __init__(self, exporter: WatchedExporter, prometheus: WatchedPrometheus | None, interval: float) -> None:
        self._exporter = _Source(exporter.read)
        self._prometheus = _Source(prometheus.read if prometheus else Judged)
        self._interval = interval

    def read_once(self) -> None:
        """Read each source once."""
        self._exporter.read()
        self._prometheus.read()

    def start(self, wake: Callable[[], None]) -> None:
        """Read repeatedly in the background; `wake` is called after each reading of the exporter."""
        seldom = max(self._interval, _PROMETHEUS_EVERY)
        threading.Thread(target=self._exporter.read_on, args=(self._interval, wake), daemon=True).start()
        threading.Thread(target=self._prometheus.read_on, args=(seldom, lambda: None), daemon=True).start()

    def moment(self) -> Known:
        """What is known now."""
        page, fault = self._exporter.last, self._exporter.fault
        for unexpected in (fault, self._prometheus.fault):
            if unexpected is not None and not isinstance(unexpected, SourceUnreadable):
                raise unexpected
        silent = time.monotonic() - self._exporter.time if page else 0.0
        overdue = SourceUnreadable("does not answer") if silent > 2 * self._interval + _OVERDUE else None
        problem = fault or overdue
        judged = self._prometheus.last or Judged()
        if time.monotonic() - self._prometheus.time >= max(_OLD, 2 * self._interval):
            judged = judged._replace(slow={})
        now = time.time() - (page.clock_ahead if page else 0.0)
        read_at = now - silent if page else None
        return Known(now, page, read_at, str(problem or ""), getattr(problem, "advice", ""), judged)
