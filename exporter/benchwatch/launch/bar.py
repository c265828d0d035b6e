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
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ..metrics.buckets import Buckets
from ..runs.files import listing
from ..runs.observed_run import ObservedRun
from ..runs.observer import Observer
from ..runs.place import RunPlace
from ..runs.unusable import Faults
from ..settings.settings import RunsSettings
from ..values import numbers
from ..values.names import label
from ..values.sparkline import sparkline
from .preparation import Plan
from .sinks import write_to
from .worker_record import RunRecord

_STDERR = 2
_ERASE = b"\r\x1b[2K"
_EVERY = 1.0
_LOG = re.compile(r"\.\d+(?:\.\d+)?")
_AT_ONCE = 4 * 1024 * 1024
"""Bytes of each file that one look reads; the next look continues."""
_LEAST, _MOST = 8, 40
"""Columns of the chart."""
_BESIDE_CHART = 2


class Bar:
    """A status line for a benchmark of `length` seconds (None: not known); before its start, a countdown."""

    def __init__(self, plan: Plan, length: float | None) -> None:
        name = plan.record.run
        self._name = name if plan.of == 1 else f"{name}  run {plan.number} of {plan.of}"
        self._after = plan.after
        self._length = length
        self._live = Live(plan.record)
        self._shown = Shown([], [])
        self._lock = threading.Lock()
        self._at = plan.at or 0.0
        self._start: float | None = None
        self._drawn = 0.0
        self._looked = 0.0
        self._at_line_start = True
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def beside(self, descriptor: int) -> Callable[[memoryview], int]:
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

    def _run(self) -> None:
        while not self._stopped.wait(0.1):
            if not self._is_seen():
                continue
            if self._start is not None and time.monotonic() - self._looked >= _EVERY:
                self._looked = time.monotonic()
                with suppress(OSError):  # the folder is gone
                    self._shown = self._live.look()
            with self._lock:
                if self._at_line_start and time.monotonic() - self._drawn >= _EVERY and not self._stopped.is_set():
                    self._draw()

    def _is_seen(self) -> bool:
        """Whether the terminal exists and shows this job in the foreground."""
        try:
            return os.tcgetpgrp(_STDERR) == os.getpgrp()
        except OSError:  # the terminal is gone
            self._stopped.set()
            return False

    def _draw(self) -> None:
        try:
            width = os.get_terminal_size(_STDERR).columns or 80
            line = self._shown.line(width - 1, before=self._name, after=self._time())
            os.write(_STDERR, _ERASE + line.encode())
            self._drawn = time.monotonic()
        except OSError:  # the terminal is gone
            self._stopped.set()

    def _time(self) -> str:
        if self._start is None:
            return f"starts in {numbers.clock(max(0.0, self._at - time.time()))}"
        passed = time.monotonic() - self._start
        if self._length is None:
            return f"{numbers.clock(passed)} so far"
        left = max(0.0, self._length - passed)
        series = f", series {numbers.clock(left + self._after)}" if self._after else ""
        return f"{numbers.clock(left)} left{series}"

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = 0.0
            with suppress(OSError):  # the terminal is gone
                os.write(_STDERR, _ERASE)


class Shown(NamedTuple):
    """What a status line shows of a benchmark."""

    rates: list[float | None]
    """The throughput of recent reports."""
    figures: list[str]
    """In words, the most important one first."""

    def line(self, width: int, *, before: str, after: str) -> str:
        """One line of at most `width` columns: if space is short, later figures go first, then the chart."""
        for count in range(len(self.figures), -1, -1):
            parts = [before, *self.figures[:count], after]
            left = width - len("  ".join(parts)) - 2
            if left >= (_LEAST if count > _BESIDE_CHART else 0):
                break
        chart = sparkline(self.rates[-min(left, _MOST) :]) if left >= _LEAST else ""
        return "  ".join(filter(None, [before, chart, *parts[1:]]))[:width]


class Live:
    """Follows one worker."""

    def __init__(self, record: RunRecord) -> None:
        logging.getLogger("benchwatch.runs").setLevel(logging.CRITICAL)  # the exporter says what it cannot read
        self._record = record
        self._run = ObservedRun(RunPlace(label(record.run), record.folder, {}), RunsSettings(), Buckets(1), Faults())

    def look(self) -> Shown:
        """What the files say now. Raises OSError."""
        now = time.time()
        worker = self._record.worker
        found = listing(self._record.folder).files
        files = {
            name: status
            for name, status in found.items()
            if name.startswith(f"{worker}.") and not _LOG.fullmatch(name, len(worker))
        }
        self._run.look(files, now)
        self._run.read(_AT_ONCE, now)
        return next((_shown(one) for one in self._run.workers if one.name == label(worker)), Shown([], []))


def _shown(worker: Observer) -> Shown:
    figures, unit = worker.state.figures(), worker.roles.unit
    rates: list[float | None] = [report.throughput for report in worker.state.history]
    if worker.phase == "stalled":
        return Shown(rates, [f"stalled: {worker.reason}"])
    words = []
    if figures.throughput is not None:
        rate = figures.throughput
        words.append(
            numbers.throughput(unit.name)(rate) if unit.in_bytes else f"{numbers.rate_in_full(rate)} {unit.name}"
        )
    if figures.latency is not None:
        words.append(f"mean {numbers.latency(figures.latency)}")
    if figures.p99 is not None:
        words.append(f"p99 {numbers.latency(figures.p99)}")
    return Shown(rates, words)
