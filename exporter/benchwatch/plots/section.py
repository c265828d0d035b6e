"""A part of a page: its plots with their legends and captions, tables, and notes about what is missing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import NamedTuple, TypeVar

from ..values.errors import UserError
from ..values.printable import in_html
from .axes import OPERATIONS as COUNTS
from .figure import encoded
from .plot import Plot

STYLE = (Path(__file__).parent / "sections.css").read_text()
"""The style sheet of a page of sections, to which theme.STYLE belongs."""


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
        figures = [one for plot in section.figures for one in attempted(plot.title, partial(_encoded, plot))]
        yield section._replace(figures=figures)


def _attempted(make: Callable[[], Iterable[_Part]], missing: Callable[[str], _Part]) -> Iterator[_Part]:
    try:
        yield from make()
    except UserError:
        raise
    except Exception as error:
        *_, place = extract_tb(error.__traceback__)
        where = f"{Path(place.filename).name}, line {place.lineno}"
        yield missing(f"cannot be drawn: {type(error).__name__} in {where}: please report it")


def _encoded(plot: Plot) -> list[Plot]:
    return [plot if plot.missing else plot._replace(source=encoded(plot))]


def rendered(section: Section) -> str:
    """As HTML. A caption that several plots share stands once."""
    notes = "".join(f'<p class="note">{in_html(note)}</p>' for note in section.notes)
    figures, captions = "", {""}
    for plot in section.figures:
        figures += _figure(plot, caption=plot.caption not in captions)
        captions.add(plot.caption)
    title = f"<h2>{in_html(section.title)}</h2>" if section.title else ""
    return f"<section>{title}{section.html}{notes}{figures}</section>\n"


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
