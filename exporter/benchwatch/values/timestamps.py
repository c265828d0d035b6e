"""Reads and writes moments in the forms that people use.

2026-11-22T18:00:00+01:00   RFC 3339, with a zone; a space may replace the T, and seconds may be missing
18:00, 18:00:30             today, by this machine's local time
+90s, +5m                   a duration from now on
1790000000.5                Unix seconds
"""

import re
from datetime import datetime, time, timedelta

from .durations import Duration, PointInTime
from .errors import excerpt

EXPECTED = "a time such as 18:00, 2026-11-22T18:00:00+01:00, +90s or 1790000000 (Unix seconds)"


def read_moment(text: str, now: float) -> float:
    """Unix seconds. Raises ValueError with a sentence unless the text is one moment, and that is after `now`."""
    word, hint, has_zone = text.strip().upper(), "", True
    try:
        if word.startswith("+"):
            found = now + Duration.read(text.strip()[1:])
        elif ":" not in word:
            found = float(PointInTime.read(float(word)))
        elif "-" in word:
            moment = datetime.fromisoformat(word)
            has_zone, found = moment.tzinfo is not None, moment.timestamp()
        else:
            clock = time.fromisoformat(re.sub(r"^(\d):", r"0\1:", word))
            moment = datetime.combine(datetime.fromtimestamp(now), clock)
            found = moment.timestamp()
            hint = f"; if tomorrow is meant, write {shown_moment((moment + timedelta(days=1)).timestamp())}"
        if found > now:
            PointInTime.read(found)
    except (ValueError, OverflowError):
        raise ValueError(f"expected {EXPECTED}, got {excerpt(text)}") from None
    if not has_zone:
        raise ValueError(f"{text} has no zone: write {text}Z for UTC, or {shown_moment(found)} for local time")
    if found <= now:
        ago = timedelta(seconds=round(now - found))
        raise ValueError(f"expected a time in the future; {text} was {ago} ago{hint}")
    return found


def shown_moment(moment: float) -> str:
    """Unix seconds as local time with its zone, in a form that read_moment reads: 2026-11-22T18:00:00+01:00."""
    local = datetime.fromtimestamp(moment).astimezone()
    return local.isoformat(timespec="milliseconds" if local.microsecond else "seconds")
