"""Numbers of the tools' final reports: their names, how they are written, and those of the parts of a run.

A part is what a tool reports apart from the figures of the whole run: pgbench's scripts and statements, sysbench's
kinds of requests, HammerDB's procedures. Their rates and mean latencies are compared without a verdict.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..history.timeline import Timeline
from ..metrics.samples import Sample
from ..tools.registry import all_roles
from ..values import numbers
from .result import Result

_LEVEL = {"1": "max"}
_UNITS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("_bytes_per_second", lambda value: f"{value:,.0f} B/s"),
    ("_seconds", lambda value: f"{value * 1e3:,.7g} ms"),
    ("_transactions", lambda value: f"{value:,.0f}"),
    ("_failures", lambda value: f"{value:,.0f}"),
    ("_retries", lambda value: f"{value:,.0f}"),
)
_LONGEST = 30
"""Characters of a statement."""
_COMPARED = ("_average_seconds", "_tps", "_iops", "_per_second")
"""Ends of the names of families whose numbers are compared part by part."""


class Part(NamedTuple):
    """One number of a part on both sides, each the mean of its runs."""

    sample: Sample
    """Of the first run."""
    base: float
    other: float

    @property
    def name(self) -> str:
        """What it is: script 1 mean; script 1: COMMIT; (a statement has a mean only)."""
        measure, (first, *others) = named_sample(self.sample)
        if others:
            of = " ".join(others)
            return f"{first}: {of if len(of) <= _LONGEST else of[: _LONGEST - 3] + '...'}"
        what = measure.removeprefix("script ").removeprefix("kind ")
        return f"{first} {what.replace('latency average', 'mean')}"

    @property
    def ratio(self) -> float | None:
        """The change as a ratio; None if the base is 0."""
        return self.other / self.base - 1 if self.base else None

    def text(self, value: float) -> str:
        """A value of it, with three digits."""
        name = self.sample.family.name
        if name.endswith("_seconds"):
            return numbers.latency(value)
        return numbers.bandwidth(value) if "_bytes_" in name else numbers.rate_in_full(value)


def reported(timeline: Timeline) -> Iterator[Sample]:
    """Every number of a worker's final report."""
    prefix = f"{timeline.tool}_result_"
    return (one for one in timeline.final if one.family.name.startswith(prefix) and isinstance(one.value, int | float))


def parts(base: Sequence[Result], other: Sequence[Result]) -> list[Part]:
    """What both sides report about the same parts, those with several labels last, the largest change first.

    Nothing if a run has several workers, whose parts cannot be added.
    """
    if any(len(run.timelines) > 1 for run in (*base, *other)):
        return []
    first, *_ = sides = [[_of(run) for run in runs] for runs in (base, other)]
    shared = [key for key in first[0] if all(key in run for side in sides for run in side)]
    found = [
        Part(first[0][key], *(math.fsum(number(run[key]) for run in side) / len(side) for side in sides))
        for key in shared
    ]
    return sorted(found, key=lambda one: -abs(one.base - one.other) if len(one.sample.labels) > 1 else -math.inf)


def _of(run: Result) -> dict[tuple[str, tuple[str, ...]], Sample]:
    return {
        (one.family.name, one.labels): one
        for one in reported(run.timelines[0])
        if one.family.name.endswith(_COMPARED)
        and one.family.labels not in ((), run.roles.labels)
        and one.family.labels[-1] != "quantile"
    }


def labels_of(sample: Sample) -> dict[str, str]:
    """Its labels by name."""
    return dict(zip(sample.family.labels, sample.labels, strict=True))


def number(sample: Sample) -> float:
    """Its value, which is a plain number."""
    assert isinstance(sample.value, int | float)
    return float(sample.value)


def named_sample(sample: Sample) -> tuple[str, tuple[str, ...]]:
    """What was measured, and for which script (from 1, as pgbench counts), statement, job or operation."""
    _, _, rest = sample.family.name.partition("_result_")
    name = rest or sample.family.name.partition("_")[2].removesuffix("_total")
    for suffix in ("_bytes_per_second", "_seconds"):
        name = name.removesuffix(suffix)
    labels = labels_of(sample)
    if (quantile := labels.pop("quantile", None)) is not None:
        has_maximum = any(sample.family is roles.result_quantile and roles.result_latency_max for roles in all_roles())
        level = "" if has_maximum else _LEVEL.get(quantile)
        name = f"{name} {level or f'p{float(quantile) * 100:g}'}"
    units = {roles.unit.name.lower(): roles.unit.name for roles in all_roles()}
    words = [units.get(word, word) for word in name.split("_")]
    script = (f"script {int(labels.pop('script')) + 1}",) if "script" in labels else ()
    return " ".join(words), (*script, *labels.values())


def sample_text(sample: Sample, value: float) -> str:
    """A value of the same kind as text, with all digits that the tool prints."""
    if any(sample.family is roles.result_rate and roles.unit.name == "bit/s" for roles in all_roles()):
        return numbers.bits(value)
    name = sample.family.name.removesuffix("_total")
    text = next((text for suffix, text in _UNITS if name.endswith(suffix)), None)
    return text(value) if text else f"{value:,.10g}"
