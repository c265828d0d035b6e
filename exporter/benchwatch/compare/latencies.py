"""Every latency of a run by time and bin: pgbench's transaction log, fio's json+ documents.

Percentiles of any part of a run, and of several workers together, are read from the summed bins (benchwatch.histogram)
and never from other percentiles.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from ..histogram import BINS, UPPER_NS, Counts, bins
from ..streams.layout import StreamPlan
from ..tools import Begin
from ..tools.fio.document import Document
from ..tools.fio.snapshot import Snapshot, take
from ..tools.pgbench.transactions import Transactions

_CHUNK = 1024 * 1024

Group = tuple[str, ...]
"""Which operations: the values of the labels job and op for fio, nothing for pgbench."""


class Latencies:
    """Counts by bin and the highest latency of short pieces of time."""

    def __init__(self) -> None:
        self._pieces: list[tuple[float, float, Counts, Counts]] = []
        """Begin (Unix seconds), highest latency (seconds), the bins that are not empty, their counts."""

    def add(self, begin: float, counts: Counts, highest: float) -> None:
        """Take in what was counted from `begin` to the next piece."""
        filled = np.flatnonzero(counts)
        if len(filled):
            self._pieces.append((begin, highest, filled, counts[filled]))

    def extend(self, other: "Latencies") -> None:
        """Take in those of another worker."""
        self._pieces += other._pieces

    def since(self, begin: float) -> "Latencies":
        """The pieces that begin then or later, Unix seconds."""
        found = Latencies()
        found._pieces = [piece for piece in self._pieces if piece[0] >= begin]
        return found

    def between(self, begin: float = -math.inf, end: float = math.inf) -> Counts:
        """The bins of the pieces that begin in a span of time."""
        counts = np.zeros(BINS, np.int64)
        for start, _, filled, numbers in self._pieces:
            if begin <= start < end:
                counts[filled] += numbers
        return counts

    @property
    def highest(self) -> float:
        """The highest latency, seconds; 0 if there is none."""
        return max((piece[1] for piece in self._pieces), default=0.0)


def read_latencies(plans: Iterable[StreamPlan], folder: Path) -> Mapping[Group, Latencies]:
    """The latencies of one worker by group; nothing where its tool wrote none. Raises OSError."""
    found: dict[Group, Latencies] = defaultdict(Latencies)
    for plan in plans:
        if plan.tool.name == "pgbench" and plan.kind == "log":
            _take_transactions(_records(plan, folder), found[()])
        elif plan.tool.name == "fio":
            _take_documents(_records(plan, folder), found)
    return found


def _records(plan: StreamPlan, folder: Path) -> Iterator[object]:
    parser = plan.parser()
    begin, end = (0, None) if plan.cut is None else plan.cut[:2]
    read = 0
    for name, _ in plan.parts:
        with (folder / name).open("rb") as file:
            while data := file.read(_CHUNK):
                read, before = read + len(data), read
                yield from parser.feed(data[max(0, begin - before) : None if end is None else max(0, end - before)])
    yield from parser.close()


def _take_transactions(records: Iterable[object], into: Latencies) -> None:
    for record in records:
        if not isinstance(record, Transactions):
            continue
        filled = bins(record.latency * 1000)
        for second in np.unique(record.second).tolist():
            chosen = record.second == second
            highest = int(record.latency[chosen].max()) / 1e6
            into.add(second, np.bincount(filled[chosen], minlength=BINS), highest)


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
