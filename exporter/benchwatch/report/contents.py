"""The contents of the page, in order, and what its picture shows."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from typing import NamedTuple

from ..compare.comparison_view import headline
from ..compare.measures import (
    BANDWIDTH,
    LATENCY_MAX,
    LATENCY_MEAN,
    LATENCY_P99,
    THROUGHPUT,
    figure,
    heading,
    of_lost,
    row_title,
)
from ..compare.result import Result, is_sum, measure
from ..plots import run_tables
from ..plots.benchmark import benchmark_figures, section
from ..plots.plot import Plot
from ..plots.run_view import Stage, View, stages
from ..plots.section import Section, attempted_section
from ..results.result_view import objectives
from ..results.subject import findings_of
from . import sweep_section
from .differences import Changed, changes, compared
from .page import page
from .picture import picture

_TILES = (THROUGHPUT, BANDWIDTH, LATENCY_MEAN, LATENCY_P99, LATENCY_MAX)
_MOST_TILES = 12
_MOST_LINES = 3
"""Sentences under the title."""
_NAMED = 3
"""How many runs the title names besides the first."""


class _Chapter(NamedTuple):
    """The runs of one tool: those of sweeps, and the others with how they compare (None: there is one side)."""

    swept: Sequence[tuple[View, Result]]
    others: Sequence[tuple[View, Result]]
    stage: Stage
    """All of them."""
    changed: Changed | None

    @property
    def found(self) -> list[str]:
        """What came out, in a few lines: the verdicts, or the best points of the sweeps."""
        if self.swept:
            return list(sweep_section.found(self.swept))
        compared = self.changed.found if self.changed else None
        if compared is None:
            return []
        sides = [(one.other.name, verdict) for one in compared.others for verdict in one.verdicts]
        how = compared.roles, compared.each
        if len(sides) == 1:
            ((other, verdict),) = sides
            return [headline(verdict, *how, compared.base.name, other)]
        several = len(compared.others) > 1
        return [f"{f'{other}: ' * several}{headline(verdict, *how)}" for other, verdict in sides]

    @property
    def warnings(self) -> list[str]:
        """What speaks against its figures, a sentence each."""
        findings = [finding for one in (self.changed.others if self.changed else ()) for finding in one.findings]
        if not (self.changed and self.changed.found):  # a run that has not finished is named beside its plots
            each = (findings_of(run) for _, run in self.others)
            findings = [finding for several in each for finding in several if finding.kind != "unfinished"]
        return [f"{finding.text}." for finding in findings]

    @property
    def plots(self) -> Iterable[Plot]:
        """Of the sweeps, otherwise of the runs over time."""
        if self.swept:
            return next(sweep_section.sections("", self.swept)).figures
        return benchmark_figures(self.stage)

    def sections(self, *, alone: bool) -> Iterator[Section]:
        """Sweeps, what changed, and plots over time; `alone`: there is no other tool."""
        tool = self.stage.tool
        if self.swept:
            yield from attempted_section(
                f"Sweep: {tool}", partial(sweep_section.sections, f"Sweep: {tool}", self.swept)
            )
        if self.changed:
            title = "What changed" if alone else f"What changed: {tool}"
            yield from attempted_section(title, partial(changes, title, self.changed))
        if self.others:
            yield from attempted_section(tool, self._over_time)

    def _over_time(self) -> Iterator[Section]:
        stage = self.stage._replace(runs=[run for run, _ in self.others])
        found = section(stage, stage.title)
        yield found._replace(notes=[*_notes(stage), *found.notes])


def _chapters(runs: Sequence[View]) -> Iterator[_Chapter]:
    for stage in stages(runs):
        measured = [(run, measure(run.timelines, run.warmup, run.name)) for run in stage.runs]
        swept = [one for one in measured if sweep_section.is_part(one[0])]
        others = [one for one in measured if one not in swept]
        changed = compared(others) if len({view.side for view, _ in others}) > 1 else None
        yield _Chapter(swept, others, stage, changed)


class Contents:
    """What a report shows of some runs, which are measured once for page and picture."""

    def __init__(self, runs: Sequence[View]) -> None:
        self._runs = runs
        self._chapters = list(_chapters(runs))
        self._sides = list(dict.fromkeys(run.side for run in runs))

    def document(self, prometheus: str) -> tuple[str, list[str]]:
        """The whole page, and a sentence about each part of it that could not be made.

        `prometheus` is the URL of one that watched the machines; empty without one.
        """
        sections = [part for one in self._chapters for part in one.sections(alone=len(self._chapters) == 1)]
        if prometheus:
            from ..plots import machine

            slow = list(attempted_section("Why it was slow", partial(machine.reasons, prometheus, self._runs)))
            sections += attempted_section("Disks and vdisks", partial(machine.sections, prometheus, self._runs))
            sections = [*slow, *sections] if len(self._runs) == 1 else [*sections, *slow]
        sections += self._tables()
        title, lines = self._opening()
        tiles = list(_figures(self._chapters[0])) if len(self._runs) == 1 else []
        html = page(
            title,
            lines,
            tiles if len(tiles) <= _MOST_TILES else [],
            sections,
            list(dict.fromkeys(text for one in self._chapters for text in one.warnings)),
        )
        missing = [f"{plot.title}: {plot.missing}" for part in sections for plot in part.figures if plot.missing]
        return html, [*missing, *(note for part in sections if not part.figures for note in part.notes)]

    def preview(self) -> bytes:
        """The picture of the runs, a PNG file: what came out, and the first plot."""
        title, lines = self._opening()
        if len(lines) == 2:
            title, *lines = lines
        if len(self._runs) == 1:
            figures = islice(_figures(self._chapters[0]), _MOST_LINES)
            lines.insert(0, ", ".join(f"{name.removeprefix('latency ')} {value}" for name, value in figures))
        return picture(title, lines, next((plot for one in self._chapters for plot in one.plots), None))

    def _opening(self) -> tuple[str, list[str]]:
        """The title, and what came out in a few lines, of which the last is the summary."""
        first, *others = self._sides
        names = ", ".join(others[:_NAMED] + ["others"] * (len(others) > _NAMED))
        title = f"{first} and {names}" if names else first
        if any(one.changed for one in self._chapters):
            title = f"{names} against {first}"
        found = [line for one in self._chapters for line in one.found]
        return title, [*found[:_MOST_LINES], _summary(self._runs)]

    def _tables(self) -> Iterator[Section]:
        """What the tools reported, and how; of all runs, or of each tool if nothing is compared."""
        compared = [one.changed for one in self._chapters if one.changed]
        if compared or len(self._sides) == 1:
            known = {one.name for each in compared for other in each.others for one in other.parameters}
            yield from _tables(self._runs, known)
            return
        for one in self._chapters:
            for part in _tables(one.stage.runs, ()):
                yield part._replace(title=f"{part.title}: {one.stage.tool}")


def _summary(runs: Sequence[View]) -> str:
    warmups = " and ".join(f"{warmup:g} s" for warmup in sorted({run.warmup for run in runs} - {0.0}))
    without = f" The figures leave out the warm-up of {warmups}." if warmups else ""
    if len(runs) > 1:
        where = "" if any(map(sweep_section.is_part, runs)) else " on one axis of elapsed time"
        return f"{len(runs)} runs{where}.{without}"
    found = dict(run_tables.facts(runs[0]))
    when = f"{found['Length']} from {found['Began']}, " if runs[0].length else ""
    kept = objectives(runs[0].timelines, runs[0].warmup)
    objective = f" Objective {kept}." if kept else ""
    return f"{found['Tool']}, {when}{found['State']}.{objective}{without}"


def _figures(chapter: _Chapter) -> Iterator[tuple[str, str]]:
    """Names and values of the main figures of its first run."""
    _, run = (*chapter.others, *chapter.swept)[0]
    jobs = {group[0] for group, _ in run.figures if group}
    lost = (of_lost(word, each) for word, each in run.roles.lost.items())
    for group, one in product(dict.fromkeys(group for group, _ in run.figures), (*_TILES, *lost)):
        if (group, one) in run.figures and not is_sum(group):
            name = heading(group[-1:] if len(jobs) == 1 else group)
            title = row_title(one, run.roles, run.left_out > 0)
            yield f"{name} {title}".strip(), figure(run.figures[group, one].value, one, run.roles)


def _notes(stage: Stage) -> Iterator[str]:
    for run in stage.runs:
        for worker in run.timelines:
            name = run.name if worker.name == run.name else f"{run.name}, {worker.name}"
            if worker.state != "finished":
                yield f"{name}: {worker.state}{f': {worker.reason}' if worker.reason else ''}."
            if worker.by_file_time and run.length:
                yield f"{name}: no timestamps in the output; using file modification times."


def _tables(runs: Sequence[View], known: Collection[str]) -> Iterator[Section]:
    """What the tools reported, and how; without the parameters that are `known` from a comparison."""
    kept = {run.name: objectives(run.timelines, run.warmup) for run in runs}
    for title, make in (
        ("Results", run_tables.results),
        ("Parameters", run_tables.shared_parameters),
        ("Environment", partial(run_tables.environment, objectives=kept, known=known)),
    ):
        yield from attempted_section(title, partial(make, runs))
