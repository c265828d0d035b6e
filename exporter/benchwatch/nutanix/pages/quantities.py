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


class PrintedUnit(NamedTuple):
    """A number in this unit times `multiply`, divided by `divide`, is in base units (`dimension`).

    Two factors, because 104 / 1e6 is the nearest number to 0.000104 and 104 * 1e-6 is not.
    """

    dimension: Dimension
    multiply: float = 1
    divide: float = 1
    of_time: bool = False
    """Whether a ratio is the part of an interval spent on something. On a saturated disk it can exceed 1, because it is
    measured with another clock, or summed over operations that overlap."""

    @property
    def largest(self) -> float:
        """The greatest number that a page can show, in base units; a part of a whole is at most 1."""
        return 1 if self.dimension == "ratio" and not self.of_time else LARGEST * self.multiply / self.divide


def _units() -> dict[str, PrintedUnit]:
    units = {
        "%": PrintedUnit("ratio", 1, 100),
        "nsec": PrintedUnit("seconds", 1, 1e9),
        "usec": PrintedUnit("seconds", 1, 1e6),
        "msec": PrintedUnit("seconds", 1, 1e3),
        "sec": PrintedUnit("seconds"),
    }
    for power, prefix in enumerate(("", "k", "m", "g", "t")):
        factor = 1024**power
        for name in (f"{prefix}b", f"{prefix}ib") if prefix else ("b", "byte", "bytes"):
            units[name] = PrintedUnit("bytes", factor)
            units[f"{name}/s"] = PrintedUnit("bytes/s", factor)
    for power, prefix in enumerate(("", "k", "m")):
        for name in ("io/s", "ios/s", "iops", "op/s", "ops/s"):
            units[prefix + name] = PrintedUnit("ops/s", 1000**power)
    for name, others in {
        "nsec": ("ns", "nsecs"),
        "usec": ("us", "µs", "μs", "usecs", "microseconds"),
        "msec": ("ms", "msecs", "milliseconds"),
        "sec": ("s", "secs", "second", "seconds"),
    }.items():
        units |= dict.fromkeys(others, units[name])
    return units


UNITS = _units()
PLAIN = PrintedUnit("")
BYTES = UNITS["b"]
MICROSECONDS = UNITS["usec"]
PERCENT = UNITS["%"]

_BARE = frozenset(name for name, unit in UNITS.items() if unit.dimension in ("bytes/s", "ops/s", "ratio")) | {
    f"{prefix}b" for prefix in "kmgt"
}
"""Units that are understood without parentheses; `s` or `ms` could easily be another word."""

_BITS = re.compile(r"[kKmMgGtT]b(/s)?")
"""Kilobits or kilobytes: nobody can tell."""
_SORTED = re.compile(r"[\u2190-\u21ff\u25b2-\u25c5]")
"""Arrows in the label of a column by which the page is sorted."""

_NUMBER = re.compile(r"(\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,2})?)\s*([^\d\s].*)?", re.ASCII)


MAX_NAME = 500
"""Characters of a name or version that becomes a label's value."""


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
    """The words of a label in lower case, and its unit, None if it names none. `unknown` is a unit not known."""

    words: str
    unit: PrintedUnit | None = None
    unknown: str = ""


def read_label(group: str, own: str = "") -> Label:
    """The label of a column (its group and its own label) or of a row."""
    text = collapse(_SORTED.sub("", f"{group} {own}").replace("%", " % ")).rstrip(" :")
    unit: PrintedUnit | None = None
    unknown = ""
    words: list[str] = []
    for part in re.findall(r"\([^()]*\)|[^\s()]+|[()]", text):
        name = part.strip("( )")
        if part[0] == "(" and name:
            known = _unit(name)
            if unit is None and known:
                unit = known
            else:
                unknown = unknown or name.lower()
        else:
            words.append(part)
    if unit is None:
        for index, word in enumerate(words):
            if word.lower() in _BARE or word.endswith("/s"):
                unit = _unit(word)
                unknown = unknown or ("" if unit else word.lower())
                del words[index]
                break
    return Label(" ".join(words).lower(), unit, unknown)


def _unit(name: str) -> PrintedUnit | None:
    return None if _BITS.fullmatch(name) else UNITS.get(name.lower())


def number(text: str, unit: PrintedUnit = PLAIN) -> float | None:
    """The number in a stripped cell, in base units; None for no value.

    A unit in the cell overrides `unit` if it has the same dimension. Raises QuantityUnreadable unless the text is a
    number that a program can print: not negative, and not greater than the largest of its unit.
    """
    if text.isdecimal() and text.isascii() and len(text) < 16:  # nearly every cell: exact in a float
        value = int(text) * unit.multiply / unit.divide
        if value > unit.largest:
            raise QuantityUnreadable(text)
        return value
    if text in NO_VALUE:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise QuantityUnreadable(text)
    own = match[2]
    if own is not None:
        known = _unit(own)
        if known is None or known.dimension != unit.dimension:
            raise QuantityUnreadable(text)
        unit = known._replace(of_time=unit.of_time)
    value = float(match[1]) * unit.multiply / unit.divide
    if value > unit.largest:
        raise QuantityUnreadable(text)
    return value
