"""The terminal while a screen is shown: keys as they are pressed, and everything restored at the end.

Keys arrive without Return and are not echoed (tty.setcbreak); Ctrl-C still sends SIGINT. Everything that wakes the
program (keys, signals, a new size, other threads) arrives in one queue, so nothing is polled.
"""

import os
import re
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType

_NAMES = {b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"k": "up", b"j": "down"}
_KEY = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Wakener:
    """Waits for keys and signals; other threads can end the wait. Only the main thread can make one."""

    def __init__(self) -> None:
        self._events: SimpleQueue[str] = SimpleQueue()  # whose `put` a signal may interrupt
        self.ended_by = 0
        """The signal that ends the program; 0: none so far."""

    def wake(self) -> None:
        """End the wait; callable from any thread."""
        self._events.put("")

    def wait(self, seconds: float) -> list[str]:
        """Wait for an event or the timeout; the keys pressed: up, down, or the character itself."""
        keys = []
        with suppress(Empty):
            keys.append(self._events.get(timeout=seconds))
            while True:
                keys.append(self._events.get_nowait())
        return [key for key in keys if key]

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Within this context, signals set `ended_by` instead of ending the program; they and a new size end a wait."""
        before = {number: signal.signal(number, self._note) for number in (*_ENDING, signal.SIGWINCH)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if number in _ENDING:
            self.ended_by = number
        self.wake()

    @contextmanager
    def keys(self) -> Iterator[None]:
        """Within this context, keys come one by one, if there is a terminal that sends any.

        Ctrl-Z does nothing: it would leave the terminal in this mode.
        """
        if not (sys.stdin and sys.stdin.isatty()):
            yield
            return
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        try:
            tty.setcbreak(descriptor)
            attributes = termios.tcgetattr(descriptor)
            attributes[tty.CC][termios.VSUSP] = b"\0"
            termios.tcsetattr(descriptor, termios.TCSADRAIN, attributes)
            threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()
            yield
        finally:
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)

    def _read(self, keyboard: int) -> None:
        with suppress(OSError):
            while pressed := os.read(keyboard, 1024):
                for key in _KEY.findall(pressed):
                    self._events.put(_NAMES.get(key) or key.decode("ascii", "replace"))
        self.ended_by = signal.SIGHUP  # the terminal is gone
        self.wake()
