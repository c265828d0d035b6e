"""A picture of 1200 x 630 pixels (PNG), the size of previews in posts: title, main figures and the throughput.

It is always light, because it does not know its reader's theme. Text from outside is drawn without interpreting markup;
a character that the font lacks is drawn as a box.
"""

import io
import warnings
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..plots import theme
from ..plots.axes import throughput
from ..plots.drawing import Stroke
from ..plots.run_view import traces
from ..plots.stage import Stage
from ..plots.time_lines import column_width, drawn
from ..values.printable import printable
from ..values.version import VERSION
from . import charts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS = 200
"""Pixels per inch: letters of nine points stay legible on a small screen."""
_WIDTH, _HEIGHT = 1200 / _DOTS, 630 / _DOTS
_LEFT, _RIGHT = 0.05, 0.95
_PLOT = (0.115, 0.145, _RIGHT - 0.115, 0.42)
_MOST_KEYS, _LONGEST_KEY = 4, 16
"""Number of lines in the legend, without those that a tile names, and characters per name."""
_SMALLEST = 0.6
"""Factor by which a text shrinks at most before its end is cut off."""


class Tile(NamedTuple):
    """A main figure: its name, its value, and a smaller line below."""

    name: str
    value: str
    more: str = ""
    colour: str = theme.SOFT


def picture(title: str, summary: str, tiles: Sequence[Tile], scene: Stage) -> bytes:
    """The picture, a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=_DOTS, facecolor=theme.CARD)
    FigureCanvasAgg(figure)
    found = io.BytesIO()
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # about characters that the font lacks
        _write(figure, _LEFT, 0.89, title, 15, _RIGHT - _LEFT, fontweight="bold")
        _write(figure, _LEFT, 0.835, summary, 7.5, _RIGHT - _LEFT, color=theme.SOFT)
        step = (_RIGHT - _LEFT) / max(3, len(tiles))
        for number, tile in enumerate(tiles):
            place, room = _LEFT + number * step, step - 0.02
            _write(figure, place, 0.745, tile.name, 7.5, room, color=tile.colour)
            _write(figure, place, 0.665, tile.value, 14, room, fontweight="bold")
            _write(figure, place, 0.615, tile.more, 7.5, room, color=theme.SOFT)
        _plot(figure, scene, {tile.name for tile in tiles})
        _write(figure, _LEFT, 0.025, f"benchwatch {VERSION}", 6, 0.3, color=theme.SOFT)
        figure.savefig(found, format="png", dpi=_DOTS, facecolor=theme.CARD)
    return found.getvalue()


def _plot(figure: "Figure", scene: Stage, named: Container[str]) -> None:
    shown = traces(scene.runs, scene.roles, scene.roles.rate, rate=True)
    axes = figure.add_axes(_PLOT)
    if not shown:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no reports while it ran", transform=axes.transAxes, color=theme.SOFT, ha="center")
        return
    width = column_width(scene.length, [trace.line for trace in shown])
    lines = [(drawn(trace.line, width, rate=True), Stroke(trace.colour, trace.dashed)) for trace in shown]
    charts.draw_over_time(axes, lines, scene.length, throughput(scene.roles.unit), scene.marks())
    axes.tick_params(labelsize=7)
    axes.set_xlabel("")
    axes.yaxis.label.set_fontsize(7)
    keys = [trace for trace in shown if trace.name not in named][:_MOST_KEYS] if len(shown) > 1 else []
    if keys:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=key.colour, linestyle="--" if key.dashed else "-") for key in keys]
        names = [printable(key.name)[:_LONGEST_KEY] for key in keys]
        place = (_RIGHT + 0.01, 0)
        figure.legend(
            handles, names, ncols=len(keys), fontsize=6.5, frameon=False, loc="lower right", bbox_to_anchor=place
        )


def _write(figure: "Figure", x: float, y: float, text: str, size: float, room: float, **how: Any) -> None:
    """Write a text into a fraction (`room`) of the width: smaller if necessary, then with its end cut off."""
    text = printable(text)
    drawn_text = figure.text(x, y, text, fontsize=size, **how)

    def taken() -> float:
        return float(drawn_text.get_window_extent().width) / figure.bbox.width

    if taken() > room:
        drawn_text.set_fontsize(size * max(_SMALLEST, room / taken()))
    while text and taken() > room:
        text = text[: min(len(text) - 1, int(len(text) * room / taken()) + 1)]
        drawn_text.set_text(f"{text.rstrip()}…")
