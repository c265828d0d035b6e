"""Results in the order of their starts, and the points at which they changed.

Only finished runs count. Each tool, job and operation is a series of its own.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..compare.figures import Figure
from ..compare.measures import Measure, figure, heading, title, unit_of
from ..compare.parameters import differences
from ..compare.result import Outcome
from ..compare.statistics import change_points
from ..metrics.latencies import Group
from ..show.as_csv import Value
from ..show.content import Block, Heading, Sentence, Tone, table
from ..tools.roles import Roles
from ..values.sparkline import sparkline

_SHOWN = 30
"""Latest results in the table; all are in the CSV."""
_NAMED = 5
"""Parameters that a change names."""
_LONGEST_VALUE = 60


class PastValue(NamedTuple):
    """One result of a series, and its figure."""

    result: Outcome
    path: str
    figure: Figure


class PastChange(NamedTuple):
    """A point at which the results of a series changed."""

    ratio: float | None
    """From the mean before to the mean after it: 0.1 is +10 %; None if that before is 0."""
    word: str
    """Better or worse."""
    headline: str
    why: str
    """The parameters that differ between the last run before and the first one after it."""


class PastSeries(NamedTuple):
    """The results of one figure, in the order of their starts."""

    tool: str
    group: Group
    measure: Measure
    results: Sequence[PastValue]
    changes: Mapping[int, PastChange]
    """By the number of results before each, rising."""

    @property
    def roles(self) -> Roles:
        """Those of its tool."""
        return self.results[0].result.roles

    @property
    def name(self) -> str:
        """What it is: pgbench: TPS."""
        part = f" {heading(self.group)}" if self.group else ""
        return f"{self.tool}{part}: {title(self.measure, self.roles)}"

    @property
    def headlines(self) -> list[str]:
        """Each change without its cause, or that there is none."""
        return [change.headline for change in self.changes.values()] or ["no change found"]


def all_series(results: Sequence[tuple[str, Outcome]], measure: Measure) -> Iterator[PastSeries]:
    """The series of results, the oldest first, with the paths of their runs."""
    for (tool, _, group), numbers in _kinds([one for _, one in results], measure).items():
        each = [
            PastValue(result, path, result.figures[group, measure])
            for path, result in (results[number] for number in numbers)
        ]
        yield PastSeries(tool, group, measure, each, dict(_changes(each, measure)))


def latest(results: Sequence[Outcome], measure: Measure) -> set[int]:
    """The places in this list of the results that tables show."""
    return {number for each in _kinds(results, measure).values() for number in each[-_SHOWN:]}


def _kinds(results: Sequence[Outcome], measure: Measure) -> Mapping[tuple[str, str, Group], list[int]]:
    """The places of the results with this figure, by tool, unit and group."""
    found: dict[tuple[str, str, Group], list[int]] = {}
    for number, result in enumerate(results):
        for group in dict.fromkeys(group for group, _ in result.watched):
            if (group, measure) in result.figures:
                found.setdefault((result.tool, result.unit, group), []).append(number)
    return found


def _changes(results: Sequence[PastValue], measure: Measure) -> Iterator[tuple[int, PastChange]]:
    values = [one.figure.value for one in results]
    points = change_points(values)
    edges = [0, *points, len(values)]
    for begin, place, end in zip(edges, points, edges[2:], strict=False):
        before = math.fsum(values[begin:place]) / (place - begin)
        after = math.fsum(values[place:end]) / (end - place)
        left, right = (one.result for one in results[place - 1 : place + 1])
        word = "worse" if (after < before) == (measure.better == "higher") else "better"
        by = f"{100 * (after / before - 1):+.1f} % " if before else ""
        headline = f"{by}from {right.name} on ({date(right.start)}), {word}"
        differing = [
            f"{one.name}: {_shortened(one.base)} -> {_shortened(one.other)}" for one in differences([left], [right], ())
        ]
        more = [f"and {len(differing) - _NAMED} more"] if len(differing) > _NAMED else []
        why = f"changed with it: {'; '.join([*differing[:_NAMED], *more])}"
        why = why if differing else "no recorded parameter changed with it"
        yield place, PastChange(after / before - 1 if before else None, word, headline, why)


def _shortened(text: str) -> str:
    if not text:
        return "none"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def blocks(series: PastSeries) -> Iterator[Block]:
    """The series as a heading, a line for each change, and a table of its latest results."""
    yield Heading(f"{series.name} of {len(series.results)} run{'s' * (len(series.results) > 1)}")
    if len(series.results) > 1:
        yield Sentence(sparkline([one.figure.value for one in series.results[-_SHOWN:]]))
    yield from said(series)
    rows = []
    for number, (result, _, found) in list(enumerate(series.results))[-_SHOWN:]:
        word = series.changes[number].word if number in series.changes else ""
        ends = found.interval or ()
        value, *interval = (figure(each, series.measure, series.roles) for each in (found.value, *ends))
        rows.append([result.name, date(result.start), word, value, " to ".join(interval)])
    yield table(["run", "began", "change", title(series.measure, series.roles), "95 % interval"], rows, left=3)


def said(series: PastSeries) -> list[Sentence]:
    """A sentence for each change, or that there is none."""
    tones: dict[str, Tone] = {"worse": "bad", "better": "good"}
    each = [Sentence(f"{one.headline}; {one.why}", tones[one.word]) for one in series.changes.values()]
    return each or [Sentence(series.headlines[0])]


def rows(series: PastSeries) -> Iterator[Mapping[str, Value]]:
    """A record for each result; docs/results.md explains the columns."""
    for number, one in enumerate(series.results):
        change = series.changes.get(number)
        low, high = one.figure.interval or (None, None)
        yield {
            "run": one.result.name,
            "path": one.path,
            "tool": series.tool,
            "part": heading(series.group),
            "measure": series.measure.name,
            "unit": unit_of(series.measure, series.roles),
            "start": one.result.start,
            "value": one.figure.value,
            "low": low,
            "high": high,
            "change": change.ratio if change else None,
            "verdict": change.word if change else None,
        }


def date(moment: float | None) -> str:
    """A moment, Unix seconds, to the minute; empty if unknown."""
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
