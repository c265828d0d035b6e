"""What was understood of a page, and what was not: for the counter of unrecognised rows and for `nutanix check`."""

from collections import Counter
from typing import NamedTuple

MAX_TEXT = 200
MAX_TEXTS = 200
"""How many of one section are kept as texts; the others are only counted."""


class Unrecognised(NamedTuple):
    """A row, column, cell or table that was left out, or so many (`times`).

    `section` is one of a small set of constants (a label value).
    """

    section: str
    text: str
    times: int = 1


class Notes:
    """Collects while a page is read."""

    def __init__(self) -> None:
        self.recognised: dict[str, tuple[str, ...]] = {}
        """By section, in the page's order: the labels of the columns or rows that were understood."""
        self._kept: list[Unrecognised] = []
        self._texts: Counter[str] = Counter()
        self._more: Counter[str] = Counter()

    def found(self, section: str, *labels: str) -> None:
        """The section is on the page, with these labels."""
        self.recognised[section] = (*self.recognised.get(section, ()), *labels)

    def refuse(self, section: str, text: str, times: int = 1) -> None:
        """Something in this section (empty: outside any known one) is left out."""
        section = section or "other"
        if self._texts[section] >= MAX_TEXTS:
            self._more[section] += times
            return
        self._texts[section] += 1
        text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "..."
        self._kept.append(Unrecognised(section, text, times))

    @property
    def unrecognised(self) -> list[Unrecognised]:
        """All that was left out, in the page's order; for each section, what came after MAX_TEXTS in one entry."""
        return [*self._kept, *(Unrecognised(section, f"{n} more", n) for section, n in self._more.items())]
