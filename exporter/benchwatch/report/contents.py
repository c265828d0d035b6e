"""The contents of the page, in order, and what its picture shows."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..compare.measured import Result, is_sum, measure
from ..compare.measures import (
    BANDWIDTH,
    LATENCY_MAX,
    LATENCY_MEAN,
    LATENCY_P99,
    THROUGHPUT,
    Measure,
    of_lost,
)
from ..compare.wording import figure, heading, headline, row_title
from ..plots import run_tables
from ..plots.benchmark import benchmark_figures, section
from ..plots.plot import Plot
from ..plots.run_view import View
from ..plots.section import Section, attempted_section
from ..plots.stage import Stage, stages
from ..results.result import findings_of
from ..results.result_view import objectives
from ..values.printable import in_html
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


class ReportDocument(NamedTuple):
    """The page, and a sentence about each part of it that could not be made."""

    html: str
    missing: Sequence[str]


class _Chapter(NamedTuple):
    """The runs of one tool: those of sweeps, and the others with how they compare (None: there is one side)."""

    tool: str
    swept: Sequence[tuple[View, Result]]
    others: Sequence[tuple[View, Result]]
    stage: Stage
    """The others."""
    changed: Changed | None

    @property
    def found(self) -> Sequence[str]:
        """What came out, in a few lines: the verdicts, or the best points of the sweeps."""
        if self.swept:
            return list(sweep_section.found(self.swept))
        compared = self.changed.found if self.changed else None
        if compared is None:
            return []
        each = [(one.other.name, verdict) for one in compared.others for verdict in one.verdicts]
        if len(each) == 1:
            ((other, verdict),) = each
            return [headline(verdict, compared.roles, compared.base.name, other)]
        several = len(compared.others) > 1
        return [f"{f'{other}: ' * several}{headline(verdict, compared.roles)}" for other, verdict in each]


def _chapters(runs: Sequence[View]) -> Iterator[_Chapter]:
    for stage in stages(runs):
        measured = [(run, measure(run.timelines, run.warmup, run.name)) for run in stage.runs]
        swept = [one for one in measured if sweep_section.is_part(one[0])]
        others = [one for one in measured if one not in swept]
        views, results = [view for view, _ in others], [one for _, one in others]
        changed = compared(views, results) if len({view.side for view in views}) > 1 else None
        yield _Chapter(stage.tool, swept, others, stage._replace(runs=views), changed)


def document(runs: Sequence[View], why: Iterable[Section], machine: Iterable[Section]) -> ReportDocument:
    """The whole page. `why` and `machine` are the sections that come from a Prometheus."""
    chapters = list(_chapters(runs))
    slow = list(attempted_section("Why it was slow", lambda: why))
    sections: list[Section] = []
    for one in chapters:
        if one.swept:
            name = f"Sweep: {one.tool}"
            sections += attempted_section(name, partial(sweep_section.sections, name, one.swept))
        if one.changed:
            title = f"What changed: {one.tool}" if len(chapters) > 1 else "What changed"
            sections += attempted_section(title, partial(changes, title, one.changed))
        if one.others:
            sections += attempted_section(one.tool, partial(_over_time, one))
    sides = {run.side: run.colour for run in runs}
    keys = list(sides.items()) if len(sides) > 1 else []
    tiles = [(name, value) for _, name, value in _figures(chapters[0])] if len(runs) == 1 else []
    sections += attempted_section("Disks and vdisks", lambda: machine)
    whole = len(sides) == 1 or any(one.changed for one in chapters)
    closing = list(_tables(runs, chapters)) if whole else [part for one in chapters for part in _tables_of(one)]
    every = [*slow, *sections, *closing] if len(runs) == 1 else [*sections, *slow, *closing]
    lines = [line for one in chapters for line in one.found][:_MOST_LINES]
    shown = tiles if len(tiles) <= _MOST_TILES else []
    html = page(_title(runs, chapters), [*lines, _summary(runs)], shown, keys, every)
    missing = [f"{plot.title}: {plot.missing}" for section in every for plot in section.figures if plot.missing]
    return ReportDocument(html, [*missing, *(note for one in every if not one.figures for note in one.notes)])


def preview(runs: Sequence[View]) -> bytes:
    """The picture of the runs, a PNG file: what came out, and the first plot."""
    chapters = list(_chapters(runs))
    plots = (plot for one in chapters for plot in _plots(one))
    found = [line for one in chapters for line in one.found][:_MOST_LINES]
    if len(found) == 1:
        title, lines = found[0], [_summary(runs)]
    else:
        title, lines = _title(runs, chapters), [*found, _summary(runs)]
    if len(runs) == 1:
        figures = _figures(chapters[0])[:_MOST_LINES]
        lines.insert(0, ", ".join(f"{name.removeprefix('latency ')} {value}" for _, name, value in figures))
    return picture(title, lines, next(plots, None))


def _plots(chapter: _Chapter) -> Iterable[Plot]:
    if chapter.swept:
        return next(sweep_section.sections("", chapter.swept)).figures
    return benchmark_figures(chapter.stage)


def _over_time(one: _Chapter) -> Iterator[Section]:
    """Warnings, which stand in the comparison if there is one, and plots."""
    found = section(one.stage, one.stage.title)
    warned = [] if one.changed and one.changed.found else [measured for _, measured in one.others]
    warnings = [finding for run in warned for finding in findings_of(run) if finding.kind != "unfinished"]
    html = "".join(f'<p class="note">{in_html(finding.text)}.</p>' for finding in warnings)
    yield found._replace(html=html, notes=[*_notes(one.stage), *found.notes])


def _title(runs: Sequence[View], chapters: Sequence[_Chapter]) -> str:
    first, *others = dict.fromkeys(run.side for run in runs)
    names = others[:_NAMED] + ["others"] * (len(others) > _NAMED)
    compared = any(one.changed for one in chapters)
    return f"{first} {'compared with' if compared else 'and'} {', '.join(names)}" if names else first


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


def _figures(chapter: _Chapter) -> list[tuple[Measure, str, str]]:
    """The main figures of its first run: measure, name, value."""
    run = next(one for _, one in (*chapter.others, *chapter.swept))
    jobs = {group[0] for group, _ in run.figures if group}
    return [
        (
            one,
            f"{heading(group[-1:] if len(jobs) == 1 else group)} {row_title(one, run.roles, run.left_out > 0)}".strip(),
            figure(run.figures[group, one].value, one, run.roles),
        )
        for group in dict.fromkeys(group for group, _ in run.figures)
        for one in (*_TILES, *(of_lost(word, lost) for word, lost in run.roles.lost.items()))
        if (group, one) in run.figures and not is_sum(group)
    ]


def _notes(stage: Stage) -> Iterator[str]:
    for run in stage.runs:
        for worker in run.timelines:
            name = run.name if worker.name == run.name else f"{run.name}, {worker.name}"
            if worker.state != "finished":
                yield f"{name}: {worker.state}{f': {worker.reason}' if worker.reason else ''}."
            if worker.by_file_time and run.length:
                yield f"{name}: no timestamps in the output; using file modification times."


def _tables_of(chapter: _Chapter) -> Iterator[Section]:
    """The tables of one tool, if nothing is compared."""
    runs = [view for view, _ in (*chapter.swept, *chapter.others)]
    yield from (part._replace(title=f"{part.title}: {chapter.tool}") for part in _tables(runs, ()))


def _tables(runs: Sequence[View], chapters: Sequence[_Chapter]) -> Iterator[Section]:
    known = {
        one.name
        for chapter in chapters
        if chapter.changed and chapter.changed.found
        for other in chapter.changed.found.others
        for one in other.parameters
    }
    for title, make in (
        ("Results", run_tables.results),
        ("Parameters", run_tables.shared_parameters),
        ("Environment", partial(run_tables.environment, known=known)),
    ):
        yield from attempted_section(title, partial(make, runs))
