"""A page as data, and its HTML as far as it is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Literal, NamedTuple


class Link(NamedTuple):
    """A cell whose text is a link."""

    text: str
    href: str


class PageBar(NamedTuple):
    """A bar of coloured cells, filled to `ratio` (0 to 1)."""

    ratio: float


Cell = str | Link | PageBar | None
"""None is no value."""
BAR = "Bar Graph"
_BAR_WIDTH = 20
"""Cells of a bar; its column has as many in a header of one row."""


class PageColumn(NamedTuple):
    """A column: its group (or its label, if it has none) and its label within the group."""

    group: str
    label: str = ""


@dataclass(frozen=True)
class PageSection:
    """One titled table; a row has one cell per column. `key` is its name; `note` is HTML between title and table.

    `heading` is the tag of the title; `table` is a table of its own.
    """

    key: str
    title: str
    columns: tuple[PageColumn, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    heading: Literal["h1", "h2", "h3", "b", "table"] = "h2"


@dataclass(frozen=True)
class PageDocument:
    """One page."""

    title: str
    sections: tuple[PageSection, ...]


def render(document: PageDocument) -> str:
    """The page's HTML: a line for each cell of data."""
    head = f"<head><title>{escape(document.title)}</title></head>"
    body = [line for section in document.sections for line in _section(section)]
    return "\n".join(("<html>", head, "<body>", *body, "</body>", "</html>", ""))


def _section(section: PageSection) -> Iterator[str]:
    if section.title:
        tag, title = section.heading, _text(section.title)
        yield f"<{tag}>{f'<tr><td>{title}</td></tr>' if tag == 'table' else title}</{tag}>"
    if section.note:
        yield f"<p>{section.note}</p>"
    yield "<table border=1>"
    widths = {BAR: _BAR_WIDTH}
    groups = [(group, len(list(members))) for group, members in groupby(column.group for column in section.columns)]
    if groups:
        yield from ("<tr>", "".join(_head(group, widths.get(group, width)) for group, width in groups), "</tr>")
    if any(column.label for column in section.columns):
        yield from ("<tr>", "".join(_head(column.label, 1) for column in section.columns), "</tr>")
    for row in section.rows:
        yield from ("<tr>", *map(_cell, row), "</tr>")
    yield "</table>"


def _head(text: str, width: int) -> str:
    return f"<th colspan={width}>{_text(text)}</th>" if width > 1 else f"<th>{_text(text)}</th>"


def _cell(cell: Cell) -> str:
    """A cell; of a bar, all its cells."""
    if isinstance(cell, PageBar):
        filled = round(cell.ratio * _BAR_WIDTH)
        return "<td bgcolor=blue>&nbsp;</td>" * filled + "<td bgcolor=white>&nbsp;</td>" * (_BAR_WIDTH - filled)
    if isinstance(cell, Link):
        return f'<td><a href="{escape(cell.href)}">{_text(cell.text)}</a></td>'
    return f"<td>{_text(cell or '')}</td>"


def _text(text: str) -> str:
    return escape(text, quote=False)
