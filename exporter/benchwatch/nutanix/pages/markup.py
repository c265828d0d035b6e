"""A page's HTML as texts and nested tables.

Tags may be in upper case, `td`, `tr` and `p` unclosed, `<` in texts unescaped. Tables are read as in browsers (HTML 5,
13.2): text in a table but outside any cell stands before the table; a new row ends the previous cell.

No step looks beyond the next `<` twice, so the time is proportional to the size of the page. Left out are tables nested
deeper than MAX_NESTED, tables after the first MAX_TABLES, and rows after the first MAX_ROWS.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape

MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_TABLES = 20_000
MAX_NESTED = 20

_INLINE = frozenset(("a", "i", "em", "u", "tt", "code", "small", "span", "sub", "sup", "nobr"))
_SILENT = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
"""The end tags of elements whose content is not HTML."""

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
"""A row whose cells hold a text or a link each, as nearly all rows of a large page do."""
_CELL_TEXT = re.compile(r"<td[^<>]*>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"</?a\b([^<>]*)>", re.IGNORECASE)


Pieces = list["str | MarkupTable | None"]
"""The content of a cell or of the page: texts, None where a tag separates texts, and tables."""


class MarkupRow:
    """One row: its cells, which of them span others, and the links in it."""

    __slots__ = ("cells", "headers", "links", "plain", "spans")

    def __init__(self) -> None:
        self.cells: list[Pieces] = []
        self.plain: list[str] | None = None
        """The stripped texts of the cells, if they hold nothing else; `cells` is then empty."""
        self.headers = 0
        self.links: list[str] = []
        self.spans: dict[int, tuple[int, int]] = {}
        """The columns and rows that a cell spans, by its index, if more than one."""

    @property
    def is_header(self) -> bool:
        """Whether all of its cells are `th`."""
        return self.headers == len(self.cells) > 0

    def contents(self) -> Iterable[Pieces]:
        """The content of each cell."""
        return self.cells if self.plain is None else ([text] for text in self.plain)

    def texts(self) -> list[str]:
        """Stripped texts of the cells."""
        return self.plain if self.plain is not None else [_text(cell).strip() for cell in self.cells]


class MarkupTable:
    """One table, with those in its cells."""

    __slots__ = ("has_tables", "rows")

    def __init__(self) -> None:
        self.rows: list[MarkupRow] = []
        self.has_tables = False

    @property
    def is_layout(self) -> bool:
        """Whether it only arranges other tables: it has tables in its cells, and no header."""
        return self.has_tables and not any(row.is_header for row in self.rows)


class _Open:
    """A table that is still open, with its open row and cell (`kind`: `td` or `th`). `around` is what contains it."""

    __slots__ = ("around", "cell", "kind", "row", "table")

    def __init__(self, around: Pieces) -> None:
        self.table = MarkupTable()
        self.around = around
        self.row: MarkupRow | None = None
        self.cell: Pieces | None = None
        self.kind = ""


class Markup:
    """Reads a page tag by tag; `page` is its content."""

    def __init__(self, text: str) -> None:
        self.page: Pieces = []
        self.rows_left_out = 0
        self.tables_left_out = 0
        self._text = text
        self._rows = 0
        self._tables = 0
        self._open: list[_Open] = []
        self._too_deep = 0

    def read(self) -> None:
        """Read all of it. Never raises."""
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
        """Process a tag. Returns the position of what follows."""
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

    def _row(self) -> MarkupRow:
        row = self._open[-1].row = MarkupRow()
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
        row.plain = list(map(str.strip, texts))
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

    def _here(self) -> Pieces:
        """What contains the next table."""
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
        elif piece is None or not piece.isspace():  # outside any cell
            self._open[-1].around.insert(-1, piece)


def _text(pieces: Sequence[str | MarkupTable | None]) -> str:
    """All texts in the pieces, separated by a space where a tag separates them."""
    return "".join(_texts(pieces)) if len(pieces) != 1 or not isinstance(pieces[0], str) else pieces[0]


def _texts(pieces: Iterable[str | MarkupTable | None]) -> Iterator[str]:
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


def _attribute(pattern: re.Pattern[str], attributes: str) -> str:
    match = pattern.search(attributes)
    return next(filter(None, match.groups()), "") if match else ""


def _span(text: str) -> int:
    return min(int(text), MAX_COLUMNS) if text.isdecimal() and len(text) < 9 and int(text) else 1
