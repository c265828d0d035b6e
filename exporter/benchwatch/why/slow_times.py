"""When a benchmark was slow by its own usual."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.prometheus import Array
from .seen import Reported

USUAL = 300.0  # seconds before a moment that say what is usual then
ITSELF = "its own last minutes"
_ARMED, _EVERY, _APART, _LATE = 30, 15, 5, 5
"""Seconds: after which a series is its own usual; for which one usual counts; without slow ones, a slow time ends; of
which the samples may still come.
"""
_LASTS, _NEARLY = 150, 0.9
"""Seconds after which a slow time is usual itself, and the part of them that must be slow."""
_BELOW, _ABOVE = 3.1, 3.9
"""Powers of the median's ratios to the quantiles 0.1 and 0.85 that are 4 standard deviations of lognormal noise. The
smaller one counts: slow seconds among the usual ones widen only the upper side, a second, lower level only the other.
"""
_LEAST, _MOST = 2.0, 4.0
"""Multiples of the usual's upper level, its quantile 0.75: no second below the first is slow, each above the second is.
A usual that changes between two levels varies more than noise on one of them.
"""
_FAR, _OFTEN = 2.0, 0.35
"""Slow seconds up to this multiple of the threshold are usual if this part of the last minutes, without those above the
multiple, consists of them: a level that comes again and again.
"""
_WORSE, _WORSENS = 3.0, 5
"""The multiple of all latencies so far from which on a slow time is another one, if three seconds in a row have it; and
after how many seconds: at first, each is worse than the one before.
"""
_FLOOR = 0.00025  # seconds by which a latency must exceed the usual, as for LatencySpike
_ENOUGH, _COUNTED = 50.0, 60
"""Operations that make a mean; the most seconds that are taken together to have as many."""


class SlowTime(NamedTuple):
    """From when to when a run was slow, Unix seconds. `armed`: whose usual it is compared with."""

    begin: float
    end: float
    armed: str = ITSELF


class JudgedSeconds(NamedTuple):
    """The seconds of a part from `first` on, Unix time: whether each was slow; 0: it counts as usual, 1: as slow, 2: as
    slow by far.
    """

    first: int
    slow: NDArray[np.bool_]
    strange: NDArray[np.int8]


def slow_times(
    parts: Sequence[Reported],
    before: float | None = None,
    armed: str = "",
    judged: dict[tuple[str, ...], JudgedSeconds] | None = None,
) -> list[SlowTime]:
    """When any part was slow, in order. `before`: the latency that is usual until its own is known, seconds; `armed`
    says where that comes from. `judged` is what was found a moment ago, by part, and is brought up to date: it stays,
    although the seconds that it was compared with are no longer seen.
    """
    judged = {} if judged is None else judged
    for part in parts:
        judged[part.name] = _judged(part, before, judged.get(part.name))
    moments = np.flatnonzero(np.any([judged[part.name].slow for part in parts], axis=0)) if parts else np.empty(0)
    if not len(moments):
        return []
    first, began = parts[0].first, min(int(np.argmax(~np.isnan(part.rate))) for part in parts)
    return [
        SlowTime(first + float(begin), first + float(end) + 1, armed if begin - began < _ARMED else ITSELF)
        for longer in np.split(moments, np.flatnonzero(np.diff(moments) > _APART) + 1)
        for begin, end in _spans(parts, longer[0], longer[-1])
    ]


def _spans(parts: Sequence[Reported], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """First and last second of each slow time within a longer one: another begins where a part becomes much slower."""
    worse = np.zeros(max(end - begin - 1 - _WORSENS, 0), dtype=bool)
    for part in parts:
        latency, rate = part.latency[begin : end + 1], part.rate[begin : end + 1]
        latency = np.where(np.isnan(latency) & (rate == 0), np.inf, latency)  # nothing completes
        bound = _WORSE * np.fmax.accumulate(latency)[_WORSENS - 2 :]
        next_three = (latency[_WORSENS + place :] for place in range(3))
        worse |= np.all([seconds[: len(worse)] > bound[: len(worse)] for seconds in next_three], axis=0)
    if not worse.any():
        yield begin, end
        return
    other = begin + _WORSENS + int(np.argmax(worse))
    yield begin, other - 1
    yield from _spans(parts, other, end)


def _judged(part: Reported, before: float | None, known: JudgedSeconds | None) -> JudgedSeconds:
    """Whether each second is slow: above the usual's noise, within _LEAST and _MOST, and above three medians; or below
    30 % of the usual rate for 3 s.
    """
    latency, rate = _counted(part), part.rate
    slow, strange = np.zeros(len(rate), dtype=bool), np.zeros(len(rate), dtype=np.int8)
    lately = np.convolve(np.nan_to_num(rate), np.ones(3) / 3)[: len(rate)]
    reported = np.flatnonzero(~np.isnan(rate))
    begin = now = int(reported[0]) if len(reported) else len(rate)
    if known is not None:
        gone = part.first - known.first
        last = min(len(known.slow) - gone, len(rate)) - _LATE
        if gone >= 0 and last > begin:
            now = max(begin, last - (part.first + last) % _EVERY)
            slow[:now], strange[:now] = known.slow[gone : gone + now], known.strange[gone : gone + now]
    limit, many = np.inf if before is None else 3 * before, 0.0
    while now < len(rate):
        end = min(now + _EVERY - (part.first + now) % _EVERY, len(rate))
        if (strange[max(begin, now - _LASTS) : now] > 0).sum() >= _NEARLY * _LASTS:
            strange[:now] = 0
        past = slice(max(begin, now - int(USUAL)), max(begin, now - 1))
        if (strange[past] == 1).sum() >= _OFTEN * (strange[past] < 2).sum():
            strange[:now][strange[:now] == 1] = 0
        calm = strange[past] == 0
        usual_latency, usual_rate = latency[past][calm], rate[past][calm]
        usual_latency, usual_rate = usual_latency[~np.isnan(usual_latency)], usual_rate[~np.isnan(usual_rate)]
        if len(usual_rate) >= _ARMED and len(usual_latency) >= _ARMED / 2:
            quantiles = _quantiles(usual_latency, 0.1, 0.5, 0.75, 0.85)
            low, median, level, high = np.maximum(quantiles, 1e-9)
            noise = median * min((median / low) ** _BELOW, (high / median) ** _ABOVE)
            limit = max(min(noise, _MOST * level), _LEAST * level, 3 * median, median + _FLOOR)
            many = float(_quantiles(usual_rate, 0.5)[0])
        fewer = (lately[now:end] < 0.3 * many) & ~np.isnan(rate[now:end]) & (many >= 20)
        with np.errstate(invalid="ignore"):
            slow[now:end] = (latency[now:end] > limit) | fewer
            strange[now:end] = np.where(fewer | (latency[now:end] > _FAR * limit), 2, slow[now:end])
        now = end
    return JudgedSeconds(part.first, slow, strange)


def _quantiles(values: Array, *parts: float) -> Array:
    """As np.quantile, which takes nine times as long."""
    found: Array = np.interp(np.array(parts) * (len(values) - 1), np.arange(len(values)), np.sort(values))
    return found


def _counted(part: Reported) -> Array:
    """Latencies; of few operations a second, means over as many seconds as have enough."""
    usual = np.nanmedian(part.rate) if (~np.isnan(part.rate)).any() else 0.0
    if usual >= _ENOUGH or usual <= 0:
        return part.latency
    window = np.ones(min(_COUNTED, int(np.ceil(_ENOUGH / usual))))
    weights = np.where(np.isnan(part.latency), 0.0, np.nan_to_num(part.rate))
    number = np.convolve(weights, window)[: len(weights)]
    time = np.convolve(np.nan_to_num(part.latency) * weights, window)[: len(weights)]
    means: Array = np.divide(time, number, out=np.full(len(weights), np.nan), where=number > 0)
    return means
