"""The tables of a page: facts about the runs, what the tools reported at the end, parameters (differing ones first).

All text here may come from outside; it is escaped when it becomes HTML.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ..compare.final_numbers import named_sample, number, sample_text
from ..history.timeline import Timeline
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow
from ..tools.registry import all_roles
from ..values.numbers import clock
from .run_view import View, parameters
from .section import Section

_COMMAND = re.compile(r"command( \(.*\))?", re.DOTALL)
_MACHINE = ("host.", "client.")
"""Prefix of the facts that `benchwatch run` records about a machine."""
_MOSTLY_FILLED = 0.5
"""Fraction of filled cells above which measures become the columns of a table."""


def results(runs: Sequence[View]) -> Iterator[Section]:
    """What the tools themselves report about the whole run; none if they report nothing.

    With several runs, a column per run; with one run that has several workers, jobs or operations, a column per
    measure.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    meanings: dict[str, str] = {}
    lost = {one.counter for roles in all_roles() for one in roles.lost.values() if one.of and not one.result}
    for run in runs:
        for worker in run.timelines:
            for sample in worker.final:
                if "_result_" in sample.family.name or sample.family in lost:
                    measure, parts = named_sample(sample)
                    group = " ".join((*((worker.name,) if len(run.timelines) > 1 else ()), *parts))
                    found.setdefault((group, measure), {})[run.name] = sample_text(sample, number(sample))
                    meanings[measure] = sample.family.help
    if not found:
        return
    groups, measures = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    columns = _heads(runs, right=True) or [Column("")]
    rows = [
        TableRow([f"{group} {measure}".strip(), *(values.get(run.name, "") for run in runs)], meaning=meanings[measure])
        for (group, measure), values in found.items()
    ]
    if len(runs) == 1 and len(groups) > 1 and len(found) / (len(groups) * len(measures)) > _MOSTLY_FILLED:
        (run,) = runs
        columns = [Column(measure) for measure in measures]
        rows = [TableRow([g, *(found.get((g, m), {}).get(run.name, "") for m in measures)]) for g in groups]
    yield Section("Results of the whole run", html=_folded(table(columns, rows), runs))


def _folded(html: str, runs: Sequence[View]) -> str:
    """A table with a column for each run, closed if these repeat experiments."""
    if len({run.side for run in runs}) == len(runs):
        return html
    return f"<details><summary>Each of the {len(runs)} runs</summary>{html}</details>"


def _heads(runs: Sequence[View], *, right: bool = False) -> list[Column]:
    """The columns of runs; none for a single run."""
    return [Column(run.name, right, run.colour) for run in runs] if len(runs) > 1 else []


def settings(runs: Sequence[View]) -> tuple[list[TableRow], list[TableRow], list[TableRow]]:
    """Parameters: those that differ between the runs, shared ones, and shared ones of the machine."""
    of_runs = [parameters(run) for run in runs]
    names = sorted({name for found in of_runs for name in found if not _COMMAND.fullmatch(name)})
    rows = [TableRow([name, *(found.get(name, "") for found in of_runs)]) for name in names]
    differing = [row for row in rows if len(set(row.cells[1:])) > 1]
    shared = [row for row in rows if row not in differing]
    machine = [row for row in shared if row.cells[0].startswith(_MACHINE)]
    return differing, [row for row in shared if row not in machine], machine


def shared_parameters(runs: Sequence[View]) -> Iterator[Section]:
    """Those that all runs share; the others are in the table of the environment."""
    _, shared, _ = settings(runs)
    if shared:
        title = "Parameters of all runs" if len(runs) > 1 else "Parameters"
        yield Section(title, html=table((), [row._replace(cells=row.cells[:2]) for row in shared]))


def environment(runs: Sequence[View], objectives: Mapping[str, str], known: Collection[str] = ()) -> Iterator[Section]:
    """When, with what, and how each run went, and how it kept its objective; parameters that differ, without those that
    are `known` already. `objectives` are sentences, by the name of a run."""
    differing, _, machine = settings(runs)
    of_runs = [dict(facts(run, objectives.get(run.name, ""))) for run in runs]
    names = dict.fromkeys(name for found in of_runs for name in found)
    rows = [row for row in differing if row.cells[0] not in known]
    rows += [TableRow([name, *(found.get(name, "") for found in of_runs)]) for name in names]
    yield Section("Environment", html=_folded(table(_heads(runs), [*rows, *machine]), runs))


def facts(run: View, objective: str = "") -> Iterable[tuple[str, str]]:
    """Name and value of each fact of a run."""
    yield "Tool", ", ".join(sorted({_tool(worker) for worker in run.timelines}))
    if len(run.timelines) > 1:
        yield "Workers", f"{len(run.timelines)}: {', '.join(worker.name for worker in run.timelines)}"
    if run.length:
        source = " (from when its files were last modified)" if run.by_file_time else ""
        yield "Began", f"{datetime.fromtimestamp(run.start, UTC):%Y-%m-%d %H:%M:%S} UTC{source}"
        yield "Length", clock(run.length)
    outcomes = dict.fromkeys(
        f"{worker.state}{f': {worker.reason}' if worker.reason else ''}" for worker in run.timelines
    )
    yield "State", "; ".join(outcomes)
    notes = dict.fromkeys(
        one.labels[0]
        for worker in run.timelines
        for one in worker.final
        if one.family.name == "benchwatch_run_note_info"
    )
    if notes:
        yield "Read", "; ".join(notes)
    labels = [pair for worker in run.timelines for pair in worker.runfile.labels.items()]
    for label in dict(labels):
        yield f"Label {label}", ", ".join(dict.fromkeys(value for name, value in labels if name == label))
    for name, value in parameters(run).items():
        if _COMMAND.fullmatch(name):
            yield name.capitalize(), value
    if objective:
        yield "Objective", objective
    for worker in run.timelines:
        for disk, role in worker.runfile.roles.items():
            yield " ".join(filter(None, ("Disk", worker.runfile.server, disk))), role


def _tool(worker: Timeline) -> str:
    """Name and version; the version may contain the name."""
    version = worker.tool_version
    return version if version.startswith(worker.tool) else f"{worker.tool} {version}".strip()


def table(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    """Rows with their names as an HTML table; without columns, it has no head, and one column of values."""
    given = columns or [Column("", right=False)]
    return table_html(Table([Column("", right=False), *given], rows))
