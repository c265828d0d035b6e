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
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from ..metrics.latencies import Group
from ..tools.roles import Roles
from .experiment import CannotCompare, Experiment, same_jobs
from .figures import Figure
from .final_numbers import Part, parts
from .findings import Finding, findings
from .measures import Measure, rank
from .parameters import Difference, differences
from .statistics import FEWEST_BATCHES, against_one, between_runs, change, one_batch
from .steadiness import unsteady

_USELESS = 100.0
"""Ratio of the ends of an interval from repeats beyond which it shows only that there are too few of them."""

Direction = Literal["better", "worse"]
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
    outlook: Direction | Literal["unclear"] = "unclear"
    """By the verdict; of a row without one, by its interval."""


class Comparison(NamedTuple):
    """The base and one other."""

    other: Experiment
    rows: Sequence[Change]
    parameters: Sequence[Difference]
    findings: Sequence[Finding]
    parts: Sequence[Part]

    @property
    def verdicts(self) -> list[Change]:
        """The main measures, which have verdicts."""
        return [row for row in self.rows if row.verdict]


class Comparisons(NamedTuple):
    """What `benchwatch compare` shows."""

    base: Experiment
    others: Sequence[Comparison]
    confidence: float
    """Probability that all verdicts together are right."""
    each: float
    """Confidence of every single interval."""
    allowance: float
    """Change that two equal single runs may show, as a ratio."""
    vary: Collection[str]

    @property
    def tool(self) -> str:
        """That of all runs."""
        return self.base.runs[0].tool

    @property
    def roles(self) -> Roles:
        """The roles of the tool's families in these runs."""
        return self.base.runs[0].roles

    @property
    def warmup(self) -> bool:
        """Whether the figures of any run leave out its warm-up."""
        sides = (self.base, *(comparison.other for comparison in self.others))
        return any(run.left_out for side in sides for run in side.runs)


def compare(
    base: Experiment, others: Sequence[Experiment], *, confidence: float, allowance: float, vary: Collection[str]
) -> Comparisons:
    """Compare each of the others with the base. Raises CannotCompare."""
    base, *others = comparable([base, *others])
    number = sum(len({key for run in base.runs for key in run.main()}) for _ in others)
    each = 1 - (1 - confidence) / max(number, 1)
    found = []
    for other in others:
        differing = list(differences(base.runs, other.runs, vary))
        table = changes(base, other, each, allowance)
        warnings = findings([base, other], differing)
        found.append(Comparison(other, table, differing, warnings, parts(base.runs, other.runs)))
    return Comparisons(base, found, confidence, each, allowance, vary)


def comparable(sides: Sequence[Experiment]) -> list[Experiment]:
    """The sides, their groups named alike. Raises CannotCompare unless they are of one kind of test."""
    base, *others = sides
    for other in others:
        tools = [side.runs[0].tool for side in (base, other)]
        if tools[0] != tools[1]:
            text = f"{base.name} is a run of {tools[0]}, {other.name} of {tools[1]}"
            raise CannotCompare(f"{text}; expected runs of the same tool")
        units = [side.runs[0].roles.unit.name for side in (base, other)]
        if units[0] != units[1]:
            text = f"{base.name} measured {units[0]}, {other.name} {units[1]}"
            raise CannotCompare(f"{text}; expected runs of the same kind of test")
    base, *others = same_jobs(sides)
    for other in others:
        if _figures(base).keys().isdisjoint(_figures(other)):
            raise CannotCompare(f"{base.name} and {other.name} have no measure in common; expected the same jobs")
    return [base, *others]


def changes(base: Experiment, other: Experiment, confidence: float, allowance: float) -> list[Change]:
    """The measures that both sides have, ordered by group and measure, with the verdicts about the main ones."""
    left, right = _figures(base), _figures(other)
    mains = [{key for run in each.runs for key in run.main()} for each in (base, other)]
    groups = list(dict.fromkeys(group for group, _ in left))
    found = []
    for key in sorted(left.keys() & right.keys(), key=lambda key: (groups.index(key[0]), rank(key[1]))):
        one = _change(*key, left[key], right[key], confidence)
        if key in mains[0] & mains[1]:
            verdict, reason = _judge(one, base, other, allowance)
            one = one._replace(verdict=verdict, reason=reason)
        found.append(one)
    unjudged = {one.group[:-1] for one in found if one.verdict == "not judged"}
    found = [one._replace(interval=None) if one.group[:-1] in unjudged else one for one in found]
    return [one._replace(outlook=_outlook(one, allowance)) for one in found]


