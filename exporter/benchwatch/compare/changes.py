"""What changed from one experiment to another, how certain that is, and the verdict.

Only the main measures get a verdict: the throughput (of fio, for each job) or, if the rate was fixed (pgbench -R, fio
rate= and rate_iops=), the mean latency. All other rows have an interval but no verdict: with a dozen measures, expect
one to fall outside its interval by chance half the time. Several verdicts in one comparison widen every interval, so
that the confidence holds for all of them together (C. E. Bonferroni).

With repeats, the interval comes from the differences between runs. It gives a verdict if it does not contain 0. With
repeats on one side only, their differences are used for both.

A single run on each side shows how certain its mean is, but not how much two equal runs would differ (caches,
placement, other guests). No statistic of one run shows that, so a verdict needs more than an interval without 0:
- The interval lies beyond an allowance for differences between runs (5 % by default); otherwise no difference is shown.
- The change exceeds the differences between single batches of these runs, as if a run were one more batch: noise slower
  than a run (1/f noise) does not average out within it. Otherwise the runs cannot be judged.
- Both runs are steady; otherwise they cannot be judged.

Figures of a run that failed or has no end are shown on request, and not judged. Where a main measure is not judged, no
figure of its job has an interval, because it would look like a certainty.
"""

import math
from collections.abc import Sequence, Set
from typing import Literal, NamedTuple

from ..metrics.latencies import Group
from .experiment import Experiment
from .figures import Figure
from .measures import Measure, rank
from .result import Result
from .statistics import FEWEST_BATCHES, Estimate, against_one, between_runs, change, one_batch
from .steadiness import unsteady

_USELESS = 100.0
"""Ratio of the ends of an interval from repeats beyond which it shows only that there are too few of them."""

TOO_FEW = "too few runs for an interval"

Verdict = Literal["better", "worse", "no difference shown", "not judged"]


class Change(NamedTuple):
    """One measure of one group on both sides."""

    group: Group
    measure: Measure
    base: float
    other: float
    ratio: float | None
    """The change as a ratio: 0.075 is +7.5 %. None if the base is 0."""
    interval: tuple[float, float] | None
    """The interval of the change; None if unknown."""
    spread: tuple[float, float] | None
    """The interval that a whole run would have if it were as uncertain as one of its batches; None with repeats."""
    verdict: Verdict | None = None
    """None if it is not a main measure."""
    reason: str = ""
    """The reason for the verdict."""
    outlook: Literal["better", "worse", "unclear"] = "unclear"
    """By the verdict; of a row without one, by its interval."""


def rows(base: Experiment, other: Experiment, confidence: float, allowance: float) -> list[Change]:
    """The measures that both sides have, ordered by group and measure, with the verdicts about the main ones."""
    left, right = _figures(base), _figures(other)
    mains = [{key for run in each.runs for key in run.main()} for each in (base, other)]
    groups = list(dict.fromkeys(group for group, _ in left))
    found = []
    for key in sorted(shared(base, other), key=lambda key: (groups.index(key[0]), rank(key[1]))):
        row = _row(*key, left[key], right[key], confidence)
        if key in mains[0] & mains[1]:
            verdict, reason = _judge(row, base, other, allowance)
            row = row._replace(verdict=verdict, reason=reason)
        found.append(row)
    unjudged = {row.group[:-1] for row in found if row.verdict == "not judged"}
    found = [row._replace(interval=None) if row.group[:-1] in unjudged else row for row in found]
    return [row._replace(outlook=_outlook(row, allowance)) for row in found]


def shared(base: Experiment, other: Experiment) -> Set[tuple[Group, Measure]]:
    """The measures that all runs of both sides have."""
    return _figures(base).keys() & _figures(other).keys()


def _figures(experiment: Experiment) -> dict[tuple[Group, Measure], list[Figure]]:
    """The figures that all runs of an experiment have, run by run."""
    found: dict[tuple[Group, Measure], list[Figure]] = {}
    for run in experiment.runs:
        for key, figure in run.figures.items():
            found.setdefault(key, []).append(figure)
    return {key: figures for key, figures in found.items() if len(figures) == len(experiment.runs)}


