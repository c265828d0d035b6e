"""The contents of the page, in order."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..compare.experiment import Experiment
from ..compare.findings import findings
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
from ..compare.wording import figure, heading, row_title
from ..plots import run_tables
from ..plots.benchmark import benchmark_figures, nothing_to_draw
from ..plots.run_view import View
from ..plots.section import Key, Section, attempted_section, ready
from ..plots.stage import Stage, stages
from ..results.result_view import objectives
from ..show.content import TableRow
from ..values.printable import in_html
from . import sweep_section
from .differences import changes, compared, main_changes
from .page import page
from .picture import Tile, picture

_TILES = (THROUGHPUT, BANDWIDTH, LATENCY_MEAN, LATENCY_P99, LATENCY_MAX)
_FOREMOST = (THROUGHPUT, LATENCY_P99, LATENCY_MEAN, LATENCY_MAX)
_MOST_PICTURED = 4
_MOST_CHANGES = 3
_MOST_TILES = 12
_NAMED = 3
"""How many runs the title names besides the first."""


class ReportDocument(NamedTuple):
    """The page, and a sentence about each part of it that could not be made."""

    html: str
    missing: Sequence[str]


def document(runs: Sequence[View], why: Iterable[Section], machine: Iterable[Section]) -> ReportDocument:
    """The whole page. `why` and `machine` are the sections that come from a Prometheus."""
    scenes = list(stages(runs))
    slow = list(attempted_section("Why it was slow", lambda: why))
    sections: list[Section] = []
    firsts: list[Result] = []
    for whole in scenes:
        tool = whole.runs[0].timelines[0].tool
        measured = [(run, _measure(run)) for run in whole.runs]
        firsts.append(measured[0][1])
        swept = [(run, one) for run, one in measured if sweep_section.is_part(run)]
        if swept:
            sweep = f"Sweep: {tool}"
            sections += attempted_section(sweep, partial(sweep_section.sections, sweep, swept))
        others = [(run, one) for run, one in measured if not sweep_section.is_part(run)]
        if not others:
            continue
        scene = whole._replace(runs=[run for run, _ in others])
        results = [one for _, one in others]
        change = Section("")
        if len({run.side for run in scene.runs}) > 1:
            (change,) = attempted_section("Changes", partial(_changed, scene, results))
            sections.append(change._replace(title=f"{change.title}: {tool}" if len(scenes) > 1 else change.title))
        # What was compared has its warnings there.
        (said,) = attempted_section("Warnings", partial(_warnings, [] if change.html else results))
        figures = list(benchmark_figures(scene))
        seen = " on the other side" if scene.roles.observer else ""
        notes = [*said.notes, *_notes(scene, bool(figures))]
        sections.append(Section(f"{tool}{seen}", figures, said.html, notes))
    sides = {run.side: run.colour for run in runs}
    has_changes = _compared(scenes)
    keys = [Key(side, colour) for side, colour in sides.items()] if len(runs) > 1 else []
    tiles = [(name, value) for _, name, value in _figures(firsts)] if len(runs) == 1 else []
    sections += attempted_section("Disks and vdisks", lambda: machine)
    closing = list(_tables(runs) if has_changes or len(sides) == 1 else _chapters(scenes))
    every = list(map(ready, [*slow, *sections, *closing] if len(runs) == 1 else [*sections, *slow, *closing]))
    html = page(_title(runs, scenes), _summary(runs), tiles if len(tiles) <= _MOST_TILES else [], keys, every)
    missing = [f"{plot.title}: {plot.missing}" for section in every for plot in section.figures if plot.missing]
    return ReportDocument(html, [*missing, *(note for one in every if not one.figures for note in one.notes)])


def preview(runs: Sequence[View]) -> bytes:
    """The picture of the runs as a PNG file; with several tools, it shows the first one."""
    scenes = list(stages(runs))
    scene = scenes[0]
    measured = [(run, _measure(run)) for run in scene.runs]
    swept = [(run, one) for run, one in measured if sweep_section.is_part(run)]
    tiles: list[Tile] = []
    if swept:
        plots = next(sweep_section.sections("", swept)).figures
    elif len(runs) == 1:
        plots = list(benchmark_figures(scene))
        tiles = [Tile(name, value) for name, value in _foremost(measured[0][1])]
    else:
        plots = list(benchmark_figures(scene))
        tiles = _compared_tiles(scene, measured)
    return picture(_title(runs, scenes), _summary(runs), tiles[:_MOST_PICTURED], next(iter(plots), None))


def _compared_tiles(scene: Stage, measured: Sequence[tuple[View, Result]]) -> list[Tile]:
    """What changed between two sides; of runs that cannot be compared and of more sides, the main figures of each."""
    sides = dict.fromkeys(run.side for run in scene.runs)
    if len(sides) == 2:
        found = compared(scene.runs, [one for _, one in measured]).found
        if found is not None:
            return [Tile(*texts) for texts in main_changes(found)][:_MOST_CHANGES]
    tiles = []
    for run, one in {run.side: (run, one) for run, one in reversed(measured)}.values():
        texts = [f"{value} {name.removeprefix('latency ')}" for name, value in _foremost(one)[:2]]
        if texts:
            tiles.append(Tile(run.side, texts[0], ", ".join([*_unfinished(run), *texts[1:]]), run.colour))
    return tiles[::-1]


def _unfinished(run: View) -> set[str]:
    return {worker.phase for worker in run.timelines} - {"finished"}


def _foremost(run: Result) -> list[tuple[str, str]]:
    """The main figures of one run, the most important first."""
    found = sorted(_figures([run]), key=lambda one: _FOREMOST.index(one[0]) if one[0] in _FOREMOST else len(_FOREMOST))
    return [(name, value) for _, name, value in found]


def _compared(scenes: Iterable[Stage]) -> bool:
    return any(len({run.side for run in scene.runs if not sweep_section.is_part(run)}) > 1 for scene in scenes)


def _title(runs: Sequence[View], scenes: Iterable[Stage]) -> str:
    first, *others = dict.fromkeys(run.side for run in runs)
    names = others[:_NAMED] + ["others"] * (len(others) > _NAMED)
    return f"{first} {'compared with' if _compared(scenes) else 'and'} {', '.join(names)}" if names else first


def _measure(run: View) -> Result:
    return measure(run.timelines, run.warmup, run.name)


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


def _figures(measured: Sequence[Result]) -> list[tuple[Measure, str, str]]:
    jobs = {group[0] for run in measured for group, _ in run.figures if group}
    return [
        (
            one,
            f"{heading(group[-1:] if len(jobs) == 1 else group)} {row_title(one, run.roles, run.left_out > 0)}".strip(),
            figure(run.figures[group, one].value, one, run.roles),
        )
        for run in measured
        for group in dict.fromkeys(group for group, _ in run.figures)
        for one in (*_TILES, *(of_lost(word, lost) for word, lost in run.roles.lost.items()))
        if (group, one) in run.figures and not is_sum(group)
    ]


def _notes(scene: Stage, drawn: bool) -> Iterator[str]:
    for run in scene.runs:
        for worker in run.timelines:
            name = run.name if worker.worker == run.name else f"{run.name}, {worker.worker}"
            if worker.phase != "finished":
                yield f"{name}: {worker.phase}{f': {worker.reason}' if worker.reason else ''}."
            if worker.by_file_time and run.length:
                yield f"{name}: no timestamps in the output; using file modification times."
    if not drawn:
        yield nothing_to_draw(scene.runs[0].timelines[0].tool)


def _changed(scene: Stage, measured: Sequence[Result]) -> Iterator[Section]:
    yield changes(scene.runs, measured)


def _warnings(measured: Sequence[Result]) -> Iterator[Section]:
    """The warnings of `benchwatch show`."""
    found = [finding for run in measured for finding in findings([Experiment(run.name, [run], ())])]
    yield Section("", html="".join(f'<p class="note">{in_html(finding.text)}.</p>' for finding in found))


def _chapters(scenes: Sequence[Stage]) -> Iterator[Section]:
    """The tables of each tool, if nothing is compared."""
    for scene in scenes:
        tool = scene.runs[0].timelines[0].tool
        yield from (section._replace(title=f"{section.title}: {tool}") for section in _tables(scene.runs))


def _tables(runs: Sequence[View]) -> Iterator[Section]:
    for title, make in (("Results", _results), ("Parameters", _parameters), ("Environment", _environment)):
        yield from attempted_section(title, partial(make, runs))


def _results(runs: Sequence[View]) -> Iterator[Section]:
    results = run_tables.results(runs)
    if results:
        yield Section("Results of the whole run", html=_folded(results, runs))


def _folded(html: str, runs: Sequence[View]) -> str:
    """A table with a column for each run, closed if these repeat experiments."""
    if len({run.side for run in runs}) == len(runs):
        return html
    return f"<details><summary>Each of the {len(runs)} runs</summary>{html}</details>"


def _parameters(runs: Sequence[View]) -> Iterator[Section]:
    sides = run_tables.by_side(runs)
    differing, shared, _ = run_tables.settings(sides)
    html = ""
    if differing:
        html += f"<h3>Different</h3>{run_tables.table(run_tables.heads(sides), differing)}"
    if shared and len(sides) > 1:
        one = [row._replace(cells=row.cells[:2]) for row in shared]
        html += f"<h3>The same in all runs</h3>{run_tables.table((), one)}"
    elif shared:
        html += run_tables.table((), shared)
    if html:
        yield Section("Parameters", html=html)


def _environment(runs: Sequence[View]) -> Iterator[Section]:
    _, _, machine = run_tables.settings(runs)
    kept = [objectives(run.timelines, run.warmup) for run in runs]
    rows = [TableRow(["Objective", *kept])] if any(kept) else []
    html = run_tables.table(run_tables.heads(runs), [*run_tables.environment(runs), *rows, *machine])
    yield Section("Environment", html=_folded(html, runs))
