"""What was understood of a page, and what was not: for the counter of unrecognised rows and for `nutanix check`."""

from collections import Counter
from typing import NamedTuple

MAX_TEXT = 200
MAX_TEXTS = 200
"""Texts that are kept per section; further ones are only counted."""


class Unrecognised(NamedTuple):
    """A row, column, cell or table that was left out, or several (`times`).

    `section` is one of a small set of constants (a label value).
    """

    section: str
    text: str
    times: int = 1


class Notes:
    """Collects what is recognised and what is left out while a page is read."""

    def __init__(self) -> None:
        self.recognised: dict[str, tuple[str, ...]] = {}
        """The labels of the columns or rows that were understood, by section, in the page's order."""
        self._kept: list[Unrecognised] = []
        self._texts: Counter[str] = Counter()
        self._more: Counter[str] = Counter()

    def found(self, section: str, *labels: str) -> None:
        """Note that the section is on the page, with these labels."""
        self.recognised[section] = (*self.recognised.get(section, ()), *labels)

    def refuse(self, section: str, text: str, times: int = 1) -> None:
        """Note that something in this section (empty: outside any known section) is left out."""
        section = section or "other"
        if self._texts[section] >= MAX_TEXTS:
            self._more[section] += times
            return
        self._texts[section] += 1
        text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "..."
        self._kept.append(Unrecognised(section, text, times))

    def first(self, rows: list[list[str]], most: int, section: str) -> list[list[str]]:
        """The first rows; those after them are left out and noted."""
        if len(rows) > most:
            self.refuse(section, f"{len(rows) - most} rows after the first {most}", len(rows) - most)
        return rows[:most]

    @property
    def unrecognised(self) -> list[Unrecognised]:
        """All that was left out, in the page's order; one entry per section for all after MAX_TEXTS."""
        return [*self._kept, *(Unrecognised(section, f"{n} more", n) for section, n in self._more.items())]