def _figures(experiment: Experiment) -> dict[tuple[Group, Measure], list[Figure]]:
    """The figures that all runs of an experiment have, run by run."""
    first, *others = experiment.runs
    keys = [key for key in first.figures if all(key in run.figures for run in others)]
    return {key: [run.figures[key] for run in experiment.runs] for key in keys}


def _change(
    group: Group, measure: Measure, left: Sequence[Figure], right: Sequence[Figure], confidence: float
) -> Change:
    base, other = (math.fsum(figure.value for figure in figures) / len(figures) for figures in (left, right))
    found = Change(group, measure, base, other, other / base - 1 if base else None, None, None)
    single = len(left) == len(right) == 1
    one, two = (between_runs([figure.value for figure in figures]) for figures in (left, right))
    if single:
        one, two = left[0].estimate, right[0].estimate
    elif two and len(left) == 1 and left[0].value > 0:
        two, one = against_one(two, left[0].value)
    elif one and len(right) == 1 and right[0].value > 0:
        one, two = against_one(one, right[0].value)
    if one is None or two is None:
        return found
    one, two = (
        mean._replace(step=max(figure.step for figure in figures)) for mean, figures in ((one, left), (two, right))
    )
    low, high = change(one, two, confidence)
    if single:
        return found._replace(interval=(low, high), spread=change(one_batch(one), one_batch(two), confidence))
    return found._replace(interval=(low, high)) if 1 + high < _USELESS * (1 + low) else found


def _judge(one: Change, base: Experiment, other: Experiment, allowance: float) -> tuple[Verdict, str]:
    runs = [*base.runs, *other.runs]
    repeats = len(runs) > 2
    if faults := [*base.faults, *other.faults]:
        return "not judged", "; ".join(faults)
    basis = f"{len(base.runs)} v {len(other.runs)} runs" if repeats else "one run each"
    if one.interval is None:
        why = f"too short to tell: fewer than {FEWEST_BATCHES} batches of independent reports"
        if not (one.base and one.other):
            why = "nothing completed in one of them"
        elif repeats:
            why = "too few runs for an interval"
        elif any(one.group not in run.courses for run in runs):
            why = "no reports"
        return "not judged", f"{basis} and {why}"
    word = _direction(one.interval, one.measure, 0.0)
    if repeats:
        return word or "no difference shown", f"{basis}, by the differences between them"
    if not word:
        return "no difference shown", f"{basis}, and their batches show no change"
    part = f"{100 * allowance:g} %"
    if not _direction(one.interval, one.measure, allowance):
        return (
            "no difference shown",
            f"{basis}, and the interval is not beyond the {part} that two equal runs may differ",
        )
    if not _direction(one.spread, one.measure, 0.0):
        return "not judged", f"{basis}, and batches of a single run differ as much as the two runs"
    if names := [run.name for run in runs if unsteady(run, one.group, one.measure)]:
        return "not judged", f"{basis} and not steady: {', '.join(names)}"
    return word, f"{basis}: judged by its batches and an allowance of {part} between runs"


def _outlook(one: Change, allowance: float) -> Direction | Literal["unclear"]:
    if one.verdict in (None, "better", "worse"):
        margin = 0.0 if one.verdict or one.spread is None else allowance
        return _direction(one.interval, one.measure, margin) or "unclear"
    return "unclear"


def _direction(interval: tuple[float, float] | None, measure: Measure, margin: float) -> Direction | None:
    """What an interval says that lies above a margin, or below its negative; otherwise None."""
    low, high = interval or (0.0, 0.0)
    if low <= margin and high >= -margin:
        return None
    return "better" if (low > margin) == (measure.better == "higher") else "worse"
