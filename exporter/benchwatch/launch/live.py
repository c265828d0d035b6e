"""What the benchmark reports while it runs, for the status line: read from the files that the launcher writes anyway.

Every tool is read as the exporter reads it, except for logs of single operations: reading them costs too much beside
the benchmark.
"""

import logging
import re
import time
from typing import NamedTuple

from ..metrics.buckets import Buckets
from ..runs.faults import Faults
from ..runs.files import listing
from ..runs.run import Run
from ..runs.worker import Worker
from ..settings.settings import RunsSettings
from ..values import numbers
from ..values.names import label
from ..values.sparkline import sparkline
from .record import RunRecord

_LOG = re.compile(r"\.\d+(?:\.\d+)?")
_AT_ONCE = 4 * 1024 * 1024
"""Bytes of each file that one look reads; the next look continues."""
_LEAST, _MOST = 8, 40
"""Columns of the chart."""
_BESIDE_CHART = 2


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
        self._run = Run(label(record.run), record.folder, RunsSettings(), Buckets(1), Faults())

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


def _shown(worker: Worker) -> Shown:
    figures, unit = worker.state.figures(), worker.roles.unit
    rates: list[float | None] = [report.throughput for report in worker.state.history]
    if worker.phase == "stalled":
        return Shown(rates, [f"stalled: {worker.reason}"])
    words = []
    if figures.throughput is not None:
        rate = figures.throughput
        words.append(numbers.bandwidth(rate) if unit.in_bytes else f"{numbers.rate_in_full(rate)} {unit.name}")
    if figures.latency is not None:
        words.append(f"mean {numbers.latency(figures.latency)}")
    if figures.p99 is not None:
        words.append(f"p99 {numbers.latency(figures.p99)}")
    return Shown(rates, words)
