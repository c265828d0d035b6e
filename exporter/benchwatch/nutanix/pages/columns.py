"""Reads the columns of a table: finds the field of each column by its label, and turns its cells into numbers.

A column is recognised by the words of its label and the dimension of its unit, in any position. A column with an
unknown label or unit is left out and noted.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from ...metrics.samples import Family
from ..families import Series
from .quantities import BYTES, MAX_NAME, PLAIN, Dimension, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import Notes, PageTable, collapse, identifier

MAX_LABELLED = 64
"""Rows that are read of a table with labelled rows; each may become a series."""

_Field = TypeVar("_Field")

Fields = Mapping[tuple[str, Dimension | Literal["any"]], _Field | None]
"""What columns become, by label: (words in lower case, dimension of the unit); None is skipped."""


class VdiskColumn(NamedTuple):
    """A column of a table of vdisks: its family, and the values of the labels after `vdisk`."""

    family: Family
    labels: tuple[str, ...] = ()
    bytes: Family | None = None
    """The family of the second number in cells such as `2, 8KB`: 2 operations, together of 8 KB."""
    average_of: Family | None = None
    """The rates (those with its labels) that it is an average of: 0 is no measurement unless one of them is above 0."""

    def __str__(self) -> str:
        """The metric, as in a query."""
        named = zip(self.family.labels[1:], self.labels, strict=False)
        labels = ",".join(f'{name}="{value}"' for name, value in named)
        return f"{self.family.name}{{{labels}}}" if labels else self.family.name


class TableColumn(NamedTuple):
    """A column: its label as a reader of the page sees it, where it is, and the unit in its label."""

    label: str
    position: int
    unit: PrintedUnit


def excerpt(cells: list[str]) -> str:
    """The beginning of a row, for a message."""
    return repr(" | ".join(collapse(cell) for cell in cells[:4]))


def read_columns(table: PageTable, section: str, fields: Fields[_Field], notes: Notes) -> dict[_Field, TableColumn]:
    """The columns that are understood, by what they become."""
    columns: dict[_Field, TableColumn] = {}
    twice: set[_Field] = set()
    for position, name in enumerate(table.columns):
        label = read_label(name)
        key = label.words, label.unit.dimension
        field = fields.get(key, fields.get((label.words, "any")))
        if not name or (field is None and (label.words, "any") in fields):
            continue
        if label.unknown:
            notes.refuse(section, f"column {name!r}: the unit {label.unknown!r} is not known")
        elif field is None:
            notes.refuse(section, f"column {name!r}")
        elif field in columns:
            notes.refuse(section, f"column {name!r}: a second column with this name, so none of them is read")
            twice.add(field)
        else:
            columns[field] = TableColumn(name, position, label.unit)
    for field in twice:
        del columns[field]
    if columns:
        notes.found(section, *(f"{column.label}: {field}" for field, column in columns.items()))
    return columns


def read_numbers(
    table: PageTable, rows: Sequence[int], section: str, columns: Mapping[VdiskColumn, TableColumn], notes: Notes
) -> dict[Series, Sequence[float | None]]:
    """The numbers of these rows by what they become, None for no value. Each row has one cell per column."""
    numbers: dict[Series, Sequence[float | None]] = {}
    by_column = list(zip(*(table.rows[row] for row in rows), strict=True))
    for column, place in columns.items():
        texts = by_column[place.position] if by_column else ()
        numbers |= _numbers(texts, column, place, section, notes)
    for column in columns:
        series = column.family, column.labels
        if column.average_of and 0 in numbers[series]:
            rates = [
                numbers[family, labels]
                for family, labels in numbers
                if family is column.average_of and labels[: len(column.labels)] == column.labels
            ]
            happened = map(any, zip(*rates, strict=True)) if rates else [False] * len(rows)
            pairs = zip(numbers[series], happened, strict=True)
            numbers[series] = [None if average == 0 and not some else average for average, some in pairs]
    return numbers


def _numbers(
    texts: Sequence[str], column: VdiskColumn, place: TableColumn, section: str, notes: Notes
) -> dict[Series, Sequence[float | None]]:
    series, unit = (column.family, column.labels), place.unit
    try:  # whole numbers only, as in most columns: this is where the time goes on a large page
        values = [int(text) * unit.multiply / unit.divide for text in texts]
    except (ValueError, OverflowError):
        pass
    else:
        digits = "".join(texts)
        if not texts or (digits.isdecimal() and digits.isascii() and max(values) <= unit.largest):
            return {series: values}
    known: dict[str, tuple[float | None, float | None]] = {}
    for text in dict.fromkeys(texts):
        try:
            # Where operations overlap, a vdisk is busy for more than an interval.
            known[text] = _pair(text, unit) if column.bytes else (number(text, unit, of_a_whole=False), None)
        except QuantityUnreadable:
            known[text] = None, None
            notes.refuse(section, f"cell {text!r} under {place.label!r}")
    first, second = zip(*(known[text] for text in texts), strict=True)
    if column.bytes is None or all(value is None for value in second):
        return {series: first}
    return {series: first, (column.bytes, column.labels): second}


def _pair(text: str, unit: PrintedUnit) -> tuple[float | None, float | None]:
    """The operations of a cell `2, 8KB` or `2`, and their bytes."""
    first, comma, second = text.partition(",")
    if second.strip().isdecimal():  # 1,234 may be one number with a separator, or two numbers
        raise QuantityUnreadable(text)
    return number(first.strip(), unit), number(second.strip(), BYTES) if comma else None


def labelled_rows(
    table: PageTable, section: str, fields: Fields[str], notes: Notes, units: Mapping[str, PrintedUnit] | None = None
) -> dict[str, dict[str, float | None]]:
    """The numbers by field, None for no value, of each row of a table with labelled rows, by its label.

    The labels are in the column of the field `label`, else in the first column without numbers. A column that names no
    unit has the unit that `units` has for its field; without `units`, the one in the label of the row.
    """
    columns = read_columns(table, section, fields, notes)
    used = {column.position for field, column in columns.items() if field != "label"}
    where = columns.pop("label").position if "label" in columns else min({*range(len(used) + 1)} - used)
    rows: dict[str, dict[str, float | None]] = {}
    names: set[str] = set()
    for cells in notes.first(table.rows, MAX_LABELLED, section):
        label = collapse(cells[where]) if where < len(cells) else ""
        name = identifier(label)
        if not name or name in names or len(label) > MAX_NAME:
            if any(cells):
                again = f"{label!r}: a second row with this name" if name in names else excerpt(cells)
                notes.refuse(section, f"row {again}")
            continue
        names.add(name)
        rows[label] = {}
        for field, column in columns.items():
            unit = column.unit
            if unit is PLAIN:
                unit = read_label(label).unit if units is None else units.get(field, PLAIN)
            if column.position < len(cells):
                try:
                    rows[label][field] = number(cells[column.position], unit)
                except QuantityUnreadable:
                    notes.refuse(section, f"cell {cells[column.position]!r} of row {label!r}")
    return rows
