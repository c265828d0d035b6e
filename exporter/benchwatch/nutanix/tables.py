"""The tables of an HTML page, with the titles that stand before them.

What is known of the pages (no document of the vendor describes them): tables with a header of one or two `<th>` rows;
in the first, a group of columns carries `colspan`, in the second, a column outside any group has an empty `<th>`. A
table's title is a heading, bold text, or stands alone in a small table of its own; sentences and links may follow it.
Tags may be in upper case, `td`, `tr` and `p` unclosed, `<` in texts unescaped: the tree is built as browsers build it
(HTML 5, by lexbor).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_COLUMNS = 200
MAX_LAYOUT_TABLES = 50
MAX_LEFT_OPEN = 5000
_NEED_NOT_BE_CLOSED = (b"td", b"tr", b"th", b"p", b"br", b"hr", b"li", b"img", b"input", b"meta", b"link", b"!")

_INLINE = frozenset(("a", "i", "em", "u", "tt", "code", "small", "span", "sub", "sup", "nobr"))
_SILENT = frozenset(("head", "script", "style", "template"))


class Table(NamedTuple):
    """One table of data.

    `titles` are the texts between the table before and this one, in order. A column is (group, own label), the second
    empty for a column without a group; there are none without a header. Cells are stripped texts; `links` holds the
    `href`s of a row, by its index.
    """

    titles: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: list[list[str]]
    links: dict[int, list[str]]


def collapse(text: str) -> str:
    """The text with every run of white space (a non-breaking space too) as one space."""
    return " ".join(text.split())


def read_tables(html: bytes) -> list[Table]:
    """All tables of data, in the page's order; none of a page nested too deeply to be one. Never raises."""
    if _left_open(html) > MAX_LEFT_OPEN:
        return []
    found: list[Table] = []
    titles: list[str] = []
    run: list[str] = []
    layout_tables = 0

    def end_run() -> None:
        text = collapse("".join(run))
        run.clear()
        if text:
            titles.append(text)

    stack: list[LexborNode | None] = [LexborHTMLParser(html).root]
    while stack:
        node = stack.pop()
        tag = node.tag if node is not None else None
        if node is None or tag is None:
            end_run()
            continue
        if tag == "-text":
            run.append(node.text())
            continue
        if tag in _SILENT:
            continue
        if tag == "table":
            end_run()
            parts = _Parts(node)
            if not parts.is_layout or layout_tables >= MAX_LAYOUT_TABLES:
                table = parts.table(tuple(titles))
                title = _title(table)
                if title is None:
                    found.append(table)
                    titles.clear()
                else:
                    titles.append(title)
                continue
            layout_tables += 1
        if tag not in _INLINE:
            end_run()
            stack.append(None)
        stack.extend(reversed(list(node.iter(include_text=True))))
    return found


@dataclass(slots=True)
class _Row:
    """One row, and what in it makes it more than a row of `<td>` with a text in each."""

    node: LexborNode
    links: list[str] = field(default_factory=list)
    is_intricate: bool = False
    is_header: bool = False


def _left_open(html: bytes) -> int:
    """About how many tags too many are never closed, not counting those that need not be.

    Building the tree takes the square of their number.
    """
    closed = html.count(b"</")
    opened = html.count(b"<") - closed
    if opened - closed <= MAX_LEFT_OPEN:
        return 0
    lower = html.lower()
    for tag in _NEED_NOT_BE_CLOSED:
        opened -= lower.count(b"<" + tag)
        closed -= lower.count(b"</" + tag)
    return opened - closed


class _Parts:
    """The rows of one table, found in one pass over everything in it but the cells."""

    def __init__(self, table: LexborNode) -> None:
        self._table = table
        rows: list[_Row] = []
        tables = 0
        for node in table.css(":not(td)"):  # in the page's order, the table itself first
            tag = node.tag
            if tag == "tr":
                rows.append(_Row(node))
            elif tag == "table":
                tables += 1
            if not rows or tag in ("tr", "tbody", "tfoot"):
                continue
            if tag == "a":
                rows[-1].links.append(node.attributes.get("href") or "")
            else:
                rows[-1].is_intricate = True
                rows[-1].is_header |= tag == "th"
        if tables > 1:
            own = {table.mem_id, *(part.mem_id for part in table.iter())}
            rows = [row for row in rows if row.node.parent is not None and row.node.parent.mem_id in own]
        for row in rows:
            row.is_header = row.is_header and all(cell.tag == "th" for cell in row.node.iter())
        self._rows = rows
        self.is_layout = tables > 1 and not any(row.is_header for row in rows)
        """It only places other tables: they stand in its cells, and it has no header of its own."""

    def table(self, titles: tuple[str, ...]) -> Table:
        columns = _columns([row.node for row in takewhile(lambda row: row.is_header, self._rows)])
        body = [row for row in self._rows if not row.is_header]  # the header may be repeated further down
        texts = [
            [cell.text(separator=" ").strip() for cell in row.node.iter()]
            if row.is_intricate
            else [cell.text_lexbor().strip() for cell in row.node.iter()]
            for row in body
        ]
        if any(len(row) != len(columns) for row in texts) and self._table.css_first("td[colspan], td[rowspan]"):
            texts = _grid((row.node for row in body), len(columns) or max(map(len, texts)))
        links = {index: row.links for index, row in enumerate(body) if row.links}
        return Table(titles, columns, texts, links)


def _span(cell: LexborNode, name: str, most: int = MAX_COLUMNS) -> int:
    text = cell.attributes.get(name) or ""
    return min(int(text), most) if text.isdecimal() and len(text) < 9 and int(text) else 1


def _grid(rows: Iterable[LexborNode], most_columns: int) -> list[list[str]]:
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

        for cell in row.iter():
            skip_covered()
            width, height = _span(cell, "colspan", most_columns), _span(cell, "rowspan")
            start = len(texts)
            if start >= MAX_COLUMNS:
                break
            texts += [cell.text(separator=" ").strip(), *[""] * (width - 1)]
            if height > 1:
                below.update((column, height - 1) for column in range(start, start + width))
        skip_covered()
        grid.append(texts)
    return grid


def _columns(rows: list[LexborNode]) -> tuple[tuple[str, str], ...]:
    """(group, own label) of each column of a header of any number of rows."""
    if not rows:
        return ()
    groups: list[str] = []
    for cell in islice(rows[0].iter(), MAX_COLUMNS):
        groups += [collapse(cell.text(separator=" "))] * _span(cell, "colspan")
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
