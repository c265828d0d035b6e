import math

import numpy as np

from benchwatch.history.timeline import Series
from benchwatch.plots.histograms import LatencyGrid, bounds_of, curve, density, populated, read
from benchwatch.tools.fio.metrics import COMPLETION_LATENCY as FAMILY

START = 1000.0


def buckets(times: list[float], **counters: list[float]) -> list[Series]:
    """A histogram: le_1 is the bucket up to 1 s."""
    bounds = [name.removeprefix("le_").replace("inf", "+Inf") for name in counters]
    nothing = [0.0] * len(times)
    values = np.array([*counters.values(), nothing, nothing]).T
    return [Series(FAMILY, (), np.array(times) + START, values, bounds)]


def one_of(series: list[Series], longest: float = math.inf) -> LatencyGrid:
    found = read(series, bounds_of(series), START, longest)
    assert found is not None
    return found


def test_counts_are_differences_over_time_and_latency() -> None:
    found = one_of(buckets([1, 2, 3], le_1=[2, 2, 5], le_2=[2, 3, 9], le_inf=[2, 3, 10]))
    assert found.bounds.tolist() == [0.5, 1, 2, 4]
    assert found.seconds.tolist() == [1, 2, 3]
    assert found.counts.tolist() == [[2, 0, 0], [0, 1, 0], [3, 3, 1]]


def test_workers_are_added_exactly_whenever_they_report() -> None:
    found = one_of(buckets([1, 2], le_1=[1, 3], le_inf=[1, 4]) + buckets([1.5], le_1=[10], le_inf=[20]))
    assert found.seconds.tolist() == [1, 1.5, 2]
    assert found.counts.tolist() == [[1, 0], [10, 10], [2, 1]]


def test_workers_whose_buckets_differ_are_added_bucket_by_bucket() -> None:
    """As those of sysbench do, which prints only the bins that are not empty."""
    found = one_of(buckets([1], le_1=[5], le_3=[8], le_inf=[8]) + buckets([1], le_2=[10], le_inf=[10]))
    assert found.bounds.tolist() == [0.5, 1, 2, 3, 6]
    assert found.counts.tolist() == [[5, 10, 3, 0]]


def test_the_warm_up_is_left_out() -> None:
    found = one_of(buckets([1, 2, 3], le_1=[2, 3, 5], le_inf=[2, 4, 6]))
    assert found.between(1, np.inf).tolist() == [3, 1]
    assert found.between(1.05, np.inf).tolist() == [3, 1]
    assert found.between(1.5, np.inf).tolist() == [2, 0], "the report of 1 to 2 s began in the warm-up"


def test_columns_begin_and_end_at_reports_so_none_is_empty_by_chance() -> None:
    times = [1.007 * number for number in range(1, 61)]
    counters = [5.0 * number for number in range(1, 61)]
    edges, rates = one_of(buckets(times, le_1=counters, le_inf=counters)).columns(1.0)
    np.testing.assert_allclose(rates[0], 5 / 1.007, rtol=1e-9)
    assert len(edges) == rates.shape[1] + 1


def test_what_a_log_counts_by_second_is_not_spread_over_a_stall() -> None:
    series = buckets([1, 2, 10, 11], le_1=[5, 10, 15, 20], le_inf=[5, 10, 15, 20])
    edges, rates = one_of(series, longest=1.0).columns(1.0)
    assert edges.tolist() == [0, 1, 2, 9, 10, 11]
    assert rates[0].tolist() == [5, 5, 0, 5, 5]
    edges, rates = one_of(series).columns(1.0)  # between two documents of fio nothing is known of the time
    assert edges.tolist() == [0, 1, 2, 10, 11]
    assert rates[0].tolist() == [5, 5, 5 / 8, 5]


def test_a_single_report_counts_since_the_start_or_its_interval() -> None:
    series = buckets([3], le_1=[6], le_inf=[6])
    for longest, begin, rate in ((math.inf, 0, 2), (1.0, 2, 6)):
        edges, rates = one_of(series, longest).columns(1.0)
        assert edges.tolist() == [begin, 3]
        assert rates[0].tolist() == [rate]


def test_a_report_at_the_start_has_no_time_of_its_own() -> None:
    edges, rates = one_of(buckets([0, 1], le_1=[4, 9], le_inf=[4, 9])).columns(1.0)
    assert (edges.tolist(), rates.tolist()) == ([0, 1], [[5], [0]])
    edges, rates = one_of(buckets([0], le_1=[4], le_inf=[4])).columns(1.0)
    assert (edges.tolist(), rates.shape) == ([0], (2, 0))


def test_workers_that_report_once_count_since_the_start_until_the_last_has_reported() -> None:
    found = one_of(buckets([9.75], le_1=[4], le_inf=[4]) + buckets([10], le_1=[6], le_inf=[6]))
    edges, rates = found.columns(1.0)
    assert edges.tolist() == [0, 10]
    assert rates[0].tolist() == [1]


def test_a_curve_holds_the_edges_of_filled_buckets_and_no_end() -> None:
    parts, latencies = curve(np.array([0.0, 90, 0, 9, 1]), np.array([0.5, 1, 2, 3, 4, 5]))
    assert parts.tolist() == [0, 0.9, 0.99, 0.99]
    assert latencies.tolist() == [2, 2, 4, 5]


def test_a_density_does_not_depend_on_the_width_of_buckets() -> None:
    edges, parts = density(np.array([0.0, 10, 20, 0]), np.array([0.5, 1, 2, 8, 9]))
    assert edges.tolist() == [1, 2, 8]
    np.testing.assert_allclose(parts, [1 / 3, 1 / 3])


def test_only_populated_buckets_are_shown() -> None:
    found = one_of(buckets([1], le_1=[0], le_2=[0], le_3=[5], le_4=[6], le_inf=[6]))
    assert populated([found]) == (2, 4)


def test_no_series_no_latencies() -> None:
    assert read([], [], START, 1.0) is None
