"""Labels with units, and cells with numbers, as the pages of a CVM print them.

A unit is in the label: in parentheses (`Usage (GB)`), as the name of a group (`KB/s` over `Read | Write`), or bare
(`% busy`, `Oplog | KB`); some cells carry their own (`3220 MB`, `86.17%`). KB is 1024 bytes: 8768 KB/s at 2192
operations a second of 4096 bytes. No value is an empty cell, a non-breaking space, `-` or `N/A`. Percentages come with
and without their sign.
"""

import re
from typing import Literal, NamedTuple

from ...values.printable import printable
from .tables import collapse

Dimension = Literal["", "bytes", "bytes/s", "ops/s", "seconds", "ratio"]

NO_VALUE = frozenset(("", "-", "--", "N/A", "n/a", "NA", "None"))
LARGEST = 2**64
"""No program prints a greater number: numbers have at most 64 bits."""
MAX_NAME = 500
"""Characters of a name or version that becomes a label's value."""


class PrintedUnit(NamedTuple):
    """A number in this unit times `multiply`, divided by `divide`, is in base units (`dimension`).

    Two factors, because 104 / 1e6 is the nearest number to 0.000104 and 104 * 1e-6 is not.
    """

    dimension: Dimension
    multiply: float = 1
    divide: float = 1

    @property
    def largest(self) -> float:
        """The greatest number that a page can show, in base units; a part of a whole is at most 1."""
        return 1 if self.dimension == "ratio" else LARGEST * self.multiply / self.divide


_BY_NAMES = {
    "%": PrintedUnit("ratio", 1, 100),
    "ns nsec nsecs": PrintedUnit("seconds", 1, 1e9),
    "us µs μs usec usecs microseconds": PrintedUnit("seconds", 1, 1e6),
    "ms msec msecs milliseconds": PrintedUnit("seconds", 1, 1e3),
    "s sec secs second seconds": PrintedUnit("seconds"),
    "b byte bytes": PrintedUnit("bytes"),
    "b/s byte/s bytes/s": PrintedUnit("bytes/s"),
}
for _power, _prefix in enumerate(("", "k", "m", "g", "t")):
    _OPERATIONS = ("io/s", "ios/s", "iops", "op/s", "ops/s")
    _BY_NAMES[" ".join(_prefix + name for name in _OPERATIONS)] = PrintedUnit("ops/s", 1000**_power)
    if _prefix:
        _BY_NAMES[f"{_prefix}b {_prefix}ib"] = PrintedUnit("bytes", 1024**_power)
        _BY_NAMES[f"{_prefix}b/s {_prefix}ib/s"] = PrintedUnit("bytes/s", 1024**_power)
UNITS = {name: unit for names, unit in _BY_NAMES.items() for name in names.split()}
PLAIN = PrintedUnit("")
BYTES, MICROSECONDS, PERCENT = UNITS["b"], UNITS["usec"], UNITS["%"]

_BARE = {name for name, unit in UNITS.items() if unit.dimension in ("bytes/s", "ops/s", "ratio")} | {
    "kb",
    "mb",
    "gb",
    "tb",
}
"""Units that are understood without parentheses; `s` or `ms` could easily be another word."""
_BITS = re.compile(r"[kKmMgGtT]b(/s)?")
"""Kilobits or kilobytes: nobody can tell."""
_SORTED = re.compile(r"[\u2190-\u21ff\u25b2-\u25c5]")
"""Arrows in the label of a column by which the page is sorted."""
_NUMBER = re.compile(r"(\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,2})?)\s*([^\d\s].*)?", re.ASCII)


class QuantityUnreadable(Exception):
    """A cell that is neither a number nor a sign for no value, or an invalid name."""


def label_value(text: str) -> str:
    """A cell's text as the value of a metric's label: one line of printable characters.

    Raises QuantityUnreadable if it is longer than MAX_NAME.
    """
    if len(text) > MAX_NAME:
        raise QuantityUnreadable(text[:MAX_NAME])
    return printable(collapse(text))


class Label(NamedTuple):
    """The words of a label in lower case, and its unit (PLAIN if it names none). `unknown` is a unit not known."""

    words: str
    unit: PrintedUnit = PLAIN
    unknown: str = ""


def read_label(text: str) -> Label:
    """The label of a row or a column; that of a column in a group follows the group's."""
    unit, unknown = PLAIN, ""
    words: list[str] = []
    for part in re.findall(
        r"\([^()]*\)|[^\s()]+|[()]", collapse(_SORTED.sub("", text).replace("%", " % ")).rstrip(" :")
    ):
        name = part.strip("( )")
        if part[0] != "(" or not name:
            words.append(part)
        elif unit is PLAIN and (known := _unit(name)):
            unit = known
        else:
            unknown = unknown or name.lower()
    bare = next((word for word in words if word.lower() in _BARE or word.endswith("/s")), "") if unit is PLAIN else ""
    if bare:
        words.remove(bare)
        unit = _unit(bare) or PLAIN
        unknown = unknown or ("" if _unit(bare) else bare.lower())
    return Label(" ".join(words).lower(), unit, unknown)


def _unit(name: str) -> PrintedUnit | None:
    return None if _BITS.fullmatch(name) else UNITS.get(name.lower())


def number(text: str, unit: PrintedUnit = PLAIN, largest: float | None = None) -> float | None:
    """The number in a stripped cell, in base units; None for no value.

    A unit in the cell overrides `unit` if it has the same dimension. Raises QuantityUnreadable unless the text is a
    number that a program can print: not negative, and not greater than `largest`, by default of its unit.
    """
    if text in NO_VALUE:
        return None
    match = _NUMBER.fullmatch(text)
    own = _unit(match[2]) if match and match[2] else unit
    if match is None or own is None or own.dimension != unit.dimension:
        raise QuantityUnreadable(text)
    value = float(match[1]) * own.multiply / own.divide
    if value > (own.largest if largest is None else largest):
        raise QuantityUnreadable(text)
    return value
