"""A comparison as blocks: both sides, verdicts, figures, numbers of parts, parameters that differ, and warnings."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..show.content import Block, Column, Heading, Sentence, Table, TableRow, Tone, table
from ..tools.roles import Roles
from .comparison import Change, Comparison, Comparisons
from .experiment import Experiment
from .measures import LATENCY_MEAN, THROUGHPUT, figure, heading, interval, level, named, percent, row_title, span, title

_MOST_PARTS = 12
_SAME = 0.05
"""Seconds by which the time left out may differ from the warm-up without a remark."""
_TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "strong",
    "not judged": "unclear",
    "": "",
}
_MARKS: dict[str, Tone] = {"better": "good", "worse": "bad", "unclear": "dim"}


def blocks(found: Comparisons) -> Iterator[Block]:
    """The whole comparison, each of the others after a heading. A warning that several of them share stands once."""
    warnings: set[str] = set()
    for one in found.others:
        yield Heading(f"{one.other.name} against {found.base.name}")
        yield Sentence(f"base: {describe(found.base)}", "dim")
        yield Sentence(f"other: {describe(one.other)}", "dim")
        for row in one.verdicts:
            yield Sentence(sentence(row, found.roles, found.each), _TONES[row.verdict or ""])
        yield _figures(found, one)
        if one.parts:
            yield _parts(one)
        if one.parameters:
            yield _parameters(one)
        new = [finding.text for finding in one.findings if finding.text not in warnings]
        warnings.update(new)
        yield from (Sentence(text, "warning") for text in new)


def _figures(found: Comparisons, comparison: Comparison) -> Table:
    names = ("base", "other", "change", f"{level(found.each)} interval")
    columns = [Column("", right=False), *map(Column, names), Column("", right=False)]
    rows = []
    for group, members in groupby(comparison.rows, lambda row: row.group):
        if heading(group):
            rows.append(TableRow([heading(group)], heading=True))
        for row in members:
            mark = "" if row.verdict else _MARKS[row.outlook]
            rows.append(TableRow(_cells(row, found), _TONES[row.verdict or ""], mark=mark))
    return Table(columns, rows)


def _cells(row: Change, found: Comparisons) -> Sequence[str]:
    roles, outlook = found.roles, ""
    if row.ratio is not None:
        outlook = f"{'▲ ' if row.ratio > 0 else '▼ ' if row.ratio < 0 else ''}{row.outlook}"
    both = figure(row.base, row.measure, roles), figure(row.other, row.measure, roles)
    change = "" if row.ratio is None else percent(row.ratio)
    return row_title(row.measure, roles, found.warmup), *both, change, interval(row.interval), outlook


def _parts(comparison: Comparison) -> Table:
    """Numbers of the parts, without a verdict; all are in JSON and CSV."""
    shown = comparison.parts[:_MOST_PARTS]
    more = len(comparison.parts) - len(shown)
    rows = [
        [one.name, one.text(one.base), one.text(one.other), "" if one.ratio is None else percent(one.ratio)]
        for one in shown
    ]
    rows += [[f"and {more} more", "", "", ""]] if more else []
    return table(["part", "base", "other", "change"], rows)


def _parameters(comparison: Comparison) -> Table:
    columns = [Column(name, right=False) for name in ("differs", "base", "other")]
    rows = [
        TableRow(
            (f"{'' if one.intended else '! '}{one.name}", one.base or "-", one.other or "-"),
            "" if one.intended else "bad",
        )
        for one in comparison.parameters
    ]
    return Table(columns, rows)


def sentence(row: Change, roles: Roles, confidence: float) -> str:
    """The verdict of a row as a sentence: what changed, by how much, how certain that is, and why."""
    what = named(row.group, row.measure, roles)
    change = "" if row.ratio is None else f" {percent(row.ratio)}"
    return f"{what}{change}{_sure(row, confidence)}, {row.verdict}: {row.reason}"


def headline(row: Change, roles: Roles, confidence: float, base: str = "", other: str = "") -> str:
    """A verdict in one line: sync-on 1,528 → sync-off 2,212 TPS, +44.7 % (95 % interval +21.1 to +73.0 %), better;
    without names, if several verdicts stand below each other: TPS 1,528 → 2,212, +44.7 % (...), better.
    """
    left, right = (figure(value, row.measure, roles) for value in (row.base, row.other))
    name = "" if row.measure is THROUGHPUT and roles.unit.in_bytes else title(row.measure, roles)
    what = " ".join(part for part in (heading(row.group), name) if part)
    both = f"{base} {left} → {other} {right} {what}" if base else f"{what} {left} → {right}"
    change = "" if row.ratio is None else f", {percent(row.ratio)}"
    return f"{both.strip()}{change}{_sure(row, confidence)}, {row.verdict}"


def _sure(row: Change, confidence: float) -> str:
    return "" if row.interval is None else f" ({level(confidence)} interval {interval(row.interval)})"


def describe(experiment: Experiment) -> str:
    """One line about a side: name, tool, number of runs and workers, length.

    With a warm-up, also the time left out and the result of the whole run.
    """
    first = experiment.runs[0]
    versions = ", ".join(
        dict.fromkeys(found for run in experiment.runs if (found := run.parameters.get("tool_version")))
    )
    tool = f"{first.tool} {versions.removeprefix(f'{first.tool}-')}".strip()
    number = len(experiment.runs)
    parts = [f"{experiment.name}: {tool}, {number} run{'s' * (number > 1)}"]
    workers = max(len(run.timelines) for run in experiment.runs)
    if workers > 1:
        parts.append(f"of {workers} workers")
    lengths = [run.seconds for run in experiment.runs if run.seconds is not None]
    if lengths:
        parts.append(f"of {span(lengths)}")
    if any(run.left_out for run in experiment.runs):
        parts.append(f"without the first {_left_out(experiment)}")
    return " ".join(parts) + _whole(experiment)


def _left_out(experiment: Experiment) -> str:
    run = max(experiment.runs, key=lambda run: abs(run.left_out - run.warmup))
    if abs(run.left_out - run.warmup) < _SAME:
        return f"{run.warmup:g} s"
    return f"{round(run.left_out, 2):g} s (its warm-up of {run.warmup:g} s ends within a report)"


def _whole(experiment: Experiment) -> str:
    """The result including the warm-up, as other views show it; for several runs, the mean."""
    groups = {group for run in experiment.runs for group, measure in run.main()}
    if len(groups) != 1 or not all(run.whole for run in experiment.runs):
        return ""
    (group,) = groups
    roles = experiment.runs[0].roles
    found = []
    unit = "" if roles.unit.in_bytes else f" {title(THROUGHPUT, roles)}"
    for measure, text in ((THROUGHPUT, f"{{}}{unit}"), (LATENCY_MEAN, "mean {}")):
        values = [run.whole.get((group, measure)) for run in experiment.runs]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append(text.format(figure(sum(known) / len(known), measure, roles)))
    return f"; whole run: {', '.join(found)}" if found else ""
