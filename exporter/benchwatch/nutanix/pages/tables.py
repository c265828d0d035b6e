"""The tables of an HTML page, with the titles that stand before them.

What is known of the pages (no document of the vendor describes them): tables with a header of one or two `<th>` rows;
in the first, a group of columns carries `colspan`, in the second, a column outside any group has an empty `<th>`. A
table's title is a heading, bold text, or the only text in a small table of its own; sentences and links may follow it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, takewhile
from typing import NamedTuple

from .markup import MAX_COLUMNS, MAX_NESTED, MAX_ROWS, MAX_TABLES, Markup, MarkupRow, MarkupTable
from .notes import Notes

MAX_TITLES = 50


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
    reader = Markup(html.decode("utf-8", "replace"))
    reader.read()
    if notes is not None and reader.rows_left_out:
        notes.refuse("", f"{reader.rows_left_out} rows after the first {MAX_ROWS}", reader.rows_left_out)
    if notes is not None and reader.tables_left_out:
        text = f"{reader.tables_left_out} tables after the first {MAX_TABLES} or in more than {MAX_NESTED - 1} others"
        notes.refuse("", text, reader.tables_left_out)
    tables: list[PageTable] = []
    titles: deque[str] = deque(maxlen=MAX_TITLES)
    texts: list[str] = []
    for piece in chain(_without_layout(reader.page), [None]):
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if text := collapse("".join(texts)):
            titles.append(text)
        texts.clear()
        if piece is None:
            continue
        table = _data(piece, tuple(titles))
        if title := _title(table):
            titles.append(title)
            continue
        titles.clear()
        if table.columns or table.rows:
            tables.append(table)
    return tables


def _without_layout(pieces: Iterable[str | MarkupTable | None]) -> Iterator[str | MarkupTable | None]:
    """The pieces, with the content of the cells of layout tables instead of these tables."""
    for piece in pieces:
        if isinstance(piece, MarkupTable) and piece.is_layout:
            yield None
            for row in piece.rows:
                for cell in row.contents():
                    yield from _without_layout(cell)
                    yield None
        else:
            yield piece


def _data(table: MarkupTable, titles: tuple[str, ...]) -> PageTable:
    columns = _columns(list(takewhile(lambda row: row.is_header, table.rows)))
    body = [row for row in table.rows if not row.is_header]  # the header may be repeated further down
    texts = [row.texts() for row in body]
    if any(row.spans for row in body) and any(len(row) != len(columns) for row in texts):
        texts = _grid(body, len(columns) or max(map(len, texts)))
    return PageTable(titles, columns, texts, {index: row.links for index, row in enumerate(body) if row.links})


def _grid(rows: Iterable[MarkupRow], most_columns: int) -> list[list[str]]:
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


def _columns(rows: list[MarkupRow]) -> tuple[tuple[str, str], ...]:
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


def _title(table: PageTable) -> str:
    """The text of a table that holds nothing but one text in one row; empty for a table of data."""
    if len(table.rows) + bool(table.columns) > 1:
        return ""
    texts = [text for text in (table.rows[0] if table.rows else [group for group, _ in table.columns]) if text]
    return collapse(texts[0]) if len(texts) == 1 else ""
