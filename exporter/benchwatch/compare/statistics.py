"""How certain a change is: the arithmetic, on plain arrays.

Between runs (repeats): the mean over the runs, its standard error from their spread, n - 1 degrees of freedom. A single
run against n repeats is one more draw with the same spread s: the variance is s^2 (1 + 1/n), with n - 1 degrees of
freedom (a prediction interval: G. J. Hahn, W. Q. Meeker, "Statistical Intervals", 1991, chapter 4).

Within a run: non-overlapping batch means, because the reports of a run are not independent of their neighbours. There
are at most 20 batches (B. Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30,
1982: more than 30 gain nothing; below 10 the interval varies wildly, so such a run is too short to judge). If
neighbouring reports are correlated, a batch is at least 2 integrated autocorrelation times long, by the initial
monotone positive sequence of autocovariances (C. J. Geyer, Statistical Science 7, 1992). A remaining correlation r of
neighbouring batches widens the interval: its square by (1 + r) / (1 - r), as in A. Tafazzoli, J. R. Wilson, "Skart",
IIE Transactions 43, 2011.

Ratios of sums, such as a mean latency weighted by operations, become means of linearised values (W. G. Cochran,
"Sampling Techniques", 3rd ed. 1977, chapter 6). A quantile's standard error comes from the quantiles of the batches
around the quantile of the whole (sectioning: S. Asmussen, P. W. Glynn, "Stochastic Simulation", 2007, chapter III).

The change is the ratio of two means. Its interval is Student's t for its logarithm, with variances by the delta method
and degrees of freedom by B. L. Welch, Biometrika 34, 1947. A value with a resolution (the width of a histogram's bin,
the last digit printed) is off by up to half a step, which the spread of such values may not show, so the variance of a
uniform error, step^2 / 12, is added.

Whether a run is steady: its reports are cut into 20 pieces (with fewer than 20 reports, one piece each), and the ranks
of the pieces before any split are compared with those after it (H. B. Mann, D. R. Whitney, Annals of Mathematical
Statistics 18, 1947). The largest difference, in standard deviations, is compared with the largest ones in random orders
of the same pieces (a permutation test: E. J. G. Pitman, Supplement to the Journal of the Royal Statistical Society 4,
1937), so the number of splits needs no further correction. It finds steps as well as trends (the idea of A. N. Pettitt,
"A non-parametric approach to the change-point problem", Applied Statistics 28, 1979).

Points at which a series of results rose or fell, such as those of a nightly job: a window of at most 40 results ends at
every fifth result and at the last one; it begins after the last change at the earliest. In it, `shift` looks for the
clearest step (ranks, against random orders), at a probability of 0.1 %, because there are many windows. The place of a
step that was found is then sought again with the 20 results that follow.

In 10,000 independent results it found none where there was none; if neighbours correlate by 0.3 or 0.6, 3 or 19 in
1,000. A step of 2 standard deviations was found in 88 % of series when 10 results followed it (in 100 % with 30, in 5 %
with 5), one of 1.5 in 43 % and 83 %, one of 1 in 5 % and 33 %.

apache-otava pins another numpy and needs BigQuery's client; ruptures needs scipy (134 MB) and has no test of whether
there is a change at all.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_BATCHES = 20
FEWEST_BATCHES = 10
_BATCH_TIMES = 2
"""Least length of a batch, in integrated autocorrelation times."""
_CORRELATION_LIMIT = 0.8
_ROUNDING = 1e-9
"""Relative spread below which values differ only by rounding."""
_ANGLES = 1 << 16
_NORMAL = 1e4
"""Degrees of freedom beyond which the distribution is normal to four digits."""
_WIDEST = 100.0
"""Largest half-width of an interval of the logarithm of a ratio; it says nothing at all."""
_FEWEST_ASIDE = 2
"""Least number of pieces on each side of a split."""
_ORDERS = 9999
_FIRST_ORDERS = 500
"""Random orders that are compared first: they show that most series have no step."""
SHIFT_PROBABILITY = 0.01
_WINDOW = 40
_STEP = 5
_AFTER = 20
"""Results in a window, between the ends of two windows, and after a step, with which its place is sought again."""
_STEP_PROBABILITY = 0.001


class Estimate(NamedTuple):
    """A mean, whose standard error is `relative_error` times `value`."""

    value: float
    relative_error: float
    degrees: float
    """Degrees of freedom of the error."""
    step: float = 0.0
    """Resolution of the value; 0 if exact."""


class Shift(NamedTuple):
    """A point after which a run's reports are higher or lower than before."""

    place: int
    """Number of reports before it."""
    before: float
    """Mean before."""
    after: float


