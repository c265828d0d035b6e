"""The section on what changed from the first run to each of the others: rows and verdicts of `benchwatch compare`, as a
plot and a table.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.changes import Row
from ..compare.comparison import Comparisons, compare
from ..compare.experiment import CannotCompare, Experiment, faults_of
from ..compare.measured import Result, is_sum
from ..compare.measures import MEASURES, Measure, rank
from ..compare.wording import directed, figure, heading, interval, level, percent, row_title, sentence
from ..metrics.latencies import Group
from ..plots import theme
from ..plots.axes import CHANGE, Axis
from ..plots.plot import Drawing, Plot
from ..plots.run_view import View
from ..plots.section import Section
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow
from ..values.printable import in_html

_CONFIDENCE = 0.95
_ALLOWANCE = 0.05
"""The defaults of `benchwatch compare`."""
_DRAWN = frozenset({"throughput", "latency_mean", "latency_p50", "latency_p99", "latency_p99_9"})
_MOST_BARS = 24
_BASE = 4
"""The column of the base, beside the first of the others: on a phone, the change comes first."""
_LONGEST_INTERVAL = 4.0
"""Multiple of the longest bar, or of the shortest interval, up to which intervals are drawn."""
_COLOURS = {"better": theme.SERIES[2], "worse": theme.STALL, "unclear": theme.WARMUP}

Change = tuple[float, tuple[float, float] | None]
"""A change as a ratio (0.075 is +7.5 %), and its interval; None if that is unknown."""


class Changed(NamedTuple):
    """The sides in the colours of their runs, the base first, and how they compare; None if none can be compared."""

    runs: Sequence[View]
    found: Comparisons | None
    notes: Sequence[str]
    """Why sides are left out."""


def compared(views: Sequence[View], measured: Sequence[Result]) -> Changed:
    """Runs of one tool compared with the first; the repeats of an experiment are one side."""
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
    kept, notes = [runs[0]], []
    for run, side in zip(runs[1:], others, strict=True):
        try:
            each.append(compare(base, [side], confidence=confidence, allowance=_ALLOWANCE, vary=()))
            kept.append(run)
        except CannotCompare as error:
            notes.append(f"{error}.")
    found = each[0]._replace(others=[other for one in each for other in one.others]) if each else None
    return Changed(kept, found, notes)


def changes(views: Sequence[View], measured: Sequence[Result]) -> Section:
    """The section about runs of one tool: verdicts, table, bars and warnings."""
    kept, found, notes = compared(views, measured)
    if found is None:
        return Section("What changed", notes=notes)
    verdicts = "".join(f"<p>{in_html(text)}</p>" for text in _verdicts(found))
    findings = dict.fromkeys(f"{finding.text}." for other in found.others for finding in other.findings)
    return Section("What changed", list(_bars(kept, found)), verdicts + _table(kept, found), [*notes, *findings])


def main_changes(found: Comparisons) -> list[tuple[str, str, str]]:
    """Of two sides, the main measures, tails first: name, both figures, and the change in words."""
    texts = []
    tails = {"throughput": 0, "latency_p99": 1, "latency_mean": 2}
    for key in sorted(_keys(found), key=lambda key: tails.get(key[1].name, len(tails))):
        (row,) = _rows(found, key)
        if row is not None and row.ratio is not None and key[1].name in _DRAWN and not is_sum(key[0]):
            both = " → ".join(figure(value, row.measure, found.roles) for value in (row.base, row.other))
            sure = f" ({interval(row.interval).removesuffix(' %')})" if row.interval else ""
            texts.append((_name(row, found), both, f"{percent(row.ratio)}{sure}, {found.word(row)}"))
    return texts


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
    bars: list[tuple[str, Row]] = []
    for key in _keys(found):
        if is_sum(key[0]) or not (key[1].name in _DRAWN or (key[1] not in MEASURES and not key[1].of_all)):
            continue
        for run, row in zip(runs[1:], _rows(found, key), strict=True):
            if row is not None and row.ratio is not None:
                side = f", {run.name}" if len(runs) > 2 else ""
                bars.append((f"{_name(row, found)}{side} {percent(row.ratio)}", row))
    bars = bars[:_MOST_BARS]
    if not bars:
        return
    changes = [(row.ratio or 0.0, row.interval) for _, row in bars]
    least, most = bar_limits(changes)
    beyond = any(interval and (interval[0] < least or interval[1] > most) for _, interval in changes)
    ratios = np.array([ratio for ratio, _ in changes])
    ends = np.array([interval or (ratio, ratio) for ratio, interval in changes])
    words = [found.word(row) for _, row in bars]
    drawing = Drawing(
        "change",
        theme.WARMUP,
        ratios,
        np.arange(len(bars), dtype=float),
        np.maximum(ends[:, 0], least),
        np.minimum(ends[:, 1], most),
        "bars",
        words=[f"{interval(row.interval)} {word}".strip() for (_, row), word in zip(bars, words, strict=True)],
        colours=[_COLOURS[word] for word in words],
    )
    room = 0.08 * max(most - least, 0.01)
    yield Plot(
        f"Change against {runs[0].name}",
        f"Green: better, red: worse, grey: unclear. Thin lines: {level(found.each)} intervals, if the runs have enough "
        f"reports{', cut off at the ends of the plot' if beyond else ''}.",
        CHANGE,
        Axis("", str, ticks=[(place, name) for place, (name, _) in enumerate(bars)]),
        [drawing],
        f"Changes: {'; '.join(f'{name}, {word}' for (name, _), word in zip(bars, words, strict=True))}",
        limits=(least - room, most + room),
    )


def bar_limits(changes: Sequence[Change]) -> tuple[float, float]:
    """The ends of the axis, ratios: all bars fit, and intervals are cut off where they would hide the bars."""
    ratios = [0.0, *(ratio for ratio, _ in changes)]
    intervals = [interval for _, interval in changes if interval]
    shortest = min((max(map(abs, interval)) for interval in intervals), default=0.0)
    longest = _LONGEST_INTERVAL * max(shortest, *map(abs, ratios))
    ends = [*ratios, *(end for interval in intervals for end in interval)]
    return max(min(ends), -longest), min(max(ends), longest)


def _table(runs: Sequence[View], found: Comparisons) -> str:
    base, *others = runs
    columns = [Column("", right=False)]
    for run in others:
        columns += [Column("change"), Column("", right=False), Column("interval"), Column(run.name, colour=run.colour)]
    columns.insert(_BASE, Column(base.name, colour=base.colour))
    body = []
    for key in _keys(found):
        rows = _rows(found, key)
        first = next(row for row in rows if row is not None)
        cells = [_name(first, found)]
        for row in rows:
            if row is None:
                cells += ["", "", "", ""]
                continue
            change = "" if row.ratio is None else percent(row.ratio)
            other = figure(row.other, row.measure, found.roles)
            cells += [change, directed(row, found.word(row)), interval(row.interval), other]
        cells.insert(_BASE, figure(first.base, first.measure, found.roles))
        body.append(TableRow(cells))
    return table_html(Table(columns, body).filled)
