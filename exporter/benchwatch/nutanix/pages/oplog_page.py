"""The page `/oplog_flush_stats`: how full the oplog is.

Public programs that wait for an empty oplog show all that is known. A row that begins with `Total` has three cells for
the oplog, then three for the LWS: used, capacity (of unknown unit) and utilisation (`0.0`, a percentage or a ratio). So
the utilisation is calculated as used / capacity, and left out if the third cell agrees neither as a percentage nor as a
ratio.
"""

from dataclasses import dataclass, field

from .. import families as f
from ..families import Series
from .columns import excerpt
from .quantities import NO_VALUE, QuantityUnreadable, number
from .tables import Notes, read_tables

SECTION = "oplog_flush_stats"


@dataclass
class OplogPage(Notes):
    """Utilisation (0 to 1) of each store: oplog, lws. `recognised` is empty if there is no row of totals."""

    values: dict[Series, float] = field(default_factory=dict)


def read_oplog_page(html: bytes) -> OplogPage:
    """Read the page. Never raises."""
    page = OplogPage()
    rows = [row for table in read_tables(html, page) for row in table.rows]
    totals = [row[1:] for row in rows if row[0].lower().rstrip(" :") == "total"]
    for store, start in (("oplog", 0), ("lws", 3)) if totals else ():
        cells = totals[-1][start : start + 3]
        page.found(SECTION)
        try:
            if not cells or not NO_VALUE.intersection(cells):
                page.values[f.OPLOG_UTILISATION, (store,)] = _ratio(*cells)
                page.found(SECTION, f"{store}: {' | '.join(cells)}")
        except (QuantityUnreadable, TypeError):  # or not three cells
            page.refuse(SECTION, f"cells {excerpt(cells)} of {store!r}")
    return page


def _ratio(used: str, capacity: str, printed: str) -> float:
    """The utilisation. Raises QuantityUnreadable if the three cells do not agree."""
    text = printed.removesuffix("%").strip()
    first, second, third = number(used) or 0, number(capacity), number(text) or 0
    if not second:
        raise QuantityUnreadable(capacity)
    ratio = first / second
    last_digit = 10.0 ** -len(text.partition(".")[2])
    if abs(100 * ratio - third) > last_digit and (printed != text or abs(ratio - third) > last_digit):
        raise QuantityUnreadable(printed)
    return ratio
