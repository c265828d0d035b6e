"""Counters that are summed up from rates: rate x the time since the line before.

sysbench divides by the true length of an interval and prints elapsed time rounded to a second, so a sum over the
printed times is off by what the last line's time is, at most half a second, and by less for each change of the rate.
Half a second at the highest rate is held back therefore: the counter is behind, never ahead, and the final report,
which gives the exact number, never sets it back.
"""

_ROUNDING = 0.5
"""Seconds."""


class Tally:
    """One counter."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._highest = 0.0
        self._shown = 0
        self._exact: int | None = None

    def add(self, rate: float, seconds: float) -> None:
        """Take in an interval."""
        self._sum += rate * seconds
        self._highest = max(self._highest, rate)
        self._shown = max(self._shown, int(self._sum - _ROUNDING * self._highest))

    def settle(self, total: int) -> None:
        """The number is known, and is this."""
        self._exact = total

    @property
    def total(self) -> int:
        """So far."""
        return self._shown if self._exact is None else self._exact
