"""The transaction logs of one process: what they add up to, and which of them belong to the run.

A log whose end precedes the start of the run belongs to an earlier run, which left it in the folder (or, if a text has
several runs, to a previous one), and is ignored. Two clocks can show that:

- the benchmark's, if the progress lines have Unix times: the log dates its transactions by the same clock;
- else that of the files: when the log and the text were last written. It shows nothing of a copied log.

A log with exactly the transactions of the final report belongs to its run in any case.
"""

import math
from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Buckets, Counts, quantiles
from ...metrics.latencies import is_whole
from ...metrics.samples import Sample
from ..beginning import PUNCTUAL, SLOW
from . import metrics
from .decimals import Integers
from .transactions import Transactions
from .windows import QUANTILES, Windows

_BLOCK = 4096  # bytes that pgbench writes at a time
_SMALL = 10
"""A lag is hardly ever that short, microseconds; the number of retries is hardly ever larger."""
_MOSTLY = 0.9
_PIECES = 100
"""The most runs of equal values that are handled one by one."""


class TransactionLog:
    """The files of all threads of one process. The result does not depend on the order in which they are read."""

    def __init__(self, buckets: Buckets) -> None:
        self.windows = Windows()
        self.lines = 0
        self.transactions = 0
        """Transactions with a latency."""
        self.skipped = 0
        self.failed = 0
        self.begin: float | None = None
        """When the first transaction began, Unix seconds."""
        self.end: float | None = None
        """When the last transaction completed, Unix seconds."""
        self._buckets = buckets
        self._bins: dict[int, Counts] = {}
        self._sums: dict[int, int] = {}
        self._histograms: dict[int, Sample] = {}  # of the scripts that have not changed since
        self._highest = 0
        self._examined = 0
        self._missing = 0
        self._fields = 6
        self._extra_lines = self._extra_small = self._retried = self._retries = 0
        self._spans: dict[str, tuple[float, float, int]] = {}  # by stream: begin, end, bytes

    def add(self, record: Transactions, stream: str) -> None:
        """Add a piece of the file `stream`."""
        self._examined += record.examined
        self._missing += record.missing
        if not record.lines:
            return
        self.lines += record.lines
        self.transactions += len(record.latency)
        self.skipped += record.skipped
        self.failed += record.failed
        self._fields = max(self._fields, record.fields)
        if len(record.extra):
            self._extra_lines += len(record.extra)
            self._extra_small += int(np.count_nonzero(record.extra <= _SMALL))
            self._retried += int(np.count_nonzero(record.extra))
            self._retries += int(record.extra.sum())
        begin, end, size = self._spans.get(stream, (record.begin or record.end, record.end, 0))
        self._spans[stream] = begin, max(end, record.end), size + record.size
        if record.begin is not None:
            self.begin = record.begin if self.begin is None else min(self.begin, record.begin)
        self.end = record.end if self.end is None else max(self.end, record.end)
        if len(record.latency):
            self._count(record, stream)

    @property
    def whole(self) -> bool:
        """Whether every transaction is logged, sooner or later (not with --sampling-rate)."""
        return is_whole(self._examined, self._missing)

    @property
    def retries(self) -> tuple[int, int] | None:
        """Transactions tried again and further tries; None if the log does not have them.

        The last field is the number of further tries if there are eight fields, or if nearly all its values are small.
        """
        has_retries = self._fields == 8 or self._extra_small >= _MOSTLY * self._extra_lines
        return (self._retried, self._retries) if has_retries and self._extra_lines else None

    @property
    def interval(self) -> float | None:
        """How often the files can have news, seconds: every second, or as often as a thread fills a block."""
        if not self._spans:
            return None
        return max(1.0, *((end - begin) * _BLOCK / size for begin, end, size in self._spans.values()))

    def quantiles(self) -> list[float]:
        """The values of windows.QUANTILES for all latencies, and the exact maximum, seconds; empty without any."""
        found = quantiles(sum(self._bins.values(), np.zeros(BINS, np.int64)), QUANTILES)
        highest = self._highest / 1e6
        return [*(min(value, highest) for value in found), highest] if found else []

    def histograms(self) -> Iterator[Sample]:
        """pgbench_latency_seconds of each script."""
        for script, counts in sorted(self._bins.items()):
            if script not in self._histograms:
                value = self._buckets.value(counts, self._sums[script] / 1e6)
                self._histograms[script] = Sample(metrics.LATENCY, (str(script),), value)
            yield self._histograms[script]

    def _count(self, record: Transactions, stream: str) -> None:
        latency, filled = record.latency, record.bins
        self._highest = max(self._highest, int(latency.max()))
        for script, chosen in by_value(record.script):
            self._histograms.pop(script, None)
            if script not in self._bins:
                self._bins[script], self._sums[script] = np.zeros(BINS, np.int64), 0
            self._bins[script] += np.bincount(filled[chosen], minlength=BINS)
            self._sums[script] += int(latency[chosen].sum())
        for second, chosen in by_value(record.second):
            self.windows.add(stream, second, latency[chosen], filled[chosen])


class LogChoice:
    """The logs in a folder, as far as they have been read."""

    def __init__(self, buckets: Buckets) -> None:
        self.every = TransactionLog(buckets)
        """All of them, whichever run they belong to."""
        self.none = TransactionLog(buckets)
        self.behind = math.inf
        """The shortest time from the end of a piece of the log, or a line with Unix time, to its arrival, seconds."""
        self._files: set[str] = set()
        self._written = -math.inf  # when one was last written, Unix seconds
        self._end: float | None = None  # the latest time in any of them, Unix seconds
        self._begun: dict[str, float] = {}  # by stream: when its text was last written, less the seconds in it

    def add(self, stream: str, arrived: float, time: float | None) -> None:
        """Note the arrival of a piece of a log that ends at `time`, if that is known; Unix seconds."""
        self._files.add(stream)
        self._written = max(arrived, self._written)
        if time is not None:
            self._end = max(time, self._end or 0.0)
            self.behind = min(arrived - time, self.behind)

    def begun(self, stream: str, time: float) -> None:
        """Note when the run began according to one of its texts, Unix seconds."""
        self._begun[stream] = time

    def left_behind(self, lines: float | None, executed: float | None) -> Collection[str]:
        """The logs that an earlier run left behind.

        `lines`: when the run began according to its lines, Unix seconds, up to an interval too late while the interval
        is not known; `executed`: the number of transactions in its report.
        """
        counted = self.every.transactions
        if executed in (counted, counted + self.every.skipped):  # a text may be edited later
            return ()
        if lines is not None:
            precedes = self._end is not None and self._end < lines - SLOW - PUNCTUAL
        else:
            begun = min(self._begun.values(), default=-math.inf)
            precedes = self._written < begun - PUNCTUAL and self.behind < SLOW
        return self._files if precedes else ()


def by_value(values: Integers) -> Iterator[tuple[int, slice | NDArray[np.bool_]]]:
    """Each distinct value, and where it is."""
    (edges,) = (values[1:] != values[:-1]).nonzero()
    starts = [0, *(edges[:_PIECES] + 1).tolist()]
    found = values[starts].tolist()
    if len(edges) < _PIECES and len(set(found)) == len(found):  # equal values are neighbours, as in a file's seconds
        for value, begin, end in zip(found, starts, [*starts[1:], len(values)], strict=True):
            yield value, slice(begin, end)
    else:
        for value in np.unique(values).tolist():
            yield value, values == value
