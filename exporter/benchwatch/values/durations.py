"""Durations as people write them: a number of seconds, or text such as `500ms`, `10s`, `5m`, `2h`, `1d`.

Also moments in Unix seconds. Both are finite and within a range that makes sense for a benchmark.
"""

import re

from .errors import excerpt

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TEXT = re.compile(r"\s*([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})\s*([a-zµ]{0,2})\s*")
_LONGEST = 1e9
_EARLIEST, _LATEST = 1e9, 1e10

EXPECTED = "a duration such as 500ms, 10s or 5m"


class Duration(float):
    """Seconds, read from a number or a text with a unit."""

    @classmethod
    def read(cls, value: object) -> "Duration":
        """Seconds. Raises ValueError with what was expected for anything but a duration of 0 to 10^9 seconds."""
        seconds = None
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value
        elif isinstance(value, str) and len(value) < 100 and (match := _TEXT.fullmatch(value)):
            unit = UNITS.get(match[2] or "s")
            seconds = None if unit is None else round(float(match[1]) * unit, 12)
        if seconds is None or not 0 <= seconds <= _LONGEST:
            raise ValueError(f"expected {EXPECTED}, got {excerpt(value)}")
        return cls(seconds)


class PointInTime(float):
    """Unix seconds."""

    @classmethod
    def read(cls, value: object) -> "PointInTime":
        """Unix seconds. Raises ValueError for anything but a number of seconds with ten digits before the point."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not _EARLIEST <= value < _LATEST:  # type: ignore[operator]
            raise ValueError(f"expected Unix seconds such as 1790000000.5, got {excerpt(value)}")
        return cls(value)  # type: ignore[arg-type]
