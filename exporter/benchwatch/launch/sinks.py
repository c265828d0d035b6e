"""Passes a benchmark's output on without ever making it wait.

One thread reads the pipes; every place that the bytes go to (the terminal, a file) has a thread and a queue of its own.
A place that is slow gets its bytes late; one that takes none any more, or falls too far behind, loses them, and the
others go on.
"""

import fcntl
import os
import queue
import select
import selectors
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

_WAITING = 64 * 1024 * 1024
"""Bytes that a slow place may be behind."""
_PIPE = 1024 * 1024
_CHUNK = 256 * 1024


class Sink:
    """One place that bytes go to, by a function that writes some of them and says how many.

    `after` is the one that had the same place before: it is closed, and written to its end first.
    """

    def __init__(self, write: Callable[[memoryview], int], after: "Sink | None" = None) -> None:
        self.lost = 0
        """Bytes that could not be written, or that it was too far behind for."""
        self.reason = ""
        """Why they are lost, of the first ones."""
        self._write = write
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._given = 0
        self._done = 0
        self._thread = threading.Thread(target=self._run, args=(after,), daemon=True)
        self._thread.start()

    def put(self, data: bytes) -> None:
        """Have these bytes written, soon."""
        if self._given - self._done > _WAITING:
            self.lost += len(data)
            self.reason = self.reason or "too slow"
        else:
            self._given += len(data)
            self._queue.put(data)

    def close(self, seconds: float | None = None) -> None:
        """Take no more, and wait until all is written; if a time is given, no longer than that."""
        self._queue.put(b"")
        self._thread.join(seconds)

    def _run(self, after: "Sink | None") -> None:
        if after:
            after.close()
        while data := self._queue.get():
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[self._write(rest) :]
            except OSError as error:
                self.lost += len(rest)
                self.reason = self.reason or error.strerror or str(error)
            self._done += len(data)


def write_to(descriptor: int) -> Callable[[memoryview], int]:
    """A sink's function for a file, pipe or terminal, be it non-blocking or not."""

    def write(data: memoryview) -> int:
        while True:
            try:
                return os.write(descriptor, data)
            except BlockingIOError:
                select.select([], [descriptor], [])

    return write


def pipe() -> tuple[int, int]:
    """A large pipe, as bytes may have to wait for this process to get its turn."""
    reader, writer = os.pipe()
    with suppress(OSError):  # an unprivileged user has a limit for all of his pipes together
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE)
    return reader, writer


class Reader:
    """Reads pipes to their ends, closes them, and gives what comes to the sinks of each.

    What was written to the first pipe goes before what was written to others after it.
    """

    def __init__(self, sinks: Mapping[int, Sequence[Sink]]) -> None:
        self._sinks = sinks
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait until the pipes are at their ends; not for ever, as a process that was left behind may hold them."""
        self._thread.join(seconds)

    def _run(self) -> None:
        first = next(iter(self._sinks))
        with selectors.DefaultSelector() as selector:
            for descriptor in self._sinks:
                selector.register(descriptor, selectors.EVENT_READ)
            while selector.get_map():
                ready = [key.fd for key, _ in selector.select()]
                others = [(descriptor, os.read(descriptor, _CHUNK)) for descriptor in ready if descriptor != first]
                # All that was written to the first pipe before that is in it by now.
                for _ in range(_PIPE // _CHUNK):
                    if first not in {key.fd for key, _ in selector.select(0)}:
                        break
                    self._give(selector, first, os.read(first, _CHUNK))
                for descriptor, data in others:
                    self._give(selector, descriptor, data)

    def _give(self, selector: selectors.BaseSelector, descriptor: int, data: bytes) -> None:
        if not data:
            selector.unregister(descriptor)
            os.close(descriptor)
            return
        for sink in self._sinks[descriptor]:
            sink.put(data)
