"""What changed from the first run to each of the others: what `benchwatch compare` prints, and its changes as bars."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..compare.comparison import Change, Comparison, Comparisons, compare
from ..compare.comparison_view import blocks
from ..compare.experiment import CannotCompare, Experiment
from ..compare.measures import MEASURES, heading, interval, level, percent, row_title
from ..compare.result import Result, is_sum
from ..plots import theme
from ..plots.axes import CHANGE, Axis
from ..plots.plot import Drawing, Plot
from ..plots.run_view import View
from ..plots.section import Section
from ..show.as_html import html
from ..show.content import Sentence

_CONFIDENCE = 0.95
_ALLOWANCE = 0.05
"""The defaults of `benchwatch compare`."""
_DRAWN = frozenset({"throughput", "latency_mean", "latency_p50", "latency_p99", "latency_p99_9"})
_MOST_BARS = 24
_LONGEST_INTERVAL = 4.0
"""Multiple of the longest bar up to which intervals are drawn."""
_COLOURS = {"better": theme.SERIES[2], "worse": theme.STALL, "unclear": theme.WARMUP}


class Changed(NamedTuple):
    """How runs compare with the first; None if none can be compared."""

    found: Comparisons | None
    notes: Sequence[str]
    """Why sides are left out."""

    @property
    def others(self) -> Sequence[Comparison]:
        """What changed, for each of the others."""
        return self.found.others if self.found else ()


def compared(measured: Sequence[tuple[View, Result]]) -> Changed:
    """Runs of one tool compared with the first; the repeats of an experiment are one side."""
    sides: dict[str, list[Result]] = {}
    for view, one in measured:
        sides.setdefault(view.side, []).append(one)
    base, *others = (Experiment(side, repeats) for side, repeats in sides.items())
    confidence = 1 - (1 - _CONFIDENCE) / len(others)  # of each comparison, so that it holds for all together
    each: list[Comparisons] = []
    notes = []
    for side in others:
        try:
            each.append(compare(base, [side], confidence=confidence, allowance=_ALLOWANCE, vary=()))
        except CannotCompare as error:
            notes.append(f"{error}.")
    found = each[0]._replace(others=[other for one in each for other in one.others]) if each else None
    return Changed(found, notes)


def changes(title: str, changed: Changed) -> Iterator[Section]:
    """The section: what `compare` prints without its warnings, which stand at the top, then bars."""
    found = changed.found
    every = [] if found is None else blocks(found)
    shown = [one for one in every if not (isinstance(one, Sentence) and one.tone == "warning")]
    if len(changed.others) == 1 and not changed.notes:
        del shown[0]  # its heading is the title of the page
    yield Section(title, list(_bars(found)) if found else (), html(shown), changed.notes)


def _bars(found: Comparisons) -> Iterator[Plot]:
    bars: list[tuple[str, Change]] = []
    for one in found.others:
        side = f", {one.other.name}" if len(found.others) > 1 else ""
        for row in one.rows:
            drawn = row.measure.name in _DRAWN or (row.measure not in MEASURES and not row.measure.of_all)
            if drawn and row.ratio is not None and not is_sum(row.group):
                name = f"{heading(row.group)} {row_title(row.measure, found.roles, found.warmup)}".strip()
                bars.append((f"{name}{side} {percent(row.ratio)}", row))
    bars = bars[:_MOST_BARS]
    if not bars:
        return
    ratios = np.array([row.ratio or 0.0 for _, row in bars])
    ends = np.array([row.interval or (row.ratio, row.ratio) for _, row in bars])
    drawing = Drawing(
        "change",
        theme.WARMUP,
        ratios,
        np.arange(len(bars), dtype=float),
        ends[:, 0],
        ends[:, 1],
        "bars",
        words=[f"{interval(row.interval)} {row.outlook}".strip() for _, row in bars],
        colours=[_COLOURS[row.outlook] for _, row in bars],
    )
    longest = _LONGEST_INTERVAL * max(0.01, *np.abs(ratios))
    least, most = max(-longest, min(0.0, *ends[:, 0])), min(longest, max(0.0, *ends[:, 1]))
    beyond = ends.min() < least or ends.max() > most
    room = 0.08 * (most - least)
    yield Plot(
        f"Change against {found.base.name}",
        f"Green: better, red: worse, grey: unclear. Thin lines: {level(found.each)} intervals, if the runs have enough "
        f"reports{', cut off at the ends of the plot' if beyond else ''}.",
        CHANGE,
        Axis("", str, ticks=[(place, name) for place, (name, _) in enumerate(bars)]),
        [drawing],
        f"Changes: {'; '.join(f'{name}, {row.outlook}' for name, row in bars)}",
        limits=(least - room, most + room),
    )
