"""Runs as pages show them, and their series as lines over elapsed time.

If a run has more lines than can be distinguished, and whenever runs are compared, the lines of one operation become
one: the sum of rates, the highest of latencies, since percentiles cannot be averaged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..compare import concurrent
from ..compare.measured import known_end
from ..history.timeline import Series, Timeline
from ..metrics.samples import Family
from ..tools.roles import Roles
from . import theme
from .time_lines import Array, Line, Span, held, interval, stalls

MOST_LINES = 6


class View(NamedTuple):
    """A run or one of its results. Its time begins at `start` (Unix seconds) and ends `length` seconds later.

    The length is 0 if the start is unknown.
    """

    name: str
    colour: str
    timelines: Sequence[Timeline]
    start: float
    length: float
    warmup: float
    """Seconds at the start that figures leave out."""
    side: str
    """Its name in comparisons: that of the requested experiment that it repeats, otherwise its own."""

    @property
    def run(self) -> str:
        """The label of its run, which several results share."""
        return self.timelines[0].run

    @property
    def by_file_time(self) -> bool:
        """Whether its start and end come from modification times of files, because the output has none."""
        return any(worker.by_file_time for worker in self.timelines)

    def series(self, family: Family) -> Iterator[tuple[Timeline, Series]]:
        """The series of that family, with the worker that each belongs to."""
        return ((timeline, series) for timeline in self.timelines for series in timeline.get(family))

    def of_roles(self, tool: str, roles: Roles) -> "View":
        """Only with the workers of one tool, which has these roles."""
        mine = [worker for worker in self.timelines if worker.tool == tool and worker.roles is roles]
        return self._replace(timelines=mine)


class Trace(NamedTuple):
    """A line with its name and look. `operation` is empty if the tool has none."""

    line: Line
    name: str
    operation: str
    colour: str
    dashed: bool
    of: int = 1
    """How many lines are combined in it."""
    runs: int = 1
    """How many repeats it is the median of."""


def views(timelines: Iterable[Timeline], warmup: float | None, experiments: Mapping[str, str]) -> list[View]:
    """The runs, in the order in which they were given; workers that followed each other are views of their own.

    `warmup`, seconds, overrides their records. `experiments` maps a run to the requested experiment that it repeats,
    whose runs share a colour.
    """
    found = []
    sides: dict[str, int] = {}
    for run, members in groupby(timelines, key=lambda timeline: timeline.run):
        for name, workers in concurrent.named(members).items():
            side = experiments.get(run, run) + name.removeprefix(run)
            number = sides.setdefault(side, len(sides))
            found.append(view(name, workers, warmup, side, number))
    return found


def view(name: str, workers: Sequence[Timeline], warmup: float | None = None, side: str = "", number: int = 0) -> View:
    """These workers on one time axis, in the colour of that number."""
    moments = [series.times[index] for worker in workers for series in worker.series for index in (0, -1)]
    begins = [*moments, *(worker.start for worker in workers if worker.start is not None)]
    ends = [*moments, *(worker.end for worker in workers if worker.end is not None)]
    start = min(begins, default=0.0)
    length = max(0.0, max(ends, default=start) - start) if begins else 0.0
    left_out = max(worker.runfile.warmup for worker in workers) if warmup is None else warmup
    colour = theme.SERIES[number % len(theme.SERIES)]
    return View(name, colour, workers, start, length, left_out, side or name)


def label(series: Series, name: str) -> str:
    """The value of a label; empty without it."""
    return dict(series.labels).get(name, "")


def traces(runs: Sequence[View], roles: Roles, family: Family, *, rate: bool, quantile: str = "") -> list[Trace]:
    """The series of that name of all runs as lines, combined as the module's rule says."""
    sides: dict[str, list[list[Trace]]] = {}
    for run in runs:
        own = [
            (worker, series)
            for worker, series in run.series(family)
            if len(series.times) and (not quantile or label(series, "quantile") == quantile)
        ]
        if len(runs) > 1 or len(own) > MOST_LINES:
            sides.setdefault(run.side, []).append(_together(run, own, roles, rate, several=len(runs) > 1))
        else:
            sides.setdefault(run.side, []).append(_apart(run, own, roles))
    return [trace for side, each in sides.items() for trace in (each[0] if len(each) == 1 else _repeated(side, each))]


def _repeated(side: str, each: Sequence[Sequence[Trace]]) -> Iterator[Trace]:
    """The repeats of an experiment as the median of each operation, from the lowest to the highest of them."""
    first = {trace.operation: trace for found in reversed(each) for trace in found}
    for operation, trace in sorted(first.items(), key=lambda item: item[1].dashed):
        lines = [one.line for found in each for one in found if one.operation == operation]
        name = " ".join(part for part in (side, operation) if part)
        yield trace._replace(line=middle_of(lines), name=name, runs=len(lines))


