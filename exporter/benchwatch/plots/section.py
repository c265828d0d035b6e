"""A part of a page: its plots with their legends and captions, tables, and notes about what is missing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePath
from traceback import extract_tb
from typing import NamedTuple, TypeVar

from ..values.errors import UserError
from ..values.printable import in_html
from . import theme
from .axes import OPERATIONS as COUNTS
from .figure import encoded
from .plot import Plot

STYLE = """
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
body>*{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
h1{font-size:30px;line-height:1.2;letter-spacing:-.015em;margin:0 0 8px;overflow-wrap:anywhere}
h2{font-size:21px;letter-spacing:-.01em;margin:44px 0 14px;padding-top:20px;border-top:1px solid var(--line)}
h3{font-size:15.5px;margin:26px 0 6px}
p{margin:6px 0;max-width:72ch}
.soft,figcaption,footer{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(max(130px,calc(88%/var(--columns))),1fr));gap:12px;
margin:22px 0 0;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tiles dt{font-size:13px;color:var(--soft)}
.tiles dd{margin:0;font-size:23px;font-weight:620;letter-spacing:-.01em;white-space:nowrap}
.scroll{margin:10px 0 18px}
figure{margin:0 0 18px;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px 14px}
figure h3{margin:0 0 4px}
figcaption{font-size:13.5px;margin:6px 0 0;max-width:96ch}
.scroll{overflow-x:auto}
.keys{display:flex;flex-wrap:wrap;gap:2px 18px;list-style:none;margin:4px 0 2px;padding:0;font-size:13.5px}
.keys li{overflow-wrap:anywhere}
.chip{margin-right:7px;vertical-align:middle}
table{border-collapse:collapse;font-size:14.5px;min-width:50%}
th,td{text-align:left;vertical-align:top;padding:6px 22px 6px 0;overflow-wrap:anywhere}
tbody tr{border-top:1px solid var(--line)}
tbody th{font-weight:450;color:var(--soft);white-space:nowrap}
thead th{font-weight:620}
tbody td{min-width:8em;max-width:62ch}
.numbers td,.numbers thead th{text-align:right;white-space:nowrap;padding-right:16px}
.numbers tbody td{min-width:5em}.numbers .text{text-align:left}
.numbers tbody th{white-space:normal;min-width:9em;max-width:48ch}
.none,small{color:var(--soft)} td small{display:block;font-size:12px} th small{font-size:12px;font-weight:400}
.note{border-left:3px solid var(--s1);background:var(--card);border-radius:0 8px 8px 0;padding:10px 16px;margin:14px 0}
details{margin:14px 0} summary{cursor:pointer;color:var(--soft)}
.found{font-size:19px;font-weight:620}p.warning::before{content:"! "}
p.good,td.good,.good td{color:var(--s2)}p.bad,td.bad,.bad td{color:var(--stall)}p.dim,td.dim{color:var(--soft)}
.numbers .good td,.numbers .bad td{font-weight:620}
footer{padding-top:28px;padding-bottom:48px;font-size:13.5px}
@media(max-width:640px){body>*{padding:0 14px}h1{font-size:24px}
figure{padding:12px 4px}figure h3,figcaption{padding:0 8px}.tiles dd{font-size:19px}
.numbers thead,.texts thead{display:none}.numbers,.numbers tbody,.texts,.texts tbody{display:block}
.numbers tr,.texts tr{display:grid;grid-template-columns:1fr 1fr 1.5fr;padding:8px 0;gap:0 10px;align-items:end}
.texts tr{grid-template-columns:1fr 1fr}tbody td,.numbers tbody td{min-width:0}
.numbers tbody th,.texts tbody th{grid-column:1/-1;order:-3;padding:0;color:var(--ink);font-weight:600}
.numbers td,.texts td{text-align:left;padding:2px 0}.numbers td{white-space:normal;font-size:13.5px}
.numbers td[data-label=change]{order:-2;font-weight:600}.numbers td:not([data-label]){order:-1;grid-column:span 2}
td[data-label]::before{content:attr(data-label);display:block;font-size:12px;font-weight:400;color:var(--soft)}}
@media print{@page{margin:14mm 12mm}body{background:none;font-size:12px;print-color-adjust:exact}
body>*{max-width:none;padding:0}header{padding:0}.scroll{overflow:visible}
figure,.tiles,tr{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:11px}
th,td,.numbers td,.numbers thead th,tbody th{white-space:normal;padding-right:10px}
tbody td,.numbers tbody td,.numbers tbody th{min-width:0}}
"""
"""The style sheet of a page of sections, to which theme.css() belongs."""


class Section(NamedTuple):
    """A part of the page. `html` comes before notes and figures and is safe; all other text is not."""

    title: str
    figures: Sequence[Plot] = ()
    html: str = ""
    notes: Sequence[str] = ()
    """Sentences about what is missing and why."""


_Part = TypeVar("_Part", Plot, Section)


def attempted(title: str, draw: Callable[[], Iterable[Plot]]) -> Iterator[Plot]:
    """The plots that `draw` makes; if it fails, one that says so, so that no other plot is lost."""
    return _attempted(draw, lambda why: Plot(title, "", COUNTS, COUNTS, missing=why))


def attempted_section(title: str, make: Callable[[], Iterable[Section]]) -> Iterator[Section]:
    """The same for whole sections, with the figure of each plot. Raises UserError, which is no fault of ours."""
    for section in _attempted(make, lambda why: Section(title, notes=[f"{title}: {why}"])):
        figures = [one for plot in section.figures for one in attempted(plot.title, partial(_with_figure, plot))]
        yield section._replace(figures=figures)


def _attempted(make: Callable[[], Iterable[_Part]], missing: Callable[[str], _Part]) -> Iterator[_Part]:
    try:
        yield from make()
    except UserError:
        raise
    except Exception as error:
        *_, place = extract_tb(error.__traceback__)
        where = f"{PurePath(place.filename).name}, line {place.lineno}"
        yield missing(f"cannot be drawn: {type(error).__name__} in {where}: please report it")


def _with_figure(plot: Plot) -> list[Plot]:
    return [plot if plot.missing else plot._replace(source=encoded(plot))]


def rendered(section: Section) -> str:
    """As HTML. A caption that several plots share stands once."""
    notes = "".join(f'<p class="note">{in_html(note)}</p>' for note in section.notes)
    figures, captions = "", {""}
    for plot in section.figures:
        figures += _figure(plot, caption=plot.caption not in captions)
        captions.add(plot.caption)
    return f"<section><h2>{in_html(section.title)}</h2>{section.html}{notes}{figures}</section>\n"


def _figure(plot: Plot, *, caption: bool) -> str:
    title = in_html(plot.title)
    if plot.missing:
        return f'<h3>{title}</h3><p class="note">{in_html(plot.missing)}</p>\n'
    below = f"<figcaption>{in_html(plot.caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="{"over-time" if plot.length else "half"}"><h3>{title}</h3>'
        f'<div class="chart" data-plot="{title}"><p>{in_html(plot.description)}</p>'
        f'<script type="application/json">{plot.source or encoded(plot)}</script></div>{below}</figure>\n'
    )


def legend(keys: Iterable[tuple[str, str]]) -> str:
    """Names with their colours as HTML; empty without any."""
    lines = "".join(f"<li>{theme.chip(colour)}{in_html(name)}</li>" for name, colour in keys)
    return f'<ul class="keys">{lines}</ul>' if lines else ""
