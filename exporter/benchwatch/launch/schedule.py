"""`--at`: a prepared benchmark waits for its start.

It waits by the wall clock and in short steps, because somebody may set the clock, and the machine may sleep.
"""

import signal
import time

from ..machine.clock import clock_error
from ..values import numbers
from ..values.errors import UserError
from ..values.timestamps import shown_moment
from . import child

_STEP = 0.5
_LATEST = 10.0
"""Seconds after the moment within which the benchmark still starts."""
_SET = 0.05
"""Smallest change of the clock, in seconds, that a sentence mentions."""


class Schedule:
    """The start of a benchmark at a moment, Unix seconds."""

    def __init__(self, at: float) -> None:
        self.at = at
        self._ahead = _ahead()
        self._has_terminal = child.has_terminal()

    def announcement(self) -> str:
        """A sentence about what the launcher waits for."""
        left = numbers.duration(max(0.0, self.at - time.time()))
        off = clock_error()
        clock = "not synchronised according to the kernel: it may be off by any amount"
        if off is not None:
            clock = f"off by {numbers.latency(off)} at most"
        return f"starts at {shown_moment(self.at)}, in {left}; this machine's clock is {clock}"

    def wait(self) -> None:
        """Return at the moment; signals are held (see child).

        Raises UserError if the moment has passed already, if it is long past when the wait ends, or if a signal ends
        the wait.
        """
        if (over := time.time() - self.at) > 0:
            late = f"{numbers.duration(over)} after {shown_moment(self.at)}"
            raise UserError(f"--at: the benchmark was prepared {late}: nothing was started; choose a later time")
        while (left := self.at - time.time()) > 0:
            received = signal.sigtimedwait(child.PASSED_ON, min(left, _STEP))
            if received is None or received.si_signo not in child.ENDING:
                continue
            number = signal.Signals(received.si_signo)
            if number != signal.SIGHUP or not self._has_terminal or child.has_terminal():
                sentence = f"{number.name} ended the wait for {shown_moment(self.at)}: nothing was started"
                raise UserError(sentence, 128 + number)
        if -left > _LATEST:
            ago = f"{numbers.duration(-left)} ago{self._jump()}"
            raise UserError(f"--at: {shown_moment(self.at)} was {ago}: nothing was started")

    def kept(self, start: float) -> tuple[dict[str, float], str]:
        """How exactly it started: for the record, in seconds, and as a sentence."""
        off, late = clock_error(), start - self.at
        record = {"at": self.at, "late": round(late, 6)} | ({} if off is None else {"clock_error": round(off, 6)})
        return record, f"started {numbers.latency(late)} after {shown_moment(self.at)}{self._jump()}"

    def _jump(self) -> str:
        by = _ahead() - self._ahead
        return f"; meanwhile the clock was set by {by:+.3f} s, or the machine slept" if abs(by) > _SET else ""


def _ahead() -> float:
    """The wall clock minus a clock that nobody can set and that stops while the machine sleeps."""
    return time.time() - time.monotonic()
