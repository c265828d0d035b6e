"""Blocks as plain text: headings at the margin, what belongs to them indented.

Figures are never cut or wrapped. Colours are those of ECMA-48 (SGR), for terminals only.
"""

import os
import sys
from collections.abc import Iterable, Iterator

from ..values.printable import printable
from .content import Block, Heading, Sentence, Table, TableRow, Tone

_INDENT = "  "
_WIDEST = 40
"""Characters of a cell up to which the others of its column are aligned with it."""
_COLOURS: dict[Tone, str] = {
    "good": "1;32",
    "bad": "1;31",
    "unclear": "1;33",
    "strong": "1",
    "warning": "33",
    "dim": "2",
}


def text(blocks: Iterable[Block], *, colour: bool = False) -> str:
    """The text; an empty line precedes each heading but the first, and a table after a table."""
    lines: list[str] = []
    indent = ""
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Heading):
            lines += [""] * bool(lines) + [_toned(printable(block.text), "strong", colour)]
            indent = _INDENT
        elif isinstance(block, Sentence):
            mark = "! " if block.tone == "warning" else ""
            lines.append(indent + _toned(mark + printable(block.text), block.tone, colour))
        else:
            lines += [""] * isinstance(before, Table)
            lines += (indent + line for line in _lines(block.filled, colour))
        before = block
    return "".join(f"{line}\n" for line in lines)


def colourful() -> bool:
    """Whether the standard output is a terminal that has colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _lines(table: Table, colour: bool) -> Iterator[str]:
    rows = [TableRow([column.name for column in table.columns], "dim"), *table.rows]
    rows = [row._replace(cells=[printable(cell) for cell in row.cells]) for row in rows]
    widths = [
        max(
            len(column.name),
            *(len(row.cells[place]) for row in rows if not row.heading and len(row.cells[place]) <= _WIDEST),
        )
        for place, column in enumerate(table.columns)
    ]
    if not any(rows[0].cells):
        del rows[0]
    for row in rows:
        if row.heading:
            yield _toned(row.cells[0], "strong", colour)
            continue
        cells = [
            f"{cell:>{width}}" if column.right else f"{cell:<{width}}"
            for cell, column, width in zip(row.cells, table.columns, widths, strict=True)
        ]
        yield _toned("  ".join(cells).rstrip(), row.tone, colour)


def _toned(line: str, tone: Tone, colour: bool) -> str:
    code = _COLOURS.get(tone)
    return f"\x1b[{code}m{line}\x1b[0m" if colour and code and line else line
