"""Bars that are divided into stages, such as what an operation waits for."""

import numpy as np
import pytest

from benchwatch.plots import theme
from benchwatch.plots.axes import Axis, time
from benchwatch.plots.figure import figure
from benchwatch.plots.plot import Drawing, Plot

LINE, BELOW = 19, 44
"""Pixels of a line of plotly's legend, and of ticks and title below the bars."""


@pytest.mark.parametrize(("stages", "lines"), [(1, 0), (2, 1), (3, 1), (7, 3)])
def test_the_legend_of_bars_has_its_own_room_and_leaves_30_pixels_to_each_bar(stages: int, lines: int) -> None:
    both = np.array([0.001, 0.002])
    drawings = [
        Drawing(
            f"stage {number}", theme.SERIES[0], both, np.array([0.0, 1.0]), look="bars", colours=[theme.SERIES[0]] * 2
        )
        for number in range(stages)
    ]
    plot = Plot("", "", Axis("", time, ".4~s"), Axis("", str, ticks=[(0.0, "usually"), (1.0, "now")]), drawings)
    layout = figure(plot)["layout"]
    assert layout["margin"]["t"] >= LINE * lines
    assert layout["height"] - layout["margin"]["t"] - BELOW >= 2 * 30
    assert layout["legend"]["traceorder"] == "normal", "in the order of the bar"
