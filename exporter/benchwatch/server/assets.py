"""The frame of a page: its style sheet and script, and Content-Security-Policies that allow these and nothing else."""

from pathlib import Path

from ..plots import section, theme
from ..plots.figure import DRAW, PLOTLY_NAME, source_of
from ..values.printable import in_html

_HERE = Path(__file__).parent
_SHARED = theme.STYLE + (_HERE / "shared.css").read_text()
STYLE = _SHARED + (_HERE / "overview.css").read_text()
RUN_STYLE = section.STYLE + _SHARED + (_HERE / "run.css").read_text()
SCRIPT = (_HERE / "refresh.js").read_text()
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='4' fill='%231a66c2'/%3E%3Cpath d='M2 11L5 9L7 10L10 4L12 9L14 8' fill='none' stroke='white' "
    "stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"
)


def _policy(scripts: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {source_of(SCRIPT)}{scripts}; style-src {style}; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


CONTENT_SECURITY_POLICY = _policy("", source_of(STYLE))
RUN_POLICY = _policy(f" {source_of(DRAW)} 'self'", "'unsafe-inline'")
"""The policy of pages with plots: plotly, which is served here, sets the styles of what it draws."""


def document(title: str, style: str, header: str, main: str, footer: str, *, refresh: int = 0, draws: str = "") -> str:
    """A whole page; everything but its title is HTML.

    With `refresh` it stays up to date: by its script, or without scripts by loading it again after so many seconds.
    `draws` is the path from a page of plots to the overview, beside which plotly's script is served.
    """
    again, lost, script = "", "", ""
    if refresh:
        again = f'<noscript><meta http-equiv="refresh" content="{refresh}"></noscript>'
        lost = (
            '<p class="banner bad" id="lost" role="status" hidden>The exporter does not answer. '
            "The figures below are from the time shown.</p>\n"
        )
        script = f"<script>{SCRIPT}</script>"
    if draws:
        script = f'<script src="{draws}{PLOTLY_NAME}"></script><script>{DRAW}</script>{script}'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{again}'
        f'<title>{in_html(title)}</title><link rel="icon" href="{ICON}"><style>{style}</style></head>\n'
        f"<body><header>{header}</header>\n<main>{lost}{main}</main>\n"
        f"<footer><p>{footer}</p></footer>{script}</body></html>\n"
    )
