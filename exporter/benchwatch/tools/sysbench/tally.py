"""Counters that are summed up from rates: rate x the time since the line before.

sysbench divides by the true length of an interval and prints elapsed time rounded to a second, so a sum over the
printed times is off by what the last line's time is, at most half a second, and by less for each change of the rate.
Half a second at the highest rate is held back therefore. The final report gives the exact number.
"""

_ROUNDING = 0.5
"""Seconds."""


class Tally:
    """One counter; it never goes back."""

    def __init__(self) -> None:
        self.total = 0
        self._sum = 0.0
        self._highest = 0.0

    def add(self, rate: float, seconds: float) -> None:
        """Take in an interval."""
        self._sum += rate * seconds
        self._highest = max(self._highest, rate)
        self.settle(self._sum - _ROUNDING * self._highest)

    def settle(self, total: float) -> None:
        """It is at least this."""
        self.total = max(self.total, int(total))
