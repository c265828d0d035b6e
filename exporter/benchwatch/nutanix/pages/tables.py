"""The tables of an HTML page, with the titles that stand before them.

What is known of the pages (no document of the vendor describes them): tables with a header of one or two `<th>` rows;
in the first, a group of columns carries `colspan`, in the second, a column outside any group has an empty `<th>`. A
table's title is a heading, bold text, or stands alone in a small table of its own; sentences and links may follow it.
Tags may be in upper case, `td`, `tr` and `p` unclosed, `<` in texts unescaped: read as browsers do (HTML 5, 13.2), as
far as tables go: text in a table outside any cell stands before the table, a new row ends the cell before it.

Every character is looked at a bounded number of times (no step of reading looks beyond the next `<` twice), so that no
page takes longer than its size; left out are tables nested more than MAX_NESTED deep, those after the first MAX_TABLES,
and rows after the first MAX_ROWS.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import takewhile
from typing import NamedTuple

from .notes import Notes

MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_TABLES = 20_000
MAX_NESTED = 20
MAX_TITLES = 50

_INLINE = frozenset(("a", "i", "em", "u", "tt", "code", "small", "span", "sub", "sup", "nobr"))
_SILENT = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
"""What ends an element whose content is no HTML."""

_TAG = re.compile(
    r"""<(/?)([a-zA-Z][^\s/<>]*+)
    (?:([^<>"']*+(?:(?:"[^"<]*+"|'[^'<]*+')[^<>"']*+)*+)>|([^<>]*+)>?)""",
    re.VERBOSE,
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
"""A row of cells with a text or a link in each: nearly all of a large page."""
_CELL_TEXT = re.compile(r"<td[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"</?a\b([^<>]*)>", re.IGNORECASE)


class Table(NamedTuple):
    """One table of data.

    `titles` are the texts between the table before and this one, in order, the last MAX_TITLES of them. A column is
    (group, own label), the second empty for a column without a group; there are none without a header. Cells are
    stripped texts; `links` holds the `href`s of a row, by its index.
    """

    titles: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: list[list[str]]
    links: dict[int, list[str]]


def collapse(text: str) -> str:
    """The text with every run of white space (a non-breaking space too) as one space."""
    return " ".join(text.split())


def read_tables(html: bytes, notes: Notes | None = None) -> list[Table]:
    """All tables of data, in the page's order; what is left out is noted. Never raises."""
    reader = _Reader(html.decode("utf-8", "replace"))
    reader.read()
    if notes is not None and reader.rows_left_out:
        notes.refuse("", f"{reader.rows_left_out} rows after the first {MAX_ROWS}", reader.rows_left_out)
    if notes is not None and reader.tables_left_out:
        text = f"{reader.tables_left_out} tables after the first {MAX_TABLES} or in more than {MAX_NESTED - 1} others"
        notes.refuse("", text, reader.tables_left_out)
    found = _Found()
    found.walk(reader.page)
    return found.tables


_Pieces = list["str | _Table | None"]
"""The content of a cell or of the page: texts, None where a tag separates them, and tables."""


class _Row:
    """One row: its cells, which of them span others, and the links in it."""

    __slots__ = ("cells", "headers", "links", "plain", "spans")

    def __init__(self) -> None:
        self.cells: list[_Pieces] = []
        self.plain: list[str] | None = None
        """The stripped texts of the cells where there is nothing else in any."""
        self.headers = 0
        self.links: list[str] = []
        self.spans: dict[int, tuple[int, int]] = {}
        """Columns and rows that a cell takes, by its index, where it is more than one."""

    @property
    def is_header(self) -> bool:
        return self.headers == len(self.cells) > 0

    def texts(self) -> list[str]:
        return self.plain if self.plain is not None else [_text(cell).strip() for cell in self.cells]


class _Table:
    """One table, with those in its cells."""

    __slots__ = ("has_tables", "rows")

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.has_tables = False

    @property
    def is_layout(self) -> bool:
        """It only places other tables: they stand in its cells, and it has no header of its own."""
        return self.has_tables and not any(row.is_header for row in self.rows)

    def table(self, titles: tuple[str, ...]) -> Table:
        columns = _columns(list(takewhile(lambda row: row.is_header, self.rows)))
        body = [row for row in self.rows if not row.is_header]  # the header may be repeated further down
        texts = [row.texts() for row in body]
        if any(row.spans for row in body) and any(len(row) != len(columns) for row in texts):
            texts = _grid(body, len(columns) or max(map(len, texts)))
        return Table(titles, columns, texts, {index: row.links for index, row in enumerate(body) if row.links})


