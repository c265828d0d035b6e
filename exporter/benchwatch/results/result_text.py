"""Results as plain text: a table of figures, then a line per fact and warning. 80 columns suffice for short names."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..compare.measures import THROUGHPUT, Measure, of_lost, rank
from ..compare.wording import figure, heading, level, quantity, span, title
from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..tools.roles import Roles
from ..values import numbers
from ..values.printable import printable
from ..values.timestamps import shown_moment
from . import sweep_text
from .repeats import CONFIDENCE, FEWEST, Repeated, finished, kinds, repeated
from .result import ObjectiveKept, RunResult, Subject, results_of

_OWN_LINE = frozenset({"unfinished", "unsteady", "stall", "failed", "skipped"})
"""Kinds of findings that `_facts` reports."""
_INDENT = "  "


class ResultBlock(NamedTuple):
    """A part of the output: one run, all repeats together, or a sweep."""

    head: str
    table: list[list[str]]
    """Figures; the first row has their names. Empty if there are none."""
    lines: list[str]


def text(subject: Subject) -> str:
    """The results of a run, of each repeat and of all together, or of a sweep point by point."""
    parts = [] if subject.swept else [_written([of_run(result)]) for result in subject.results]
    if subject.repeated or subject.swept:
        parts.append(series(subject))
    return "\n".join(parts)


def series(subject: Subject) -> str:
    """All repeats together, or the points of a sweep."""
    return _written(together(subject))


def _written(blocks: Sequence[ResultBlock]) -> str:
    lines: list[str] = []
    for block in blocks:
        lines += [block.head, *(f"{_INDENT}{line}" for line in (*aligned(block.table), *block.lines))]
    return "".join(f"{printable(line)}\n" for line in lines)


def of_run(result: RunResult) -> ResultBlock:
    """The result of one run."""
    run = result.run
    length = f", {numbers.duration(result.seconds)}" if result.seconds is not None else ""
    without = f" without its first {numbers.duration(run.left_out)}" if run.left_out else ""
    reason = f" ({result.reason})" if result.reason else ""
    head = f"{run.name}: {f'{run.tool} {result.version}'.strip()}, {result.state}{reason}{length}{without}"
    if not result.measured:
        after = f" after the warm-up of {run.warmup:g} s" if run.warmup else ""
        warnings = [f"! {finding.text}" for finding in result.findings if finding.kind == "reading"]
        return ResultBlock(head, [], [f"nothing was measured{after}", *warnings])
    warnings = [f"! {finding.text}" for finding in result.findings if finding.kind not in _OWN_LINE]
    return ResultBlock(head, _figures(result), [*_facts(result), *warnings])


def _figures(result: RunResult) -> list[list[str]]:
    """The table of figures, a row per group."""
    run = result.run
    groups = [group for group, one in run.figures if one is THROUGHPUT]
    known = {one for group, one in run.figures if group in groups and one.unit != "ratio"}
    columns = sorted(known, key=rank)
    rows = [["", *(_short(one, run.roles) for one in columns)]]
    for group in groups:
        values = [_cell(result, group, one) for one in columns]
        rows.append([_heading(result, group), *values])
    return rows


def _cell(result: RunResult, group: Group, measure: Measure) -> str:
    found = result.run.figures.get((group, measure))
    return "" if found is None else figure(found.value, measure, result.run.roles)


def _heading(result: RunResult, group: Group) -> str:
    """The name of a group, without its job if the run has only one."""
    jobs = {one[:-1] for one in result.groups if one}
    return heading(group[-1:] if len(jobs) == 1 else group)


def _short(measure: Measure, roles: Roles) -> str:
    return title(measure, roles).removeprefix("latency ")


def aligned(rows: Sequence[Sequence[str]], *, right: int = -1) -> Iterator[str]:
    """Rows as lines, without empty columns.

    All columns but the first are aligned to the right; with `right`, only the column of that index.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            f"{cell:>{width}}" if place == right or (right < 0 < place) else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cell for cell, width in zip(cells, widths, strict=True) if width).rstrip()


def _facts(result: RunResult) -> Iterator[str]:
    yield from _punctuality(result)
    if result.lost:
        yield ", ".join(_lost(result, word, *numbers_of) for word, numbers_of in result.lost.items())
    stalled = result.stalled
    if stalled is not None:
        yield f"stalls: {numbers.duration(stalled) if stalled else 'none'}"
    steady = result.steady
    unsteady = "; ".join(finding.text for finding in result.findings if finding.kind == "unsteady")
    yield f"steady: {'too few reports to tell' if steady is None else 'yes' if steady else f'no, {unsteady}'}"
    if (objective := result.objective) is not None:
        yield f"objective: {_kept(objective, result)}"


