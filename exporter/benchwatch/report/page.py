"""The page: one HTML document that contains everything, loads nothing and runs no script.

All text from outside (names, parameters, commands, reasons) is escaped. Should something slip through, a
Content-Security-Policy forbids scripts and external content.
"""

from collections.abc import Sequence

from ..plots import theme
from ..plots.section import STYLE, Key, Section, legend, rendered
from ..values.printable import in_html
from ..values.version import VERSION

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(
    title: str, summary: str, tiles: Sequence[tuple[str, str]], keys: Sequence[Key], sections: Sequence[Section]
) -> str:
    """The document. `tiles` are the main figures at its top, `keys` the colours of the runs."""
    shown = "".join(f"<div><dt>{in_html(name)}</dt><dd>{in_html(value)}</dd></div>" for name, value in tiles)
    columns = 4 if len(tiles) % 4 == 0 else 5
    first = f'<dl class="tiles" style="--columns:{columns}">{shown}</dl>' if shown else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{in_html(title)}</title><style>{theme.css()}{STYLE}</style></head>\n<body>"
        f'<header><h1>{in_html(title)}</h1><p class="soft">{in_html(summary)}</p>{legend(keys)}'
        f"{first}</header>\n<main>"
        f"{''.join(map(rendered, sections))}</main>\n"
        f"<footer>Made by benchwatch {VERSION} from the output of the benchmark itself. This file needs no "
        "network. A gap means that nothing was measured; it is never drawn as zero.</footer></body></html>\n"
    )
