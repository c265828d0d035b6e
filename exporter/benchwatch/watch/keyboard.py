"""The terminal while a screen is shown: keys as they are pressed, and everything restored at the end.

Keys arrive without Return and are not echoed (tty.setcbreak); Ctrl-C still sends SIGINT. Everything that wakes the
program (keys, signals, a new size, other threads) arrives through one select, so nothing is polled.
"""

import os
import re
import select
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = {b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"k": "up", b"j": "down"}
_KEY = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Wakener:
    """Waits for keys and signals; other threads can end the wait. Only the main thread can make one."""

    def __init__(self, keyboard: int | None) -> None:
        """`keyboard`: the file descriptor of the keys; None without keys."""
        self._keyboard = keyboard
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._theirs.setblocking(False)
        self.ended_by = 0
        """The signal that ends the program; 0: none so far."""

    def wake(self) -> None:
        """End the wait; callable from any thread."""
        try:
            self._theirs.send(b"\0")
        except OSError:  # full, so it is awake already; or closed
            return

    def wait(self, seconds: float) -> list[str]:
        """Wait for an event or the timeout; the keys pressed: up, down, or the character itself."""
        sources: list[int] = [self._ours.fileno()] + ([] if self._keyboard is None else [self._keyboard])
        ready, _, _ = select.select(sources, [], [], seconds)
        if self._ours.fileno() in ready:
            self._ours.recv(65536)
        if self._keyboard not in ready or self._keyboard is None:
            return []
        pressed = os.read(self._keyboard, 1024)
        if not pressed:  # the terminal is gone
            self.ended_by = signal.SIGHUP
        return [_NAMES.get(key) or key.decode("ascii", "replace") for key in _KEY.findall(pressed)]

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Within this context, signals set `ended_by` instead of ending the program; they and a new size end a wait."""
        before = {number: signal.signal(number, self._note) for number in (*_ENDING, signal.SIGWINCH)}
        descriptor = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if number in _ENDING:
            self.ended_by = number


def keyboard() -> int | None:
    """The descriptor of the terminal that sends keys; None without one."""
    return sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else None


@contextmanager
def keys(descriptor: int | None) -> Iterator[None]:
    """Within this context, keys come one by one. Ctrl-Z does nothing: it would leave the terminal in this mode."""
    if descriptor is None:
        yield
        return
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        attributes = termios.tcgetattr(descriptor)
        attributes[tty.CC][termios.VSUSP] = b"\0"
        termios.tcsetattr(descriptor, termios.TCSADRAIN, attributes)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
