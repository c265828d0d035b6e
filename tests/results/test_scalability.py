import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from benchwatch.results.scalability import fit

NUMBERS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


def law(rate: float, contention: float, coherence: float) -> Callable[[float], float]:
    return lambda n: rate * n / (1 + contention * (n - 1) + coherence * n * (n - 1))


@pytest.mark.parametrize(
    ("contention", "coherence", "peak"),
    [(0.03, 0.001, math.sqrt(970)), (0.2, 0.01, math.sqrt(80)), (0.0, 0.0025, 20.0), (0.05, 0.0, math.inf)],
)
def test_a_known_law_is_recovered(contention: float, coherence: float, peak: float) -> None:
    found = fit(NUMBERS, list(map(law(1000, contention, coherence), NUMBERS)), 0.95)
    assert found
    assert found.rate.value == pytest.approx(1000)
    assert found.contention.value == pytest.approx(contention, abs=1e-9)
    assert found.coherence.value == pytest.approx(coherence, abs=1e-9)
    assert found.peak.value == pytest.approx(peak) or found.peak.value > 1e6
    assert found.deviation == pytest.approx(0, abs=1e-9)
    assert found.at(64) == pytest.approx(law(1000, contention, coherence)(64))


def test_no_coefficient_is_below_0_where_throughput_grows_faster_than_the_parameter() -> None:
    found = fit(NUMBERS, [100 * n**1.1 for n in NUMBERS], 0.95)
    assert found
    assert (found.contention.value, found.coherence.value, found.peak.value) == (0, 0, math.inf)


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 4.0], [1.0, 2.0, 4.0, 4.0, 4.0], [0.0, 1.0, 2.0, 3.0]])
def test_too_few_points_and_what_is_not_above_0_have_no_law(numbers: Sequence[float]) -> None:
    assert fit(numbers, [100.0 + n for n in numbers], 0.95) is None


def test_the_interval_holds_the_truth_as_often_as_it_says_and_repeats_narrow_it() -> None:
    chance = np.random.default_rng(5)
    true = law(1000, 0.03, 0.001)
    holds, widths = [], []
    for repeats in (1, 3):
        numbers = NUMBERS * repeats
        found = [
            one
            for _ in range(40)
            if (one := fit(numbers, [true(n) * (1 + 0.02 * chance.normal()) for n in numbers], 0.95))
        ]
        holds.append(sum(one.peak.low <= math.sqrt(970) <= one.peak.high for one in found))
        widths.append(float(np.median([one.contention.high - one.contention.low for one in found])))
    assert min(holds) >= 33  # 95 % of 40 is 38; fewer than 33 would come by chance once in 500
    assert widths[1] < 0.6 * widths[0]


def test_the_same_runs_have_the_same_interval() -> None:
    rates = [1000.0, 1950.0, 3500.0, 6500.0, 8100.0, 8000.0]
    assert fit(NUMBERS, rates, 0.95) == fit(NUMBERS, rates, 0.95)
