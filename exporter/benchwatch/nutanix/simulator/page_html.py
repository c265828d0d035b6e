"""A page as data, and its HTML."""

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
Heading = Literal["h1", "h2", "h3", "b", "table"]


class PageColumn(NamedTuple):
    """A column: its group (or its label, if it has none) and its label within the group."""

    group: str
    label: str = ""


@dataclass(frozen=True)
class PageSection:
    """One titled table; a row has one cell per column. `key` is its name; `note` is HTML between title and table."""

    key: str
    title: str
    columns: tuple[PageColumn, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    heading: Heading = "h2"


@dataclass(frozen=True)
class PageDocument:
    """One page."""

    title: str
    sections: tuple[PageSection, ...]


class PageWriter:
    """Writes the HTML of pages, as far as it is known."""

    def page(self, document: PageDocument) -> str:
        """The HTML of a page."""
        body = "\n".join(map(self.section, document.sections))
        head = self.tag("head", self.tag("title", escape(document.title)))
        return self.tag("html", f"\n{head}\n{self.tag('body', _lines(body))}\n") + "\n"

    def section(self, section: PageSection) -> str:
        """The title, note and table of a section."""
        title = self.heading(section.heading, section.title) if section.title else ""
        note = self.tag("p", section.note) if section.note else ""
        rows = self.rows(self.header(section.columns), [self.row(cells) for cells in section.rows])
        return "\n".join(filter(None, (title, note, self.tag("table", _lines(*rows), border="1"))))

    def rows(self, header: list[str], body: list[str]) -> list[str]:
        """All rows of a table."""
        return header + body

    def heading(self, heading: Heading, title: str) -> str:
        """A title; `table` is a table of its own."""
        text = self.text(title)
        return (
            self.tag("table", self.tag("tr", self.tag("td", text))) if heading == "table" else self.tag(heading, text)
        )

    def header(self, columns: tuple[PageColumn, ...]) -> list[str]:
        """The header's rows: groups, and below them the labels of their columns."""
        groups = [(group, len(list(members))) for group, members in groupby(column.group for column in columns)]
        rows = [[self.head(group, _BAR_WIDTH if group == BAR else count) for group, count in groups]] if groups else []
        if any(column.label for column in columns):
            rows.append([self.head(column.label, 1) for column in columns])
        return [self.tag("tr", _lines("".join(row))) for row in rows]

    def head(self, text: str, width: int) -> str:
        """A cell of the header."""
        return self.tag("th", self.text(text), **({"colspan": str(width)} if width > 1 else {}))

    def row(self, cells: tuple[Cell, ...]) -> str:
        """A row of data."""
        return self.tag("tr", _lines(*map(self.cell, cells)))

    def cell(self, cell: Cell) -> str:
        """A cell; of a bar, all its cells."""
        if isinstance(cell, PageBar):
            filled = round(cell.ratio * _BAR_WIDTH)
            colours = ["blue"] * filled + ["white"] * (_BAR_WIDTH - filled)
            return "".join(self.tag("td", "&nbsp;", bgcolor=colour) for colour in colours)
        if isinstance(cell, Link):
            return self.tag("td", self.tag("a", self.text(cell.text), href=cell.href))
        return self.tag("td", self.text(cell or ""))

    def tag(self, name: str, content: str, **attributes: str) -> str:
        """An element."""
        written = "".join(f" {self.attribute(*item)}" for item in attributes.items())
        return f"<{name}{written}>{content}</{name}>"

    def attribute(self, name: str, value: str) -> str:
        """An attribute; only addresses are quoted."""
        return f'{name}="{escape(value)}"' if name == "href" else f"{name}={value}"

    def text(self, text: str) -> str:
        """A text as HTML."""
        return escape(text, quote=False)


def render(document: PageDocument) -> str:
    """The page's HTML."""
    return PageWriter().page(document)


def _lines(*parts: str) -> str:
    return "\n".join(("", *parts, ""))