class _Open:
    """A table that is being read; `row` and `cell` (`td` or `th`: `kind`) are open, `around` is what it stands in."""

    __slots__ = ("around", "cell", "kind", "row", "table")

    def __init__(self, around: _Pieces) -> None:
        self.table = _Table()
        self.around = around
        self.row: _Row | None = None
        self.cell: _Pieces | None = None
        self.kind = ""


class _Reader:
    """Reads a page from its beginning to its end, tag by tag."""

    def __init__(self, text: str) -> None:
        self.page: _Pieces = []
        self.rows_left_out = 0
        self.tables_left_out = 0
        self._text = text
        self._rows = 0
        self._tables = 0
        self._open: list[_Open] = []
        self._too_deep = 0

    def read(self) -> None:
        text, position = self._text, 0
        while (start := text.find("<", position)) >= 0:
            tag = _TAG.match(text, start)
            if start > position:
                self._add(text[position:start])
            if tag is not None:
                position = self._tag(tag)
            elif text.startswith("<!--", start):
                position = text.find("-->", start + 4) + 3 or len(text)
                position = position if position > 2 else len(text)
            elif text.startswith(("<!", "<?", "</"), start):
                position = text.find(">", start) + 1 or len(text)
            else:  # a sign in a text
                self._add("<")
                position = start + 1
        self._add(text[position:])

    def _tag(self, tag: re.Match[str]) -> int:
        """Takes in a tag; where to go on."""
        closes, name = bool(tag[1]), tag[2].lower()
        if name in _SILENT and not closes:
            end = _SILENT[name].search(self._text, tag.end())
            return end.start() if end else len(self._text)
        if name == "table":
            self._table(closes)
        elif not self._open or self._too_deep or name not in ("tr", "td", "th", "thead", "tbody", "tfoot"):
            self._other(name, closes, tag)
        elif name in ("td", "th"):
            if not closes:
                self._cell(name, tag[3] or tag[4] or "")
            elif name == self._open[-1].kind:
                self._open[-1].cell = None
        else:
            self._end_row()
            if name == "tr" and not closes:
                if row := _PLAIN_ROW.match(self._text, tag.start()):
                    self._plain_row(row[1])
                    return row.end()
                self._row()
        return tag.end()

    def _table(self, closes: bool) -> None:
        if closes:
            if self._too_deep:
                self._too_deep -= 1
            elif self._open:
                self._end_row()
                self._open.pop()
            return
        while self._open and self._open[-1].cell is None:  # a table is in a cell or in no table
            self._end_row()
            self._open.pop()
        self._tables += 1
        if len(self._open) >= MAX_NESTED or self._tables > MAX_TABLES:
            self._too_deep += 1
            self.tables_left_out += 1
            return
        new = _Open(self._here())
        if self._open:
            self._open[-1].table.has_tables = True
        new.around.append(new.table)
        self._open.append(new)

    def _row(self) -> _Row:
        row = self._open[-1].row = _Row()
        if self._rows < MAX_ROWS:
            self._rows += 1
            self._open[-1].table.rows.append(row)
        else:
            self.rows_left_out += 1
        return row

    def _plain_row(self, cells: str) -> None:
        row = self._row()
        if "<a" in cells or "<A" in cells:
            hrefs = (_attribute(_HREF, attributes) for attributes in _LINK.findall(cells) if attributes)
            row.links = [_unescaped(href) for href in hrefs]
            cells = _LINK.sub("", cells)
        plain = cells.replace("</td>", "")  # in most rows no other tag is left than <td>, and splitting is fast
        is_plain = plain.count("<td>") == plain.count("<")
        texts = (plain.split("<td>")[1:] if is_plain else _CELL_TEXT.findall(cells))[:MAX_COLUMNS]
        if "&" in cells:
            texts = [_unescaped(text) for text in texts]
        row.plain = [text.strip() for text in texts]
        self._open[-1].row = None

    def _cell(self, name: str, attributes: str) -> None:
        here = self._open[-1]
        row = here.row or self._row()
        here.cell, here.kind = [], name
        if len(row.cells) >= MAX_COLUMNS:
            return
        if "span" in attributes.lower():
            spans = _span(_attribute(_COLSPAN, attributes)), _span(_attribute(_ROWSPAN, attributes))
            if spans != (1, 1):
                row.spans[len(row.cells)] = spans
        row.cells.append(here.cell)
        row.headers += name == "th"

    def _end_row(self) -> None:
        self._open[-1].cell = self._open[-1].row = None

    def _other(self, name: str, closes: bool, tag: re.Match[str]) -> None:
        here = self._open[-1] if self._open else None
        if name == "a" and not closes and here is not None and here.row is not None:
            here.row.links.append(_unescaped(_attribute(_HREF, tag[3] or tag[4] or "")))
        is_cell = here is not None and here.cell is not None
        if name != "a" and (is_cell or name not in _INLINE):
            self._add(None)

    def _here(self) -> _Pieces:
        """What the next table is inside of."""
        if not self._open:
            return self.page
        cell = self._open[-1].cell
        return self._open[-1].around if cell is None else cell

    def _add(self, piece: str | None) -> None:
        if isinstance(piece, str):
            piece = _unescaped(piece)
        if not self._open or self._open[-1].cell is not None:
            pieces = self._here()
            if piece is not None or (pieces and pieces[-1] is not None):
                pieces.append(piece)
        elif piece is None or not piece.isspace():  # outside any cell: it precedes the table
            self._open[-1].around.insert(-1, piece)


