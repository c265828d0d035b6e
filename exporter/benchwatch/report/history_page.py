"""Results over months as a page and a picture: a plot for each series of `benchwatch history`, then its table."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..compare.measures import BANDWIDTH, THROUGHPUT
from ..plots import axes, theme
from ..plots.axes import Axis
from ..plots.plot import Drawing, Plot
from ..plots.section import Section
from ..results.over_time import PastSeries, blocks, date, said
from ..show.as_html import html
from .page import page
from .picture import picture

_MOST_TICKS = 8
_MOST_LINES = 3


def history_page(found: Sequence[PastSeries]) -> str:
    """The page."""
    sections = []
    for one in found:
        head, *_, runs = blocks(one)
        folded = f"<details><summary>Latest runs</summary>{html([runs])}</details>"
        sections.append(Section(str(head[0]), [_plot(one)], html(said(one)) + folded))
    first = _first(found)
    summary = _summary(first) if len(found) == 1 else f"{len(found)} series."
    return page("History", [*_lines(first), summary], (), sections)


def history_picture(found: Sequence[PastSeries]) -> bytes:
    """The picture of the first series that changed, otherwise of the first one; see `picture`."""
    first = _first(found)
    return picture(first.name, [*_lines(first), _summary(first)], _plot(first))


def _first(found: Sequence[PastSeries]) -> PastSeries:
    return next((one for one in found if one.changes), found[0])


def _summary(series: PastSeries) -> str:
    first, last = (date(series.results[place].result.start) for place in (0, -1))
    return f"{len(series.results)} runs from {first} to {last}."


def _lines(series: PastSeries) -> list[str]:
    return series.headlines[-_MOST_LINES:]


def _plot(series: PastSeries) -> Plot:
    values = np.array([one.figure.value for one in series.results])
    ends = np.array([one.figure.interval or (one.figure.value, one.figure.value) for one in series.results])
    edges = [0, *series.changes, len(values)]
    levels = np.array(
        [
            point
            for begin, end in pairwise(edges)
            for point in ((begin + 1, values[begin:end].mean()), (end, values[begin:end].mean()), (end, np.nan))
        ]
    )
    numbers = np.arange(1.0, len(values) + 1)
    shown = range(0, len(values), -(-len(values) // _MOST_TICKS))
    days = [date(series.results[place].result.start)[:10] for place in shown]
    if len(set(days)) < len(days):
        days = [date(series.results[place].result.start)[5:16] for place in shown]
    ticks = [(place + 1.0, day) for place, day in zip(shown, days, strict=True)]
    units = {THROUGHPUT: axes.throughput(series.roles.unit), BANDWIDTH: axes.BANDWIDTH}
    unit = units.get(series.measure, axes.LATENCY)
    least, most = (unit.text(float(end)) for end in (values.min(), values.max()))
    results = Drawing(
        "result",
        theme.SERIES[0],
        numbers,
        values,
        ends[:, 0],
        ends[:, 1],
        "points",
        words=[f"{one.result.name}, {date(one.result.start)}" for one in series.results],
        ringed=[*series.changes],
    )
    return Plot(
        series.name,
        "A point for each run, with the 95 % interval from its own reports. Dashed: the mean between two changes. "
        "Ring: the first run after a change.",
        Axis("runs in the order of their starts", str, ticks=ticks),
        unit._replace(log=False),
        [Drawing("mean", theme.SERIES[1], levels[:, 0], levels[:, 1], look="dashed"), results],
        f"{series.name} of {len(values)} runs, from {least} to {most}. {'. '.join(_lines(series))}.",
    )
