"""The tables of an HTML page, with the titles that stand before them.

No document of the vendor describes the pages. Known are tables with a header of one or two `<th>` rows: in the first, a
group of columns carries `colspan`; in the second, a column outside any group has an empty `<th>`. A table's title is a
heading, bold text, or the only text in a small table of its own; sentences and links may follow it.

Tags may be in upper case, `td`, `tr` and `p` unclosed, `<` in texts unescaped. Tables are read as in browsers (HTML 5,
13.2): text in a table but outside any cell stands before the table; a new row ends the previous cell. No step looks
beyond the next `<` twice, so the time is proportional to the size of the page.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain, takewhile, zip_longest
from typing import NamedTuple

from .notes import Notes

MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_TABLES = 20_000
MAX_NESTED = 20
MAX_TITLES = 50

_INLINE = frozenset(("a", "i", "em", "u", "tt", "code", "small", "span", "sub", "sup", "nobr"))
_TAG = re.compile(
    r"""<!--(?:.*?-->|.*)
    | <(script|style|title|textarea)(?=[\s/<>]|\Z).*?(?:(?=</\1\b)|\Z)  # their content is not HTML
    | <(?P<closes>/?)(?P<name>[a-z][^\s/<>]*+)(?:(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>|[^<>]*+>?)
    | <[!?/][^>]*>?""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = r"""(?<![^\s"'/]){}\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
_HREF, _COLSPAN, _ROWSPAN = (
    re.compile(_ATTRIBUTE.format(name), re.IGNORECASE) for name in ("href", "colspan", "rowspan")
)

_PLAIN_CELL = r"<td(?![^<>]*span)(?:\s[^<>\"']*+)?>"
_PLAIN_LINK = r"""<a\s(?:[^<>"']|"[^"<>]*+"|'[^'<>]*+')*+>[^<]*+</a>[^<]*+"""
_PLAIN_ROW = re.compile(
    rf"<tr(?:\s[^<>\"']*+)?>\s*+((?:{_PLAIN_CELL}[^<]*+(?:{_PLAIN_LINK})?+(?:</td>\s*+)?+)++)(?:</tr>\s*+)?+(?=<tr|</table)",
    re.IGNORECASE,
)
"""A row whose cells hold a text or a link each, as nearly all rows of a large page do."""
_CELL_TEXT = re.compile(r"<td[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"</?a\b[^<>]*>", re.IGNORECASE)


class PageTable(NamedTuple):
    """One table of data.

    `titles` are the last MAX_TITLES texts between the previous table and this one, in order. A column is (group, own
    label); its own label is empty if it has no group. Without a header there are no columns. Cells are stripped texts;
    `links` has the `href`s of each row by its index.
    """

    titles: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: list[list[str]]
    links: dict[int, list[str]]


def collapse(text: str) -> str:
    """The text with each run of white space, including non-breaking spaces, as one space."""
    return " ".join(text.split())


def identifier(text: str) -> str:
    """A label of the page in lower case, with its words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def read_tables(html: bytes, notes: Notes | None = None) -> list[PageTable]:
    """All tables of data, in the page's order; what is left out is noted. Never raises."""
    reader = _Reader()
    reader.read(html.decode("utf-8", "replace"))
    if notes is not None and reader.rows_left_out:
        notes.refuse("", f"{reader.rows_left_out} rows after the first {MAX_ROWS}", reader.rows_left_out)
    if notes is not None and reader.tables_left_out:
        text = f"{reader.tables_left_out} tables after the first {MAX_TABLES} or in more than {MAX_NESTED - 1} others"
        notes.refuse("", text, reader.tables_left_out)
    tables: list[PageTable] = []
    titles: deque[str] = deque(maxlen=MAX_TITLES)
    texts: list[str] = []
    for piece in chain(reader.page, [None]):
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if text := collapse("".join(texts)):
            titles.append(text)
        texts.clear()
        if piece is None:
            continue
        table = piece.data(tuple(titles))
        if title := _title(table):
            titles.append(title)
            continue
        titles.clear()
        if table.columns or table.rows:
            tables.append(table)
    return tables


def _title(table: PageTable) -> str:
    """The text of a table that holds nothing but one text in one row; empty for a table of data."""
    if len(table.rows) + bool(table.columns) > 1:
        return ""
    texts = [text for text in (table.rows[0] if table.rows else [group for group, _ in table.columns]) if text]
    return collapse(texts[0]) if len(texts) == 1 else ""


_Pieces = list["str | _Table | None"]
"""The content of a cell or of the page: texts, None where a tag separates texts, and tables."""


class _Row:
    __slots__ = ("cells", "headers", "links", "plain", "spans")

    def __init__(self) -> None:
        self.cells: list[_Pieces] = []
        self.plain: list[str] | None = None
        """The stripped texts of the cells, if they hold nothing else; `cells` is then empty."""
        self.headers = 0
        self.links: list[str] = []
        self.spans: dict[int, tuple[int, int]] = {}
        """The columns and rows that a cell spans, by its index, if more than one."""

    @property
    def is_header(self) -> bool:
        return self.headers == len(self.cells) > 0

    def contents(self) -> Iterable[_Pieces]:
        return self.cells if self.plain is None else ([text] for text in self.plain)

    def texts(self) -> list[str]:
        """Stripped texts of the cells."""
        return self.plain if self.plain is not None else ["".join(_texts(cell)).strip() for cell in self.cells]


class _Table:
    """A table and, while it is read, the open row, the open cell (`kind`: td or th) and what is around the table."""

    __slots__ = ("around", "cell", "has_tables", "kind", "row", "rows")

    def __init__(self, around: _Pieces) -> None:
        self.rows: list[_Row] = []
        self.has_tables = False
        self.around = around
        self.row: _Row | None = None
        self.cell: _Pieces | None = None
        self.kind = ""

    def data(self, titles: tuple[str, ...]) -> PageTable:
        """The table with these titles."""
        header = _grid(list(takewhile(lambda row: row.is_header, self.rows)), MAX_COLUMNS, repeated=True)
        columns = [
            (collapse(group), collapse(" ".join(labels)))
            for group, *labels in list(zip_longest(*header, fillvalue=""))[: len(header[0]) if header else 0]
        ]
        body = [row for row in self.rows if not row.is_header]  # the header may be repeated further down
        rows = [row.texts() for row in body]
        if any(row.spans for row in body) and any(len(row) != len(columns) for row in rows):
            rows = _grid(body, min(len(columns) or max(map(len, rows)), MAX_COLUMNS))
        return PageTable(
            titles, tuple(columns), rows, {index: row.links for index, row in enumerate(body) if row.links}
        )


class _Reader:
    """Reads a page tag by tag; `page` is its content."""

    def __init__(self) -> None:
        self.page: _Pieces = []
        self.rows_left_out = 0
        self.tables_left_out = 0
        self._rows = 0
        self._tables = 0
        self._open: list[_Table] = []
        self._too_deep = 0

    def read(self, text: str) -> None:
        """Read all of it. Never raises."""
        position = 0
        while tag := _TAG.search(text, position):
            if tag.start() > position:
                self._add(text[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            is_row = name == "tr" and self._open and not self._too_deep
            if is_row and (row := _PLAIN_ROW.match(text, tag.start())):
                self._plain_row(row[1])
                position = row.end()
            elif name:
                self._tag(name, bool(tag["closes"]), tag[0])
        self._add(text[position:])
        while self._open:
            self._close()

    def _tag(self, name: str, closes: bool, tag: str) -> None:
        if name == "table":
            self._table(closes)
        elif not self._open or self._too_deep or name not in ("tr", "td", "th", "thead", "tbody", "tfoot"):
            if name == "a" and not closes and self._open and self._open[-1].row is not None:
                self._open[-1].row.links.append(_attribute(_HREF, tag))
            is_cell = self._open and self._open[-1].cell is not None
            if name != "a" and (is_cell or name not in _INLINE):
                self._add(None)
        elif name not in ("td", "th"):
            self._open[-1].row = self._open[-1].cell = None
            if name == "tr" and not closes:
                self._row()
        elif not closes:
            self._cell(name, tag)
        elif name == self._open[-1].kind:
            self._open[-1].cell = None

    def _table(self, closes: bool) -> None:
        if closes:
            if self._too_deep:
                self._too_deep -= 1
            elif self._open:
                self._close()
            return
        while self._open and self._open[-1].cell is None:  # a table is in a cell or in no table
            self._close()
        self._tables += 1
        if len(self._open) >= MAX_NESTED or self._tables > MAX_TABLES:
            self._too_deep += 1
            self.tables_left_out += 1
            return
        if self._open:
            self._open[-1].has_tables = True
        self._open.append(_Table(self._here()))

    def _close(self) -> None:
        """The last open table ends; one that only places others is replaced by its content."""
        table = self._open.pop()
        if not table.has_tables or any(row.is_header for row in table.rows):
            table.around.append(table)
        else:
            cells = (cell for row in table.rows for cell in row.contents())
            table.around += [None, *(piece for cell in cells for piece in (*cell, None))]

    def _row(self) -> _Row:
        row = self._open[-1].row = _Row()
        if self._rows < MAX_ROWS:
            self._rows += 1
            self._open[-1].rows.append(row)
        else:
            self.rows_left_out += 1
        return row

    def _plain_row(self, cells: str) -> None:
        row = self._row()
        self._open[-1].row = self._open[-1].cell = None
        if "<a" in cells or "<A" in cells:
            row.links = [_attribute(_HREF, link) for link in _LINK.findall(cells) if link[1] != "/"]
            cells = _LINK.sub("", cells)
        plain = cells.replace("</td>", "")  # in most rows no other tag is left than <td>, and splitting is fast
        is_plain = plain.count("<td>") == plain.count("<")
        texts = (plain.split("<td>")[1:] if is_plain else _CELL_TEXT.findall(cells))[:MAX_COLUMNS]
        if "&" in cells:
            texts = [_unescaped(text) for text in texts]
        row.plain = list(map(str.strip, texts))

    def _cell(self, kind: str, tag: str) -> None:
        here = self._open[-1]
        row = here.row or self._row()
        here.cell, here.kind = [], kind
        if len(row.cells) >= MAX_COLUMNS:
            return
        if "span" in tag.lower():
            row.spans[len(row.cells)] = _span(_attribute(_COLSPAN, tag)), _span(_attribute(_ROWSPAN, tag))
        row.cells.append(here.cell)
        row.headers += kind == "th"

    def _here(self) -> _Pieces:
        """What the next text or table is in: the open cell, or what is around a table without one."""
        if not self._open:
            return self.page
        return self._open[-1].around if self._open[-1].cell is None else self._open[-1].cell

    def _add(self, piece: str | None) -> None:
        pieces = self._here()
        if piece is None:
            if pieces and pieces[-1] is not None:
                pieces.append(None)
        elif not self._open or self._open[-1].cell is not None or not piece.isspace():
            pieces.append(_unescaped(piece))


def _grid(rows: Iterable[_Row], width: int, repeated: bool = False) -> list[list[str]]:
    """Rows of texts in which a cell takes all places that it spans; its text may be repeated in further columns."""
    grid: list[list[str]] = []
    below: Counter[int] = Counter()
    """Rows that a cell above still covers, by column."""
    for row in rows:
        texts: list[str] = []
        cells = enumerate(row.texts())
        while len(texts) < MAX_COLUMNS:
            column = len(texts)
            if below[column]:
                below[column] -= 1
                texts.append("")
                continue
            index, text = next(cells, (-1, ""))
            if index < 0:
                break
            columns, height = row.spans.get(index, (1, 1))
            columns = min(columns, max(width - column, 1))
            below.update(dict.fromkeys(range(column, column + columns), height - 1))
            texts += [text, *[text if repeated else ""] * (columns - 1)]
        grid.append(texts)
    return grid


def _texts(pieces: _Pieces) -> Iterator[str]:
    """The texts in the pieces, and a space where a tag separates them."""
    for piece in pieces:
        if isinstance(piece, str):
            yield piece
        else:
            yield " "
            for row in piece.rows if piece is not None else ():
                for cell in row.contents():
                    yield from _texts(cell)
                    yield " "


def _unescaped(text: str) -> str:
    try:
        return unescape(text) if "&" in text else text
    except ValueError:  # a character's number of thousands of digits
        return text


def _attribute(pattern: re.Pattern[str], tag: str) -> str:
    match = pattern.search(tag)
    return _unescaped(next(filter(None, match.groups()), "")) if match else ""


def _span(text: str) -> int:
    return min(int(text), MAX_COLUMNS) if text.isdecimal() and len(text) < 9 and int(text) else 1
