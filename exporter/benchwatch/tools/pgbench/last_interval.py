"""The last interval of a run: that of its last progress line, or the last closed second of its transaction log.

The log is used if there are no progress lines, or if they stop long before it does: thread 0, which prints them, may
finish first. Only the latencies of a sampled log are used. If a progress line after the last closed second says that
nothing completes any more, there are no latencies to show.
"""

from collections.abc import Iterator

from ...metrics.samples import Family, Sample
from ..api import Figures
from . import metrics
from .log import TransactionLog
from .progress import Progress
from .windows import QUANTILE_LABELS, QUANTILES

_SILENT_INTERVALS = 3


class LastInterval:
    """The last progress line, printed at `time` (Unix seconds) every `interval` seconds, or the log."""

    def __init__(self, line: Progress | None, time: float, interval: float, log: TransactionLog) -> None:
        window = log.windows.last
        if window and line and line.idle and time > window.second + 1:
            window = None
        if line and log.end is not None and log.whole and log.end - time > _SILENT_INTERVALS * interval:
            line = None
        self.line = line
        """The line to show; None: show the log."""
        self._time = time
        self._window = window
        self._log = log

    def samples(self) -> Iterator[Sample]:
        """Its gauges and quantiles."""
        for family, value in self._gauges().items():
            if value is not None:
                yield Sample(family, (), value)
        if window := self._window:
            for label, value in zip(QUANTILE_LABELS, window.quantiles, strict=True):
                yield Sample(metrics.LATENCY_WINDOW, (label,), value)
            yield Sample(metrics.LATENCY_WINDOW_TIME, (), window.second + 1)

    def figures(self, transactions: int | None) -> Figures:
        """See tools.State; `transactions` is their number so far."""
        gauges, window = self._gauges(), self._window
        return Figures(
            gauges.get(metrics.TPS),
            gauges.get(metrics.LATENCY_AVERAGE),
            window.quantiles[QUANTILES.index(0.99)] if window else None,
            transactions,
            gauges.get(metrics.INTERVAL_TIME),
            window.second + 1 if window else None,
        )

    def _gauges(self) -> dict[Family, float | None]:
        if line := self.line:
            return {
                metrics.TPS: line.tps,
                metrics.LATENCY_AVERAGE: line.latency,
                metrics.LATENCY_STDDEV: line.stddev,
                metrics.LAG: line.lag,
                metrics.INTERVAL_TIME: self._time,
            }
        windows = self._log.windows
        if not (self._log.whole and windows.measured):
            return {}
        window, closed = windows.last, windows.closed
        return {
            metrics.TPS: float(window.transactions) if window else 0.0,
            metrics.LATENCY_AVERAGE: window.latency_average if window else None,
            metrics.LATENCY_STDDEV: window.latency_stddev if window else None,
            metrics.INTERVAL_TIME: None if closed is None else closed + 1,
        }
