"""How plots look: colours that follow the reader's light or dark theme, type, and a figure as SVG for a page.

matplotlib draws with the colours of the light theme; in the SVG each becomes a CSS variable of the page, so one drawing
serves both themes. Series colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), told apart by people
with colour-blindness too, darkened or lightened for contrast: WCAG 2.2, level AA, is 3 to 1 for lines, 4.5 to 1 for
text. Text stays text, and no text from outside enters a drawing.
"""

import io
import re
from typing import TYPE_CHECKING, Any

from ..values.printable import in_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_THEME = {  # name: light, dark
    "ink": ("#1c2330", "#e6e9ef"),
    "soft": ("#5a6475", "#9ca7b8"),
    "line": ("#dce0e7", "#303947"),
    "page": ("#f5f6f9", "#12151b"),
    "card": ("#ffffff", "#1a1f28"),
    "stall": ("#c62833", "#ff7b80"),
    "warmup": ("#8b95a5", "#7d8797"),
    "s0": ("#0b68b0", "#5cb1f5"),
    "s1": ("#c95300", "#ff9552"),
    "s2": ("#00805d", "#3fd0a4"),
    "s3": ("#a8488a", "#ee9fcf"),
    "s4": ("#a87400", "#f2c14a"),
    "s5": ("#3092cc", "#a5daf9"),
    "s6": ("#6a50c7", "#b9a6ff"),
    "s7": ("#777777", "#b5b5b5"),
    "q0": ("#147d9e", "#3a93b5"),
    "q1": ("#1d5fae", "#5aa2e6"),
    "q2": ("#1d4489", "#8cc3f9"),
    "q3": ("#0a2456", "#dcecff"),
    "q4": ("#c24e00", "#ff9553"),
}
INK, SOFT, LINE, CARD, STALL, WARMUP = (_THEME[name][0] for name in ("ink", "soft", "line", "card", "stall", "warmup"))
SERIES = tuple(_THEME[f"s{number}"][0] for number in range(8))
"""For things of the same kind: runs, operations, disks."""
LEVELS = tuple(_THEME[f"q{number}"][0] for number in range(5))
"""From pale to strong, for things with an order: percentiles; the last one stands apart, for the maximum."""

_VARIABLE = {light: f"var(--{name})" for name, (light, _) in _THEME.items()}
_TAG = re.compile(r"<[^>]*>")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_GROUP = re.compile(r'<g id="[^"]*"')
_SIZE = re.compile(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"|(<svg [^>]*?)height="[^"]*"')

WIDTH = 11.0
"""Of every figure, inches: all have the same time axis."""

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


def css() -> str:
    """The variables, for the light theme and the dark one."""
    light, dark = (";".join(f"--{name}:{pair[index]}" for name, pair in _THEME.items()) for index in (0, 1))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def variable(colour: str) -> str:
    """The CSS variable of a colour above."""
    return _VARIABLE[colour]


def begin() -> None:
    """Make matplotlib draw in this style."""
    import matplotlib

    matplotlib.rcParams.update(_SETTINGS)


def svg(figure: "Figure", description: str) -> str:
    """A figure as an SVG element for an HTML page; `description` is for those who do not see it."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    FigureCanvasSVG(figure)
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    element = text.getvalue()
    element = element[element.index("<svg") :]
    element = _TAG.sub(lambda tag: _COLOUR.sub(lambda c: _VARIABLE.get(c[0], c[0]), _GROUP.sub("<g", tag[0])), element)
    opening, rest = element.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', opening)
    label = in_html(description)
    return f'<svg role="img" aria-label="{label}" {box[0] if box else ""} xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
