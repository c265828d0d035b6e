"""The tables of an HTML page, with the titles that stand before them; notes of what was understood of them.

No document of the vendor describes the pages. Known are tables with a header of one or two `<th>` rows: in the first, a
group of columns carries `colspan`; in the second, a column outside any group has an empty `<th>`. A table's title is a
heading, bold text, or the only text in a small table of its own; sentences and links may follow it.

Tags may be in upper case, `td`, `tr` and `p` unclosed, `<` in texts unescaped. So the page is cut where a table begins
or ends and where a row begins, and a row where a cell begins; all other tags only separate texts. Text outside cells is
a title. No step looks beyond the next `<` twice, so the time is proportional to the size of the page.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import islice, takewhile
from typing import NamedTuple

MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_TITLES = 50
MAX_HEADERS = 10
"""Rows of a header whose texts are in the labels of columns."""
MAX_TEXT = 200
"""Characters of a label's part, and of a text of the notes."""
MAX_TEXTS = 200
"""Texts that are kept per page; further ones are only counted."""

_HIDDEN = re.compile(r"<(?:!--(?:.*?-->|.*)|(script|style)\b.*?(?:</\1[^<>]*>?|\Z))", re.DOTALL | re.IGNORECASE)
_PART = re.compile(r"<(/?table|tr)\b[^<>]*>?", re.IGNORECASE)
_CELL = re.compile(r"<t([dh])\b([^<>]*)>?", re.IGNORECASE)
_LINK = re.compile(r"</?a\b[^<>]*>?", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|i|em|u|tt|code|small|span|sub|sup|nobr)\b[^<>]*>?", re.IGNORECASE)
_TAG = re.compile(r"<[a-z/!?][^<>]*>?", re.IGNORECASE)
_HREF = re.compile(r"""\bhref\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_COLSPAN = re.compile(r"""\bcolspan\s*=\s*["']?(\d{1,9})""", re.IGNORECASE)


class Unrecognised(NamedTuple):
    """A row, column, cell or table that was left out, or several. `section` is one of a small set of constants."""

    section: str
    text: str


@dataclass
class Notes:
    """Collects what is recognised and what is left out while a page is read; each page is one."""

    recognised: dict[str, list[str]] = field(default_factory=dict)
    """The labels of the columns or rows that were understood, by section, in the page's order."""
    unrecognised: list[Unrecognised] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """How many rows, columns, cells and tables were left out, by section."""

    def found(self, section: str, *labels: str) -> None:
        """Note that the section is on the page, with these labels."""
        self.recognised.setdefault(section, []).extend(labels)

    def refuse(self, section: str, text: str, times: int = 1) -> None:
        """Note that something in this section (empty: outside any known section) is left out, or several things."""
        section = section or "other"
        self.left_out[section] += times
        if len(self.unrecognised) < MAX_TEXTS:
            text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "..."
            self.unrecognised.append(Unrecognised(section, text))

    def first(self, rows: list[list[str]], most: int, section: str) -> list[list[str]]:
        """The first rows; those after them are left out and noted."""
        if len(rows) > most:
            self.refuse(section, f"{len(rows) - most} rows after the first {most}", len(rows) - most)
        return rows[:most]


class PageTable(NamedTuple):
    """One table of data.

    `titles` are the last MAX_TITLES texts between the previous table and this one, in order. `columns` are the labels,
    after that of their group (`Oplog / KB`); none without a header. Cells are stripped texts; `links` has the `href`s
    of each row by its index.
    """

    titles: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[list[str]]
    links: dict[int, list[str]]


class _Row(NamedTuple):
    texts: list[str]
    links: list[str]
    is_header: bool


def collapse(text: str) -> str:
    """The text with each run of white space, including non-breaking spaces, as one space."""
    return " ".join(text.split())


def identifier(text: str) -> str:
    """A label of the page in lower case, with its words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def read_tables(html: bytes, notes: Notes | None = None) -> list[PageTable]:
    """All tables of data, in the page's order; what is left out is noted. Never raises."""
    tables: list[PageTable] = []
    titles: deque[str] = deque(maxlen=MAX_TITLES)
    rows: list[_Row] = []
    count = 0
    for tag, part in _parts(_HIDDEN.sub(" ", html.decode("utf-8", "replace"))):
        if rows and tag not in ("tr", "TR"):
            columns, texts = _columns(rows), [row.texts for row in rows if not row.is_header]
            alone = [text for text in (texts[0] if texts else columns) if text]
            if len(texts) + bool(columns) == 1 and len(alone) == 1:
                titles.append(collapse(alone[0]))
            else:
                body = (row for row in rows if not row.is_header)  # the header may be repeated further down
                links = {index: row.links for index, row in enumerate(body) if row.links}
                tables.append(PageTable(tuple(titles), columns, texts, links))
                titles.clear()
            rows = []
        outside, row = _row(part)
        titles += _texts(outside)
        if row.texts:
            count += 1
            if count <= MAX_ROWS:
                rows.append(row)
    if notes is not None and count > MAX_ROWS:
        notes.refuse("", f"{count - MAX_ROWS} rows after the first {MAX_ROWS}", count - MAX_ROWS)
    return tables


def _parts(html: str) -> Iterator[tuple[str, str]]:
    """The page up to the first tag of a table or row; then each such tag, and what follows it."""
    tag, begin = "", 0
    for match in _PART.finditer(html):
        yield tag, html[begin : match.start()]
        tag, begin = match[1], match.end()
    yield tag, html[begin:]
    yield "/table", ""


def _columns(rows: Sequence[_Row]) -> tuple[str, ...]:
    header = [row.texts for row in islice(takewhile(lambda row: row.is_header, rows), MAX_HEADERS)]
    header = [texts for texts in header if len(texts) == len(header[0])]  # labels of another width belong to no group
    parts = [[collapse(text[:MAX_TEXT]) for text in texts] for texts in header]
    return tuple(" / ".join(filter(None, labels)) for labels in zip(*parts, strict=True))


def _row(html: str) -> tuple[str, _Row]:
    """The text before the first cell, and the cells. A wide one takes several places; a header repeats its text."""
    links: list[str] = []
    if "<a" in html or "<A" in html:
        links = [_unescaped(href.strip("\"'")) for link in _LINK.findall(html) for href in _HREF.findall(link)]
        html = _LINK.sub("", html)
    plain = html.replace("</td>", "").replace("</tr>", "")
    if plain.count("<td>") == plain.count("<"):  # as in nearly all rows of a large page: splitting is fast
        outside, *cells = plain.split("<td>")
        texts = [(_unescaped(cell) if "&" in cell else cell).strip() for cell in cells[:MAX_COLUMNS]]
        return outside, _Row(texts, links, False)
    outside, *found = _CELL.split(html, MAX_COLUMNS + 1)
    texts = []
    kinds, attributes = found[::3], found[1::3]
    for kind, attribute, cell in zip(kinds, attributes, found[2::3], strict=True):
        span = _COLSPAN.search(attribute)
        text = _unescaped(_TAG.sub(" ", cell)).strip()
        texts.append(text)
        for _ in range(1, min(int(span[1]), MAX_COLUMNS) if span else 1):
            texts.append(text if kind in "hH" else "")
    return outside, _Row(texts[:MAX_COLUMNS], links, "d" not in "".join(kinds).lower())


def _texts(html: str) -> list[str]:
    """The texts between tags that separate texts."""
    if not html or html.isspace():
        return []
    return [text for part in _TAG.split(_INLINE.sub("", html)) if (text := collapse(_unescaped(part)))]


def _unescaped(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # a character's number of thousands of digits
        return text