def between_runs(values: Sequence[float]) -> Estimate | None:
    """The mean of repeated runs; None for fewer than two runs, or if the mean is not positive."""
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean()) if len(array) else 0.0
    if len(array) < 2 or mean <= 0:
        return None
    return Estimate(mean, float(array.std(ddof=1)) / math.sqrt(len(array)) / mean, len(array) - 1)


def against_one(repeated: Estimate, value: float) -> tuple[Estimate, Estimate]:
    """The estimates for repeated runs and for a single run, which varies as much as they do.

    Both share one spread, so the first estimate has the whole error of the change, and the second has none.
    """
    spread = repeated.relative_error * math.sqrt(repeated.degrees + 2)
    return repeated._replace(relative_error=spread), Estimate(value, 0.0, repeated.degrees)


def linearised(totals: Floats, weights: Floats) -> Floats:
    """Values with the mean sum(totals) / sum(weights) and the spread of this ratio."""
    ratio = totals.sum() / weights.sum()
    return np.asarray(ratio + (totals - ratio * weights) / weights.mean())


def autocorrelation_time(values: Floats) -> float:
    """The integrated autocorrelation time: the number of values that say as much as one independent value."""
    centred = values - values.mean()
    size = len(values)
    variance = float(centred @ centred) / size
    if size < 4 or variance == 0:
        return 1.0
    total, previous = 0.0, math.inf
    for lag in range(0, size - 1, 2):
        pair = sum(float(centred[: size - k] @ centred[k:]) / size for k in (lag, lag + 1))
        if pair <= 0:
            break
        previous = min(previous, pair)
        total += previous
    return max(1.0, 2 * total / variance - 1)


def batches(values: Floats) -> list[slice]:
    """The batches of a series of reports, without the first few if they do not divide; empty if it is too short."""
    size = len(values)
    if size < FEWEST_BATCHES:
        return []
    length = math.ceil(size / MOST_BATCHES)
    if _neighbours(values) > 1 / math.sqrt(size):
        length = max(length, math.ceil(_BATCH_TIMES * autocorrelation_time(values)))
    number = size // length
    if number < FEWEST_BATCHES:
        return []
    return [slice(start, start + length) for start in range(size - number * length, size, length)]


def within_run(values: Floats) -> Estimate | None:
    """The mean of a run's reports by batch means; None with too few reports, or if the mean is not positive."""
    cut = batches(values)
    if not cut or values.mean() <= 0:
        return None
    return _estimate(float(values.mean()), np.array([values[batch].mean() for batch in cut]))


def of_sections(value: float, found: Sequence[float]) -> Estimate | None:
    """A figure of the whole run, such as a quantile, with its error from the same figure of each batch."""
    if len(found) < FEWEST_BATCHES or value <= 0:
        return None
    return _estimate(value, np.array(found))


def _estimate(value: float, means: Floats) -> Estimate:
    number = len(means)
    spread = float(((means - value) ** 2).sum()) / (number - 1)
    found = _neighbours(means)
    left = min(
        max(found + (1 + 3 * found) / number, 0.0), _CORRELATION_LIMIT
    )  # corrected for the bias of a short series
    error = math.sqrt(spread / number * (1 + left) / (1 - left))
    return Estimate(value, error / value, number - 1)


def _neighbours(values: Floats) -> float:
    """The correlation of neighbouring values."""
    centred = values - values.mean()
    squares = float(centred @ centred)
    if squares <= _ROUNDING**2 * float(values @ values):
        return 0.0
    return float(centred[1:] @ centred[:-1]) / squares


