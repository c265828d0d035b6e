"""Results as blocks: a heading, a table of figures, then a line per fact and warning."""

import re
from collections.abc import Iterator, Sequence

from ..compare.measures import THROUGHPUT, Measure, figure, heading, level, of_lost, quantity, rank, span, title
from ..compare.result import Result, results_of
from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..show.content import Block, Heading, Sentence, Table, table
from ..values import numbers
from ..values.timestamps import shown_moment
from . import sweep_view
from .repeats import CONFIDENCE, FEWEST, Repeated, finished, kinds, repeated
from .subject import ObjectiveKept, Subject, findings_of, kept_level, longest_stall, objective_of

_OWN_LINE = frozenset({"unfinished", "unsteady", "stall", "failed", "skipped"})
"""Kinds of findings that `_facts` reports."""


def blocks(subject: Subject) -> list[Block]:
    """The results of a run, of each repeat and of all together, or of a sweep point by point."""
    found = [] if subject.swept else [block for result in subject.results for block in of_run(result)]
    return [*found, *(series(subject) if subject.repeated or subject.swept else ())]


def of_run(result: Result) -> list[Block]:
    """The result of one run: a heading, its figures, a line for each fact and warning."""
    length = f", {numbers.duration(result.length)}" if result.length is not None else ""
    without = f" without its first {numbers.duration(result.left_out)}" if result.left_out else ""
    reason = f" ({result.reason})" if result.reason else ""
    tool = f"{result.tool} {result.version}".strip()
    head = Heading(f"{result.name}: {tool}, {result.state}{reason}{length}{without}")
    warned = findings_of(result)
    if not result.measured:
        after = f" after the warm-up of {result.warmup:g} s" if result.warmup else ""
        read = [_warning(one.text) for one in warned if one.kind == "reading"]
        return [head, Sentence(f"nothing was measured{after}"), *read]
    unsteady = [re.sub(",? is not steady:", ":", one.text) for one in warned if one.kind == "unsteady"]
    warnings = [_warning(one.text) for one in warned if one.kind not in _OWN_LINE]
    return [head, _figures(result), *map(Sentence, _facts(result, unsteady)), *warnings]


def _warning(text: str) -> Sentence:
    return Sentence(text, "warning")


def _figures(result: Result) -> Table:
    """The figures, a row per group."""
    groups = [group for group, one in result.figures if one is THROUGHPUT]
    known = {one for group, one in result.figures if group in groups and one.unit != "ratio"}
    columns = sorted(known, key=rank)
    rows = []
    for group in groups:
        found = [(one, result.figures.get((group, one))) for one in columns]
        cells = ("" if one is None else figure(one.value, measure, result.roles) for measure, one in found)
        rows.append([_heading(result, group), *cells])
    return table(["", *(_named(result, (), one) for one in columns)], rows)


def _heading(result: Result, group: Group) -> str:
    """The name of a group, without its job if the run has only one."""
    jobs = {one[:-1] for one in result.groups if one}
    return heading(group[-1:] if len(jobs) == 1 else group)


def _named(result: Result, group: Group, measure: Measure) -> str:
    """What a figure is, in short: read p99."""
    return f"{_heading(result, group)} {title(measure, result.roles).removeprefix('latency ')}".strip()


def _facts(result: Result, unsteady: Sequence[str]) -> Iterator[str]:
    yield from _punctuality(result)
    if result.lost:
        yield ", ".join(_lost(result, word, *numbers_of) for word, numbers_of in result.lost.items())
    yield from result.further
    stalled = longest_stall(result)
    if stalled is not None:
        known = [numbers.duration(stalled)] if stalled else []
        known += ["now"] if result.state == "stalled" else []
        yield f"stalls: {' and '.join(known) or 'none'}"
    steady = kept_level(result)
    how = "yes" if steady else f"no, {'; '.join(unsteady)}"
    yield f"steady: {'too few reports to tell' if steady is None else how}"
    if (objective := objective_of(result)) is not None:
        yield f"objective: {_kept(objective, result)}"


