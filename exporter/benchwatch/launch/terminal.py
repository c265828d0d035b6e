"""Where the launcher and its benchmarks print: stdout and stderr. What goes there is shown in order, and nobody waits.

A terminal may take nothing for hours (Ctrl-S, a laptop that sleeps). Meanwhile runs are started, end and are recorded;
only when there is nothing else left to do does the launcher stay until all is shown, or a signal ends it.
"""

import time
from collections.abc import Callable
from types import TracebackType

from ..values.printable import lines
from .child import signals_held
from .sinks import Sink, write_to

STDOUT, STDERR = 1, 2


class Terminal:
    """stdout and stderr of a series of runs."""

    def __init__(self) -> None:
        self._last: dict[int, Sink] = {}

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.wait()

    def outlet(self, descriptor: int, write: Callable[[memoryview], int]) -> Sink:
        """A sink for what is written there from now on."""
        with signals_held():
            sink = Sink(write, self._last.get(descriptor))
        self._last[descriptor] = sink
        return sink

    def say(self, sentence: str) -> None:
        """A sentence of the launcher's own, on stderr; its line breaks are its own too."""
        outlet = self.outlet(STDERR, write_to(STDERR))
        outlet.put(f"benchwatch: {lines(sentence)}\n".encode())

    def wait(self, seconds: float | None = None) -> None:
        """Take no more into the outlets that there are, and wait until all is shown; if told, no longer than that."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for sink in self._last.values():
            sink.close(None if deadline is None else max(0.0, deadline - time.monotonic()))
