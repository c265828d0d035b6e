"""Records as CSV (RFC 4180, lines end with a line feed), for spreadsheets, pandas and shells.

Names from outside cannot become formulas: a text that a spreadsheet would compute gets an apostrophe in front
(https://owasp.org/www-community/attacks/CSV_Injection). Numbers have all their digits; an empty cell was not measured.
"""

import csv
import io
from collections.abc import Iterable, Mapping

from ..values.printable import printable

Value = str | float | int | bool | None
_COMPUTED = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")


def records(rows: Iterable[Mapping[str, Value]]) -> str:
    """A head with the names of the columns, in the order of the first record, and a line for each record.

    A missing value is an empty cell.
    """
    every = list(rows)
    columns = dict.fromkeys(column for row in every for column in row)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in every)
    return written.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = printable(value)
        return f"'{text}" if text.startswith(_COMPUTED) else text
    return repr(value)
