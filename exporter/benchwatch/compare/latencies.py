"""Every latency of a run by time and bin: pgbench's transaction log, fio's json+ documents.

Percentiles of any part of a run, and of several workers together, are read from the summed bins (metrics.buckets)
and never from other percentiles. Pieces of time are whole seconds of a transaction log, cut where a part of the run is
to begin, and the time between two documents.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..metrics.buckets import BINS, UPPER_NS, Counts, bins
from ..runs.layout import StreamPlan
from ..tools.api import Begin, Parser
from ..tools.fio.document import Document
from ..tools.fio.snapshot import Snapshot, take
from ..tools.pgbench.log import is_whole
from ..tools.pgbench.transactions import TransactionParser, Transactions

_CHUNK = 1024 * 1024

Group = tuple[str, ...]
"""Which operations: the values of the labels job and op for fio, nothing for pgbench."""


class Latencies:
    """Counts by bin and the highest latency of short pieces of time."""

    def __init__(self) -> None:
        self._pieces: list[tuple[float, float, Counts, Counts, float]] = []
        """Begin (Unix seconds), highest latency (seconds), the bins that are not empty, their counts, the sum of
        the latencies (seconds)."""
        self.end: float | None = None
        """When the last operation completed, Unix seconds, where each is dated."""
        self._examined = self._missing = 0

    def add(self, begin: float, counts: Counts, highest: float, total: float = 0.0) -> None:
        """Take in what was counted from `begin` to the next piece, and where it is known the sum of these latencies."""
        filled = np.flatnonzero(counts)
        if len(filled):
            self._pieces.append((begin, highest, filled, counts[filled], total))

    def dated(self, end: float, examined: int, missing: int) -> None:
        """Operations are dated, up to `end`; of some that were examined, others are missing."""
        self.end = max(end, self.end or 0.0) or None
        self._examined += examined
        self._missing += missing

    @property
    def whole(self) -> bool:
        """Whether every operation is in it, with its date and latency."""
        return self.end is not None and is_whole(self._examined, self._missing)

    def extend(self, other: "Latencies") -> None:
        """Take in those of another worker."""
        self._pieces += other._pieces

    def within(self, begin: float, end: float = math.inf) -> "Latencies":
        """The pieces that begin in a span of time, Unix seconds, the end not included."""
        found = Latencies()
        found._pieces = [piece for piece in self._pieces if begin <= piece[0] < end]
        return found

    @property
    def count(self) -> int:
        """How many latencies there are."""
        return sum(int(piece[3].sum()) for piece in self._pieces)

    @property
    def total(self) -> float:
        """The sum of the latencies, seconds, where it is known."""
        return math.fsum(piece[4] for piece in self._pieces)

    def between(self, begin: float = -math.inf, end: float = math.inf) -> Counts:
        """The bins of the pieces that begin in a span of time."""
        counts = np.zeros(BINS, np.int64)
        for start, _, filled, numbers, _ in self._pieces:
            if begin <= start < end:
                counts[filled] += numbers
        return counts

    @property
    def highest(self) -> float:
        """The highest latency, seconds; 0 if there is none."""
        return max((piece[1] for piece in self._pieces), default=0.0)


def read_latencies(
    plans: Iterable[StreamPlan], folder: Path, cuts: Collection[float] = ()
) -> Mapping[Group, Latencies]:
    """The latencies of one worker by group; nothing where its tool wrote none. Raises OSError.

    `cuts` are times, Unix seconds, at which a part of a transaction log may begin or end (see Latencies.within).
    """
    found: dict[Group, Latencies] = defaultdict(Latencies)
    for plan in plans:
        if plan.tool.name == "pgbench" and plan.kind == "log":
            parser = TransactionParser(microseconds=bool(cuts))
            _take_transactions(_records(parser, plan, folder), found[()], sorted(cuts))
        elif plan.tool.name == "fio":
            _take_documents(_records(plan.parser(), plan, folder), found)
    return found


def _records(parser: Parser, plan: StreamPlan, folder: Path) -> Iterator[object]:
    begin, end = (0, None) if plan.cut is None else plan.cut[:2]
    read = 0
    for name, _ in plan.parts:
        with (folder / name).open("rb") as file:
            while data := file.read(_CHUNK):
                read, before = read + len(data), read
                yield from parser.feed(data[max(0, begin - before) : None if end is None else max(0, end - before)])
    yield from parser.close()


def _take_transactions(records: Iterable[object], into: Latencies, cuts: Sequence[float]) -> None:
    for record in records:
        if not isinstance(record, Transactions):
            continue
        into.dated(record.end, record.examined, record.missing)
        filled = bins(record.latency * 1000)
        for second in np.unique(record.second).tolist():
            whole = record.second == second
            inside = [cut for cut in cuts if second < cut < second + 1]
            for begin, end in pairwise([second, *inside, second + 1]):
                chosen = whole
                if inside:
                    times = record.second + record.microsecond / 1e6
                    chosen = whole & (times >= begin) & (times < end)
                latency = record.latency[chosen]
                if len(latency):
                    counts = np.bincount(filled[chosen], minlength=BINS)
                    into.add(begin, counts, int(latency.max()) / 1e6, int(latency.sum()) / 1e6)


def _take_documents(records: Iterable[object], found: dict[Group, Latencies]) -> None:
    before: Snapshot | None = None
    for record in records:
        if isinstance(record, Begin):  # another run of fio in the same file: the last one counts
            found.clear()
            before = None
        elif isinstance(record, Document):
            after = take(record, record.built or float(record.timestamp or 0))
            _take_snapshot(before, after, found)
            before = after


def _take_snapshot(before: Snapshot | None, after: Snapshot, found: dict[Group, Latencies]) -> None:
    earlier = dict(zip(before.series, before.counts, strict=True)) if before else {}
    highest = after.highest(after.maxima).tolist()
    for series, total, longest in zip(after.series, after.counts, highest, strict=True):
        counts = total - earlier[series] if series in earlier else total
        if counts.min() < 0:  # fio counts from zero again, as at the end of ramp_time
            found[tuple(series)] = Latencies()
            counts = total
        if counts.any():
            edge = min(int(UPPER_NS[np.flatnonzero(counts)[-1]]), longest or 2**53) / 1e9
            found[tuple(series)].add(before.time if before else -math.inf, counts, edge)
