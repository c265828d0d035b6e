"""What was understood of a page, and what was not: for the counter of unrecognised rows and for `nutanix check`."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_TEXT = 200
MAX_TEXTS = 200
"""Texts that are kept per page; further ones are only counted."""


class Unrecognised(NamedTuple):
    """A row, column, cell or table that was left out, or several. `section` is one of a small set of constants."""

    section: str
    text: str


@dataclass
class Notes:
    """Collects what is recognised and what is left out while a page is read; each page is one."""

    recognised: dict[str, list[str]] = field(default_factory=dict)
    """The labels of the columns or rows that were understood, by section, in the page's order."""
    unrecognised: list[Unrecognised] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """How many rows, columns, cells and tables were left out, by section."""

    def found(self, section: str, *labels: str) -> None:
        """Note that the section is on the page, with these labels."""
        self.recognised.setdefault(section, []).extend(labels)

    def refuse(self, section: str, text: str, times: int = 1) -> None:
        """Note that something in this section (empty: outside any known section) is left out, or several things."""
        section = section or "other"
        self.left_out[section] += times
        if len(self.unrecognised) < MAX_TEXTS:
            text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "..."
            self.unrecognised.append(Unrecognised(section, text))

    def first(self, rows: list[list[str]], most: int, section: str) -> list[list[str]]:
        """The first rows; those after them are left out and noted."""
        if len(rows) > most:
            self.refuse(section, f"{len(rows) - most} rows after the first {most}", len(rows) - most)
        return rows[:most]
