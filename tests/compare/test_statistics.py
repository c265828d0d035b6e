import math

import numpy as np
import pytest

from benchwatch.compare import statistics
from benchwatch.compare.statistics import (
    Estimate,
    against_one,
    autocorrelation_time,
    batches,
    between_runs,
    change,
    linearised,
    of_sections,
    shift,
    student,
    within_run,
)

from .made import Floats, autoregressive


def test_runs_give_their_mean_and_its_standard_error() -> None:
    found = between_runs([100.0, 104.0, 108.0])
    assert found == Estimate(104.0, pytest.approx(4.0 / math.sqrt(3) / 104), 2)
    assert between_runs([100.0]) is None
    assert between_runs([0.0, 0.0]) is None


@pytest.mark.parametrize("probability", [0.9, 0.975, 0.9995])
@pytest.mark.parametrize("degrees", [1, 1.3, 2, 4, 30, 1e6])
def test_the_quantiles_are_those_of_students_distribution(probability: float, degrees: float) -> None:
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # here, as loading it takes long

    assert student(probability, degrees) == pytest.approx(stdtrit(degrees, probability), rel=5e-4)


def test_the_interval_is_students_for_the_logarithm_of_the_ratio() -> None:
    # Equal errors of 1 % with 4 degrees of freedom each: Welch gives 8; t(0.975, 8) = 2.306, times 1.4142 % is 3.261 %.
    low, high = change(Estimate(100.0, 0.01, 4), Estimate(110.0, 0.01, 4), 0.95)
    assert low == pytest.approx(1.1 * math.exp(-0.032612) - 1, abs=1e-5)
    assert high == pytest.approx(1.1 * math.exp(0.032612) - 1, abs=1e-5)
    assert change(Estimate(100.0, 0.0, 4), Estimate(110.0, 0.0, 4), 0.95) == (pytest.approx(0.1), pytest.approx(0.1))


def test_a_single_run_has_the_spread_of_the_repeats_and_no_degrees_of_freedom_of_its_own() -> None:
    # 5 runs that differ by 2 %, so 4 degrees of freedom: t(0.975, 4) = 2.7764, times 2 %, times sqrt(1.2), is 6.083 %.
    low, high = change(*against_one(Estimate(100.0, 0.02 / math.sqrt(5), 4), 110.0), 0.95)
    assert low == pytest.approx(1.1 * math.exp(-0.06083) - 1, abs=1e-5)
    assert high == pytest.approx(1.1 * math.exp(0.06083) - 1, abs=1e-5)


def test_what_is_told_in_steps_is_no_surer_than_they_are() -> None:
    # Steps of 1: standard deviations of 1 / 3.464 each, together 0.3388 %; t(0.975, 2) = 4.3027, times it, is 1.458 %.
    low, high = change(Estimate(120.0, 0.0, 1, step=1.0), Estimate(121.0, 0.0, 1, step=1.0), 0.95)
    assert low == pytest.approx(121 / 120 * math.exp(-0.01458) - 1, abs=1e-5)
    assert high == pytest.approx(121 / 120 * math.exp(0.01458) - 1, abs=1e-5)


def test_a_ratio_of_sums_is_the_mean_of_its_linearised_values() -> None:
    totals, weights = np.array([10.0, 60.0, 5.0]), np.array([1.0, 4.0, 5.0])
    assert linearised(totals, weights).mean() == pytest.approx(7.5)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8, 0.9])
def test_the_autocorrelation_time_of_an_autoregressive_series_is_found(correlation: float) -> None:
    times = [autocorrelation_time(autoregressive(seed, 5000, 100, correlation)) for seed in range(20)]
    assert np.mean(times) == pytest.approx((1 + correlation) / (1 - correlation), rel=0.15)


def test_batches_are_longer_where_reports_depend_on_each_other() -> None:
    independent = batches(autoregressive(1, 310, 100))
    dependent = batches(autoregressive(1, 310, 100, 0.85))
    assert [batch.stop - batch.start for batch in independent] == [16] * 19
    assert [batch.stop - batch.start for batch in dependent] == [dependent[0].stop - dependent[0].start] * len(
        dependent
    )
    assert 10 <= len(dependent) < 19
    assert (independent[-1].stop, dependent[-1].stop) == (310, 310)


