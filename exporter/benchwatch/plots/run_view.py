"""Runs as pages show them: on one axis of elapsed time, and with those that share plots."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..compare import concurrent
from ..compare.result import known_end
from ..history.timeline import Series, Timeline
from ..metrics.samples import Family
from ..tools.registry import TOOLS
from ..tools.roles import Roles
from . import theme
from .plot import Marks
from .time_lines import Line, Span, combined, stalls


class Usual(NamedTuple):
    """What was usual before a run became slow: operations a second, latency in seconds; when it was slow."""

    rate: float
    latency: float
    slow: Sequence[Span]


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
    usual: Usual | None = None
    """None if it was not slow, or if that is not known."""

    @property
    def run(self) -> str:
        """The label of its run, which several results share."""
        return self.timelines[0].run

    @property
    def by_file_time(self) -> bool:
        """Whether its start and end come from modification times of files, because the output has none."""
        return any(worker.by_file_time for worker in self.timelines)

    @property
    def active(self) -> bool:
        """Whether a worker may still report."""
        return any(worker.active for worker in self.timelines)

    @property
    def doubts(self) -> list[str]:
        """What makes it uncertain which time is looked at."""
        doubt = (
            f"{self.name} has no timestamps in its output and is dated by file modification times: if the files were "
            "copied since, what follows is of another time."
        )
        return [doubt] if self.by_file_time else []

    def series(self, family: Family) -> Iterator[tuple[Timeline, Series]]:
        """The series of that family, with the worker that each belongs to."""
        return ((timeline, series) for timeline in self.timelines for series in timeline.get(family))

    def line(self, series: Series) -> Line:
        """A series over its time."""
        return Line(series.times - self.start, series.values)


def views(timelines: Iterable[Timeline], warmup: float | None, experiments: Mapping[str, str]) -> list[View]:
    """The runs, in the order in which they were given; workers that followed each other are views of their own.

    `warmup`, seconds, overrides their records. `experiments` maps a run to the requested experiment that it repeats,
    whose runs share a colour.
    """
    found = []
    sides: dict[str, int] = {}
    for run, members in groupby(timelines, key=lambda timeline: timeline.run):
        named: dict[str, list[Timeline]] = {}
        for name, workers in concurrent.results(members):
            named.setdefault(name, []).extend(workers)
        for name, workers in named.items():
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


def stalled(run: View, roles: Roles) -> list[Span]:
    """Times when the run did nothing, according to its rates; not those between workers that followed each other."""
    found = []
    for _, workers in concurrent.results(run.timelines):
        lines = [
            run.line(series)
            for worker in workers
            for series in worker.get(roles.rate)
            if len(series.times) and label(series, roles.operation) not in roles.idle
        ]
        ended = known_end(workers)
        if lines:
            found += stalls(combined(lines, rate=True), None if ended is None else ended - run.start)
    return sorted(found)


class Stage(NamedTuple):
    """Runs of one tool, in one unit, on one time axis."""

    runs: Sequence[View]
    roles: Roles

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.runs[0].timelines[0].tool

    @property
    def title(self) -> str:
        """The tool, and whether it only sees what another one counts."""
        return f"{self.tool}{' on the other side' if self.roles.observer else ''}"

    @property
    def length(self) -> float:
        """Length of the longest run, seconds."""
        return max(run.length for run in self.runs)

    def marks(self, *, latency: bool = False, only: View | None = None, family: Family | None = None) -> Marks:
        """Warm-up, stalls and, for latencies, the objective that all runs share; of a single run, what was usual."""
        several = len(self.runs) > 1 and only is None
        spans = [
            (span, run.colour if several else theme.STALL)
            for run in self.runs
            if only in (None, run)
            for span in stalled(run, self.roles)
        ]
        objectives = {worker.runfile.latency_objective for run in self.runs for worker in run.timelines}
        warmup = max(run.warmup for run in self.runs if only in (None, run))
        objective = objectives.pop() if latency and len(objectives) == 1 else None
        usual = self.runs[0].usual if len(self.runs) == 1 else None
        if usual is None:
            return Marks(warmup, spans, several, objective)
        lagging = self.roles.lag is not None and any(self.runs[0].series(self.roles.lag))
        known = {self.roles.rate: usual.rate, (self.roles.latency or self.roles.window): usual.latency}
        value = None if family is None or (latency and lagging) else known.get(family)
        return Marks(warmup, spans, several, objective, value or None, usual.slow)

    def source(self, family: Family | None) -> str:
        """The source of a family's numbers, for a caption."""
        return self.roles.sources.get(family, "") if family else ""


def stages(runs: Sequence[View]) -> Iterator[Stage]:
    """One for each tool, and for each of its units."""
    for tool in TOOLS:
        for roles in tool.roles:
            mine = [
                run._replace(timelines=workers)
                for run in runs
                if (workers := [one for one in run.timelines if one.tool == tool.name and one.roles is roles])
            ]
            if mine:
                yield Stage(mine, roles)


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
