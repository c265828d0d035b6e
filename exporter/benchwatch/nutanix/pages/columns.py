"""Reads the columns of a table: finds the field of each column by its label, and turns its cells into numbers.

A column is recognised by the words of its label and the dimension of its unit, in any position. A column with an
unknown label or unit is left out and noted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .notes import Notes
from .quantities import BYTES, MAX_NAME, PLAIN, Dimension, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import PageTable, collapse

MAX_LABELLED = 64
"""Rows that are read of a table with labelled rows; each may become a series."""

Fields = Mapping[tuple[str, Dimension], str]
"""Fields by label: (words in lower case, dimension of the unit)."""


class TableColumn(NamedTuple):
    """A column that is understood."""

    position: int
    field: str
    unit: PrintedUnit


def printed(label: tuple[str, str]) -> str:
    """A column's label as a reader of the page sees it."""
    return " / ".join(part for part in label if part)


def read_columns(
    table: PageTable,
    section: str,
    fields: Fields,
    notes: Notes,
    texts: Mapping[str, str] = {},
    ignored: frozenset[str] = frozenset(),
) -> tuple[list[TableColumn], dict[str, int]]:
    """The columns of numbers, and the index of each column of texts by field.

    `texts` are the fields of columns of texts, by the words of their labels. Columns with `ignored` words are skipped.
    """
    columns: list[TableColumn] = []
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
            notes.refuse(section, f"column {name!r}: a second column with this name")
        else:
            taken.add(field)
            understood.append(f"{name}: {field}")
            if label.words in texts:
                text_columns[field] = index
            else:
                columns.append(TableColumn(index, field, unit))
    if understood:
        notes.found(section, *understood)
    return columns, text_columns


def read_numbers(
    table: PageTable, rows: Sequence[int], section: str, columns: Iterable[TableColumn], notes: Notes
) -> dict[str, Sequence[float | None]]:
    """The numbers of these rows by field, None for no value. Each row has one cell per column.

    A column with cells such as `2, 8KB` (2 operations of 8 KB in total) gives two fields; the second has the suffix
    `_bytes`.
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
    """The numbers of one column by field, None for no value."""
    unit = unit._replace(of_time=field == "busy_ratio")
    try:  # whole numbers only, as in most columns: this is where the time goes on a large page
        values = [int(text) * unit.multiply / unit.divide for text in texts]
    except (ValueError, OverflowError):
        pass
    else:
        digits = "".join(texts)
        if not texts or (digits.isdecimal() and digits.isascii() and max(values) <= unit.largest):
            return {field: values}
    known: dict[str, tuple[float | None, float | None]] = {}
    for text in texts:
        if text not in known:
            try:
                pair = field.startswith("outstanding")
                known[text] = _pair(text, unit) if pair else (number(text, unit), None)
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
    if second.strip().isdecimal():  # 1,234 may be one number with a separator, or two numbers
        raise QuantityUnreadable(text)
    return number(first.strip(), unit), number(second.strip(), BYTES)


class Cell(NamedTuple):
    """One cell of a table with labelled rows, and the unit in the label of its column."""

    text: str
    unit: PrintedUnit

    def value(self, default: PrintedUnit = PLAIN) -> float | None:
        """The number in base units; `default` applies if the column names no unit. Raises QuantityUnreadable."""
        return number(self.text, self.unit if self.unit.dimension else default)


def labelled_rows(
    table: PageTable,
    section: str,
    labels: Iterable[str],
    fields: Fields,
    notes: Notes,
    ignored: frozenset[str] = frozenset(),
) -> list[tuple[str, dict[str, Cell]]]:
    """Label and cells by field of each row of a table with labelled rows.

    The labels are in the column headed by one of `labels`, else in the first column without numbers.
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
            by_field = {
                field: Cell(cells[position], unit) for position, field, unit in columns if position < len(cells)
            }
            rows.append((label, by_field))
        elif any(cells):
            notes.refuse(section, f"row {excerpt(cells)}")
    return rows
