"""The progress bar below a benchmark's output: drawn on stderr while that is a terminal, erased at the end.

All other output to the terminal passes through the bar, which is erased first and redrawn after a complete line, so
that the benchmark's bytes stay unchanged.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from .sinks import write_to

_STDERR = 2
_ERASE = b"\r\x1b[2K"
_EVERY = 1.0


class Bar:
    """A bar over `length` seconds from now on."""

    def __init__(self, name: str, length: float) -> None:
        self._console = Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[left]} left"))
        self._progress = Progress(*columns, console=self._console, auto_refresh=False)
        self._task = self._progress.add_task(name, total=length, left="")
        self._length = length
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._drawn = 0.0
        self._at_line_start = True
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def beside(self, descriptor: int) -> Callable[[memoryview], int]:
        """A sink's write function for other output to the same terminal."""
        plain = write_to(descriptor)

        def write(data: memoryview) -> int:
            with self._lock:
                self._erase()
                count = plain(data)
                self._at_line_start = data[count - 1] == ord("\n")
                return count

        return write

    def stop(self) -> None:
        """Erase it for good."""
        self._stopped.set()
        if self._lock.acquire(timeout=_EVERY):  # a terminal that was stopped (Ctrl-S) must not stop the launcher
            self._erase()
            self._lock.release()

    def _run(self) -> None:
        while not self._stopped.wait(0.1):
            with self._lock:
                if self._at_line_start and time.monotonic() - self._drawn >= _EVERY and not self._stopped.is_set():
                    self._draw()

    def _draw(self) -> None:
        try:
            if os.tcgetpgrp(_STDERR) != os.getpgrp():  # in the background, the terminal belongs to another job
                return
            with self._console.capture() as captured:
                passed = time.monotonic() - self._start
                left = timedelta(seconds=max(0, round(self._length - passed)))
                self._progress.update(self._task, completed=passed, left=left)
                self._console.print(self._progress.get_renderable(), end="")
            os.write(_STDERR, _ERASE + captured.get().replace("\n", "").encode())
            self._drawn = time.monotonic()
        except OSError:  # the terminal is gone
            self._stopped.set()

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = 0.0
            with suppress(OSError):  # the terminal is gone
                os.write(_STDERR, _ERASE)
