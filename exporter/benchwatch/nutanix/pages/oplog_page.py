"""The page `/oplog_flush_stats`: how full the oplog is.

All that is known, from public programs that wait for it to be empty: in a row that begins with `Total`, three cells are
of the oplog, then three of the LWS: used, capacity (no unit is told), utilisation (`0.0`, no sign is told). So the
utilisation is taken as used / capacity, and only if the third cell agrees, as a percentage or as a ratio.
"""

from dataclasses import dataclass

from .columns import excerpt
from .notes import Notes, Unrecognised
from .quantities import NO_VALUE, QuantityUnreadable, number
from .tables import read_tables

SECTION = "oplog_flush_stats"
_STORES = ("oplog", "lws")


@dataclass(frozen=True)
class OplogPage:
    """Utilisation (0 to 1) by store: oplog, lws."""

    utilisation: dict[str, float]
    recognised: dict[str, tuple[str, ...]]
    unrecognised: tuple[Unrecognised, ...]


def read_oplog_page(html: bytes) -> OplogPage:
    """Reads the page; never raises. Without a row of totals, `recognised` is empty."""
    notes = Notes()
    utilisation: dict[str, float] = {}
    rows = [
        row
        for table in read_tables(html, notes)
        for row in table.rows
        if row and row[0].lower().rstrip(" :") == "total"
    ]
    if rows:
        cells = rows[-1][1:]
        notes.found(SECTION)
        for index, store in enumerate(_STORES):
            part = cells[3 * index : 3 * index + 3]
            try:
                ratio = _ratio(part)
            except QuantityUnreadable:
                notes.refuse(SECTION, f"cells {excerpt(part)} of {store!r}")
                continue
            if ratio is not None:
                utilisation[store] = ratio
                notes.found(SECTION, f"{store}: {' | '.join(part)}")
    return OplogPage(utilisation, notes.recognised, tuple(notes.unrecognised))


def _ratio(cells: list[str]) -> float | None:
    """None where a cell has no value; Unreadable where the three do not agree."""
    if len(cells) != 3:
        raise QuantityUnreadable(excerpt(cells))
    if NO_VALUE.intersection(cells):
        return None
    told_text = cells[2].removesuffix("%").strip()
    used, capacity, told = number(cells[0]), number(cells[1]), number(told_text)
    if used is None or told is None or not capacity:
        raise QuantityUnreadable(excerpt(cells))
    ratio = used / capacity
    last_digit = 10.0 ** -len(told_text.partition(".")[2])
    if abs(100 * ratio - told) > last_digit and (cells[2] != told_text or abs(ratio - told) > last_digit):
        raise QuantityUnreadable(excerpt(cells))
    return ratio
