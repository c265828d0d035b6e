"""What is known of one pgbench process, from its text and its logs, in whatever order these are read.

The source of each number:

- counters: the final report; before it the largest number from progress lines (`progress`), transaction log (unless it
  is sampled) and aggregated log. None of them is ever ahead of the truth, and the largest never goes back.
- gauges of the last interval and `history`: the progress lines. The closed seconds of the transaction log, unless it is
  sampled, if there are no lines, or if they stop long before it does: thread 0, which prints them, may finish first.
- latency histogram and windows: the transaction log.

Times:

- The run starts with the first transaction in the log, or an interval before the first --progress-timestamp, whichever
  is earlier. Without them, or if they are late (a low -R), the start follows from the last line that says how long the
  run has taken, a progress line or the report, and from when that was written (`beginning`); but not if their times
  are later than those of the files, so that these are on another clock.
- The run ends after its length, calculated from the report's rate and transactions; without them with the last write
  to a stream with a message, if that is not long after the last report, as in a copy.

Logs whose end precedes the start of the run belong to an earlier run, which left them behind, and are ignored. The
benchmark's clock shows that if the progress lines have Unix times, for it dates the log too; else that of the files, by
when logs and text were last written, unless the log was copied. A log with exactly the transactions of the final report
belongs to its run in any case.
"""

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...metrics.buckets import Buckets
from ...metrics.latencies import is_cut_off
from ...metrics.samples import Sample
from ..states import HISTORY, PUNCTUAL, ROUNDING, SLOW, Figures, Outcome, Report, State, Written, beginning
from . import metrics
from .lifecycle import Banner, Lifecycle, LifecycleEvent
from .log import Logs
from .progress import Progress, ProgressCount
from .summary import Complete, Entry
from .transactions import AggregateInterval, Transactions
from .windows import QUANTILE_LABELS, QUANTILES, WAIT, Second

_ROWS_PER_SCALE = 100_000
_SILENT_INTERVALS = 3


