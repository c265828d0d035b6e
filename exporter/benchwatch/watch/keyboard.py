"""The terminal while a screen is shown: keys as they are pressed, and everything restored at the end.

Keys arrive without Return and are not echoed (tty.setcbreak); Ctrl-C still sends SIGINT. A pipe wakes the program for
signals, a new size and other threads, so nothing is polled.
"""

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_NAMES = {b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"k": "up", b"j": "down"}
_KEY = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Keyboard:
    """Waits for keys and signals; other threads can end the wait. Only the main thread can make one."""

    def __init__(self) -> None:
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self._keys: list[int] = []
        """The descriptor of the terminal, if there is one that sends keys."""
        self.ended_by = 0
        """The signal that ends the program; 0: none so far."""

    def wake(self) -> None:
        """End the wait; callable from any thread."""
        with suppress(BlockingIOError):  # it is full: the wait ends anyway
            os.write(self._waker, b"\0")

    def wait(self, seconds: float) -> list[str]:
        """Wait for an event or the timeout; the keys pressed: up, down, or the character itself."""
        ready, _, _ = select.select([self._woken, *self._keys], [], [], seconds)
        pressed = b""
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._keys and self._keys[0] in ready:
            with suppress(OSError):
                pressed = os.read(self._keys[0], 4096)
            if not pressed:
                self.ended_by = signal.SIGHUP  # the terminal is gone
        return [_NAMES.get(key) or key.decode("ascii", "replace") for key in _KEY.findall(pressed)]

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Within this context, keys come one by one, and signals set `ended_by` instead of ending the program.

        Ctrl-Z does nothing: it would leave the terminal in this mode.
        """
        handlers = {number: signal.signal(number, self._note) for number in (*_ENDING, signal.SIGWINCH)}
        attributes = None
        try:
            if sys.stdin and sys.stdin.isatty():
                self._keys = [sys.stdin.fileno()]
                attributes = termios.tcgetattr(sys.stdin)
                tty.setcbreak(sys.stdin)
                changed = termios.tcgetattr(sys.stdin)
                changed[tty.CC][termios.VSUSP] = b"\0"
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, changed)
            yield
        finally:
            if attributes is not None:
                termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, attributes)
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if number in _ENDING:
            self.ended_by = number
        self.wake()
