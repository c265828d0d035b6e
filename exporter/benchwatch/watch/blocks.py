"""Lines of text in columns of fixed width, and the division of a screen among several blocks of lines.

Text from outside (names of runs, summaries of alerts) reaches the terminal through `text` only: printable, and never
interpreted as markup.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeVar

from rich.text import Text

from ..values.printable import printable

Align = Literal["left", "right"]
_Item = TypeVar("_Item")


def text(content: str, style: str = "") -> Text:
    """The content in a style; control characters become visible (see `benchwatch.values.printable`)."""
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
    """`left` at the left edge and `right` at the right; `left` is cut if both do not fit."""
    whole = left.copy()
    whole.truncate(max(0, width - right.cell_len - 1), overflow="ellipsis")
    whole.append(" " * max(0, width - whole.cell_len - right.cell_len))
    whole.append_text(right)
    return whole


def rest(hidden: int) -> list[Text]:
    """A line with the number of lines that are hidden, if there are any."""
    return [text(f"    + {hidden} more", "dim")] if hidden else []


def cut(items: Sequence[_Item], lines: int) -> Sequence[_Item]:
    """Those that fit into so many lines, one of which is for the number of hidden ones."""
    return items if len(items) <= lines else items[: max(0, lines - 1)]


class Block(NamedTuple):
    """A part of the screen, drawn in a given number of lines; `least` is its share before others get more."""

    draw: Callable[[int], list[Text]]
    wanted: int
    least: int


def fit(blocks: Sequence[Block], height: int) -> list[Text]:
    """The blocks in order, in at most `height` lines; spare lines go to the first blocks."""
    given = [0] * len(blocks)
    for shares in ([min(block.wanted, block.least) for block in blocks], [block.wanted for block in blocks]):
        for number, share in enumerate(shares):
            given[number] += min(share - given[number], height - sum(given))
    return [drawn for block, lines in zip(blocks, given, strict=True) if lines for drawn in block.draw(lines)[:lines]]