def _row(group: Group, measure: Measure, left: Sequence[Figure], right: Sequence[Figure], confidence: float) -> Change:
    base, other = (math.fsum(figure.value for figure in figures) / len(figures) for figures in (left, right))
    ratio = other / base - 1 if base else None
    estimates = _estimates(left, right)
    if estimates is None:
        return Change(group, measure, base, other, ratio, None, None)
    single = len(left) == len(right) == 1
    spread = change(one_batch(estimates[0]), one_batch(estimates[1]), confidence) if single else None
    found = change(*estimates, confidence)
    useful = single or 1 + found[1] < _USELESS * (1 + found[0])
    return Change(group, measure, base, other, ratio, found if useful else None, spread)


def _estimates(left: Sequence[Figure], right: Sequence[Figure]) -> tuple[Estimate, Estimate] | None:
    """Both means with their errors; None if either error is unknown."""
    one, two = (between_runs([figure.value for figure in figures]) for figures in (left, right))
    if len(left) == len(right) == 1:
        one, two = left[0].estimate, right[0].estimate
    elif two and len(left) == 1 and left[0].value > 0:
        two, one = against_one(two, left[0].value)
    elif one and len(right) == 1 and right[0].value > 0:
        one, two = against_one(one, right[0].value)
    if one is None or two is None:
        return None
    base, other = (max(figure.step for figure in figures) for figures in (left, right))
    return one._replace(step=base), two._replace(step=other)


def _judge(row: Change, base: Experiment, other: Experiment, allowance: float) -> tuple[Verdict, str]:
    runs = [*base.runs, *other.runs]
    repeats = len(runs) > 2
    if faults := [*base.faults, *other.faults]:
        return "not judged", "; ".join(faults)
    basis = f"{len(base.runs)} v {len(other.runs)} runs" if repeats else "one run each"
    if row.interval is None:
        why = TOO_FEW if repeats and row.base and row.other else _why_not(row, runs)
        return "not judged", f"{basis} and {why}"
    direction = _beyond(row.interval, 0.0)
    if repeats:
        reason = f"{basis}, by the differences between them"
    elif not direction:
        reason = "one run each, and their batches show no change"
    elif not _beyond(row.interval, allowance):
        direction = 0
        reason = (
            f"one run each, and the interval is not beyond the {100 * allowance:g} % that two equal runs may differ"
        )
    elif not _beyond(row.spread, 0.0):
        return "not judged", "one run each, and batches of a single run differ as much as the two runs"
    elif names := [run.name for run in runs if unsteady(run, row.group, row.measure)]:
        return "not judged", f"one run each and not steady: {', '.join(names)}"
    else:
        reason = f"one run each: judged by its batches and an allowance of {100 * allowance:g} % between runs"
    return _directed(row, direction) or "no difference shown", reason


def _outlook(row: Change, allowance: float) -> Literal["better", "worse", "unclear"]:
    if row.verdict is None:
        return _directed(row, _beyond(row.interval, 0.0 if row.spread is None else allowance)) or "unclear"
    return row.verdict if row.verdict in ("better", "worse") else "unclear"


def _directed(row: Change, direction: int) -> Literal["better", "worse"] | None:
    if not direction:
        return None
    return "better" if (direction > 0) == (row.measure.better == "higher") else "worse"


def _beyond(interval: tuple[float, float] | None, margin: float) -> int:
    """1 if an interval lies above a margin, -1 if below its negative, else 0."""
    low, high = interval or (0.0, 0.0)
    return int(low > margin) - int(high < -margin)


def _why_not(row: Change, runs: Sequence[Result]) -> str:
    if not (row.base and row.other):
        return "nothing completed in one of them"
    if any(row.group not in run.courses for run in runs):
        return "no reports"
    return f"too short to tell: fewer than {FEWEST_BATCHES} batches of independent reports"
