"""A page as data, and its HTML in any style that a real page may have."""

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


class PageColumn(NamedTuple):
    """A column: its group (or its label, if it has none) and its label within the group."""

    group: str
    label: str = ""


BAR_WIDTH = 20
"""Cells of a bar; its column has as many in a header of one row."""
BAR = "Bar Graph"


Heading = Literal["h1", "h2", "h3", "b", "table"]


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


@dataclass(frozen=True)
class Style:
    """How the HTML is written; `heading` overrides the sections' own."""

    heading: Heading | None = None
    space: str = " "
    escape_less_than: bool = True
    quotes: Literal["links", "all", "none"] = "links"
    upper_case: bool = False
    unclosed: bool = False
    multiline: bool = False
    empty: str = ""
    header_every: int = 0
    """Rows after which the header is repeated; 0: never."""


def render(document: PageDocument, style: Style) -> str:
    """The page's HTML."""
    return _Writer(style).page(document)


class _Writer:
    def __init__(self, style: Style) -> None:
        self._style = style

    def page(self, document: PageDocument) -> str:
        body = "\n".join(self._section(section) for section in document.sections)
        head = self._tag("head", self._tag("title", escape(document.title)))
        return self._tag("html", f"\n{head}\n{self._tag('body', f'{chr(10)}{body}{chr(10)}')}\n") + "\n"

    def _tag(self, name: str, content: str, **attributes: str) -> str:
        start, end = self._name(name), f"</{self._name(name)}>"
        if self._style.unclosed and name in ("td", "th", "tr", "p"):
            end = ""
        return f"<{start}{''.join(self._attribute(*item) for item in attributes.items())}>{content}{end}"

    def _name(self, name: str) -> str:
        return name.upper() if self._style.upper_case else name

    def _attribute(self, name: str, value: str) -> str:
        quoted = self._style.quotes == "all" or (self._style.quotes == "links" and name == "href")
        return f' {self._name(name)}="{escape(value)}"' if quoted else f" {self._name(name)}={value}"

    def _section(self, section: PageSection) -> str:
        parts = [self._title(section)] if section.title else []
        if section.note:
            parts.append(self._tag("p", section.note))
        header = self._header(section.columns)
        rows = list(header)
        for index, cells in enumerate(section.rows, 1):
            rows.append(self._row(cells))
            if self._style.header_every and index % self._style.header_every == 0:
                rows += header
        parts.append(self._tag("table", "\n" + "\n".join(rows) + "\n", border="1"))
        return "\n".join(parts)

    def _title(self, section: PageSection) -> str:
        text = self._text(section.title).replace(" ", self._style.space)
        heading = self._style.heading or section.heading
        if heading == "table":
            return self._tag("table", self._tag("tr", self._tag("td", text)))
        return self._tag(heading, text)

    def _header(self, columns: tuple[PageColumn, ...]) -> list[str]:
        if not columns:
            return []
        groups = [(group, len(list(members))) for group, members in groupby(column.group for column in columns)]
        upper = [self._head(group, BAR_WIDTH if group == BAR else count) for group, count in groups]
        rows = [self._tag("tr", "\n" + "".join(upper) + "\n")]
        if any(column.label for column in columns):
            lower = [self._head(column.label, 1) for column in columns]
            rows.append(self._tag("tr", "\n" + "".join(lower) + "\n"))
        return rows

    def _head(self, text: str, width: int) -> str:
        return self._tag("th", self._text(text), **({"colspan": str(width)} if width > 1 else {}))

    def _row(self, cells: tuple[Cell, ...]) -> str:
        return self._tag("tr", "\n" + "\n".join(map(self._cell, cells)) + "\n")

    def _cell(self, cell: Cell) -> str:
        if isinstance(cell, PageBar):
            filled = round(cell.ratio * BAR_WIDTH)
            colours = ["blue"] * filled + ["white"] * (BAR_WIDTH - filled)
            return "".join(self._tag("td", "&nbsp;", bgcolor=colour) for colour in colours)
        if cell is None:
            content = self._style.empty
        elif isinstance(cell, Link):
            content = self._tag("a", self._text(cell.text), href=cell.href)
        else:
            content = self._text(cell)
        return self._tag("td", f"\n  {content}\n" if self._style.multiline else content)

    def _text(self, text: str) -> str:
        return escape(text, quote=False) if self._style.escape_less_than else text.replace("&", "&amp;")
