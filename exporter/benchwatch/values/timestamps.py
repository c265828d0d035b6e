"""Reads and writes moments in the forms that people use.

2026-11-22T18:00:00+01:00   RFC 3339, with a zone; a space may replace the T, and seconds may be missing
18:00, 18:00:30             today, by this machine's local time
+90s, +5m                   a duration from now on
1790000000.5                Unix seconds
"""

import re
from datetime import datetime, timedelta

from .durations import Duration, PointInTime
from .errors import excerpt

_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_TIME = re.compile(r"\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,9})?", re.ASCII)

EXPECTED = "a time such as 18:00, 2026-11-22T18:00:00+01:00, +90s or 1790000000 (Unix seconds)"


def read_moment(text: str, now: float) -> float:
    """Unix seconds. Raises ValueError with a sentence unless the text is one moment, and that is after `now`."""
    written = text.strip().upper()
    hint = ""
    try:
        if date := _DATE.fullmatch(written):
            moment = datetime.fromisoformat(written)
            if not date[1]:
                raise _Ambiguous(
                    f"{text} has no zone: write {text}Z for UTC, or {shown_moment(moment.timestamp())} for local time"
                )
            found = moment.timestamp()
        elif _TIME.fullmatch(written):
            today = datetime.fromtimestamp(now).date()
            moment = datetime.fromisoformat(f"{today}T{written.rjust(len(written) + (written[1] == ':'), '0')}")
            found = _local(moment, text)
            hint = f"; if tomorrow is meant, write {shown_moment((moment + timedelta(days=1)).timestamp())}"
        elif written.startswith("+"):
            found = now + Duration.read(text.strip()[1:])
        elif _NUMBER.fullmatch(written):
            found = float(PointInTime.read(float(written)))
        else:
            raise ValueError
        if found > now:
            PointInTime.read(found)
    except _Ambiguous as error:
        raise ValueError(str(error)) from None
    except (ValueError, OverflowError):
        raise ValueError(f"expected {EXPECTED}, got {excerpt(text)}") from None
    if found <= now:
        ago = timedelta(seconds=round(now - found))
        raise ValueError(f"expected a time in the future; {text} was {ago} ago{hint}")
    return found


class _Ambiguous(ValueError):
    """The text stands for no moment, or for more than one; the message says why."""


def _local(moment: datetime, text: str) -> float:
    """The moment at which local clocks show this time. Raises ValueError if they skip it or show it twice."""
    first, second = moment.timestamp(), moment.replace(fold=1).timestamp()
    if datetime.fromtimestamp(first) != moment:
        raise _Ambiguous(f"{text} does not exist today: clocks skip it")
    if first != second:
        both = " or ".join(shown_moment(each) for each in (first, second))
        raise _Ambiguous(f"{text} occurs twice today, because clocks are set back: write {both}")
    return first


def shown_moment(moment: float) -> str:
    """Unix seconds as local time with its zone, in a form that read_moment reads: 2026-11-22T18:00:00+01:00."""
    local = datetime.fromtimestamp(moment).astimezone()
    return local.isoformat(timespec="milliseconds" if local.microsecond else "seconds")
