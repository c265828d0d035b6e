"""Lines of text of fixed columns, and which of several blocks of lines get how much of a screen.

Text from outside (names of runs, summaries of alerts) reaches the terminal through `text` only: printable, and never
interpreted as markup.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from rich.text import Text

from ..values.printable import printable

Align = Literal["left", "right"]


def text(content: str, style: str = "") -> Text:
    """The content in a style; nothing in it commands the terminal (see `benchwatch.values.printable`)."""
    return Text(printable(content), style=style, no_wrap=True, overflow="ellipsis")


def line(*parts: tuple[Text, int, Align]) -> Text:
    """Columns of these widths, separated by a blank; long text is cut. A column of width 0 is left out."""
    whole = text("")
    for part, width, align in parts:
        if not width:
            continue
        if whole.plain:
            whole.append(" ")
        cell = part.copy()
        cell.align(align, width)
        whole.append_text(cell)
    return whole


def joined(parts: Sequence[Text], separator: str = " · ", width: int | None = None) -> Text:
    """The parts one after another; with a `width`, those that fit, and always the first."""
    whole = text("")
    for part in parts:
        if not whole.plain:
            whole.append_text(part)
        elif width is None or whole.cell_len + len(separator) + part.cell_len <= width:
            whole.append(separator, "dim").append_text(part)
    return whole


def spread(left: Text, right: Text, width: int) -> Text:
    """One at the left edge, one at the right; cut if both do not fit."""
    whole = left.copy()
    whole.truncate(max(0, width - right.cell_len - 1), overflow="ellipsis")
    whole.append(" " * max(0, width - whole.cell_len - right.cell_len))
    whole.append_text(right)
    return whole


class Block(NamedTuple):
    """A part of the screen, drawn in a given number of lines; `least` is its share before others get more."""

    draw: Callable[[int], list[Text]]
    wanted: int
    least: int


def fit(blocks: Sequence[Block], height: int) -> list[Text]:
    """The blocks in order, in at most `height` lines; spare lines go to the first blocks."""
    given = []
    left = height
    for block in blocks:
        given.append(min(block.wanted, block.least, left))
        left -= given[-1]
    for number, block in enumerate(blocks):
        more = min(block.wanted - given[number], left)
        given[number] += more
        left -= more
    return [drawn for block, lines in zip(blocks, given, strict=True) if lines for drawn in block.draw(lines)[:lines]]
