"""A real pseudo-terminal with `benchwatch watch` in it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from tests.support.waiting import PATIENCE

ENTER, LEAVE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


class Terminal:
    """Runs `benchwatch watch` on a terminal of its own. `output` is every byte that it was sent."""

    def __init__(self, *arguments: str, width: int, height: int) -> None:
        self._ours, self._theirs = pty.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(self._theirs)
        self.output = b""
        environment = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchwatch", "watch", *arguments],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=environment | {"TERM": "xterm-256color"},
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
        if self._theirs >= 0:
            os.close(self._theirs)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    @property
    def attributes(self) -> list[object]:
        """What the terminal does with keys now."""
        return termios.tcgetattr(self._ours)

    def _read(self, seconds: float) -> None:
        while select.select([self._ours], [], [], seconds)[0]:
            self.output += os.read(self._ours, 65536)
            seconds = 0.0

    def wait_for(self, condition: Callable[[bytes], object], what: str, seconds: float = PATIENCE) -> None:
        """Until what is sent from now on is as wanted; fails after that time."""
        start, deadline = len(self.output), time.monotonic() + seconds
        while not condition(self.output[start:]):
            assert time.monotonic() < deadline, f"after {seconds} s still not: {what}; last: {self.output[-3000:]!r}"
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.output[-3000:]!r}"
            self._read(0.1)

    def end(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it has ended and all that it sent has come."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "does not end"
            self._read(0.05)
        os.close(self._theirs)
        self._theirs = -1
        with suppress(OSError):  # nobody has it open any more
            while data := os.read(self._ours, 65536):
                self.output += data
        return int(self.process.returncode)
