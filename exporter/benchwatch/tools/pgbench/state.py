"""What is known of one pgbench process, from its text and its logs.

The source of each number:

- counters: the final report, before it the progress lines and logs (`counting`).
- gauges of the last interval and `history`: the progress lines, or the closed seconds of the transaction log
  (`last_interval`).
- latency histogram and windows: the transaction log.

Times:

- The run starts with the first transaction in the log, or an interval before the first --progress-timestamp, whichever
  is earlier. Without them, or if they are late (a low -R), the start follows from the last line that says how long the
  run has taken, a progress line or the report, and from when that was written (`beginning`); but not if their times
  are later than those of the files, so that these are on another clock.
- The time of a progress line is start + elapsed seconds, or the Unix time in it; the log dates each transaction.
- The run ends after its length, calculated from the report's rate and transactions; without them with the last write
  to a stream with a message, if that is not long after the last report, as in a copy.

Logs of an earlier run are ignored (`log`).

The result depends on the content of each stream, not on the order in which the streams are read.
"""

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping

from ...metrics.buckets import Buckets
from ...metrics.latencies import is_cut_off
from ...metrics.samples import Sample
from ..api import HISTORY, Figures, Outcome, Report, Written
from ..beginning import PUNCTUAL, ROUNDING, SLOW, ElapsedState, beginning
from . import metrics
from .aggregate import AggregateInterval
from .counting import COUNTERS, Totals
from .last_interval import LastInterval
from .lifecycle import ROWS_PER_SCALE, Lifecycle, LifecycleEvent
from .log import LogChoice, TransactionLog
from .progress import Progress
from .results import Results
from .summary import Complete, Entry, Statement
from .text import Banner
from .transactions import Transactions
from .windows import QUANTILE_LABELS, WAIT

Record = Progress | Transactions | AggregateInterval | Entry | Statement | Complete | Banner | LifecycleEvent