def one_batch(estimate: Estimate) -> Estimate:
    """The same value, as uncertain as one of its batches."""
    return estimate._replace(relative_error=estimate.relative_error * math.sqrt(estimate.degrees + 1))


def change(base: Estimate, other: Estimate, confidence: float) -> tuple[float, float]:
    """The interval of the change from base to other, as ratios: 0.075 is +7.5 %."""
    ratio = other.value / base.value
    variances = [each.relative_error**2 + (each.step / each.value) ** 2 / 12 for each in (base, other)]
    variance = sum(variances)
    if not variance:
        return ratio - 1, ratio - 1
    parts = sum(part**2 / each.degrees for part, each in zip(variances, (base, other), strict=True))
    width = min(student((1 + confidence) / 2, variance**2 / parts) * math.sqrt(variance), _WIDEST)
    return ratio * math.exp(-width) - 1, ratio * math.exp(width) - 1


@lru_cache(maxsize=256)
def student(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution for a probability above 0.5 and at least one degree of freedom.

    With t = sqrt(degrees) tan(angle), the density is cos(angle) ** (degrees - 1), which trapezoids integrate.
    """
    degrees = min(degrees, _NORMAL)
    angles = np.linspace(0.0, math.pi / 2, _ANGLES)
    density = np.maximum(np.cos(angles), 0.0) ** (degrees - 1)
    parts = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    angle = float(np.interp(2 * probability - 1, parts / parts[-1], angles))
    return math.sqrt(degrees) * math.tan(angle)


def shift(values: Floats, pieces: int = MOST_BATCHES, probability: float = SHIFT_PROBABILITY) -> Shift | None:
    """The clearest rise or fall in a run's reports; None without one, or with too few reports.

    At most `pieces` are compared; `probability` is that of finding one where there is none.
    """
    size = len(values)
    if size < FEWEST_BATCHES:
        return None
    number = min(size, pieces)
    edges = np.arange(number + 1) * size // number
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    _, inverse, counts = np.unique(means, return_inverse=True, return_counts=True)
    ranks = np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])  # equal values share their mean rank
    found = _differences(ranks)
    for orders in (_FIRST_ORDERS, _ORDERS):
        as_large = int((_largest_by_chance(tuple(sorted(ranks)), orders) >= found.max()).sum())
        if (1 + as_large) / (1 + _ORDERS) >= probability:
            return None
    place = int(edges[_FEWEST_ASIDE + found.argmax()])
    return Shift(place, float(values[:place].mean()), float(values[place:].mean()))


def change_points(values: Sequence[float]) -> list[int]:
    """The number of results before each change, rising."""
    array = np.asarray(values, dtype=np.float64)
    size, begin, end = len(array), 0, FEWEST_BATCHES
    found: list[int] = []
    while size >= begin + FEWEST_BATCHES:
        first = max(begin, end - _WINDOW)
        if place := _step(array[first:end]):
            begin = first + (_step(array[first : end + _AFTER]) or place)
            found.append(begin)
            end = max(end, begin + FEWEST_BATCHES)
        elif end == size:
            break
        else:
            end += _STEP
        end = min(end, size)
    return found


def _step(values: Floats) -> int | None:
    found = shift(values, _WINDOW + _AFTER, _STEP_PROBABILITY)
    return found.place if found else None


def _differences(ranks: Floats) -> Floats:
    """The difference, for each split, between the ranks before it and those after it.

    The unit is the standard deviation, up to a factor that is equal for all orders of the ranks. Ranks and splits are
    in the last dimension.
    """
    number = ranks.shape[-1]
    before = np.arange(_FEWEST_ASIDE, number - _FEWEST_ASIDE + 1)
    sums = np.cumsum(ranks - ranks.mean(axis=-1, keepdims=True), axis=-1)[..., before - 1]
    return np.asarray(np.abs(sums) / np.sqrt(before * (number - before)))


@lru_cache(maxsize=32)
def _largest_by_chance(ranks: tuple[float, ...], number: int) -> Floats:
    """The largest difference in each of so many random orders of these ranks: always the same, the first ones first."""
    orders = np.random.default_rng(0).permuted(np.tile(ranks, (number, 1)), axis=1)
    return np.asarray(_differences(orders).max(axis=-1))
