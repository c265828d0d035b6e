"""fio's bins as it prints them."""

from benchwatch.metrics.buckets import FIO_BINS, LOWER_NS, UPPER_NS

BIN_OF_KEY: dict[str, int] = {
    str(low if high == low else (low + high + 1) // 2): index
    for index, (low, high) in enumerate(zip(LOWER_NS[:FIO_BINS].tolist(), UPPER_NS[:FIO_BINS].tolist(), strict=True))
}
"""The bin of each key that fio prints (json+ `bins`: midpoint in nanoseconds)."""
