"""What a view shows: headings, lines and tables.

A tone says how something is meant; each form decides how that looks.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Tone = Literal["", "good", "bad", "unclear", "strong", "warning", "dim"]


class Heading(NamedTuple):
    """The title of the blocks that follow."""

    text: str


class Sentence(NamedTuple):
    """One sentence."""

    text: str
    tone: Tone = ""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    right: bool = True
    """Whether it is aligned to the right, as figures are."""
    colour: str = ""
    """The colour of a run on pages, a CSS variable; empty: none."""


class TableRow(NamedTuple):
    """A row of a table."""

    cells: Sequence[str]
    """One for each column; of a row that is a heading, the heading alone."""
    tone: Tone = ""
    meaning: str = ""
    """What its name means, for the pointer on a page."""
    heading: bool = False
    mark: Tone = ""
    """How its last cell is meant, on pages."""


class Table(NamedTuple):
    """A table; a column without a filled cell is left out."""

    columns: Sequence[Column]
    rows: Sequence[TableRow]

    @property
    def filled(self) -> "Table":
        """The table without its empty columns."""
        kept = [
            place
            for place, _ in enumerate(self.columns)
            if any(not row.heading and row.cells[place] for row in self.rows)
        ]
        rows = [row if row.heading else row._replace(cells=[row.cells[place] for place in kept]) for row in self.rows]
        return Table([self.columns[place] for place in kept], rows)


Block = Heading | Sentence | Table


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Table:
    """A plain table; the first `left` columns are aligned to the left, the others to the right."""
    columns = [Column(name, right=place >= left) for place, name in enumerate(heads)]
    return Table(columns, [TableRow(cells) for cells in rows])
