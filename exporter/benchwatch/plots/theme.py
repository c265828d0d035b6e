"""How plots look: colours that follow the reader's light or dark theme.

Series colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people with colour-blindness can
distinguish, darkened or lightened for contrast: WCAG 2.2, level AA, is 3 to 1 for lines, 4.5 to 1 for text.
"""

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
}
INK, SOFT, LINE, CARD, STALL, WARMUP = (_THEME[name][0] for name in ("ink", "soft", "line", "card", "stall", "warmup"))
SERIES = tuple(_THEME[f"s{number}"][0] for number in range(8))
"""For items of the same kind: runs, operations, percentiles, disks."""
NAMES = {light: name for name, (light, _) in _THEME.items()}
"""The CSS variable of each colour above, without its dashes."""

_CHART = """
.chart:not([data-drawn]){min-height:270px}.chart>p{margin:0;color:var(--soft);font-size:13.5px}
.chart>.note{color:inherit}.canvas{width:100%}
.canvas .modebar{opacity:0}.canvas:hover .modebar{opacity:1}.canvas .modebar-group{background:none!important}
.canvas .modebar-btn{border:0;background:none;padding:0}.canvas .modebar-btn svg{height:1em;width:1em;min-width:0}
"""


def css() -> str:
    """The variables, for the light theme and the dark one, and how drawings look."""
    light, dark = (";".join(f"--{name}:{pair[index]}" for name, pair in _THEME.items()) for index in (0, 1))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}{_CHART}"


def variable(colour: str) -> str:
    """The CSS variable of a colour above."""
    return f"var(--{NAMES[colour]})"
