"""The status line below a benchmark's output: drawn on stderr if that is a terminal, erased at the end.

All other output to the terminal passes through the bar, which erases itself first and is redrawn after a complete line,
so the benchmark's bytes stay unchanged. It is drawn at most once a second, and not in the background.

It shows what the benchmark reports in the files that the launcher writes anyway. Every tool is read as the exporter
reads it, except for logs of single operations: reading them costs too much beside the benchmark.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from ..metrics.buckets import Buckets
from ..runs.files import listing
from ..runs.observed_run import ObservedRun
from ..runs.observer import Observer
from ..runs.place import RunPlace
from ..runs.unusable import Faults
from ..settings.settings import RunsSettings
from ..tools.launcher import Write
from ..values import numbers
from ..values.names import label
from ..values.sparkline import sparkline
from .preparation import Plan
from .sinks import STDERR, write_to
from .worker_record import RunRecord

_ERASE = b"\r\x1b[2K"
_EVERY = 1.0
_TICK = 0.1
_LOG = re.compile(r"\.\d+(?:\.\d+)?")
_AT_ONCE = 4 * 1024 * 1024
"""Bytes of each file that one look reads; the next look continues."""
_LEAST, _MOST = 8, 40
"""Columns of the chart."""
_BESIDE_CHART = 2


class Bar:
    """The status line of a run; before its start, a countdown."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._live = Live(plan.record)
        self._lock = threading.Lock()
        self._start: float | None = None
        self._drawn = False
        self._at_line_start = True
        self._stopped = threading.Event()
        threading.Thread(target=self._draw_on, daemon=True).start()

    def beside(self, descriptor: int) -> Write:
        """A sink's write function for other output to the same terminal."""
        plain = write_to(descriptor)

        def write(data: memoryview) -> int:
            with self._lock:
                self._erase()
                count = plain(data)
                self._at_line_start = data[count - 1] == ord("\n")
                return count

        return write

    def begin(self) -> None:
        """The benchmark has been started."""
        self._start = time.monotonic()

    def stop(self) -> None:
        """Erase it for good."""
        self._stopped.set()
        if self._lock.acquire(timeout=_EVERY):  # a terminal that was stopped (Ctrl-S) must not stop the launcher
            self._erase()
            self._lock.release()

    def _draw_on(self) -> None:
        due = 0.0
        while not self._stopped.wait(_TICK):
            try:
                if os.tcgetpgrp(STDERR) != os.getpgrp():  # another job is in the foreground
                    continue
                now = time.monotonic()
                if now >= due:
                    due = now + _EVERY
                    if self._start is not None:
                        with suppress(OSError):  # the folder is gone
                            self._live.look()
                elif self._drawn:
                    continue
                with self._lock:
                    if self._at_line_start and not self._stopped.is_set():
                        width = os.get_terminal_size(STDERR).columns or 80
                        os.write(STDERR, _ERASE + self._line(width - 1).encode())
                        self._drawn = True
            except OSError:  # the terminal is gone
                return

    def _line(self, width: int) -> str:
        plan = self._plan
        name = plan.record.run if plan.of == 1 else f"{plan.record.run}  run {plan.number} of {plan.of}"
        return self._live.line(width, before=name, after=self._time())

    def _time(self) -> str:
        """The time until the start, since the start, or left."""
        plan = self._plan
        if self._start is None:
            return f"starts in {numbers.clock(max(0.0, (plan.at or 0.0) - time.time()))}"
        passed = time.monotonic() - self._start
        if plan.length is None:
            return f"{numbers.clock(passed)} so far"
        left = max(0.0, plan.length - passed)
        series = f", series {numbers.clock(left + plan.after)}" if plan.after else ""
        return f"{numbers.clock(left)} left{series}"

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            with suppress(OSError):  # the terminal is gone
                os.write(STDERR, _ERASE)


class Live:
    """What one worker reports, as its files say."""

    def __init__(self, record: RunRecord) -> None:
        logging.getLogger("benchwatch.runs").setLevel(logging.CRITICAL)  # the exporter says what it cannot read
        self.figures: Sequence[str] = ()
        """Those of its last report, in words, the most important one first."""
        self._rates: Sequence[float | None] = ()  # the throughput of recent reports
        self._record = record
        self._run = ObservedRun(RunPlace(label(record.run), record.folder, {}), RunsSettings(), Buckets(1), Faults())

    def look(self) -> None:
        """Read what is new. Raises OSError."""
        now, worker = time.time(), self._record.worker
        files = {
            name: status
            for name, status in listing(self._record.folder).files.items()
            if name.startswith(f"{worker}.") and not _LOG.fullmatch(name, len(worker))
        }
        self._run.look(files, now)
        self._run.read(_AT_ONCE, now)
        for one in self._run.workers:
            if one.name == label(worker):
                self._rates = [report.throughput for report in one.state.history]
                self.figures = _words(one)

    def line(self, width: int, *, before: str, after: str) -> str:
        """One line of at most `width` columns: if space is short, later figures go first, then the chart."""
        for count in range(len(self.figures), -1, -1):
            parts = [*self.figures[:count], after]
            left = width - len("  ".join([before, *parts])) - 2
            if left >= (_LEAST if count > _BESIDE_CHART else 0):
                break
        chart = sparkline(self._rates[-min(left, _MOST) :]) if left >= _LEAST else ""
        return "  ".join(filter(None, [before, chart, *parts]))[:width]


def _words(worker: Observer) -> list[str]:
    """The figures of its last report; in a stall, why."""
    if worker.phase == "stalled":
        return [f"stalled: {worker.reason}"]
    figures, unit = worker.state.figures(), worker.roles.unit
    words = []
    if figures.throughput is not None:
        in_full = f"{numbers.rate_in_full(figures.throughput)} {unit.name}"
        words.append(numbers.throughput(unit.name)(figures.throughput) if unit.in_bytes else in_full)
    if figures.latency is not None:
        words.append(f"mean {numbers.latency(figures.latency)}")
    if figures.p99 is not None:
        words.append(f"p99 {numbers.latency(figures.p99)}")
    return words
