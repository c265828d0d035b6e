"""The last reading of each source, by threads that read at their own pace."""

import queue
import threading
import time
from collections.abc import Callable

from .known import Known, Page, Past
from .sources import PrometheusReading, Reading, SourceUnreadable, WatchedExporter, WatchedPrometheus

_PROMETHEUS_EVERY = 2.0
"""Shortest time between two readings of Prometheus, seconds."""
_OVERDUE = 5.0
"""Seconds beyond two intervals after which a silent exporter counts as lost."""
_OLD = 10.0
"""Seconds after which a verdict is no longer shown, but not before two intervals have passed."""

_Source = WatchedExporter | WatchedPrometheus


class Readings:
    """The last readings. `interval`: seconds between two of the exporter."""

    def __init__(self, exporter: WatchedExporter, prometheus: WatchedPrometheus | None, interval: float) -> None:
        self._exporter = exporter
        self._prometheus = prometheus
        self._interval = interval
        self._results: queue.SimpleQueue[Reading | PrometheusReading | Exception] = queue.SimpleQueue()
        self._page: Page | None = None
        self._read_at: float | None = None
        self._clock_ahead = 0.0
        self._problem: SourceUnreadable | None = None
        self._past: Past = {}
        self._judged = PrometheusReading(None, {})
        self._judged_at = 0.0

    def read_once(self) -> None:
        """Read each source once."""
        self._read(self._exporter)
        if self._prometheus:
            self._read(self._prometheus)

    def start(self, wake: Callable[[], None]) -> None:
        """Read repeatedly in the background; `wake` is called after each reading of the exporter."""
        self._start(self._exporter, self._interval, wake)
        if self._prometheus:
            self._start(self._prometheus, max(self._interval, _PROMETHEUS_EVERY), lambda: None)

    def _start(self, source: _Source, interval: float, done: Callable[[], None]) -> None:
        def read_on() -> None:
            due = time.monotonic()
            while True:
                self._read(source)
                done()
                due = max(due + interval, time.monotonic())
                time.sleep(max(0.0, due - time.monotonic()))

        threading.Thread(target=read_on, daemon=True).start()

    def _read(self, source: _Source) -> None:
        try:
            self._results.put(source.read())
        except SourceUnreadable as error:
            self._results.put(error)
        except Exception as error:  # a fault of ours: `take` raises it where it ends the command
            self._results.put(error)

    def take(self) -> bool:
        """Take over what has been read; true if there is a new page."""
        fresh = False
        self._past = {}
        while not self._results.empty():
            result = self._results.get()
            if isinstance(result, PrometheusReading):
                self._judged, self._judged_at = result, time.monotonic()
            elif isinstance(result, Reading):
                self._page, self._clock_ahead = result.page, result.clock_ahead
                self._past = {**self._past, **result.past}
                self._read_at, self._problem, fresh = time.monotonic(), None, True
            elif isinstance(result, SourceUnreadable):
                self._problem = result
            else:
                raise result
        return fresh

    def moment(self) -> Known:
        """What is known now."""
        now = time.time() - self._clock_ahead
        silent = 0.0 if self._read_at is None else time.monotonic() - self._read_at
        overdue = SourceUnreadable("does not answer") if silent > 2 * self._interval + _OVERDUE else None
        problem = self._problem or overdue
        return Known(
            now=now,
            page=self._page,
            read_at=None if self._read_at is None else now - silent,
            problem=str(problem or ""),
            advice=problem.advice if problem else "",
            alerts=self._judged.alerts,
            alerts_problem=self._judged.problem,
            past=self._past,
            verdicts=self._judged.verdicts
            if time.monotonic() - self._judged_at < max(_OLD, 2 * self._interval)
            else {},
        )
