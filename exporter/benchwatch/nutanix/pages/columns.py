"""Reads the columns of a table: finds the field of each column by its label, and turns its cells into numbers.

A column is recognised by the words of its label and the dimension of its unit, in any position. A column with an
unknown label or unit is left out and noted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar, get_args

from ...metrics.samples import Family
from ..families import Series
from .notes import Notes
from .quantities import BYTES, MAX_NAME, PLAIN, Dimension, PrintedUnit, QuantityUnreadable, number, read_label
from .tables import PageTable, collapse, identifier

MAX_LABELLED = 64
"""Rows that are read of a table with labelled rows; each may become a series."""

_Field = TypeVar("_Field")

Fields = Mapping[tuple[str, Dimension], _Field]
"""What columns become, by label: (words in lower case, dimension of the unit)."""


def text_columns(fields: Mapping[str, str]) -> Fields[str]:
    """Columns of texts by the words of their labels: whatever unit a label names."""
    return {(words, dimension): field for words, field in fields.items() for dimension in get_args(Dimension)}


class VdiskColumn(NamedTuple):
    """A column of a table of vdisks: its family, and the values of the labels after `vdisk`."""

    family: Family
    labels: tuple[str, ...] = ()
    bytes: Family | None = None
    """The family of the second number in cells such as `2, 8KB`: 2 operations, together of 8 KB."""
    of_time: bool = False
    """See PrintedUnit."""
    average_of: tuple[Series, ...] = ()
    """The rates of what it is an average of: 0 is no measurement unless one of them is above 0."""

    def __str__(self) -> str:
        """The metric, as in a query."""
        named = zip(self.family.labels[1:], self.labels, strict=False)
        labels = ",".join(f'{name}="{value}"' for name, value in named)
        return f"{self.family.name}{{{labels}}}" if labels else self.family.name


class TableColumn(NamedTuple):
    """Where a column is, and the unit in its label."""

    position: int
    unit: PrintedUnit


def printed(label: tuple[str, str]) -> str:
    """A column's label as a reader of the page sees it."""
    return " / ".join(part for part in label if part)


def read_columns(
    table: PageTable, section: str, fields: Fields[_Field], notes: Notes, ignored: frozenset[str] = frozenset()
) -> dict[_Field, TableColumn]:
    """The columns that are understood, by what they become. Columns with `ignored` words are skipped."""
    columns: dict[_Field, TableColumn] = {}
    names: dict[_Field, str] = {}
    for index, (group, own) in enumerate(table.columns):
        name = printed((group, own))
        label = read_label(group, own)
        unit = label.unit or PLAIN
        field = fields.get((label.words, unit.dimension))
        if label.words in ignored or not name:
            continue
        if label.unknown:
            notes.refuse(section, f"column {name!r}: the unit {label.unknown!r} is not known")
        elif field is None:
            notes.refuse(section, f"column {name!r}")
        elif field in names:
            notes.refuse(section, f"column {name!r}: a second column with this name, so none of them is read")
            columns.pop(field, None)
        else:
            names[field] = name
            columns[field] = TableColumn(index, unit)
    if columns:
        notes.found(section, *(f"{names[field]}: {field}" for field in columns))
    return columns


def read_numbers(
    table: PageTable, rows: Sequence[int], section: str, columns: Mapping[VdiskColumn, TableColumn], notes: Notes
) -> dict[Series, Sequence[float | None]]:
    """The numbers of these rows by what they become, None for no value. Each row has one cell per column."""
    numbers: dict[Series, Sequence[float | None]] = {}
    by_column = list(zip(*(table.rows[row] for row in rows), strict=True))
    for column, (position, unit) in columns.items():
        texts = by_column[position] if by_column else ()
        unit = unit._replace(of_time=column.of_time)
        numbers |= _numbers(texts, column, unit, section, printed(table.columns[position]), notes)
    for column in columns:
        series = column.family, column.labels
        if column.average_of and 0 in numbers[series]:
            happened = zip(
                numbers[series], *(numbers[rate] for rate in column.average_of if rate in numbers), strict=True
            )
            numbers[series] = [None if row[0] == 0 and not any(row[1:]) else row[0] for row in happened]
    return numbers


def excerpt(cells: list[str]) -> str:
    """The beginning of a row, for a message."""
    return repr(" | ".join(collapse(cell) for cell in cells[:4]))


def _numbers(
    texts: Sequence[str], column: VdiskColumn, unit: PrintedUnit, section: str, label: str, notes: Notes
) -> dict[Series, Sequence[float | None]]:
    series = column.family, column.labels
    try:  # whole numbers only, as in most columns: this is where the time goes on a large page
        values = [int(text) * unit.multiply / unit.divide for text in texts]
    except (ValueError, OverflowError):
        pass
    else:
        digits = "".join(texts)
        if not texts or (digits.isdecimal() and digits.isascii() and max(values) <= unit.largest):
            return {series: values}
    known: dict[str, tuple[float | None, float | None]] = {}
    for text in texts:
        if text not in known:
            try:
                known[text] = _pair(text, unit) if column.bytes else (number(text, unit), None)
            except QuantityUnreadable:
                known[text] = None, None
                notes.refuse(section, f"cell {text!r} under {label!r}")
    first, second = zip(*(known[text] for text in texts), strict=True)
    if column.bytes is None or all(value is None for value in second):
        return {series: first}
    return {series: first, (column.bytes, column.labels): second}


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
    fields: Fields[str],
    notes: Notes,
    ignored: frozenset[str] = frozenset(),
) -> list[tuple[str, dict[str, Cell]]]:
    """Label and cells by field of each row of a table with labelled rows.

    The labels are in the column headed by one of `labels`, else in the first column without numbers.
    """
    fields = {**fields, **text_columns(dict.fromkeys(labels, "label"))}
    columns = read_columns(table, section, fields, notes, ignored)
    numeric = {place.position for field, place in columns.items() if field != "label"}
    first = min(set(range(len(table.columns) + 1)) - numeric)
    where = columns.pop("label", TableColumn(first, PLAIN)).position
    rows: dict[str, tuple[str, dict[str, Cell]]] = {}
    if len(table.rows) > MAX_LABELLED:
        left_out = len(table.rows) - MAX_LABELLED
        notes.refuse(section, f"{left_out} rows after the first {MAX_LABELLED}", left_out)
    for cells in table.rows[:MAX_LABELLED]:
        label = collapse(cells[where]) if where < len(cells) else ""
        name = identifier(label)
        if len(label) > MAX_NAME:
            notes.refuse(section, f"row {label[:MAX_NAME]!r}")
        elif name in rows:
            notes.refuse(section, f"row {label!r}: a second row with this name")
        elif name:
            within = ((field, place) for field, place in columns.items() if place.position < len(cells))
            rows[name] = (label, {field: Cell(cells[place.position], place.unit) for field, place in within})
        elif any(cells):
            notes.refuse(section, f"row {excerpt(cells)}")
    return list(rows.values())
