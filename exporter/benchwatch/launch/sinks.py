"""Forwards a benchmark's output without ever making it wait.

One thread reads the pipes; each destination (the terminal, a file) has its own thread and queue. A slow destination
gets its bytes late; one that stops accepting them, or falls too far behind, loses them. The others are not affected.
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
"""Bytes that a slow destination may fall behind."""
_PIPE = 1024 * 1024
_CHUNK = 256 * 1024


class Sink:
    """One destination; `write` writes some of the bytes that it gets and returns how many.

    `after` is the previous sink of the same destination: it is closed, and writes everything that it has first.
    """

    def __init__(self, write: Callable[[memoryview], int], after: "Sink | None" = None) -> None:
        self.lost = 0
        """Number of bytes that could not be written, or that arrived when it was too far behind."""
        self.reason = ""
        """Why the first of them were lost."""
        self._write = write
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._given = 0
        self._done = 0
        self._thread = threading.Thread(target=self._run, args=(after,), daemon=True)
        self._thread.start()

    def put(self, data: bytes) -> None:
        """Queue these bytes."""
        if self._given - self._done > _WAITING:
            self.lost += len(data)
            self.reason = self.reason or "too slow"
        else:
            self._given += len(data)
            self._queue.put(data)

    def close(self, seconds: float | None = None) -> None:
        """Accept no more bytes, and wait until all are written, at most `seconds` if given."""
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
    """A sink's write function for a file, pipe or terminal, whether blocking or not."""

    def write(data: memoryview) -> int:
        while True:
            try:
                return os.write(descriptor, data)
            except BlockingIOError:
                select.select([], [descriptor], [])

    return write


def pipe() -> tuple[int, int]:
    """A large pipe, because bytes wait in it until the kernel schedules this process."""
    reader, writer = os.pipe()
    with suppress(OSError):  # the pipes of an unprivileged user share a limit
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE)
    return reader, writer


def forward(sinks: Mapping[int, Sequence[Sink]]) -> threading.Thread:
    """Read pipes to their ends, close them, and pass the bytes of each to its sinks, in the thread that is returned.

    Bytes of the first pipe come before bytes that were written to the others after them.
    """
    thread = threading.Thread(target=_forward, args=(sinks,), daemon=True)
    thread.start()
    return thread


def _forward(sinks: Mapping[int, Sequence[Sink]]) -> None:
    first = next(iter(sinks))
    with selectors.DefaultSelector() as selector:

        def give(descriptor: int, data: bytes) -> None:
            if not data:
                selector.unregister(descriptor)
                os.close(descriptor)
                return
            for sink in sinks[descriptor]:
                sink.put(data)

        for descriptor in sinks:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = [key.fd for key, _ in selector.select()]
            others = [(descriptor, os.read(descriptor, _CHUNK)) for descriptor in ready if descriptor != first]
            # Everything that was written to the first pipe before them is in it by now.
            for _ in range(_PIPE // _CHUNK):
                if first not in {key.fd for key, _ in selector.select(0)}:
                    break
                give(first, os.read(first, _CHUNK))
            for descriptor, data in others:
                give(descriptor, data)
