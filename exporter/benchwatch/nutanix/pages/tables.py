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
from collections.abc import Iterable
from html import unescape
from itertools import takewhile
from typing import NamedTuple

from .notes import Notes

MAX_COLUMNS = 200
MAX_ROWS = 100_000
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
    if notes is not None and reader.left_out:
        notes.refuse("", f"{reader.left_out} rows after the first {MAX_ROWS}", reader.left_out)
    return reader.tables


class _Row:
    """Stripped texts of the cells, `href`s, and the columns and rows that a cell spans, by its index, if several."""

    __slots__ = ("headers", "links", "spans", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.links: list[str] = []
        self.spans: dict[int, tuple[int, int]] = {}
        self.headers = 0

    @property
    def is_header(self) -> bool:
        return self.headers == len(self.texts) > 0


class _Reader:
    """Reads a page tag by tag.

    A table in a cell of a table with a header is a picture: its texts are those of the cell. If it has a header too,
    the table around it was not closed: the texts are titles. In a cell of a table without a header, it is read by
    itself: the texts before it in the row are titles, the rows after it are a table of their own.
    """

    def __init__(self) -> None:
        self.tables: list[PageTable] = []
        self.left_out = 0
        self._count = 0
        self._titles: deque[str] = deque(maxlen=MAX_TITLES)
        self._outside: list[str] = []
        """Texts outside cells since the last tag that separates texts."""
        self._around = 0
        """How many tables the open one is in."""
        self._pictures = 0
        self._rows: list[_Row] | None = None
        """The rows of the open table, if one is open; so with the row, and the texts in the cell."""
        self._row = _Row()
        self._cell: list[str | None] | None = None
        """Its texts, None where a tag separates them."""
        self._kind = ""

    def read(self, text: str) -> None:
        """Read all of it. Never raises."""
        position = 0
        while tag := _TAG.search(text, position):
            if tag.start() > position:
                self._add(text[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            is_row = name == "tr" and self._rows is not None and not self._pictures
            if is_row and (row := _PLAIN_ROW.match(text, tag.start())):
                self._end_cell()
                self._plain_row(row[1])
                position = row.end()
            elif name:
                self._tag(name, bool(tag["closes"]), tag[0])
        self._add(text[position:])
        self._end_table()

    def _tag(self, name: str, closes: bool, tag: str) -> None:
        if name == "th" and not closes and self._pictures and self._cell is not None:
            self._pictures = 0
            end = self._cell.index(None)
            titles = "".join("\n" if text is None else collapse(text) for text in self._cell[end:]).split("\n")
            self._cell = self._cell[:end]
            self._next_table(titles)
        if name == "table":
            if closes:
                self._table_closed()
            else:
                self._table_opened()
        elif name == "a":
            if not closes:
                self._row.links.append(_attribute(_HREF, tag))
        elif self._rows is None or self._pictures or name not in ("tr", "td", "th", "thead", "tbody", "tfoot"):
            if self._cell is not None or name not in _INLINE:
                self._separate()
        elif name not in ("td", "th"):
            self._end_cell()
            self._row = _Row()
        elif not closes:
            self._cell_opened(name, tag)
        elif name == self._kind:
            self._end_cell()

    def _table_opened(self) -> None:
        titles: list[str] = []
        if self._pictures or (self._cell is not None and self._rows and self._rows[0].is_header):
            self._pictures += 1
            self._separate()
            return
        if self._cell is not None:
            self._around += 1
            self._end_cell()
            titles = self._row.texts
            self._row.texts = []
        self._next_table(titles)

    def _next_table(self, titles: list[str]) -> None:
        self._end_table()
        self._titles += filter(None, map(collapse, titles))
        self._rows = []

    def _table_closed(self) -> None:
        if self._pictures:
            self._pictures -= 1
            self._separate()
            return
        self._end_table()
        if self._around:
            self._around -= 1
            self._rows = []

    def _end_table(self) -> None:
        self._end_cell()
        self._separate()
        rows = self._rows or []
        self._rows, self._row = None, _Row()
        header = _grid(list(takewhile(lambda row: row.is_header, rows)), MAX_COLUMNS, repeated=True)
        header = [row for row in header if len(row) == len(header[0])]  # labels of another width belong to no group
        columns = [(collapse(group), collapse(" ".join(labels))) for group, *labels in zip(*header, strict=True)]
        body = [row for row in rows if row.texts and not row.is_header]  # the header may be repeated further down
        texts = [row.texts for row in body]
        if any(row.spans for row in body) and any(len(row) != len(columns) for row in texts):
            texts = _grid(body, min(len(columns) or max(map(len, texts)), MAX_COLUMNS))
        alone = [text for text in (texts[0] if texts else [group for group, _ in columns]) if text]
        if len(texts) + bool(columns) == 1 and len(alone) == 1:
            self._titles.append(collapse(alone[0]))
        elif columns or texts:
            links = {index: row.links for index, row in enumerate(body) if row.links}
            self.tables.append(PageTable(tuple(self._titles), tuple(columns), texts, links))
            self._titles.clear()

    def _add_row(self) -> None:
        self._count += 1
        if self._rows is None or self._count > MAX_ROWS:
            self.left_out += 1
        else:
            self._rows.append(self._row)

    def _plain_row(self, cells: str) -> None:
        row = self._row = _Row()
        self._add_row()
        if "<a" in cells or "<A" in cells:
            row.links = [_attribute(_HREF, link) for link in _LINK.findall(cells) if link[1] != "/"]
            cells = _LINK.sub("", cells)
        plain = cells.replace("</td>", "")  # in most rows no other tag is left than <td>, and splitting is fast
        is_plain = plain.count("<td>") == plain.count("<")
        texts = (plain.split("<td>")[1:] if is_plain else _CELL_TEXT.findall(cells))[:MAX_COLUMNS]
        if "&" in cells:
            texts = [_unescaped(text) for text in texts]
        row.texts = list(map(str.strip, texts))
        self._row = _Row()

    def _cell_opened(self, kind: str, tag: str) -> None:
        self._end_cell()
        if not self._row.texts:
            self._add_row()
        self._cell, self._kind = [], kind
        if "span" in tag.lower():
            spans = _span(_attribute(_COLSPAN, tag)), _span(_attribute(_ROWSPAN, tag))
            self._row.spans[len(self._row.texts)] = spans

    def _end_cell(self) -> None:
        if self._cell is not None and len(self._row.texts) < MAX_COLUMNS:
            self._row.texts.append("".join(" " if text is None else text for text in self._cell).strip())
            self._row.headers += self._kind == "th"
        self._cell = None

    def _separate(self) -> None:
        if self._cell is not None:
            self._cell.append(None)
            return
        if text := collapse("".join(self._outside)):
            self._titles.append(text)
        self._outside.clear()

    def _add(self, text: str) -> None:
        if self._cell is not None:
            self._cell.append(_unescaped(text))
        elif self._rows is None or not text.isspace():
            self._outside.append(_unescaped(text))


def _grid(rows: Iterable[_Row], width: int, repeated: bool = False) -> list[list[str]]:
    """Rows of texts in which a cell takes all places that it spans; its text may be repeated in further columns."""
    grid: list[list[str]] = []
    below: Counter[int] = Counter()
    """Rows that a cell above still covers, by column."""
    for row in rows:
        texts: list[str] = []
        cells = enumerate(row.texts)
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
