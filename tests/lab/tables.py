"""Tables of measurements in Markdown, and the sections of the documentation that have them."""

from collections.abc import Sequence
from pathlib import Path


def insert(document: Path, section: str, text: str) -> None:
    """Replace what is between the marks of a section. Raises ValueError if they are not there."""
    begin, end = f"<!-- {section}: written by tests/lab -->", f"<!-- end of {section} -->"
    before, found, rest = document.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{document}: expected the lines {begin!r} and {end!r}")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown, the first one the header."""
    lines = [f"|{'|'.join(row)}|" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])