def test_too_few_reports_or_too_entangled_ones_tell_nothing() -> None:
    assert within_run(autoregressive(1, 9, 100)) is None
    assert within_run(autoregressive(1, 100, 100, 0.95)) is None
    assert within_run(np.zeros(100)) is None
    assert of_sections(1.0, [1.0] * 9) is None


def verdicts(size: int, correlation: float, pairs: int) -> tuple[float, float]:
    """How often two runs of the same mean get an interval, and how often it leaves out the truth; over all pairs."""
    told = wrong = 0
    for seed in range(pairs):
        one, two = (within_run(autoregressive(2 * seed + side, size, 1000, correlation)) for side in (0, 1))
        if one and two:
            told += 1
            low, high = change(one, two, 0.95)
            wrong += not low <= 0 <= high
    return told / pairs, wrong / pairs


@pytest.mark.parametrize(
    ("size", "correlation"), [(30, 0.0), (60, 0.0), (60, 0.5), (120, 0.5), (300, 0.5), (300, 0.8), (600, 0.9)]
)
def test_intervals_leave_out_the_truth_no_more_often_than_they_say(size: int, correlation: float) -> None:
    _, wrong = verdicts(size, correlation, 300)
    assert wrong <= 0.075  # 5 % nominal; two standard errors of 300 pairs are 2.5 %


def test_long_runs_do_get_an_interval() -> None:
    assert verdicts(300, 0.5, 100)[0] > 0.95
    assert verdicts(600, 0.8, 100)[0] > 0.9


def test_repeated_runs_leave_out_the_truth_as_often_as_they_say() -> None:
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(1000):
        one, two = (between_runs(1000 * np.exp(0.03 * random.normal(size=5))) for _ in range(2))
        assert one and two
        low, high = change(one, two, 0.95)
        wrong += not low <= 0 <= high
    assert 0.03 <= wrong / 1000 <= 0.065


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_repeated_runs_against_a_single_one_leave_out_the_truth_as_often_as_they_say(runs: int) -> None:
    random = np.random.default_rng(2)
    wrong = 0
    for _ in range(1000):
        repeated = between_runs(1000 * np.exp(0.03 * random.normal(size=runs)))
        assert repeated
        low, high = change(*against_one(repeated, 1000 * np.exp(0.03 * random.normal())), 0.95)
        wrong += not low <= 0 <= high
    assert 0.03 <= wrong / 1000 <= 0.065


@pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
def test_a_step_within_a_run_is_found_where_it_is(part: float) -> None:
    values = autoregressive(3, 300, 100, 0.3) * np.where(np.arange(300) < 300 * part, 1.0, 1.4)
    found = shift(values)
    assert found
    assert found.place == pytest.approx(300 * part, abs=15)
    assert found.after / found.before == pytest.approx(1.4, rel=0.05)


@pytest.mark.parametrize("size", [10, 11, 12, 13, 14, 20, 21, 27, 30, 39, 40, 41, 59])
def test_a_step_in_the_middle_of_a_short_run_is_found(size: int) -> None:
    middle = size // 2
    found = shift(autoregressive(5, size, 100, deviation=0.02) * np.where(np.arange(size) < middle, 1.0, 2.0))
    assert found
    assert found.place == pytest.approx(middle, abs=1)
    assert found.after / found.before == pytest.approx(2.0, rel=0.1)


def test_a_trend_within_a_run_is_found(size: int = 100) -> None:
    found = shift(autoregressive(4, size, 100) * np.linspace(1.0, 1.5, size))
    assert found
    assert found.after > 1.15 * found.before


def test_steady_runs_are_hardly_ever_called_unsteady() -> None:
    for size, correlation in ((300, 0.5), (300, 0.0), (30, 0.0), (12, 0.0), (10, 0.0)):
        steady: list[Floats] = [autoregressive(seed, size, 100, correlation) for seed in range(100)]
        assert sum(shift(values) is not None for values in steady) <= 4
    assert shift(np.full(9, 100.0)) is None
    assert shift(np.full(100, 100.0)) is None


def test_few_orders_first_find_the_same_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(5)
    series = [np.round(chance.normal(100 + step * (np.arange(30) > 14), 2)) for step in np.linspace(0, 4, 60)]
    found = [statistics.shift(values) for values in series]
    monkeypatch.setattr(statistics, "_FIRST_ORDERS", 1)
    assert [statistics.shift(values) for values in series] == found
    assert 10 < found.count(None) < 50