def _punctuality(result: Result) -> Iterator[str]:
    """How long after the moment that they waited for (`run --at`) the workers started."""
    workers = [one.runfile.scheduled for one in result.timelines if one.runfile.scheduled]
    for at in sorted({one.at for one in workers}):
        late = [(one.late, one.clock_error) for one in workers if one.at == at and one.late is not None]
        if not late:
            continue
        errors = [error for _, error in late if error is not None]
        clocks = [f"off by {numbers.latency(max(errors))} at most"] if errors else []
        clocks += [f"{len(late) - len(errors)} not known to be synchronised"] if len(errors) < len(late) else []
        count = f"{len(late)} of {len(result.timelines)} workers, " if len(result.timelines) > 1 else ""
        most = numbers.latency(max(seconds for seconds, _ in late))
        yield f"started: {count}within {most} after {shown_moment(at)} (clocks: {'; '.join(clocks)})"


def _lost(result: Result, word: str, counted: float, whole: float) -> str:
    roles = result.roles
    measure = of_lost(word, roles.lost[word])
    known = roles.total in roles.lost[word].of and result.operations is not None
    of = f" of {whole:,.0f} {roles.operations}" if known else ""
    found = result.figures.get(((), measure))
    per_second = "" if measure.unit == "ratio" else "/s"
    share = f" ({quantity(found.value, measure.unit)}{per_second})" if found and found.value else ""
    return f"{word} {numbers.count(counted)}{of}{share}"


def objectives(timelines: Sequence[Timeline], warmup: float | None) -> str:
    """Whether the run of these workers met its latency objective, by tool; empty if it has none."""
    if all(worker.runfile.latency_objective is None for worker in timelines):
        return ""
    found = ((objective_of(result), result) for result in results_of(timelines, warmup))
    return "; ".join(_kept(kept, result) for kept, result in found if kept is not None)


def _kept(kept: ObjectiveKept, result: Result) -> str:
    what = _named(result, kept.group, kept.measure)
    above = f", above it in {kept.above} of {kept.reports} reports" if kept.reports else ""
    seconds = numbers.trimmed(numbers.latency(kept.seconds))
    return f"{'met' if kept.met else 'missed'}, {what} {numbers.latency(kept.value)} against {seconds}{above}"


def series(subject: Subject) -> list[Block]:
    """All repeats together, or the points of a sweep, for each tool and unit."""
    each = (_together(subject, kind, own) for kind, own in kinds(subject.results).items())
    return [block for blocks in each for block in blocks]


def _together(subject: Subject, kind: str, results: Sequence[Result]) -> list[Block]:
    counted = finished(results)
    lengths = [one.length for one in counted if one.length is not None]
    of = f" of {span(lengths)}" if lengths else ""
    name = f"{subject.name} ({kind})" if kind else subject.name
    runs = f"{len(counted)} run{'s' * (len(counted) != 1)}{of}"
    left_out = [f"{one.name} ({one.state})" for one in results if one not in counted]
    left_out += [f"{run} (no result)" for run in subject.without]
    lines = [Sentence(f"without {', '.join(left_out)}")] if left_out else []
    if subject.swept:
        return [Heading(f"{name}: sweep, {runs}"), *sweep_view.blocks(counted), *lines]
    head = Heading(f"{name}: {runs} together")
    found = list(repeated(counted))
    if not found:
        return [head, *lines, Sentence("nothing to summarise: expected at least two finished runs")]
    heads = ["", "mean", f"{level(CONFIDENCE)} interval", "spread", "lowest", "highest"]
    rows = [_repeated(one, counted[0]) for one in found if one.measure.unit != "ratio" or one.mean.value]
    if len(counted) < FEWEST:
        lines.append(Sentence(f"too few runs for an interval: expected {FEWEST} or more"))
    for run in dict.fromkeys(name for one in found for name in one.outliers):
        far = [_named(counted[0], one.group, one.measure) for one in found if run in one.outliers]
        lines.append(_warning(f"{run} is far from the others: {', '.join(far)}"))
    return [head, table(heads, rows), *lines]


def _repeated(one: Repeated, result: Result) -> list[str]:
    mean = one.mean
    lowest, highest, value, *ends = (
        figure(max(each, 0.0), one.measure, result.roles)
        for each in (min(mean.values), max(mean.values), mean.value, *(mean.interval or ()))
    )
    spread = "" if mean.spread is None else f"{100 * mean.spread:.1f} %"
    return [_named(result, one.group, one.measure), value, " to ".join(ends), spread, lowest, highest]
