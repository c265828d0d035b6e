"""Results in the order of their starts, and the points at which they changed.

Only finished runs count. Each tool, job and operation is a series of its own.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..compare.change_points import change_points
from ..compare.measures import Measure, unit_of
from ..compare.parameters import differences
from ..compare.result import Outcome
from ..compare.wording import figure, heading, title
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
    """One result of a series, and its value."""

    result: Outcome
    path: str
    value: float
    interval: tuple[float, float] | None
    """Of 95 %, from its own reports; None with too few of them."""


class PastChange(NamedTuple):
    """A point at which the results of a series changed."""

    number: int
    """Results before it."""
    ratio: float | None
    """From the mean before to the mean after it: 0.1 is +10 %; None if that before is 0."""
    word: str
    """Better or worse."""
    parameters: Sequence[str]
    """Those that differ between the last run before and the first one after it: name, and both values."""


class PastSeries(NamedTuple):
    """The results of one figure, in the order of their starts."""

    tool: str
    group: Group
    measure: Measure
    results: Sequence[PastValue]
    changes: Sequence[PastChange]

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
    def by_number(self) -> Mapping[int, PastChange]:
        """The changes by the first result after each."""
        return {change.number: change for change in self.changes}


def all_series(results: Iterable[tuple[str, Outcome]], measure: Measure) -> Iterator[PastSeries]:
    """The series of results, the oldest first, with the paths of their runs."""
    series: dict[tuple[str, str, Group], list[PastValue]] = {}
    for path, result in results:
        for group in dict.fromkeys(group for group, _ in result.watched):
            if (one := result.figures.get((group, measure))) is not None:
                own = series.setdefault((result.tool, result.unit, group), [])
                own.append(PastValue(result, path, one.value, one.interval))
    for (tool, _, group), each in series.items():
        yield PastSeries(tool, group, measure, each, list(_changes(each, measure)))


def _changes(results: Sequence[PastValue], measure: Measure) -> Iterator[PastChange]:
    values = [one.value for one in results]
    points = change_points(values)
    edges = [0, *points, len(values)]
    for begin, place, end in zip(edges, points, edges[2:], strict=False):
        before = math.fsum(values[begin:place]) / (place - begin)
        after = math.fsum(values[place:end]) / (end - place)
        left, right = (one.result for one in results[place - 1 : place + 1])
        word = "worse" if (after < before) == (measure.better == "higher") else "better"
        differing = [
            f"{one.name}: {_shortened(one.base)} -> {_shortened(one.other)}" for one in differences([left], [right], ())
        ]
        yield PastChange(place, after / before - 1 if before else None, word, differing)


def _shortened(text: str) -> str:
    if not text:
        return "none"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def blocks(series: PastSeries) -> Iterator[Block]:
    """The series as a heading, a line for each change, and a table of its latest results."""
    yield Heading(f"{series.name} of {len(series.results)} run{'s' * (len(series.results) > 1)}")
    if len(series.results) > 1:
        yield Sentence(sparkline([one.value for one in series.results[-_SHOWN:]]))
    yield from said(series)
    rows = []
    for number, one in list(enumerate(series.results))[-_SHOWN:]:
        change = series.by_number.get(number)
        value, *ends = (figure(each, series.measure, series.roles) for each in (one.value, *(one.interval or ())))
        rows.append([one.result.name, date(one.result.start), change.word if change else "", value, " to ".join(ends)])
    yield table(["run", "began", "change", title(series.measure, series.roles), "95 % interval"], rows, left=3)


def said(series: PastSeries) -> Iterator[Sentence]:
    """A sentence for each change, or that there is none."""
    for change, line in zip(series.changes, headlines(series), strict=False):
        what = "; ".join(change.parameters[:_NAMED])
        more = f"; and {len(change.parameters) - _NAMED} more" if len(change.parameters) > _NAMED else ""
        why = f"changed with it: {what}{more}" if what else "no recorded parameter changed with it"
        tone: Tone = "bad" if change.word == "worse" else "good"
        yield Sentence(f"{line}; {why}", tone)
    if not series.changes:
        yield from map(Sentence, headlines(series))


def headlines(series: PastSeries) -> list[str]:
    """Each change without its cause, or that there is none."""
    lines = []
    for change in series.changes:
        at = series.results[change.number].result
        by = "" if change.ratio is None else f"{100 * change.ratio:+.1f} % "
        lines.append(f"{by}from {at.name} on ({date(at.start)}), {change.word}")
    return lines or ["no change found"]


def rows(series: PastSeries) -> Iterator[Mapping[str, Value]]:
    """A record for each result; docs/results.md explains the columns."""
    for number, one in enumerate(series.results):
        change = series.by_number.get(number)
        low, high = one.interval or (None, None)
        yield {
            "run": one.result.name,
            "path": one.path,
            "tool": series.tool,
            "part": heading(series.group),
            "measure": series.measure.name,
            "unit": unit_of(series.measure, series.roles),
            "start": one.result.start,
            "value": one.value,
            "low": low,
            "high": high,
            "change": change.ratio if change else None,
            "verdict": change.word if change else None,
        }


def date(moment: float | None) -> str:
    """A moment, Unix seconds, to the minute; empty if unknown."""
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
