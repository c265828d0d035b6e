"""Lines of text in columns, and the division of a screen among blocks of lines.

Text from outside (names of runs, summaries of alerts) reaches the terminal through `text` only: printable, and never
interpreted as markup.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from rich.text import Text

from ..values.printable import printable

_Item = TypeVar("_Item")


def text(content: str, style: str = "") -> Text:
    """The content in a style; control characters become visible (see `benchwatch.values.printable`)."""
    return Text(printable(content), style=style, no_wrap=True, overflow="ellipsis")


def fitted(content: Text, width: int, right: bool = False) -> Text:
    """The content in exactly so many columns: filled with blanks, or cut."""
    cell = content.copy()
    cell.align("right" if right else "left", width)
    return cell


def columns(name: Text, width: int, figures: Iterable[tuple[Text, int]]) -> Text:
    """A row of a table: the name in its width, then figures in theirs, aligned to the right."""
    row = text("").append_text(fitted(name, width))
    for figure, size in figures:
        row.append(" ").append_text(fitted(figure, size, right=True))
    return row


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
    return fitted(left, max(0, width - right.cell_len - 1)).append(" ").append_text(right)


def cut(items: Sequence[_Item], lines: int) -> tuple[Sequence[_Item], list[Text]]:
    """The items that fit into so many lines, and a line with the number of the others, if there are any."""
    if len(items) <= lines:
        return items, []
    shown = items[: max(0, lines - 1)]
    return shown, [text(f"    + {len(items) - len(shown)} more", "dim")]


class Block(NamedTuple):
    """A part of the screen, drawn in a given number of lines."""

    draw: Callable[[int], list[Text]]
    sizes: Sequence[int]
    """Its lines if there is room for little, for what matters, for more, and for everything."""
    least: int = 1
    """With fewer lines, it draws nothing."""


def fit(blocks: Sequence[Block], height: int) -> list[Text]:
    """The blocks in order, in at most `height` lines; all get a size before one gets the next."""
    given = [0] * len(blocks)
    for sizes in zip(*(block.sizes for block in blocks), strict=True):
        for number, size in enumerate(sizes):
            lines = given[number] + min(max(0, size - given[number]), height - sum(given))
            given[number] = lines if lines >= blocks[number].least else given[number]
    drawn: list[Text] = []
    spare = height - sum(given)
    for block, lines in zip(blocks, given, strict=True):
        room = min(lines + spare, max(block.sizes))  # what the blocks before have left
        shown = block.draw(room)[:room] if lines else []
        drawn += shown
        spare += lines - len(shown)
    return drawn
