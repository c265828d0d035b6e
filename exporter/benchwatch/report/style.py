"""How matplotlib draws for the page and for the picture.

It uses the colours of the light theme. In an SVG they become the CSS variables of the page (see plots.theme), so that
one drawing serves both themes. Text stays text, and no text from outside enters a drawing.
"""

import io
import logging
import re
from typing import TYPE_CHECKING, Any

from ..plots.theme import INK, LINE, SOFT, VARIABLES
from ..values.printable import in_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TAG = re.compile(r"<[^>]*>")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_GROUP = re.compile(r'<g id="[^"]*"')

WIDTH = 11.0
"""Width of every figure, inches, so that all time axes are equal."""

_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "benchwatch",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 9,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.major.size": 3.5,
    "xtick.major.width": 0.7,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "xtick.minor.size": 0,
    "figure.facecolor": "none",
    "lines.linewidth": 1.3,
    "lines.solid_joinstyle": "round",
    "lines.solid_capstyle": "round",
    "path.simplify": False,
}


def begin() -> None:
    """Make matplotlib draw in this style."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns if it cannot keep a cache in the home directory
    import matplotlib

    matplotlib.rcParams.update(_SETTINGS)


def svg(figure: "Figure", description: str) -> str:
    """A figure as an SVG element for an HTML page; `description` is for screen readers."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    FigureCanvasSVG(figure)
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    element = text.getvalue()
    element = element[element.index("<svg") :]
    element = _TAG.sub(lambda tag: _COLOUR.sub(lambda c: VARIABLES.get(c[0], c[0]), _GROUP.sub("<g", tag[0])), element)
    opening, rest = element.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', opening)
    label = in_html(description)
    return f'<svg role="img" aria-label="{label}" {box[0] if box else ""} xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
