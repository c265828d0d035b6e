"""The universal scalability law (N. J. Gunther, "Guerrilla Capacity Planning", 2007), fitted to measured throughput.

    X(N) = l N / (1 + s (N - 1) + k N (N - 1))

l: throughput of one; s: contention, the serial part; k: coherence, the cost of keeping each pair in step. The peak is
at N = sqrt((1 - s) / k); with k = 0 there is none.

N / X = l' + l' s (N - 1) + l' k N (N - 1) with l' = 1 / l is linear in the unknowns. It is fitted by least squares of
relative deviations, with no coefficient below 0. Each run is an observation, so repeats count. The intervals come from
a parametric bootstrap with a fixed seed (B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993): the law
is fitted again to many sets of runs drawn around it. The standard deviation of each set is itself drawn (the sum of
squared deviations over chi-squared), so that few runs have wide intervals, as with Student's t.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ..compare.statistics import Floats

FEWEST_POINTS = 4
REACH = 2.0
"""Multiple of the largest N up to which the fit is trusted."""
_DRAWS = 4000
_ROUNDS = 3
_SUBSETS = [[0, *(column for column, used in ((1, b), (2, c)) if used)] for b, c in product((True, False), repeat=2)]


class Bounded(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


class Scalability(NamedTuple):
    """The fitted law."""

    rate: Bounded
    """l"""
    contention: Bounded
    """s"""
    coherence: Bounded
    """k"""
    peak: Bounded
    """The N of the highest throughput; infinite if there is none."""
    deviation: float
    """Root mean square of the relative deviations of the measured throughput from the law."""
    largest: float
    """The largest N that was measured."""

    @property
    def reach(self) -> float:
        """The largest N up to which the fit is trusted."""
        return REACH * self.largest

    def at(self, number: float) -> float:
        """The throughput at N."""
        load = 1 + self.contention.value * (number - 1) + self.coherence.value * number * (number - 1)
        return self.rate.value * number / load


def fit(numbers: Sequence[float], rates: Sequence[float], confidence: float) -> Scalability | None:
    """The law of runs with this throughput at these N; None for fewer than four different N, or values of 0 or less.

    Four runs leave one degree of freedom.
    """
    n, x = np.asarray(numbers, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if len(set(numbers)) < FEWEST_POINTS or n.min() <= 0 or x.min() <= 0:
        return None
    design = np.column_stack([np.ones_like(n), n - 1, n * (n - 1)])
    wanted = fitted = n / x
    for _ in range(_ROUNDS):  # deviations are relative to the law, not to the measurements
        found = _least_squares(design / fitted[:, None], (wanted / fitted)[:, None])[:, 0]
        if not (np.isfinite(found).all() and (design @ found > 0).all()):
            return None
        fitted = design @ found
    relative = design / fitted[:, None]
    off = wanted / fitted - 1
    degrees = len(n) - design.shape[1]
    random = np.random.default_rng(0)
    spread = np.sqrt((off @ off) / random.chisquare(degrees, _DRAWS))
    drawn = _least_squares(relative, 1 + spread * random.normal(size=(len(n), _DRAWS)))
    drawn = drawn[:, np.isfinite(drawn).all(axis=0)]
    ends = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    bounded = []
    for value, sample in zip(_quantities(found[:, None]), _quantities(drawn), strict=True):
        low, high = np.quantile(sample, ends, method="nearest")  # some peaks are infinite
        bounded.append(Bounded(float(value[0]), min(float(low), float(value[0])), max(float(high), float(value[0]))))
    rate, contention, coherence, peak = bounded
    deviation = math.sqrt(float(np.mean((1 / (1 + off) - 1) ** 2)))
    return Scalability(rate, contention, coherence, peak, deviation, float(n.max()))


def _least_squares(design: Floats, wanted: Floats) -> Floats:
    """The best non-negative coefficients, a row each, for each column of `wanted`; NaN if there are none."""
    best = np.full((design.shape[1], wanted.shape[1]), np.nan)
    least = np.full(wanted.shape[1], np.inf)
    for columns in _SUBSETS:
        found = np.zeros_like(best)
        found[columns] = np.linalg.lstsq(design[:, columns], wanted, rcond=None)[0]
        wrong = ((design @ found - wanted) ** 2).sum(axis=0)
        better = (found >= 0).all(axis=0) & (found[0] > 0) & (wrong < least)
        best[:, better], least[better] = found[:, better], wrong[better]
    return best


def _quantities(found: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """l, s, k and the N of the peak, at least 1."""
    first, serial, pairs = found
    with np.errstate(divide="ignore", invalid="ignore"):
        contention, coherence = serial / first, pairs / first
        peak = np.sqrt(np.maximum(1 - contention, 0) / coherence)
    return 1 / first, contention, coherence, np.maximum(np.where(coherence > 0, peak, np.inf), 1.0)
