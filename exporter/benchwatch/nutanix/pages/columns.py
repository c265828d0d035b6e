"""The columns of a table by their labels: which field each one is, and the cells under it read into numbers.

A column is recognised by the words of its label and by what its unit measures, in any position. An unknown label or
unit is left out and noted; the other columns are still read.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .notes import Notes
from .quantities import BYTES, MAX_NAME, PLAIN, Dimension, PrintedUnit, QuantityUnreadable, largest, number, read_label
from .tables import Table, collapse

MAX_LABELLED = 64
"""Rows of a table whose rows have labels: each may become a series."""

Fields = Mapping[tuple[str, Dimension], str]
"""The field of each label: (words in lower case, what its unit measures)."""


class Column(NamedTuple):
    """One column that is understood."""

    position: int
    field: str
    unit: PrintedUnit


def printed(label: tuple[str, str]) -> str:
    """A column's label as a reader of the page sees it."""
    return " / ".join(part for part in label if part)


def read_columns(
    table: Table,
    section: str,
    fields: Fields,
    notes: Notes,
    texts: Mapping[str, str] = {},
    ignored: frozenset[str] = frozenset(),
) -> tuple[list[Column], dict[str, int]]:
    """The columns of numbers, and the index of each column of texts (`texts`: words of the label to field)."""
    columns: list[Column] = []
    text_columns: dict[str, int] = {}
    taken: set[str] = set()
    understood: list[str] = []
    for index, (group, own) in enumerate(table.columns):
        name = printed((group, own))
        label = read_label(group, own)
        unit = label.unit or PLAIN
        field = texts.get(label.words) or fields.get((label.words, unit.dimension))
        if label.words in ignored or not name:
            continue
        if label.unknown:
            notes.refuse(section, f"column {name!r}: the unit {label.unknown!r} is not known")
        elif field is None:
            notes.refuse(section, f"column {name!r}")
        elif field in taken:
            notes.refuse(section, f"column {name!r}: there is another one of this name")
        else:
            taken.add(field)
            understood.append(f"{name}: {field}")
            if label.words in texts:
                text_columns[field] = index
            else:
                columns.append(Column(index, field, unit))
    if understood:
        notes.found(section, *understood)
    return columns, text_columns


def read_numbers(
    table: Table, rows: Sequence[int], section: str, columns: Iterable[Column], notes: Notes
) -> dict[str, Sequence[float | None]]:
    """The numbers of these rows, by field; None where there is no value. A row has as many cells as there are columns.

    A column of cells `2, 8KB` (so many operations, of so many bytes together) gives two fields, the second with
    `_bytes` added to its name.
    """
    numbers: dict[str, Sequence[float | None]] = {}
    by_column = list(zip(*(table.rows[row] for row in rows), strict=True))
    for position, field, unit in columns:
        texts = by_column[position] if by_column else ()
        numbers |= _numbers(texts, field, unit, section, printed(table.columns[position]), notes)
    return numbers


def excerpt(cells: list[str]) -> str:
    """The beginning of a row, for a message."""
    return repr(" | ".join(collapse(cell) for cell in cells[:4]))


def _numbers(
    texts: Sequence[str], field: str, unit: PrintedUnit, section: str, label: str, notes: Notes
) -> dict[str, Sequence[float | None]]:
    """The numbers of one column, by field; None where there is no value."""
    _, multiply, divide = unit
    of_time = field == "busy_ratio"
    try:  # whole numbers only, as in most columns: this is where the time goes on a large page
        values = [int(text) * multiply / divide for text in texts]
    except (ValueError, OverflowError):
        pass
    else:
        digits = "".join(texts)
        if not texts or (digits.isdecimal() and digits.isascii() and max(values) <= largest(unit, of_time=of_time)):
            return {field: values}
    known: dict[str, tuple[float | None, float | None]] = {}
    for text in texts:
        if text not in known:
            try:
                pair = field.startswith("outstanding")
                known[text] = _pair(text, unit) if pair else (number(text, unit, of_time=of_time), None)
            except QuantityUnreadable:
                known[text] = None, None
                notes.refuse(section, f"cell {text!r} under {label!r}")
    first, second = zip(*(known[text] for text in texts), strict=True)
    return {field: first, f"{field}_bytes": second} if any(value is not None for value in second) else {field: first}


def _pair(text: str, unit: PrintedUnit) -> tuple[float | None, float | None]:
    """The operations of a cell `2, 8KB` or `2`, and their bytes."""
    first, comma, second = text.partition(",")
    if not comma:
        return number(text, unit), None
    if second.strip().isdecimal():  # 1,234 is one number in another way of writing, or two: nobody knows
        raise QuantityUnreadable(text)
    return number(first.strip(), unit), number(second.strip(), BYTES)


class Cell(NamedTuple):
    """One cell of a table whose rows have labels, and the unit that the column names."""

    text: str
    unit: PrintedUnit

    def value(self, default: PrintedUnit = PLAIN) -> float | None:
        """The number in base units, in `default` where the column names no unit. Raises Unreadable."""
        return number(self.text, self.unit if self.unit.dimension else default)


def labelled_rows(
    table: Table,
    section: str,
    labels: Iterable[str],
    fields: Fields,
    notes: Notes,
    ignored: frozenset[str] = frozenset(),
) -> list[tuple[str, dict[str, Cell]]]:
    """(label, cells by field) of the rows of a table whose rows are labelled.

    The column of labels is headed by one of `labels`; else it is the first one that is no column of numbers.
    """
    columns, texts = read_columns(table, section, fields, notes, dict.fromkeys(labels, "label"), ignored)
    numeric = {column.position for column in columns}
    where = texts.get("label", min(set(range(len(table.columns) + 1)) - numeric))
    rows = []
    if len(table.rows) > MAX_LABELLED:
        left_out = len(table.rows) - MAX_LABELLED
        notes.refuse(section, f"{left_out} rows after the first {MAX_LABELLED}", left_out)
    for cells in table.rows[:MAX_LABELLED]:
        label = collapse(cells[where]) if where < len(cells) else ""
        if len(label) > MAX_NAME:
            notes.refuse(section, f"row {label[:MAX_NAME]!r}")
        elif label:
            found = {field: Cell(cells[position], unit) for position, field, unit in columns if position < len(cells)}
            rows.append((label, found))
        elif any(cells):
            notes.refuse(section, f"row {excerpt(cells)}")
    return rows
