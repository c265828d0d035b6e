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
MAX_NAME = 500
"""Characters of a name or version that becomes a label's value."""
_LARGEST = 2**64
"""No program prints a greater number: numbers have at most 64 bits."""


class PrintedUnit(NamedTuple):
    """A number in this unit times `multiply`, divided by `divide`, is in base units (`dimension`).

    Two factors, because 104 / 1e6 is the nearest number to 0.000104 and 104 * 1e-6 is not.
    """

    dimension: Dimension
    multiply: float = 1
    divide: float = 1

    @property
    def largest(self) -> float:
        """The greatest number that a page can show, in base units."""
        return _LARGEST * self.multiply / self.divide


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
BYTES, GIGABYTES, MICROSECONDS, PERCENT = UNITS["b"], UNITS["gb"], UNITS["usec"], UNITS["%"]

_BARE = {name for name, unit in UNITS.items() if unit.dimension in ("bytes/s", "ops/s", "ratio")}
_BARE |= {"kb", "mb", "gb", "tb"}
"""Units that are understood without parentheses; `s` or `ms` could easily be another word."""
_BITS = re.compile(r"[kKmMgGtT]b(/s)?")
"""Kilobits or kilobytes: nobody can tell."""
_WORD = re.compile(r"\([^()]*\)|[^\s()]+|[()]")
_NUMBER = re.compile(r"(\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,2})?)\s*([^\d\s].*)?", re.ASCII)


class QuantityUnreadable(Exception):
    """A cell that is neither a number nor a sign for no value, or an invalid name."""


class Label(NamedTuple):
    """The words of a label in lower case, and its unit (PLAIN if it names none). `unknown` is a unit not known."""

    words: str
    unit: PrintedUnit = PLAIN
    unknown: str = ""


def label_value(text: str) -> str:
    """A cell's text as the value of a metric's label: one line of printable characters.

    Raises QuantityUnreadable if it is longer than MAX_NAME.
    """
    if len(text) > MAX_NAME:
        raise QuantityUnreadable(text[:MAX_NAME])
    return printable(collapse(text))


def read_label(text: str) -> Label:
    """The label of a row or a column; after `/`, that of a column in a group follows the group's."""
    unit, unknown = PLAIN, ""
    words: list[str] = []
    for word in _WORD.findall(collapse(text.replace("%", " % ")).rstrip(" :")):
        name = word.strip("( )")
        if word == "/":
            continue
        if word[0] != "(" or not name:
            words.append(word)
        elif unit is PLAIN and (known := _unit(name)):
            unit = known
        else:
            unknown = unknown or name.lower()
    bare = next((word for word in words if word.lower() in _BARE or word.endswith("/s")), "") if unit is PLAIN else ""
    if bare:
        words.remove(bare)
        known = _unit(bare)
        unit, unknown = known or PLAIN, unknown or ("" if known else bare.lower())
    return Label(" ".join(words).lower(), unit, unknown)


def _unit(name: str) -> PrintedUnit | None:
    return None if _BITS.fullmatch(name) else UNITS.get(name.lower())


def number(text: str, unit: PrintedUnit = PLAIN, of_a_whole: bool = True) -> float | None:
    """The number in a stripped cell, in base units; None for no value.

    A unit in the cell overrides `unit` if it has the same dimension. Raises QuantityUnreadable unless the text is a
    number that a program can print: neither negative nor of more than 64 bits, and a ratio `of_a_whole` at most 1.
    """
    if text in NO_VALUE:
        return None
    match = _NUMBER.fullmatch(text)
    own = _unit(match[2]) if match and match[2] else unit
    if match is None or own is None or own.dimension != unit.dimension:
        raise QuantityUnreadable(text)
    value = float(match[1]) * own.multiply / own.divide
    if value > (1 if of_a_whole and own.dimension == "ratio" else own.largest):
        raise QuantityUnreadable(text)
    return value