class PgbenchState(State):
    """One run of pgbench."""

    def __init__(self, buckets: Buckets) -> None:
        super().__init__()
        self._lifecycle = Lifecycle()
        self._count = ProgressCount()
        self._lines: deque[Progress] = deque(maxlen=HISTORY)
        self._every_log = Logs(buckets)
        self._no_log = Logs(buckets)
        self._log_written = -math.inf  # when a log was last written, Unix seconds
        self._text_begun: dict[str, float] = {}  # by stream: when its text was last written, less the seconds in it
        self._behind = math.inf  # the shortest time from a Unix time in lines and logs to its arrival, seconds
        self._printed: dict[str, int] = {}  # counters of the progress lines
        self._results: dict[tuple[str, ...], float] = {}  # of the final report, by name and labels
        self._server_version = ""
        self._scale_factor = 0  # of an initialisation
        self._lengths: dict[str, float] = {}  # by stream: the length of the run according to its report, seconds
        self._initialising: dict[str, float] = {}  # by stream: seconds at its last line of an initialisation
        self._messages: set[str] = set()  # streams with a message

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        self._lifecycle.add(record)
        match record:
            case Progress():
                self._apply_progress(record, stream)
                if record.epoch:
                    self._behind = min(arrived - record.time, self._behind)
            case Transactions(end=time) | AggregateInterval(start=time):
                self._every_log.add(record, stream)
                self._log_written = max(arrived, self._log_written)
                self._behind = min(arrived - time, self._behind)
            case Entry(name, str(text)):
                self._parameters[name] = text
            case Entry(name, int() | float() as number, labels):
                self._results[name, *labels] = number
            case Complete(length):
                self._every_log.windows.complete()
                self._messages.add(stream)
                if length is not None:
                    self._lengths[stream] = length
            case Banner(version, None):
                self.tool_version = self.tool_version or version
            case Banner(version, server):
                self.tool_version, self._server_version = version, server or ""
            case LifecycleEvent("vacuum"):
                pass
            case LifecycleEvent(kind, _, rows, seconds):
                self._messages.add(stream)
                if kind == "rows":
                    self._scale_factor = rows // _ROWS_PER_SCALE
                if seconds is not None:
                    self._initialising[stream] = seconds

    def _apply_progress(self, line: Progress, stream: str) -> None:
        self.reporting.add(stream)
        covered = self._count.add(line)
        self._lines.append(line)
        self._printed["transactions"] = self._count.transactions
        for name in ("failed", "skipped", "retried", "retries"):
            if (count := getattr(line, name)) is not None:
                self._printed[name] = self._printed.get(name, 0) + count
        if not line.idle:
            self.idle_reports = 0
        elif covered >= (self._count.interval or 0) / 2:  # not the short line that follows a late one
            self.idle_reports += 1
        if not line.epoch:
            self._elapsed[stream] = line.time

    def written(self, stream: str, times: Written) -> None:
        """See tools.State."""
        super().written(stream, times)
        seconds = self._lengths.get(stream, self._elapsed.get(stream))
        if seconds is not None and not times.undated:
            self._text_begun[stream] = times.last - seconds

    @property
    def left_behind(self) -> Collection[str]:
        """See tools.State."""
        log, executed = self._every_log, self._results.get(("transactions",))
        if not log.streams or executed in (
            log.transactions,
            log.transactions + log.skipped,
        ):  # a text may be edited later
            return ()
        if (begun := self._count.start) is not None:  # up to an interval too late while the interval is not known
            ends = [time for time in (log.end, log.last_interval) if time is not None]
            precedes = bool(ends) and max(ends) < begun - SLOW - PUNCTUAL
        else:
            begun = min(self._text_begun.values(), default=-math.inf)
            precedes = self._log_written < begun - PUNCTUAL and self._behind < SLOW
        return log.streams if precedes else ()

    @property
    def _log(self) -> Logs:
        """The logs of this run; none if they belong to an earlier one."""
        return self._no_log if self.left_behind else self._every_log

    def tick(self, now: float, *, is_read: bool = False) -> None:
        """Closes seconds of the transaction log; they wait by the clock that dates the log."""
        time = now + WAIT if is_read else now - self._behind
        if time > -math.inf and self._every_log.windows.tick(time):
            self.version += 1

    @property
    def start(self) -> float | None:
        """When the run began, Unix seconds; for an initialisation alone, when it generated the first rows."""
        elapsed = self._lengths or self._elapsed if self._lifecycle.benchmark else self._initialising
        lines = [(seconds, self._written[stream]) for stream, seconds in elapsed.items()]
        tolerance = 0.0 if self._lengths else PUNCTUAL
        dated = min((time for time in (self._log.begin, self._count.start) if time is not None), default=None)
        if dated is None:
            interval = self._count.interval or 0.0
            return min((beginning(seconds, times, tolerance, interval) for seconds, times in lines), default=None)
        if self._is_ahead():
            return dated
        # A file that was written long before is a copy, or has the times of another clock.
        earlier = (times.last - seconds for seconds, times in lines if not times.undated)
        return min((time for time in earlier if tolerance < dated - time <= SLOW), default=dated)

    def _is_ahead(self) -> bool:
        """Whether the benchmark's clock is ahead of that of its files: its last times are later than their last write.

        The times of arrival do not show it: a file may have grown since its times were looked up.
        """
        line = self._lines[-1].time if self._lines and self._lines[-1].epoch else None
        latest = max((time for time in (self._log.end, line) if time is not None), default=-math.inf)
        return latest - max(times.last for times in self._written.values()) > ROUNDING

    @property
    def end(self) -> float | None:
        """When the run ended, Unix seconds; None while nothing shows that it did."""
        if not self.outcome:
            return None
        start = self.start
        if start is not None and self._lengths:
            return start + max(self._lengths.values())
        return self._heard(self._reported, self._messages)

    @property
    def last_report(self) -> float | None:
        """When pgbench last reported: a progress line, a transaction in the log, or the report; for -i any line."""
        if not self._lifecycle.benchmark:
            return self._heard(None, self._messages)
        end = self.end if self._lifecycle.complete else None
        return max((time for time in (self._reported, end) if time is not None), default=None)

    @property
    def report_interval(self) -> float | None:
        """The N of -P; without progress lines, how often the transaction log can have news."""
        return self._count.interval if self._line else self._log.interval

    @property
    def outcome(self) -> Outcome:
        """See `Lifecycle`."""
        return self._lifecycle.outcome

    @property
    def reason(self) -> str:
        """See `Lifecycle`."""
        return self._lifecycle.reason

    @property
    def history(self) -> deque[Report]:
        """The progress lines; without them the whole seconds of the transaction log."""
        if self._line:
            return deque((Report(self._dated(line), line.tps, line.latency) for line in self._lines), HISTORY)
        return deque(self._log.windows.reports() if self._log.whole else (), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """Settings as the final report prints them, and the version of the server."""
        scale = {"scale_factor": str(self._scale_factor)} if self._scale_factor else {}
        server = {"server_version": self._server_version} if self._server_version else {}
        return {**scale, **self._parameters, **server}

    def samples(self, current: bool) -> Iterator[Sample]:
        """All metrics; if `current` is false, without the gauges of the last interval."""
        if current:
            yield from self._live()
        counters = self._counters()
        for name, family in metrics.COUNTERS.items():
            if name in counters:
                yield Sample(family, (), counters[name])
        yield from self._log.histograms()
        settings = self.parameters()
        for name, family in metrics.SETTINGS.items():
            if text := settings.get(name.removesuffix("_seconds")):
                yield Sample(family, (), int(text.split()[0]))
        order = [*metrics.RESULTS]
        shown = [(key, value) for key, value in self._results.items() if key[0] in metrics.RESULTS]
        shown.sort(key=lambda one: order.index(one[0][0]) if len(one[0]) < 3 else len(order))  # statements as they come
        for (name, *labels), value in shown:
            yield Sample(metrics.RESULTS[name], tuple(labels), value)
        for label, value in self._results_latency().items():
            yield Sample(metrics.RESULTS["latency_seconds"], (label,), value)

    def figures(self) -> Figures:
        """Those of the last report, or of the whole run once it has ended."""
        transactions = self._counters().get("transactions")
        if self.outcome:
            p99 = self._results_latency().get("0.99")
            return Figures(
                self._results.get(("tps",)), self._results.get(("latency_average_seconds",)), p99, transactions
            )
        line, time, window = self._last_interval()
        return Figures(
            line.tps if line else None,
            line.latency if line else None,
            window.quantiles[QUANTILES.index(0.99)] if window else None,
            transactions,
            time,
            window.second + 1 if window else None,
        )

    def _results_latency(self) -> dict[str, float]:
        """Quantiles of all latencies by label; none before the final report, or if the log lacks a part of the run."""
        if not self.outcome or ("tps",) not in self._results:
            return {}
        done, log = self._results.get(("transactions",), 0), self._log
        if ("failed",) not in self._results:  # before 15 the report may count skipped transactions
            done -= self._counters().get("skipped", 0)
        if log.whole and is_cut_off(log.transactions, done):
            return {}
        return dict(zip(QUANTILE_LABELS, log.quantiles(), strict=False))

    @property
    def _line(self) -> Progress | None:
        """The last progress line, unless the log shows that the run went on long after it."""
        if not self._lines:
            return None
        line, log = self._lines[-1], self._log
        if log.end is None or not log.whole:
            return line
        time = self._dated(line)
        # Only the second dated line shows how long an interval is; the first cannot be longer than the run so far.
        interval = self._count.interval or max(1.0, time - (self.start or 0.0))
        return line if log.end - time <= _SILENT_INTERVALS * interval else None

    def _last_interval(self) -> tuple[Progress | None, float | None, Second | None]:
        """A progress line for the last interval, its time (Unix seconds), and the second of the log for percentiles.

        If a progress line after that second says that nothing completes any more, there are no latencies to show.
        """
        log = self._log
        line = self._line or (log.windows.line if log.whole else None)
        time = self._dated(line) if line else None
        window = log.windows.last
        if window and self._lines and self._lines[-1].idle and self._dated(self._lines[-1]) > window.second + 1:
            window = None
        return line, time, window

    def _live(self) -> Iterator[Sample]:
        line, time, window = self._last_interval()
        if line:
            gauges = {
                "tps": line.tps,
                "latency_average_seconds": line.latency,
                "latency_stddev_seconds": line.stddev,
                "rate_limit_lag_seconds": line.lag,
                "interval_timestamp_seconds": time,
            }
            yield from (Sample(metrics.LIVE[name], (), value) for name, value in gauges.items() if value is not None)
        if window:
            for label, value in zip(QUANTILE_LABELS, window.quantiles, strict=True):
                yield Sample(metrics.LIVE["latency_window_seconds"], (label,), value)
            yield Sample(metrics.LIVE["latency_window_timestamp_seconds"], (), window.second + 1)

    def _counters(self) -> dict[str, int]:
        totals = dict(self._printed)
        with_retries = not self._lines or self._lines[-1].retried is not None
        for name, count in self._log.counters(retries=with_retries):
            totals[name] = max(count, totals.get(name, 0))
        settled = ((name, self._results.get((name,))) for name in metrics.COUNTERS)
        return totals | {name: int(count) for name, count in settled if count is not None}

    def _dated(self, line: Progress) -> float:
        return line.time if line.epoch else (self.start or 0.0) + line.time

    @property
    def _reported(self) -> float | None:
        line = self._dated(self._lines[-1]) if self._lines else None
        times = (line, self._log.end, self._log.last_interval)
        return max((time for time in times if time is not None), default=None)
