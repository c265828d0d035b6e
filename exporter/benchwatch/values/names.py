"""Names of runs and workers: names of files and folders, which become labels.

A file name is a sequence of bytes. Its label is printable text, and no two names have the same label:

- a backslash is doubled;
- a byte that is not UTF-8, or a character that cannot be printed, becomes an escape, `\\xff` or `\\n` (`printable`).

All other names stay as they are.
"""

import os
import re

from .printable import printable

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_NUMBER = re.compile(r"(\d+)")
_EXPECTED = "expected 1 to 128 letters, digits, '.', '_' or '-', and no '.' at the start"


def check_name(what: str, name: str) -> str:
    """Returns the name of a run or worker. Raises ValueError with a sentence if it is not valid."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name[:200]!r} cannot be used as a name: {_EXPECTED}")
    return name


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key for names that compares the numbers in them by value: db2 before db10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(name)]


def label(name: str | os.PathLike[str]) -> str:
    """The label of the name or path of a file or folder, as Python decodes it (PEP 383)."""
    return printable(os.fspath(name).replace("\\", "\\\\"))
