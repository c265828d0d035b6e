"""From raw samples to explanations: a run's slow times, and why each of them."""

from collections.abc import Sequence
from typing import NamedTuple

from .explanation import Explanation, explain
from .reported import Reported, SlowTime, reports_of, slow_times
from .run_facts import RunFacts, facts
from .seen import Seen
from .waits import Picture, picture

LOOKED = 35.0
"""Seconds of a slow time from its beginning that an explanation covers."""
_BEFORE, _GAP = 120.0, 3.0
"""Seconds before a slow time that say what is usual: how many, and how many at its edge are left out."""
_FEWEST = 8
"""Seconds of usual that a picture needs."""
_ONSET = 4.0
"""Seconds after which the first second, which is usual in part, is left out."""
_MUCH = 2.0
"""The ratio of latency or rate to the usual one below which nothing is said: single seconds stood out from noise."""
FIRST = 2.0
"""Seconds of a slow time before anything is said of it."""


class SeenRun(NamedTuple):
    """A run, as seen in some samples."""

    seen: Seen
    facts: RunFacts
    parts: Sequence[Reported]


def seen_run(seen: Seen, run: str, begin: float, end: float) -> SeenRun:
    """A run between two moments, Unix seconds."""
    configured = {
        (one.labels.get("host", ""), one.labels.get("device", "")): one.labels.get("role", "")
        for one in seen.of("benchwatch_disk_info")
    }
    found = facts(seen, run, configured)
    return SeenRun(seen, found, list(reports_of(seen, found, begin, end)))


def slow(of: SeenRun, before: Picture | None = None) -> list[SlowTime]:
    """When the run was slow. `before`: a picture of a run of its kind, for its first seconds."""
    if before is not None:
        return slow_times(of.parts, before.latency, "the last run of its kind")
    return slow_times(of.parts, of.facts.objective, "its objective")


def usual_before(of: SeenRun, begin: float, times: Sequence[SlowTime] = ()) -> Picture | None:
    """What was usual before a moment: up to two minutes, from the end of the last slow time on."""
    last = begin - _GAP
    since = max((one.end + _GAP for one in times if one.end + _GAP <= last - _FEWEST), default=0.0)
    first = max(begin - _BEFORE, since, of.facts.start or 0.0)
    if last - first < _FEWEST:
        return None
    return picture(of.seen, of.facts, of.parts, first, last)


def why(
    of: SeenRun, when: SlowTime, times: Sequence[SlowTime], moment: float, before: Picture | None = None
) -> Explanation | None:
    """Why the run is slow in one of its slow times, as far as that can be seen at a moment of it; None: too early, no
    usual, hardly slower than usual, or far more is done. `before`: a picture of a run of its kind.
    """
    if moment < when.begin + FIRST:
        return None
    armed = when.armed
    usual = usual_before(of, when.begin, times)
    if usual is None or armed.startswith("the last run"):
        usual = before or usual
    if usual is None and of.facts.objective:
        usual, armed = Picture(of.facts.objective, 0.0, {}, {}), "its objective"
    if usual is None:
        return None
    end = min(moment, when.begin + LOOKED, max(when.end, when.begin + FIRST) + 1)
    now = picture(of.seen, of.facts, of.parts, when.begin + (1 if end - when.begin >= _ONSET else 0), end, usual)
    if now is None or (now.latency < _MUCH * usual.latency and now.rate > usual.rate / _MUCH):
        return None
    if usual.rate and now.rate > _MUCH * usual.rate:
        return None  # it makes up for time that it lost, or was given more to do
    return explain(of.seen, of.facts, usual, now, when.begin, end, armed)
