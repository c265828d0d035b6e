"""Forwards a benchmark's output without ever making it wait, and prints what the launcher says in between.

One thread reads the pipes; each destination (stdout, stderr, a file) has its own thread and queue. A slow destination
gets its bytes late; one that stops accepting them, or falls too far behind, loses them. The others are not affected.

A terminal may accept nothing for hours (Ctrl-S, a sleeping laptop). Meanwhile runs start, end and are recorded. The
launcher waits only at its own end, until everything is shown or a signal ends it.
"""

import fcntl
import os
import queue
import select
import selectors
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf

from ..tools.launcher import Write
from ..values.printable import lines
from .child import leave_signals

STDOUT, STDERR = 1, 2
_WAITING = 64 * 1024 * 1024
"""Bytes that a slow destination may fall behind."""
_PIPE = 1024 * 1024
_CHUNK = 256 * 1024

Put = Callable[[bytes], None]


class Sink:
    """One destination; `write` writes some of the bytes that it gets and returns how many."""

    def __init__(self, write: Write) -> None:
        self.lost = 0
        """Number of bytes that could not be written, or that arrived when it was too far behind."""
        self.reason = ""
        """Why the first of them were lost."""
        self._write = write
        self._queue: queue.SimpleQueue[tuple[bytes, Write] | threading.Event | None] = queue.SimpleQueue()
        self._given = 0
        self._done = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, data: bytes, write: Write | None = None, most: float = _WAITING) -> None:
        """Queue these bytes, unless more than `most` are waiting; `write` replaces the sink's own for them."""
        if self._given - self._done > most:
            self.lost += len(data)
            self.reason = self.reason or "too slow"
        else:
            self._given += len(data)
            self._queue.put((data, write or self._write))

    def flush(self, seconds: float | None = None) -> None:
        """Wait until everything is written, at most `seconds` if given."""
        written = threading.Event()
        self._queue.put(written)
        written.wait(seconds)

    def close(self) -> None:
        """Accept no more bytes, and wait until all are written."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        leave_signals()
        while item := self._queue.get():
            if isinstance(item, threading.Event):
                item.set()
                continue
            data, write = item
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[write(rest) :]
            except OSError as error:
                self.lost += len(rest)
                self.reason = self.reason or error.strerror or str(error)
            self._done += len(data)


class Terminal:
    """stdout and stderr of a series of runs."""

    def __init__(self) -> None:
        self._sinks = {number: Sink(write_to(number)) for number in (STDOUT, STDERR)}
        self._said = {""}

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    def outlet(self, descriptor: int, write: Write) -> Put:
        """What puts bytes there, written by this function."""
        return lambda data: self._sinks[descriptor].put(data, write)

    def say(self, *sentences: str) -> None:
        """Print sentences of the launcher on stderr, except empty ones; one may span several lines."""
        for sentence in filter(None, sentences):
            self._sinks[STDERR].put(f"benchwatch: {lines(sentence)}\n".encode(), most=inf)

    def say_once(self, sentence: str) -> None:
        """Print a sentence that may apply to each run of a series; nothing if it is empty."""
        if sentence not in self._said:
            self._said.add(sentence)
            self.say(sentence)

    def wait(self, seconds: float = inf) -> None:
        """Wait until everything is shown, at most so long."""
        end = time.monotonic() + seconds
        for sink in self._sinks.values():
            sink.flush(None if seconds == inf else max(0.0, end - time.monotonic()))


def write_to(descriptor: int) -> Write:
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


def forward(outlets: Mapping[int, Sequence[Put]]) -> threading.Thread:
    """Read pipes to their ends, close them, and put the bytes of each to its outlets, in the thread that is returned.

    Bytes of the first pipe come before bytes that were written to the others after them.
    """
    thread = threading.Thread(target=_forward, args=(outlets,), daemon=True)
    thread.start()
    return thread


def _forward(outlets: Mapping[int, Sequence[Put]]) -> None:
    first = next(iter(outlets))
    with selectors.DefaultSelector() as selector:

        def give(descriptor: int, data: bytes) -> None:
            if not data:
                selector.unregister(descriptor)
                os.close(descriptor)
                return
            for put in outlets[descriptor]:
                put(data)

        for descriptor in outlets:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = [key.fd for key, _ in selector.select()]
            others = {descriptor: os.read(descriptor, _CHUNK) for descriptor in ready if descriptor != first}
            # Everything that was written to the first pipe before them is in it by now.
            for _ in range(_PIPE // _CHUNK):
                if first not in {key.fd for key, _ in selector.select(0)}:
                    break
                give(first, os.read(first, _CHUNK))
            for descriptor, data in others.items():
                give(descriptor, data)
