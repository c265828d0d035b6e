"""The page `/oplog_flush_stats`: how full the oplog is.

Public programs that wait for an empty oplog show all that is known. A row that begins with `Total` has three cells for
the oplog, then three for the LWS: used, capacity (of unknown unit) and utilisation (`0.0`, a percentage or a ratio). So
the utilisation is calculated as used / capacity, and left out if the third cell agrees neither as a percentage nor as a
ratio.
"""

from dataclasses import dataclass

from .columns import excerpt
from .notes import Notes, Unrecognised
from .quantities import NO_VALUE, QuantityUnreadable, number
from .tables import read_tables

SECTION = "oplog_flush_stats"


@dataclass(frozen=True)
class OplogPage:
    """Utilisation (0 to 1) by store: oplog, lws."""

    utilisation: dict[str, float]
    recognised: dict[str, tuple[str, ...]]
    unrecognised: tuple[Unrecognised, ...]


def read_oplog_page(html: bytes) -> OplogPage:
    """Read the page. Never raises. `recognised` is empty if there is no row of totals."""
    notes = Notes()
    utilisation: dict[str, float] = {}
    rows = [row for table in read_tables(html, notes) for row in table.rows if row]
    totals = [row[1:] for row in rows if row[0].lower().rstrip(" :") == "total"]
    if totals:
        notes.found(SECTION)
    for store, start in (("oplog", 0), ("lws", 3)) if totals else ():
        cells = totals[-1][start : start + 3]
        try:
            ratio = _ratio(cells)
        except QuantityUnreadable:
            notes.refuse(SECTION, f"cells {excerpt(cells)} of {store!r}")
            continue
        if ratio is not None:
            utilisation[store] = ratio
            notes.found(SECTION, f"{store}: {' | '.join(cells)}")
    return OplogPage(utilisation, notes.recognised, tuple(notes.unrecognised))


def _ratio(cells: list[str]) -> float | None:
    """The utilisation, None if a cell has no value. Raises QuantityUnreadable if the three cells do not agree."""
    if len(cells) != 3:
        raise QuantityUnreadable(excerpt(cells))
    if NO_VALUE.intersection(cells):
        return None
    text = cells[2].removesuffix("%").strip()
    used, capacity, printed = map(number, (cells[0], cells[1], text))
    if used is None or printed is None or not capacity:
        raise QuantityUnreadable(excerpt(cells))
    ratio = used / capacity
    last_digit = 10.0 ** -len(text.partition(".")[2])
    if abs(100 * ratio - printed) > last_digit and (cells[2] != text or abs(ratio - printed) > last_digit):
        raise QuantityUnreadable(excerpt(cells))
    return ratio