def _punctuality(result: RunResult) -> Iterator[str]:
    """How long after the moment that they waited for (`run --at`) the workers started."""
    workers = [one.runfile.scheduled for one in result.run.timelines]
    for at in sorted({one.at for one in workers if one}):
        own = [one for one in workers if one and one.at == at]
        late = [one.late for one in own if one.late is not None]
        if not late:
            continue
        errors = [one.clock_error for one in own if one.late is not None and one.clock_error is not None]
        off = f"off by {numbers.latency(max(errors))} at most" if errors else ""
        if len(errors) < len(late):
            off = f"{off}; {len(late) - len(errors)} not known to be synchronised".removeprefix("; ")
        count = f"{len(late)} of {len(workers)} workers, " if len(workers) > 1 else ""
        yield f"started: {count}within {numbers.latency(max(late))} after {shown_moment(at)} (clocks: {off})"


def _lost(result: RunResult, word: str, counted: float, whole: float) -> str:
    roles = result.run.roles
    measure = of_lost(word, roles.lost[word])
    known = roles.total in roles.lost[word].of and result.operations is not None
    of = f" of {whole:,.0f} {roles.operations}" if known else ""
    found = result.run.figures.get(((), measure))
    per_second = "" if measure.unit == "ratio" else "/s"
    share = f" ({quantity(found.value, measure.unit)}{per_second})" if found and found.value else ""
    return f"{word} {numbers.count(counted)}{of}{share}"


def objectives(timelines: Sequence[Timeline], warmup: float | None) -> str:
    """Whether the run of these workers met its latency objective, by tool; empty if it has none."""
    if all(worker.runfile.latency_objective is None for worker in timelines):
        return ""
    found = results_of(timelines, warmup)
    return "; ".join(_kept(result.objective, result) for result in found if result.objective is not None)


def _kept(kept: ObjectiveKept, result: RunResult) -> str:
    what = f"{_heading(result, kept.group)} {_short(kept.measure, result.run.roles)}".strip()
    above = f", above it in {kept.above} of {kept.reports} reports" if kept.reports else ""
    seconds = numbers.trimmed(numbers.latency(kept.seconds))
    return f"{'met' if kept.met else 'missed'}, {what} {numbers.latency(kept.value)} against {seconds}{above}"


def together(subject: Subject) -> list[ResultBlock]:
    """All repeats together, or the points of a sweep: a block for each tool and unit."""
    return [_together(subject, kind, own) for kind, own in kinds(subject.results).items()]


def _together(subject: Subject, kind: str, results: Sequence[RunResult]) -> ResultBlock:
    counted = finished(results)
    lengths = [one.seconds for one in counted if one.seconds is not None]
    of = f" of {span(lengths)}" if lengths else ""
    name = f"{subject.name} ({kind})" if kind else subject.name
    runs = f"{len(counted)} run{'s' * (len(counted) != 1)}{of}"
    left_out = [f"{one.run.name} ({one.state})" for one in results if one not in counted]
    left_out += [f"{run} (no result)" for run in subject.without]
    lines = [f"without {', '.join(left_out)}"] if left_out else []
    if subject.swept:
        table, notes = sweep_text.table_and_lines([one.run for one in counted])
        return ResultBlock(f"{name}: sweep, {runs}", table, [*notes, *lines])
    found = list(repeated(counted))
    if not found:
        lines.append("nothing to summarise: expected at least two finished runs")
        return ResultBlock(f"{name}: {runs} together", [], lines)
    table = [["", "mean", f"{level(CONFIDENCE)} interval", "spread", "lowest", "highest"]]
    table += [_repeated(one, counted[0]) for one in found if one.measure.unit != "ratio" or one.mean]
    if len(counted) < FEWEST:
        table[0][2] = ""
        lines.append(f"too few runs for an interval: expected {FEWEST} or more")
    for run in dict.fromkeys(name for one in found for name in one.outliers):
        far = [_title(one, counted[0]) for one in found if run in one.outliers]
        lines.append(f"! {run} is far from the others: {', '.join(far)}")
    return ResultBlock(f"{name}: {runs} together", table, lines)


def _title(one: Repeated, result: RunResult) -> str:
    return f"{_heading(result, one.group)} {_short(one.measure, result.run.roles)}".strip()


def _repeated(one: Repeated, result: RunResult) -> list[str]:
    roles = result.run.roles
    low, high = (figure(max(end, 0.0), one.measure, roles) for end in one.interval or (0.0, 0.0))
    return [
        _title(one, result),
        figure(one.mean, one.measure, roles),
        f"{low} to {high}" if one.interval else "",
        "" if one.spread is None else f"{100 * one.spread:.1f} %",
        figure(min(one.values), one.measure, roles),
        figure(max(one.values), one.measure, roles),
    ]
