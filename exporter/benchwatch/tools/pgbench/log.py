"""What the transaction logs of one process add up to: histograms by script, counts, windows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Buckets, Counts, quantiles
from ...metrics.latencies import is_whole
from ...metrics.limits import OTHER
from ...metrics.samples import Sample
from . import metrics
from .decimals import Integers
from .transactions import Transactions
from .windows import QUANTILES, Windows

_BLOCK = 4096  # bytes that pgbench writes at a time
_RETRIES_SMALL = 0.9
_PIECES = 100
"""More of them are not looked at one by one."""


class TransactionLog:
    """All threads' files of one process. What it holds does not depend on the order in which they are read.

    Scripts numbered from `scripts` on are counted as one.
    """

    def __init__(self, buckets: Buckets, scripts: int) -> None:
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
        self._scripts = scripts
        self._bins: dict[int, Counts] = {}
        self._sums: dict[int, int] = {}
        self._histograms: dict[int, Sample] = {}  # of the scripts that have not changed since
        self._highest = 0
        self._examined = 0
        self._missing = 0
        self._extra = ""
        self._extra_lines = self._extra_small = self._retried = self._retries = 0
        self._spans: dict[str, tuple[float, float, int]] = {}  # by stream: begin, end, bytes

    def add(self, record: Transactions, stream: str) -> None:
        """Takes in a piece of the file `stream`."""
        self._examined += record.examined
        self._missing += record.missing
        if not record.lines:
            return
        self.lines += record.lines
        self.transactions += len(record.latency)
        self.skipped += record.skipped
        self.failed += record.failed
        self._extra = record.extra or self._extra
        self._extra_lines += record.lines - record.skipped
        self._extra_small += record.extra_small
        self._retried += record.extra_nonzero
        self._retries += record.extra_sum
        self._extend(record, stream)
        if len(record.latency):
            self._count(record, stream)

    @property
    def whole(self) -> bool:
        """Whether every transaction is in it, sooner or later (not with --sampling-rate)."""
        return is_whole(self._examined, self._missing)

    @property
    def retries(self) -> tuple[int, int] | None:
        """Transactions tried again and further tries; None if the log does not tell."""
        told = self._extra == "retries" or (
            self._extra == "either" and self._extra_small >= _RETRIES_SMALL * self._extra_lines
        )
        return (self._retried, self._retries) if told and self._extra_lines else None

    @property
    def interval(self) -> float | None:
        """How often the files can tell something new, seconds: a second, or the time a thread takes to fill a block."""
        if not self._spans:
            return None
        return max(1.0, *((end - begin) * _BLOCK / size for begin, end, size in self._spans.values()))

    def quantiles(self) -> list[float]:
        """Those of windows.QUANTILES of all latencies, and the exact maximum, seconds; empty without any."""
        found = quantiles(sum(self._bins.values(), np.zeros(BINS, np.int64)), QUANTILES)
        highest = self._highest / 1e6
        return [*(min(value, highest) for value in found), highest] if found else []

    def histograms(self) -> Iterator[Sample]:
        """pgbench_latency_seconds of each script."""
        for script, counts in sorted(self._bins.items()):
            if script not in self._histograms:
                value = self._buckets.value(counts, self._sums[script] / 1e6)
                label = str(script) if script < self._scripts else OTHER
                self._histograms[script] = Sample(metrics.LATENCY, (label,), value)
            yield self._histograms[script]

    def _extend(self, record: Transactions, stream: str) -> None:
        begin, end, size = self._spans.get(stream, (record.begin or record.end, record.end, 0))
        self._spans[stream] = begin, max(end, record.end), size + record.size
        if record.begin is not None:
            self.begin = record.begin if self.begin is None else min(self.begin, record.begin)
        self.end = record.end if self.end is None else max(self.end, record.end)

    def _count(self, record: Transactions, stream: str) -> None:
        latency = record.latency
        filled = record.bins
        self._highest = max(self._highest, int(latency.max()))
        for script, chosen in by_value(np.minimum(record.script, self._scripts)):
            self._histograms.pop(script, None)
            if script not in self._bins:
                self._bins[script], self._sums[script] = np.zeros(BINS, np.int64), 0
            self._bins[script] += np.bincount(filled[chosen], minlength=BINS)
            self._sums[script] += int(latency[chosen].sum())
        for second, chosen in by_value(record.second):
            self.windows.add(stream, second, latency[chosen], filled[chosen])


def by_value(values: Integers) -> Iterator[tuple[int, slice | NDArray[np.bool_]]]:
    """Each of the values, and its position."""
    (edges,) = (values[1:] != values[:-1]).nonzero()
    starts = [0, *(edges[:_PIECES] + 1).tolist()]
    found = values[starts].tolist()
    if len(edges) < _PIECES and len(set(found)) == len(found):  # each in one piece, as the seconds of a file are
        for value, begin, end in zip(found, starts, [*starts[1:], len(values)], strict=True):
            yield value, slice(begin, end)
    else:
        for value in np.unique(values).tolist():
            yield value, values == value
