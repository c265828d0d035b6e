"""Why a run of the past was slow, from a Prometheus that watched it."""

import math

from ..metrics.prometheus import Prometheus, text
from .explanation import Explanation
from .judging import BEFORE, LOOKED, OVER, RETENTION, slow, usual_of_kin, why
from .seen import Seen, samples_of_runs, seen_run, surrounded
from .slow_times import USUAL

_PIECE = 6 * 3600.0
"""Seconds of a run that one answer covers."""
MOST = 30
"""Slow times that are explained: the longest."""
_LONGEST = 30 * 86400.0
"""Seconds of a run that are looked at: the last ones. A start of 1970 is a clock or a record that is wrong."""
_YOUNG = 35.0
"""Seconds into a run in which it has no usual of its own."""


def explanations(
    prometheus: Prometheus, run: str, begin: float | None, end: float | None, now: float
) -> list[Explanation] | None:
    """Why it was slow, in order; None: no such run. Raises PrometheusError."""
    span = _span(prometheus, run, now)
    if span is None:
        return None
    last = min(span[1], end or now)
    first = max(span[0], (begin or span[0]) - USUAL, last - _LONGEST)
    seen, at = Seen(), first
    while at < last:
        seen.add(samples_of_runs(prometheus, [run], at, min(at + _PIECE, last)))
        at += _PIECE
    of = seen_run(seen, run, first, last)
    if not of.parts:
        return None
    kin = usual_of_kin(prometheus, of, now) if first - span[0] < _YOUNG else None
    times = slow(of, kin)
    asked = [one for one in times if one.end >= (begin or 0.0) and one.begin <= last]
    found = []
    for when in sorted(sorted(asked, key=lambda one: one.begin - one.end)[:MOST]):
        until = min(when.end, when.begin + LOOKED, last) + 1
        (around,) = surrounded(prometheus, [of._replace(seen=Seen(of.seen.all()))], when.begin - BEFORE, until)
        one = why(around, when, times, when.end + 1, kin)
        if one is not None:
            found.append(one._replace(end=when.end, over=span[2] or when.end < last - OVER))
    return found


def _span(prometheus: Prometheus, run: str, now: float) -> tuple[float, float, bool] | None:
    """From when to when a run lasted, and whether it has ended."""
    moments = (
        prometheus.at(f"last_over_time(benchwatch_run_{edge}_timestamp_seconds{{run={text(run)}}}[{RETENTION}])", now)
        for edge in ("start", "end")
    )
    starts, ends = ([moment for _, moment in found if math.isfinite(moment)] for found in moments)
    if not starts:
        return None
    end = max(ends, default=0.0)
    ended = end > min(starts)
    return min(starts), end if ended else now, ended
