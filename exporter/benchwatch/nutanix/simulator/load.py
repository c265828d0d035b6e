"""What one vdisk does at one moment, and the histograms that follow from it.

Rates are whole operations per second, and everything a page shows follows from them, so that its tables agree: the
histograms count three seconds of operations, an average is the sum of all divided by their number, cut off, as on the
real pages.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

WINDOW_SECONDS = 3
KILOBYTE = 1024
MEGABYTE = 1024 * 1024

LATENCY_EDGES = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, math.inf)
"""Microseconds."""
SIZE_EDGES = (0, *(k * KILOBYTE for k in (4, 8, 16, 32, 64, 512)), MEGABYTE, math.inf)
"""Bytes."""


class Bucket(NamedTuple):
    """Operations in one range, and their average in the unit of the edges, cut off."""

    operations: int
    average: int


@dataclass(frozen=True)
class LoadStream:
    """Reads or writes: `sizes` are shares by bytes, `latency` is the mean in microseconds, `random` a ratio."""

    rate: int = 0
    sizes: Mapping[int, float] = field(default_factory=lambda: {8 * KILOBYTE: 1.0})
    latency: float = 0
    random: float = 1.0

    @property
    def size_counts(self) -> dict[int, int]:
        """Operations in the window by size."""
        counts = shared(self.rate * WINDOW_SECONDS, list(self.sizes.values()))
        return dict(zip(self.sizes, counts, strict=True))

    @property
    def average_size(self) -> int:
        """Bytes; 0 without operations."""
        return _average(self.size_counts.items())

    @property
    def kilobytes(self) -> int:
        """KB a second."""
        return self.rate * self.average_size // KILOBYTE

    def latency_buckets(self) -> list[Bucket]:
        """The window's operations by latency, one bucket a range of LATENCY_EDGES: lognormal about the mean."""
        sigma = 0.6
        mu = math.log(max(self.latency, 1)) - sigma**2 / 2
        below = [_normal(math.log(edge) - mu, sigma) if edge else 0.0 for edge in LATENCY_EDGES]
        weighted = [_normal(math.log(edge) - mu - sigma**2, sigma) if edge else 0.0 for edge in LATENCY_EDGES]
        shares = [high - low for low, high in pairwise(below)]
        counts = shared(self.rate * WINDOW_SECONDS, shares)
        buckets = []
        for index, count in enumerate(counts):
            mean = self.latency * (weighted[index + 1] - weighted[index]) / shares[index] if count else 0
            low, high = LATENCY_EDGES[index], LATENCY_EDGES[index + 1]
            buckets.append(Bucket(count, int(min(max(mean, low), high - 1))))
        return buckets

    def size_buckets(self) -> list[Bucket]:
        """The window's operations by size, one bucket a range of SIZE_EDGES."""
        buckets = []
        for low, high in pairwise(SIZE_EDGES):
            inside = {size: count for size, count in self.size_counts.items() if low <= size < high}
            buckets.append(Bucket(sum(inside.values()), _average(inside.items())))
        return buckets

    @property
    def average_latency(self) -> int:
        """Microseconds; 0 without operations."""
        return total(self.latency_buckets()).average


@dataclass(frozen=True)
class Load:
    """All that one vdisk does. Shares are by the row's label; megabytes and counts as the pages show them."""

    read: LoadStream = LoadStream()
    write: LoadStream = LoadStream()
    read_source: Mapping[str, float] = field(default_factory=dict)
    oplog_share: float = 1.0
    oplog_kilobytes: int = 0
    drain_kilobytes: int = 0
    """A second."""
    working_set: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """MB in 2 minutes and in 1 hour, by Read, Write, Union."""
    up_migrations: tuple[int, int, int] = (0, 0, 0)
    usage_gigabytes: int = 20
    path: float = 150
    """Microseconds that an operation takes in the guest, beyond those that the front end sees."""
    backend_latency: float | None = None
    """Mean of reads and writes in the store, microseconds; None: two fifths of a read's."""
    queued: int = 0
    """Operations in the QoS queue of the CVM."""
    oplog_queued: int = 0
    noise: float = 0
    """Standard deviation of the logarithm of each latency, from second to second."""

    @property
    def oplog_fragments(self) -> int:
        """Writes in the oplog."""
        return self.oplog_kilobytes // max(self.write.average_size // KILOBYTE, 1)


def total(buckets: Sequence[Bucket]) -> Bucket:
    """All buckets as one."""
    operations = sum(bucket.operations for bucket in buckets)
    return Bucket(operations, _average((bucket.average, bucket.operations) for bucket in buckets))


def shared(whole: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to the shares that add up to `whole`."""
    weight = sum(shares)
    if not weight:
        return [0] * len(shares)
    exact = [whole * share / weight for share in shares]
    counts = [int(number) for number in exact]
    by_rest = sorted(range(len(shares)), key=lambda index: counts[index] - exact[index])
    for index in by_rest[: whole - sum(counts)]:
        counts[index] += 1
    return counts


def _average(weighted: Iterable[tuple[int, int]]) -> int:
    pairs = list(weighted)
    operations = sum(count for _, count in pairs)
    return sum(value * count for value, count in pairs) // operations if operations else 0


def _normal(distance: float, sigma: float) -> float:
    return 0.5 * math.erfc(-distance / sigma / math.sqrt(2))
