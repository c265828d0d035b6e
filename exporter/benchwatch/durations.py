"""Durations as people write them: a number of seconds, or text such as `500ms`, `10s`, `5m`, `2h`, `1d`."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TEXT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zµ]*)\s*")

EXPECTED = "a duration such as 500ms, 10s or 5m"


class Duration(float):
    """Seconds, read from a number or a text with a unit."""

    @classmethod
    def read(cls, value: object) -> "Duration":
        """Seconds. Raises ValueError, saying what was expected, for anything that is not a duration of 0 or more."""
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return cls(value)
        match = _TEXT.fullmatch(value) if isinstance(value, str) else None
        if not match or (match[2] or "s") not in _UNITS:
            raise ValueError(f"expected {EXPECTED}, got {value!r}")
        return cls(round(float(match[1]) * _UNITS[match[2] or "s"], 12))
