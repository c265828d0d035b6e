"""The load of one vdisk at one moment, and the histograms that follow from it.

Rates are whole operations per second. Everything that a page shows follows from them, so its tables agree: histograms
count the operations of three seconds, and averages are truncated, as on the real pages.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

WINDOW_SECONDS = 3
KILOBYTE, MEGABYTE = 1024, 1024 * 1024
LATENCY_EDGES = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, math.inf)
"""Microseconds."""
SIZE_EDGES = (0, *(k * KILOBYTE for k in (4, 8, 16, 32, 64, 512)), MEGABYTE, math.inf)
"""Bytes."""
_SIGMA = 0.6
"""Of the lognormal distribution of latencies."""


class Bucket(NamedTuple):
    """Operations in one range, and their truncated average in the unit of the edges."""

    operations: int
    average: int


@dataclass(frozen=True)
class LoadStream:
    """Reads or writes: `sizes` are shares by size in bytes, `latency` is the mean in microseconds, `random` a ratio."""

    rate: int = 0
    sizes: Mapping[int, float] = field(default_factory=lambda: {8 * KILOBYTE: 1.0})
    latency: float = 0
    random: float = 1.0

    @property
    def average_size(self) -> int:
        """Bytes; 0 without operations."""
        return total(self.size_buckets()).average

    @property
    def kilobytes(self) -> int:
        """KB per second."""
        return self.rate * self.average_size // KILOBYTE

    @property
    def average_latency(self) -> int:
        """Microseconds; 0 without operations."""
        return total(self.latency_buckets()).average

    def latency_buckets(self) -> list[Bucket]:
        """The window's operations by latency, one bucket per range of LATENCY_EDGES: lognormal around the mean."""
        mu = math.log(max(self.latency, 1)) - _SIGMA**2 / 2
        logarithms = [math.log(edge) - mu if edge else -math.inf for edge in LATENCY_EDGES]
        shares = [_normal(high) - _normal(low) for low, high in pairwise(logarithms)]
        weighted = [_normal(high - _SIGMA**2) - _normal(low - _SIGMA**2) for low, high in pairwise(logarithms)]
        buckets = []
        counts = shared(self.rate * WINDOW_SECONDS, shares)
        for (low, high), count, share, part in zip(pairwise(LATENCY_EDGES), counts, shares, weighted, strict=True):
            mean = self.latency * part / share if count else 0
            buckets.append(Bucket(count, int(min(max(mean, low), high - 1))))
        return buckets

    def size_buckets(self) -> list[Bucket]:
        """The window's operations by size, one bucket per range of SIZE_EDGES."""
        sizes = zip(self.sizes, shared(self.rate * WINDOW_SECONDS, list(self.sizes.values())), strict=True)
        counts = [Bucket(count, size) for size, count in sizes]
        return [total([each for each in counts if low <= each.average < high]) for low, high in pairwise(SIZE_EDGES)]


@dataclass(frozen=True)
class Load:
    """All operations of one vdisk. Shares are by the label of their row; megabytes and counts are as on the pages."""

    read: LoadStream = LoadStream()
    write: LoadStream = LoadStream()
    read_source: Mapping[str, float] = field(default_factory=dict)
    oplog_share: float = 1.0
    oplog_kilobytes: int = 0
    drain_kilobytes: int = 0
    """Per second."""
    working_set: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """MB in 2 minutes and in 1 hour, by Read, Write, Union."""
    up_migrations: tuple[int, int, int] = (0, 0, 0)
    usage_gigabytes: int = 20
    path: float = 150
    """Microseconds that an operation takes in the guest in addition to the latency of the front end."""
    backend_latency: float | None = None
    """Mean of reads and writes in the store, microseconds; None: two fifths of the mean of reads."""
    queued: int = 0
    """Operations in the QoS queue of the CVM."""
    oplog_queued: int = 0
    noise: float = 0
    """Standard deviation of the logarithm of each latency, from second to second."""

    @property
    def oplog_fragments(self) -> int:
        """Writes in the oplog."""
        return self.oplog_kilobytes // max(self.write.average_size // KILOBYTE, 1)


def total(buckets: Iterable[Bucket]) -> Bucket:
    """The sum of all buckets."""
    known = list(buckets)
    operations = sum(bucket.operations for bucket in known)
    whole = sum(bucket.average * bucket.operations for bucket in known)
    return Bucket(operations, whole // operations if operations else 0)


def shared(whole: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to the shares, with the sum `whole`."""
    weight = sum(shares)
    if not weight:
        return [0] * len(shares)
    exact = [whole * share / weight for share in shares]
    counts = [int(number) for number in exact]
    by_rest = sorted(range(len(shares)), key=lambda index: counts[index] - exact[index])
    for index in by_rest[: whole - sum(counts)]:
        counts[index] += 1
    return counts


def _normal(distance: float) -> float:
    """The part of a normal distribution with the deviation _SIGMA below this distance from its mean."""
    return 0.5 * math.erfc(-distance / _SIGMA / math.sqrt(2))
