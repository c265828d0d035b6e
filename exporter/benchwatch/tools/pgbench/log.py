"""The logs of one process: what they add up to, and their latencies by second and bin.

`LogBins` keeps only the bins of each second and where its lines are in the file. To divide a second, it reads these
lines again, this time with their microseconds.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...metrics.buckets import BINS, Buckets, Counts, quantiles
from ...metrics.latencies import Dated, Group, Latencies, Piece, is_whole
from ...metrics.samples import Sample
from ..api import Content
from . import metrics
from .decimals import Integers
from .transactions import AggregateInterval, TransactionParser, Transactions
from .windows import QUANTILES, Windows

_BLOCK = 4096  # bytes that pgbench writes at a time
_SMALL = 10
"""A lag is hardly ever that short, microseconds; the number of retries is hardly ever larger."""
_MOSTLY = 0.9
_PIECES = 100
"""The most runs of equal values that are handled one by one."""


class Logs:
    """The files of all threads of one process. The result does not depend on the order in which they are read."""

    def __init__(self, buckets: Buckets) -> None:
        self.windows = Windows()
        self.streams: set[str] = set()
        self.transactions = 0
        """Transactions with a latency."""
        self.skipped = 0
        self.begin: float | None = None
        """When the first transaction began, Unix seconds."""
        self.end: float | None = None
        """When the last transaction completed, Unix seconds."""
        self.last_interval: int | None = None
        """When the last interval of the aggregated logs began, Unix seconds."""
        self._buckets = buckets
        self._bins: dict[int, Counts] = {}
        self._sums: dict[int, int] = {}
        self._histograms: dict[int, Sample] = {}  # of the scripts that have not changed since
        self._highest = 0
        self._failed = self._examined = self._missing = 0
        self._fields = 6
        self._extra_lines = self._extra_small = self._retried = self._retries = 0
        self._spans: dict[str, tuple[float, float, int]] = {}  # by stream: begin, end, bytes
        self._intervals: Counter[str] = Counter()

    def add(self, record: Transactions | AggregateInterval, stream: str) -> None:
        """Add a piece of the log `stream`."""
        self.streams.add(stream)
        if isinstance(record, AggregateInterval):
            self.last_interval = max(record.start, self.last_interval or 0)
            for name in metrics.COUNTERS:
                self._intervals[name] += getattr(record, name)
            return
        self._examined += record.examined
        self._missing += record.missing
        self.transactions += len(record.latency)
        self.skipped += record.skipped
        self._failed += record.failed
        self._fields = max(self._fields, record.fields)
        if len(record.extra):
            self._extra_lines += len(record.extra)
            self._extra_small += int(np.count_nonzero(record.extra <= _SMALL))
            self._retried += int(np.count_nonzero(record.extra))
            self._retries += int(record.extra.sum())
        begin, end, size = self._spans.get(stream, (record.begin, record.end, 0))
        self._spans[stream] = begin, max(end, record.end), size + record.size
        self.begin = begin if self.begin is None else min(self.begin, begin)
        self.end = record.end if self.end is None else max(self.end, record.end)
        if len(record.latency):
            self._count(record, stream)

    @property
    def whole(self) -> bool:
        """Whether every transaction is logged, sooner or later (not with --sampling-rate)."""
        return is_whole(self._examined, self._missing)

    def counters(self, *, retries: bool) -> Iterator[tuple[str, int]]:
        """Names and values of counters; a name may be there twice. `retries`: whether there may be any.

        The last field is the number of further tries if there are eight fields, or if nearly all its values are small.
        """
        whole = bool(self._spans) and self.whole
        found = [*self._intervals.items()]
        if whole:
            found += ("failed", self._failed), ("skipped", self.skipped)
            yield "transactions", self.transactions
        yield from (one for one in found if one[1])  # 0 may mean that the option is not set
        has_retries = self._fields == 8 or self._extra_small >= _MOSTLY * self._extra_lines
        if whole and retries and self._extra_lines and has_retries:
            yield "retried", self._retried
            yield "retries", self._retries

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


class LogBins:
    """See tools.Bins."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._latencies = Latencies()

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        found = [record for record in records if isinstance(record, Transactions)]
        for record in found:
            self._latencies.dated(record.end, record.examined, record.missing)
        measured = [record for record in found if len(record.latency)]
        if not measured:
            return
        again = partial(_second, self._content, begin, end, measured[-1].fields)
        seconds, latency, filled = (_joined(measured, name) for name in ("second", "latency", "bins"))
        for second, chosen in by_value(seconds):
            self._latencies.add(Piece.of(second, filled[chosen], latency[chosen], again))

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return {(): self._latencies}


def _second(content: Content, begin: int, end: int, fields: int, second: int) -> Dated:
    """The transactions in these bytes of a log that completed in a second of Unix time."""
    parser = TransactionParser(microseconds=True, fields=fields)
    found = [one for one in parser.feed(content(begin, end)) if isinstance(one, Transactions)]
    seconds, microseconds, latency = (_joined(found, name) for name in ("second", "microsecond", "latency"))
    chosen = seconds == second
    return Dated(seconds[chosen] + microseconds[chosen] / 1e6, latency[chosen])


def _joined(records: Sequence[Transactions], name: str) -> Integers:
    return np.concatenate([getattr(one, name) for one in records])
