"""Blocks as Markdown, as GitHub renders it (https://github.github.com/gfm/).

All text passes through `plain`, which leaves nothing that Markdown would interpret: no cell of a table, link, address,
image, HTML, emphasis or list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from ..values.printable import printable
from .content import Block, Heading, Sentence, Table

_MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])|(?<=www)\.|:(?=//)", re.IGNORECASE)
"""Characters with a meaning in Markdown anywhere in a line, and those that turn text into an address."""
_BLOCK = re.compile(r"^(\d{0,9})([#+=.)-])")
"""The beginning of a heading, a list or a rule."""
_BOLD = ("good", "bad", "unclear", "strong")


def markdown(blocks: Iterable[Block]) -> str:
    """The document; lines that follow each other are a list."""
    lines: list[str] = []
    before: Block | None = None
    for block in blocks:
        if before is not None and not (isinstance(block, Sentence) and isinstance(before, Sentence)):
            lines.append("")
        if isinstance(block, Heading):
            lines.append(f"## {plain(block.text)}")
        elif isinstance(block, Sentence):
            words = plain(block.text)
            lines.append(f"- **{words}**" if block.tone in _BOLD else f"- {words}")
        else:
            lines += _table(block.filled)
        before = block
    return "".join(f"{line}\n" for line in lines)


def plain(text: str) -> str:
    """Text from outside, escaped so that it is shown unchanged, even at the beginning of a line."""
    return _BLOCK.sub(r"\1\\\2", _inline(text))


def _inline(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(text).strip())


def _table(table: Table) -> Iterator[str]:
    yield _row([_inline(column.name) for column in table.columns])
    yield f"|{'|'.join('--:' if column.right else '---' for column in table.columns)}|"
    for row in table.rows:
        cells = [_inline(cell) for cell in row.cells]
        if row.heading:
            cells += [""] * (len(table.columns) - 1)
        if row.heading or row.tone in _BOLD:
            cells = [f"**{cell}**" if cell else "" for cell in cells]
        yield _row(cells)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
