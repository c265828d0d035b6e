"""Names of runs and workers: they come from the names of files and folders, and become labels.

A file name is a sequence of bytes. As a label it is text that can be printed, and another label for every other name:

- a backslash is doubled;
- a byte that is not UTF-8 becomes `\\xff`;
- a character that cannot be printed (control characters, line ends, directions of writing) becomes `\\u000a` or
  `\\U000e0001`.

All other names stay as they are.
"""

import os
import re

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


def printable(text: str) -> str:
    """The text with what cannot be printed or is not UTF-8 written as in a label; backslashes stay."""
    return text if text.isprintable() else "".join(map(_character, text))


def _character(char: str) -> str:
    code = ord(char)
    if char.isprintable():
        return char
    if 0xDC80 <= code <= 0xDCFF:  # how Python decodes a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