def middle_of(lines: Sequence[Line]) -> Line:
    """The median of lines at common moments that at least half of them reach, and the lowest and the highest there."""
    moments, values = _at_once(lines)
    known = (~np.isnan(values)).sum(axis=0) >= len(lines) / 2
    values = values[:, known]
    low, middle, high = np.nanmin(values, axis=0), np.nanmedian(values, axis=0), np.nanmax(values, axis=0)
    return Line(moments[known], middle, low, high)


def _apart(run: View, own: Sequence[tuple[Timeline, Series]], roles: Roles) -> list[Trace]:
    names = [_name(run, worker, series, own, roles) for worker, series in own]
    return [
        Trace(_line(run, series), name, label(series, roles.operation), theme.SERIES[number % len(theme.SERIES)], False)
        for number, ((_, series), name) in enumerate(zip(own, names, strict=True))
    ]


def _name(run: View, worker: Timeline, series: Series, own: Sequence[tuple[Timeline, Series]], roles: Roles) -> str:
    """What distinguishes a series from the others of the run."""
    jobs = {_job(other, roles) for _, other in own}
    parts = (
        worker.name if len(run.timelines) > 1 else "",
        _job(series, roles) if len(jobs) > 1 else "",
        label(series, roles.operation),
    )
    return " ".join(part for part in parts if part) or run.name


def _job(series: Series, roles: Roles) -> str:
    return " ".join(label(series, name) for name in roles.labels[:-1])


def _together(
    run: View, own: Sequence[tuple[Timeline, Series]], roles: Roles, rate: bool, *, several: bool
) -> list[Trace]:
    operations = list(dict.fromkeys(label(series, roles.operation) for _, series in own))
    found = []
    for number, operation in enumerate(operations):
        lines = [_line(run, series) for _, series in own if label(series, roles.operation) == operation]
        parts = (run.name if several else "", operation)
        colour = run.colour if several else theme.SERIES[number]
        name = " ".join(part for part in parts if part) or run.name
        found.append(Trace(combined(lines, rate=rate), name, operation, colour, several and number > 0, len(lines)))
    return found


def _line(run: View, series: Series) -> Line:
    return Line(series.times - run.start, series.values)


def combined(lines: Sequence[Line], *, rate: bool) -> Line:
    """Several lines as one at common moments: the sum of rates, otherwise the highest."""
    if len(lines) == 1:
        return lines[0]
    moments, values = _at_once(lines)
    known = ~np.isnan(values).all(axis=0)
    values = values[:, known]
    return Line(moments[known], np.nansum(values, axis=0) if rate else np.nanmax(values, axis=0))


def _at_once(lines: Sequence[Line]) -> tuple[Array, Array]:
    """Common moments, elapsed seconds, and the value of each line at each of them; NaN where it has none."""
    moments = lines[0].seconds
    if any(not np.array_equal(line.seconds, moments) for line in lines):
        step = max(interval(line.seconds) for line in lines) or 1.0
        moments = np.arange(step, max(line.seconds[-1] for line in lines) + step, step)
    return moments, np.array([held(line, moments) for line in lines])


def stalled(run: View, roles: Roles) -> list[Span]:
    """Times when the run did nothing, according to its rates; not those between workers that followed each other."""
    found = []
    for _, workers in concurrent.results(run.timelines):
        lines = [
            _line(run, series)
            for worker in workers
            for series in worker.get(roles.rate)
            if len(series.times) and label(series, roles.operation) not in roles.idle
        ]
        ended = known_end(workers)
        if lines:
            found += stalls(combined(lines, rate=True), None if ended is None else ended - run.start)
    return sorted(found)


def parameters(run: View) -> Mapping[str, str]:
    """The parameters of a run; if workers differ in one, it appears once for each, with the worker's name.

    If the repeats of an experiment differ in one, it has all their values.
    """
    return together((timeline.name, timeline.parameters) for timeline in run.timelines)


def together(workers: Iterable[tuple[str, Mapping[str, str]]]) -> Mapping[str, str]:
    """The parameters of these workers; see parameters."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for worker, given in workers:
        for name, value in given.items():
            found.setdefault(name, {}).setdefault(worker, {})[value] = None
    flat = {}
    for name, of_workers in found.items():
        values = {worker: "; ".join(each) for worker, each in of_workers.items()}
        if len(set(values.values())) == 1:
            flat[name] = next(iter(values.values()))
        else:
            flat |= {f"{name} ({worker})": value for worker, value in values.items()}
    return flat
