import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.metrics.buckets import (
    BINS,
    FIO_BINS,
    LOWER_NS,
    MIDPOINT_SECONDS,
    UPPER_NS,
    Buckets,
    bins,
    quantiles,
)
from tests.support.bins import BIN_OF_KEY


def bin_by_definition(value: int) -> int:
    """fio's plat_val_to_idx, written out, without its upper end."""
    most = max(value.bit_length() - 1, 0)
    if most <= 6:
        return value
    error_bits = most - 6
    return ((error_bits + 1) << 6) + ((value >> error_bits) & 63)


@settings(max_examples=300)
@given(st.lists(st.integers(0, 2**43 - 1), min_size=1))
def test_bins_are_those_of_fio(values: list[int]) -> None:
    assert bins(np.array(values)).tolist() == [bin_by_definition(value) for value in values]


def test_every_edge_lies_in_its_bin_and_the_next_value_in_the_next() -> None:
    assert bins(LOWER_NS).tolist() == list(range(BINS))
    assert bins(UPPER_NS[:-1]).tolist() == list(range(BINS - 1))
    assert (LOWER_NS[1:] == UPPER_NS[:-1] + 1).all()
    assert UPPER_NS[FIO_BINS - 2] == 17_045_651_455
    assert UPPER_NS[-1] == 2**43 - 1


def test_every_key_that_fio_prints_is_known_and_lies_in_its_bin() -> None:
    keys = np.array([int(key) for key in BIN_OF_KEY])
    assert len(keys) == FIO_BINS
    assert bins(keys).tolist() == list(BIN_OF_KEY.values())
    assert keys[-1] == 17_112_760_320
    assert MIDPOINT_SECONDS[BIN_OF_KEY["17112760320"]] == 17.112760320


@settings(max_examples=100)
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=300), st.sampled_from([0.5, 0.95, 0.99, 0.999, 1.0]))
def test_quantiles_are_within_0_8_percent_of_the_nearest_rank(values: list[int], quantile: float) -> None:
    counts = np.bincount(bins(np.array(values)), minlength=BINS)
    exact = sorted(values)[max(0, int(np.ceil(round(quantile * len(values), 6))) - 1)] / 1e9
    assert quantiles(counts, [quantile]) == [pytest.approx(exact, rel=0.008)]


def test_nothing_counted_has_no_quantiles() -> None:
    assert quantiles(np.zeros(BINS, np.int64), [0.5, 1.0]) == []


@pytest.mark.parametrize(("per_octave", "finite"), [(4, 96), (2, 48), (1, 24)])
def test_bucket_edges_are_edges_of_bins(per_octave: int, finite: int) -> None:
    buckets = Buckets(per_octave)
    assert len(buckets.bounds) == finite + 1
    assert buckets.bounds[0] == "1.023e-06"
    assert buckets.bounds[-1] == "+Inf"
    edges = [round(float(bound) * 1e9) for bound in buckets.bounds[:-1]]
    assert np.isin(edges, UPPER_NS).all()
    counts = np.zeros(BINS, np.int64)
    counts[bins(np.array([edges[5], edges[5] + 1]))] = 1
    value = buckets.value(counts, 1.5)
    assert value.counts[4:7] == [0, 1, 2]
    assert (value.counts[-1], value.sum) == (2, 1.5)


def test_other_numbers_of_buckets_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 1, 2 or 4, got 3"):
        Buckets(3)