class PgbenchState(ElapsedState):
    """One run of pgbench."""

    def __init__(self, buckets: Buckets) -> None:
        super().__init__()
        self._lifecycle = Lifecycle()
        self._results = Results()
        self._logs = LogChoice(buckets)
        self._totals = Totals(self._logs.every)
        self._lines: deque[Progress] = deque(maxlen=HISTORY)
        self._last_interval: int | None = None  # of the aggregated log
        self._server_version = ""
        self._scale_factor: int | None = None
        self._lengths: dict[str, float] = {}  # by stream: the length of the run according to its report, seconds
        self._initialising: dict[str, float] = {}  # by stream: seconds at its last line of an initialisation
        self._messages: set[str] = set()  # streams with a message
        self._left_behind: tuple[int, Collection[str]] = -1, ()  # as of this version

    def apply(self, record: Record, stream: str, arrived: float) -> None:
        """See tools.State."""
        super().apply(record, stream, arrived)
        match record:
            case Progress():
                self._apply_progress(record, stream)
                if record.epoch:
                    self._logs.behind = min(arrived - record.time, self._logs.behind)
            case Transactions():
                self._logs.every.add(record, stream)
                self._logs.add(stream, arrived, record.end if record.lines else None)
                self._lifecycle.progressed |= record.lines > 0
            case AggregateInterval():
                self._totals.add_interval(record)
                self._logs.add(stream, arrived, record.start)
                self._last_interval = max(record.start, self._last_interval or 0)
                self._lifecycle.progressed = True
            case Entry() | Statement():
                self._results.add(record)
                self._lifecycle.executed = self._results.figures.get("transactions")
                if (clients := self._results.parameters.get("clients")) is not None:
                    self._lifecycle.clients = int(clients)
                self._lifecycle.benchmark |= isinstance(record, Entry) and isinstance(record.value, str)
            case Complete():
                self._lifecycle.complete = True
                self._logs.every.windows.complete()
                if (length := self._results.length) is not None:
                    self._lengths[stream] = length
                self._messages.add(stream)
            case Banner(version, None):
                self.tool_version = self.tool_version or version
            case Banner(version, server):
                self.tool_version, self._server_version = version, server or ""
                self._lifecycle.benchmark = True
            case LifecycleEvent():
                self._lifecycle.add(record)
                self._apply_event(record, stream)
        if isinstance(record, Progress | Transactions | AggregateInterval):
            self._lifecycle.benchmark = True

    def written(self, stream: str, times: Written) -> None:
        """See tools.State."""
        super().written(stream, times)
        seconds = self._lengths.get(stream, self._elapsed.get(stream))
        if seconds is not None and not times.undated:
            self._logs.begun(stream, times.last - seconds)
            self._left_behind = -1, ()

    @property
    def left_behind(self) -> Collection[str]:
        """See tools.State."""
        if self._left_behind[0] != self.version:
            executed = self._results.figures.get("transactions")
            self._left_behind = self.version, self._logs.left_behind(self._totals.count.start, executed)
        return self._left_behind[1]

    @property
    def _log(self) -> TransactionLog:
        """The logs of this run; none if they belong to an earlier one."""
        return self._logs.none if self.left_behind else self._logs.every

    def tick(self, now: float, *, is_read: bool = False) -> None:
        """Closes seconds of the transaction log; they wait by the clock that dates the log."""
        time = now + WAIT if is_read else now - self._logs.behind
        if time > -math.inf and self._logs.every.windows.tick(time):
            self.version += 1

    @property
    def start(self) -> float | None:
        """When the run began, Unix seconds; for an initialisation alone, when it generated the first rows."""
        elapsed = self._lengths or self._elapsed if self._lifecycle.benchmark else self._initialising
        lines = [(seconds, self._written[stream]) for stream, seconds in elapsed.items()]
        tolerance = 0.0 if self._lengths else PUNCTUAL
        dated = min((time for time in (self._log.begin, self._totals.count.start) if time is not None), default=None)
        if dated is None:
            interval = self._totals.count.interval or 0.0
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
        start, length = self.start, self._results.length
        if start is not None and length is not None:
            return start + length
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
        return self._totals.count.interval if self._last.line else self._log.interval

    @property
    def outcome(self) -> Outcome:
        """See `Lifecycle.outcome`."""
        return self._lifecycle.outcome

    @property
    def reason(self) -> str:
        """See `Lifecycle.reason`."""
        return self._lifecycle.reason

    @property
    def history(self) -> deque[Report]:
        """The progress lines; without them the whole seconds of the transaction log."""
        if self._last.line:
            return deque((Report(self._dated(line), line.tps, line.latency) for line in self._lines), HISTORY)
        seconds = self._log.windows.counts() if self._log.whole else ()
        return deque((Report(second + 1, count, latency) for second, count, latency in seconds), HISTORY)

    def parameters(self) -> Mapping[str, str]:
        """Settings as the final report prints them, and the version of the server."""
        found = dict(self._results.parameters)
        if self._scale_factor is not None:
            found.setdefault("scale_factor", str(self._scale_factor))
        if "reconnection" in self._results.figures:
            found["connections"] = "one per transaction"
        if self._server_version:
            found["server_version"] = self._server_version
        return found

    def samples(self, current: bool) -> Iterator[Sample]:
        """All metrics; if `current` is false, without the gauges of the last interval."""
        if current:
            yield from self._last.samples()
        counters = self._counters()
        for name, family in COUNTERS.items():
            if name in counters:
                yield Sample(family, (), counters[name])
        yield from self._log.histograms()
        if "scale_factor" not in self._results.parameters and self._scale_factor is not None:
            yield Sample(metrics.SCALE_FACTOR, (), self._scale_factor)
        yield from self._results.samples()
        for label, value in self._results_latency().items():
            yield Sample(metrics.RESULT_LATENCY, (label,), value)

    def figures(self) -> Figures:
        """Those of the last report, or of the whole run once it has ended."""
        transactions = self._counters().get("transactions")
        if self.outcome:
            results = self._results.figures
            p99 = self._results_latency().get("0.99")
            return Figures(results.get("tps"), results.get("latency_average"), p99, transactions)
        return self._last.figures(transactions)

    def _results_latency(self) -> dict[str, float]:
        """Quantiles of all latencies by label; none before the final report, or if the log lacks a part of the run."""
        figures, log = self._results.figures, self._log
        done = figures.get("transactions", 0)
        if "failed" not in figures:  # before 15 the report may count skipped transactions
            done -= self._counters().get("skipped", 0)
        over = self.outcome and "tps" in figures and not (log.whole and is_cut_off(log.transactions, done))
        return dict(zip(QUANTILE_LABELS, log.quantiles(), strict=False)) if over else {}

    @property
    def _last(self) -> LastInterval:
        if not self._lines:
            return LastInterval(None, 0.0, 0.0, self._log)
        line = self._lines[-1]
        time = self._dated(line)
        # Only the second dated line shows how long an interval is; the first cannot be longer than the run so far.
        interval = self._totals.count.interval or max(1.0, time - (self.start or 0.0))
        return LastInterval(line, time, interval, self._log)

    def _counters(self) -> dict[str, int]:
        figures = self._results.figures
        settled = {name: int(figures[name]) for name in COUNTERS if name in figures}
        return self._totals.totals(logs=not self.left_behind) | settled

    def _apply_progress(self, line: Progress, stream: str) -> None:
        self.reporting.add(stream)
        covered = self._totals.add_line(line)
        self._lines.append(line)
        self._lifecycle.progressed = True
        if not line.idle:
            self.idle_reports = 0
        elif covered >= (self._totals.count.interval or 0) / 2:  # not the short line that follows a late one
            self.idle_reports += 1
        if not line.epoch:
            self._elapsed[stream] = line.time

    def _apply_event(self, event: LifecycleEvent, stream: str) -> None:
        if event.kind != "vacuum":
            self._messages.add(stream)
        if event.kind == "rows":
            self._scale_factor = event.number // ROWS_PER_SCALE or None
        if event.kind in ("rows", "made") and event.seconds is not None:
            self._initialising[stream] = event.seconds

    def _dated(self, line: Progress) -> float:
        return line.time if line.epoch else (self.start or 0.0) + line.time

    @property
    def _reported(self) -> float | None:
        line = self._dated(self._lines[-1]) if self._lines else None
        times = (line, self._log.end, None if self.left_behind else self._last_interval)
        return max((time for time in times if time is not None), default=None)
