"""The page: one HTML document that contains everything and loads nothing.

All text from outside (names, parameters, commands, reasons) is escaped. Should something slip through, a
Content-Security-Policy forbids external content and all scripts but the two that draw.
"""

from collections.abc import Sequence

from ..plots import theme
from ..plots.figure import DRAW, plotly, source_of
from ..plots.section import STYLE, Section, rendered
from ..values.printable import in_html
from ..values.version import VERSION

_MOST_WARNINGS = 3
"""That are not folded."""


def page(
    title: str,
    lines: Sequence[str],
    tiles: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    warnings: Sequence[str] = (),
) -> str:
    """The document. `lines` are those of `opening`, `tiles` the main figures."""
    shown = "".join(f"<div><dt>{in_html(name)}</dt><dd>{in_html(value)}</dd></div>" for name, value in tiles)
    columns = 4 if len(tiles) % 4 == 0 else 5
    first = f'<dl class="tiles" style="--columns:{columns}">{shown}</dl>' if shown else ""
    notes = [f'<p class="note">{in_html(text)}</p>' for text in warnings]
    more = notes[_MOST_WARNINGS:]
    folded = f"<details><summary>{len(more)} more warnings</summary>{''.join(more)}</details>" if more else ""
    header = f"{opening(title, lines)}{''.join(notes[:_MOST_WARNINGS])}{folded}{first}"
    footer = (
        f"Made by benchwatch {VERSION} from the output of the benchmark itself. This file needs no network. A gap "
        "means that nothing was measured; it is never drawn as zero."
    )
    return document(title, header, "".join(map(rendered, sections)), footer)


def opening(title: str, lines: Sequence[str]) -> str:
    """As HTML: the title, what came out, and the summary, which is the last line."""
    *found, summary = lines
    said = "".join(f'<p class="found">{in_html(line)}</p>' for line in found)
    return f'<h1>{in_html(title)}</h1>{said}<p class="soft">{in_html(summary)}</p>'


def document(title: str, header: str, main: str, footer: str, style: str = "") -> str:
    """A document with both scripts; everything but its title is HTML."""
    scripts = (plotly(), DRAW) if '<div class="chart"' in main else ()
    allowed = " ".join(map(source_of, scripts)) or "'none'"
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{in_html(title)}</title><style>{theme.STYLE}{STYLE}{style}</style></head>\n<body>"
        f"<header>{header}</header>\n<main>{main}</main>\n<footer>{footer}</footer>"
        f"{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>\n"
    )
