"""Where the launcher and its benchmarks print: stdout and stderr, in order, without making anything wait.

A terminal may accept nothing for hours (Ctrl-S, a sleeping laptop). Meanwhile runs start, end and are recorded. The
launcher waits only at its own end, until everything is shown or a signal ends it.
"""

import time
from collections.abc import Callable

from ..values.printable import lines
from .child import signals_held
from .sinks import Sink, write_to

STDOUT, STDERR = 1, 2


class Terminal:
    """stdout and stderr of a series of runs."""

    def __init__(self) -> None:
        self._last: dict[int, Sink] = {}
        self._said = {""}

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    def outlet(self, descriptor: int, write: Callable[[memoryview], int]) -> Sink:
        """A sink for everything that is written there from now on."""
        with signals_held():
            sink = Sink(write, self._last.get(descriptor))
        self._last[descriptor] = sink
        return sink

    def say(self, sentence: str) -> None:
        """Print a sentence of the launcher on stderr; it may span several lines."""
        outlet = self.outlet(STDERR, write_to(STDERR))
        outlet.put(f"benchwatch: {lines(sentence)}\n".encode())

    def say_once(self, sentence: str) -> None:
        """Print a sentence that may apply to each run of a series; nothing if it is empty."""
        if sentence not in self._said:
            self._said.add(sentence)
            self.say(sentence)

    def wait(self, seconds: float | None = None) -> None:
        """Close the outlets and wait until everything is shown, at most `seconds` if given."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for sink in self._last.values():
            sink.close(None if deadline is None else max(0.0, deadline - time.monotonic()))
