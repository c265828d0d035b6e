"""Whether a run kept its level, and how long it stood still.

A run at a free rate is judged by its throughput: a step or trend of more than 5 % is a change of level. At a fixed rate
the throughput says nothing, so the run is judged by its latency, of which a step is no more telling than a burst: the
run is not steady either if a few slow reports make up most of its mean latency, or if it stood still.
"""

from typing import TypeGuard

import numpy as np

from ..metrics.latencies import Group
from .course import SILENT_INTERVALS
from .measures import THROUGHPUT, Measure, figure, percent, title
from .result import Result, known_end
from .statistics import Shift, shift

STEADY = 0.05
"""Change of the mean, as a ratio, above which a shift within a run makes the run unsteady."""
_BURST = 2.0
"""Ratio of the mean latency to that of the median report above which a few reports make up most of it."""


def unsteady(run: Result, group: Group, measure: Measure) -> str:
    """How a main measure left its level, a clause; empty if it kept it, or if the run is too short to tell."""
    course = run.courses.get(group)
    if course is None:
        return ""
    found = shift_of(run, group, measure)
    if is_unsteady(found):
        start = min((one.start for one in run.timelines if one.start is not None), default=course.begin)
        before, after = (figure(value, measure, run.roles) for value in (found.before, found.after))
        since, change = course.ends[found.place - 1] - start, percent(found.after / found.before - 1)
        return f"{title(measure, run.roles)} {before} up to {since:.0f} s, then {after} ({change})"
    if group not in run.fixed_rate:
        return ""
    mean = course.ratio("latency", "timed")
    if measure is not THROUGHPUT and mean is not None:
        timed = course.totals["timed"]
        median = float(np.median(course.totals["latency"][timed > 0] / timed[timed > 0]))
        if mean > _BURST * median:
            whole, half = (figure(value, measure, run.roles) for value in (mean, median))
            return f"{title(measure, run.roles)} {whole}, {half} in half of its reports"
    seconds = stalled(run, group)
    return f"stood still for {seconds:.0f} s at a fixed rate" if seconds else ""


def is_unsteady(found: Shift | None) -> TypeGuard[Shift]:
    """Whether a shift is large enough to matter."""
    return found is not None and abs(found.after - found.before) > STEADY * abs(found.before)


def shift_of(run: Result, group: Group, measure: Measure) -> Shift | None:
    """The point from which on a run's throughput or mean latency is higher or lower; None without one."""
    course = run.courses.get(group)
    total, weight = ("operations", "") if measure is THROUGHPUT else ("latency", "timed")
    found = shift(course.values(total, weight)) if course is not None and course.ratio(total, weight) else None
    if course is None or found is None:
        return None
    early = np.arange(len(course.ends)) < found.place
    before, after = (course.chosen(part).ratio(total, weight) for part in (early, ~early))
    return None if before is None or after is None else Shift(found.place, before, after)


def stalled(run: Result, group: Group) -> float | None:
    """Seconds of reports without a completed operation, and of silences; None without reports."""
    course = run.courses.get(group)
    if course is None:
        return None
    silence = SILENT_INTERVALS * float(np.median(course.seconds))
    idle = (course.totals["operations"] <= 0) | (course.seconds > silence)
    at_end = silence_at_end(run)
    return float(course.seconds[idle].sum()) + (at_end if at_end > silence else 0.0)


def silence_at_end(run: Result) -> float:
    """Seconds from the last report of any worker to the end of the run; 0 if it has not ended."""
    last, end = run.last_report, known_end(run.timelines)
    return 0.0 if last is None or end is None else max(0.0, end - last)
