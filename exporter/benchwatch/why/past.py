"""Why a run of the past was slow, from a Prometheus that watched it."""

import math
from collections.abc import Iterator

from .explanation import Explanation
from .judging import LOOKED, SeenRun, seen_run, slow, why
from .kin import RETENTION, usual_of_kin
from .prometheus import Prometheus, text
from .questions import Questions
from .reported import USUAL, SlowTime
from .seen import Seen
from .waits import Picture

_PIECE = 6 * 3600.0
"""Seconds of a run that one answer covers."""
_AROUND = 125.0
MOST = 30
"""Slow times that are explained: the longest."""
_YOUNG = 35.0
"""Seconds into a run in which it has no usual of its own."""


def explanations(
    prometheus: Prometheus, run: str, begin: float | None, end: float | None, now: float
) -> list[Explanation] | None:
    """Why it was slow, in order; None: no such run. Raises PrometheusError."""
    span = _span(prometheus, run, now)
    if span is None:
        return None
    first = max(span[0], (begin or span[0]) - USUAL)
    last = min(span[1], end or now)
    if last <= first:
        return None
    questions, seen = Questions(prometheus, run), Seen()
    at = first
    while at < last:
        seen.add(questions.samples_of_run(at, min(at + _PIECE, last)))
        at += _PIECE
    of = seen_run(seen, run, first, last)
    if not of.parts:
        return None
    before = usual_of_kin(prometheus, of.facts, now) if first - span[0] < _YOUNG else None
    times = slow(of, before)
    asked = [one for one in times if one.end >= (begin or 0.0) and one.begin <= last]
    longest = sorted(sorted(asked, key=lambda one: one.begin - one.end)[:MOST])
    return list(_explained(of, questions, longest, times, before, last))


def _explained(
    of: SeenRun,
    questions: Questions,
    chosen: list[SlowTime],
    times: list[SlowTime],
    before: Picture | None,
    last: float,
) -> Iterator[Explanation]:
    for when in chosen:
        until = min(when.end, when.begin + LOOKED, last) + 1
        around = Seen([*of.seen.all(), *questions.samples_around(of.seen, when.begin - _AROUND, until)])
        found = why(of._replace(seen=around), when, times, when.end + 1, before)
        if found is not None:
            yield found._replace(end=when.end)


def _span(prometheus: Prometheus, run: str, now: float) -> tuple[float, float] | None:
    """From when to when a run lasted."""
    chosen = f"{{run={text(run)}}}[{RETENTION}]"
    starts = [
        value for _, value in prometheus.at(f"last_over_time(benchwatch_run_start_timestamp_seconds{chosen})", now)
    ]
    ends = [value for _, value in prometheus.at(f"last_over_time(benchwatch_run_end_timestamp_seconds{chosen})", now)]
    known = [start for start in starts if math.isfinite(start)]
    if not known:
        return None
    over = max(ends, default=now)
    return min(known), over if over > min(known) else now
