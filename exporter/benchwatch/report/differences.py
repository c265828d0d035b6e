"""The section on what changed from the first run to each of the others: rows and verdicts of `benchwatch compare`, as a
plot and a table.
"""

from collections.abc import Iterator, Sequence

from ..compare.changes import Row
from ..compare.comparison import Comparisons, compare
from ..compare.experiment import CannotCompare, Experiment, faults_of
from ..compare.measured import Result, is_sum
from ..compare.measures import MEASURES, Measure, rank
from ..compare.wording import figure, heading, interval, level, percent, row_title, sentence
from ..metrics.latencies import Group
from ..plots.run_view import View
from ..plots.section import Key, Plot, Section
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow
from ..values.printable import in_html
from . import charts

_CONFIDENCE = 0.95
_ALLOWANCE = 0.05
"""The defaults of `benchwatch compare`."""
_DRAWN = frozenset({"throughput", "latency_mean", "latency_p50", "latency_p99", "latency_p99_9"})
_MOST_BARS = 16


def changes(views: Sequence[View], measured: Sequence[Result]) -> Section:
    """The section about runs of one tool; the repeats of an experiment are one side."""
    sides: dict[str, list[Result]] = {}
    for view, one in zip(views, measured, strict=True):
        sides.setdefault(view.side, []).append(one)
    runs = [next(view for view in views if view.side == side)._replace(name=side) for side in sides]
    base, *others = (
        Experiment(side, repeats, faults_of(worker for one in repeats for worker in one.timelines))
        for side, repeats in sides.items()
    )
    confidence = 1 - (1 - _CONFIDENCE) / len(others)  # of each comparison, so that it holds for all together
    each: list[Comparisons] = []
    compared, notes = [runs[0]], []
    for run, side in zip(runs[1:], others, strict=True):
        try:
            each.append(compare(base, [side], confidence=confidence, allowance=_ALLOWANCE, vary=()))
            compared.append(run)
        except CannotCompare as error:
            notes.append(f"{error}.")
    if not each:
        return Section("What changed", notes=notes)
    found = each[0]._replace(others=[other for comparisons in each for other in comparisons.others])
    verdicts = "".join(f"<p>{in_html(text)}</p>" for text in _verdicts(found))
    findings = dict.fromkeys(f"{finding.text}." for other in found.others for finding in other.findings)
    return Section(
        "What changed", list(_bars(compared, found)), verdicts + _table(compared, found), [*notes, *findings]
    )


def _verdicts(found: Comparisons) -> Iterator[str]:
    for one in found.others:
        for verdict in one.verdicts:
            yield f"{one.other.name}: {sentence(verdict, found.roles, found.each)}."


def _keys(found: Comparisons) -> list[tuple[Group, Measure]]:
    """Group and measure of the rows, in order."""
    order = dict.fromkeys((row.group, row.measure) for one in found.others for row in one.rows)
    groups = list(dict.fromkeys(group for group, _ in order))
    return sorted(order, key=lambda key: (groups.index(key[0]), rank(key[1])))


def _rows(found: Comparisons, key: tuple[Group, Measure]) -> list[Row | None]:
    return [next((row for row in one.rows if (row.group, row.measure) == key), None) for one in found.others]


def _name(row: Row, found: Comparisons) -> str:
    return f"{heading(row.group)} {row_title(row.measure, found.roles, found.warmup)}".strip()


def _bars(runs: Sequence[View], found: Comparisons) -> Iterator[Plot]:
    bars = []
    for key in _keys(found):
        rows = _rows(found, key)
        known = [row for row in rows if row is not None and row.ratio is not None]
        if (key[1].name in _DRAWN or (key[1] not in MEASURES and not key[1].of_all)) and known and not is_sum(key[0]):
            better = f"{known[0].measure.better} is better"
            changes = [None if row is None or row.ratio is None else (row.ratio, row.interval) for row in rows]
            bars.append((charts.plain(_name(known[0], found)), better, changes))
    if not bars:
        return
    colours = [run.colour for run in runs[1:]]
    bars = bars[:_MOST_BARS]
    least, most = charts.bar_limits([change for _, _, changes in bars for change in changes])
    intervals = [change[1] for _, _, changes in bars for change in changes if change and change[1]]
    beyond = any(low < least or high > most for low, high in intervals)
    described = "; ".join(f"{name} {', '.join(percent(c[0]) if c else '-' for c in each)}" for name, _, each in bars)
    yield Plot(
        f"Change against {runs[0].name}",
        charts.bars(bars, colours, f"Changes: {described}"),
        f"Bars: change in percent; thin lines: {level(found.each)} intervals, if the runs have enough reports"
        f"{', with an arrow if they extend beyond the plot' if beyond else ''}.",
        [Key(run.name, run.colour) for run in runs[1:]],
    )


def _table(runs: Sequence[View], found: Comparisons) -> str:
    base, *others = runs
    columns = [Column("", right=False), Column(base.name, colour=base.colour)]
    for run in others:
        columns += [Column(run.name, colour=run.colour), Column("change"), Column("interval")]
    body = []
    for key in _keys(found):
        rows = _rows(found, key)
        first = next(row for row in rows if row is not None)
        cells = [_name(first, found), figure(first.base, first.measure, found.roles)]
        for row in rows:
            if row is None:
                cells += ["", "", ""]
                continue
            change = "" if row.ratio is None else percent(row.ratio)
            cells += [figure(row.other, row.measure, found.roles), change, interval(row.interval)]
        body.append(TableRow([*cells, first.measure.better]))
    return table_html(Table([*columns, Column("better", right=False)], body).filled)
