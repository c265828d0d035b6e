"""Names of runs and workers: they become names of folders and files."""

import re

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_EXPECTED = "expected 1 to 128 letters, digits, '.', '_' or '-', and no '.' at the start"


def check_name(what: str, name: str) -> str:
    """The name of a run or worker, if it can be one. Raises ValueError with a sentence."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name[:200]!r} cannot be used as a name: {_EXPECTED}")
    return name