class _Found:
    """The tables of data in pieces of a page, each with the titles before it."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self._titles: deque[str] = deque(maxlen=MAX_TITLES)
        self._run: list[str] = []

    def walk(self, pieces: Iterable[str | _Table | None]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self._run.append(piece)
                continue
            self._end_run()
            if piece is None:
                continue
            if piece.is_layout:
                for row in piece.rows:
                    for cell in row.cells if row.plain is None else ([text] for text in row.plain):
                        self.walk(cell)
            else:
                self._table(piece.table(tuple(self._titles)))
        self._end_run()

    def _table(self, table: Table) -> None:
        title = _title(table)
        if title is not None:
            self._titles.append(title)
            return
        self._titles.clear()
        if table.columns or table.rows:
            self.tables.append(table)

    def _end_run(self) -> None:
        text = collapse("".join(self._run))
        self._run.clear()
        if text:
            self._titles.append(text)


def _text(pieces: Sequence[str | _Table | None]) -> str:
    """All texts in the pieces, parted by a space where a tag parts them."""
    return "".join(_texts(pieces)) if len(pieces) != 1 or not isinstance(pieces[0], str) else pieces[0]


def _texts(pieces: Iterable[str | _Table | None]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, str):
            yield piece
        else:
            yield " "
            for row in piece.rows if piece is not None else ():
                for cell in row.cells if row.plain is None else ([text] for text in row.plain):
                    yield from _texts(cell)
                    yield " "


def _unescaped(text: str) -> str:
    try:
        return unescape(text) if "&" in text else text
    except ValueError:  # a character's number of thousands of digits
        return text


def _attribute(pattern: re.Pattern[str], attributes: str) -> str:
    match = pattern.search(attributes)
    return next(filter(None, match.groups()), "") if match else ""


def _span(text: str, most: int = MAX_COLUMNS) -> int:
    return min(int(text), most) if text.isdecimal() and len(text) < 9 and int(text) else 1


def _grid(rows: Iterable[_Row], most_columns: int) -> list[list[str]]:
    """Rows of texts in which a cell that spans several columns or rows is followed by empty ones."""
    most_columns = min(most_columns, MAX_COLUMNS)
    grid: list[list[str]] = []
    below: dict[int, int] = {}  # column: rows that a cell above still covers
    for row in rows:
        texts: list[str] = []

        def skip_covered(texts: list[str] = texts) -> None:
            while below.get(len(texts), 0) and len(texts) < most_columns:
                below[len(texts)] -= 1
                texts.append("")

        for index, text in enumerate(row.texts()):
            skip_covered()
            width, height = row.spans.get(index, (1, 1))
            width = min(width, most_columns)
            start = len(texts)
            if start >= MAX_COLUMNS:
                break
            texts += [text, *[""] * (width - 1)]
            if height > 1:
                below.update((column, height - 1) for column in range(start, start + width))
        skip_covered()
        grid.append(texts)
    return grid


def _columns(rows: list[_Row]) -> tuple[tuple[str, str], ...]:
    """(group, own label) of each column of a header of any number of rows."""
    if not rows:
        return ()
    groups: list[str] = []
    for index, text in enumerate(rows[0].texts()):
        groups += [collapse(text)] * rows[0].spans.get(index, (1, 1))[0]
    lower = _grid(rows, MAX_COLUMNS)[1:]
    return tuple(
        (group, collapse(" ".join(row[index] for row in lower if index < len(row))))
        for index, group in enumerate(groups[:MAX_COLUMNS])
    )


def _title(table: Table) -> str | None:
    """The text of a table that holds nothing but one text in one row; None for a table of data."""
    if len(table.rows) + bool(table.columns) > 1:
        return None
    texts = [text for text in (table.rows[0] if table.rows else [group for group, _ in table.columns]) if text]
    return collapse(texts[0]) if len(texts) == 1 else None
