"""When the parts of recorded streams were written, as events in order."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..tools.api import Moment

STEP = 1.0
"""Seconds."""


class Event(NamedTuple):
    """Output that was written at one moment."""

    time: float
    """Unix seconds."""
    offsets: dict[str, int]
    """The bytes that each of the streams with new output held by then."""


def in_order(found: Sequence[Moment], start: float, least: float) -> list[Moment]:
    """The moments in Unix time and in order, none before `least`; `start`: when the run began.

    If the clock goes back, as it may between two runs in one file, moments later than those that
    follow are left out, and the next moment dates their output. A final moment leaves out no other:
    it depends on the start, which may come from another clock, that of a file server.
    """
    times = [max(least, moment.time + start * moment.elapsed) for moment in found]
    own = [math.inf if one.final else time for one, time in zip(found, times, strict=True)]
    earliest = reversed([*accumulate(reversed(own), min)])  # of each moment and those that follow
    kept = [(moment, time) for moment, time, first in zip(found, times, earliest, strict=True) if time - first < STEP]
    in_turn = accumulate((time for _, time in kept), max)
    return [moment._replace(time=time, elapsed=False) for (moment, _), time in zip(kept, in_turn, strict=True)]


def merged(found: Mapping[str, Sequence[Moment]]) -> list[Event]:
    """The moments of all streams as events, one for each time; each final moment after the others."""
    events: list[Event] = []
    for time, final, name, offset in sorted(
        (one.time, one.final, name, one.offset) for name, each in found.items() for one in each
    ):
        if not events or events[-1].time != time or name in events[-1].offsets or final:
            events.append(Event(time, {}))
        events[-1].offsets[name] = offset
    return events
