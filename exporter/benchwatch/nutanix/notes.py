"""What was understood of a page, and what was not: for the counter of unrecognised rows and for `nutanix check`."""

from typing import NamedTuple

MAX_TEXT = 200


class Unrecognised(NamedTuple):
    """A row, column, cell or table that was left out. `section` is one of a small set of constants (a label value)."""

    section: str
    text: str


class Notes:
    """Collects while a page is read."""

    def __init__(self) -> None:
        self.recognised: dict[str, tuple[str, ...]] = {}
        """By section, in the page's order: the labels of the columns or rows that were understood."""
        self.unrecognised: list[Unrecognised] = []

    def found(self, section: str, *labels: str) -> None:
        """The section is on the page, with these labels."""
        self.recognised[section] = (*self.recognised.get(section, ()), *labels)

    def refuse(self, section: str, text: str) -> None:
        """Something in this section (empty: outside any known one) is left out."""
        self.unrecognised.append(
            Unrecognised(section or "other", text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "...")
        )
