"""Names of runs and workers: they come from the names of files and folders, and become labels.

A file name is a sequence of bytes. As a label it is text that can be printed, and another label for every other name:

- a backslash is doubled;
- a byte that is not UTF-8, and a character that cannot be printed, become an escape, `\\xff` or `\\n` (`printable`).

All other names stay as they are.
"""

import os
import re

from .printable import printable

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_EXPECTED = "expected 1 to 128 letters, digits, '.', '_' or '-', and no '.' at the start"


def check_name(what: str, name: str) -> str:
    """The name of a run or worker, if it can be one. Raises ValueError with a sentence."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name[:200]!r} cannot be used as a name: {_EXPECTED}")
    return name


def label(name: str | os.PathLike[str]) -> str:
    """The label of a file or folder name, or path, as Python decodes it (PEP 383): a different one for each name."""
    return printable(os.fspath(name).replace("\\", "\\\\"))
