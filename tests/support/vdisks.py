"""Tables of vdisks, row by row."""

from benchwatch.nutanix.pages.main_page import VdiskTable


def row_values(table: VdiskTable, row: int) -> dict[str, float]:
    """The numbers of one row by field, without those that have no value."""
    values = ((name, numbers[row]) for name, numbers in table.numbers.items())
    return {name: value for name, value in values if value is not None}
