"""The benchmark's process: how it starts, which signals reach it, how it ends.

It runs in the launcher's own process group: signals from the terminal (Ctrl-C) reach it directly, and a wrapper in
front of it can ask for a password. Signals sent to the launcher alone are forwarded; if a wrapper (`timeout`, `setsid`)
has left the group, all signals are. A lost terminal (a lost ssh connection) ends neither: the benchmark starts with
SIGHUP ignored, as under nohup; any other SIGHUP is forwarded as SIGTERM.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ..values.errors import UserError

PASSED_ON = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2})
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
"""Signals that end a benchmark or the launcher."""
_AWAITED = PASSED_ON | {signal.SIGCHLD}
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_TICK = 0.5


class Ending(NamedTuple):
    """How a benchmark ended."""

    exit_code: int
    """Its own, or 128 plus the signal's number."""
    signal: str
    """Name of the signal that killed it or that it received before its end; empty if it ended by itself."""
    requested: bool
    """Whether a signal asked it to end."""
    cpu_seconds: float
    """CPU time used, including that of its children."""


def leave_signals() -> None:
    """Block signals in the calling thread, so that only the thread that waits for them gets them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)


@contextmanager
def signals_held() -> Iterator[None]:
    """Hold signals back for `wait`; threads that start meanwhile do the same."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interrupts:
    """Ctrl-C between two runs: it is noted even if a finalizer swallows the KeyboardInterrupt that it raises."""

    def __enter__(self) -> "Interrupts":
        self._noted = False
        self._handler = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._handler)

    def _note(self, *_: object) -> None:
        self._noted = True
        raise KeyboardInterrupt

    def wait(self, seconds: float) -> int:
        """Wait so long; returns the number of the signal that ended the wait or came before it, 0 if none did."""
        try:
            with signals_held():
                received = None if self._noted else signal.sigtimedwait(ENDING, seconds)
        except KeyboardInterrupt:
            return signal.SIGINT
        return received.si_signo if received else signal.SIGINT * self._noted


def start(command: Sequence[str], stdout: int, stderr: int) -> int:
    """Start the benchmark while signals are held; returns its process id. Raises UserError if it cannot be started."""
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        return os.posix_spawnp(
            command[0],
            list(command),
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)],
            setsigmask=(),
            setsigdef=_IGNORED_BY_PYTHON,
        )
    except OSError as error:
        raise UserError(f"{command[0]} cannot be started: {error.strerror}") from error
    finally:
        signal.signal(signal.SIGHUP, hangup)


def wait(process: int, tick: Callable[[], None]) -> Ending:
    """Wait for its end and forward signals; calls `tick` at least twice a second."""
    terminal = has_terminal()
    sent: signal.Signals | None = None
    while True:
        received = signal.sigtimedwait(_AWAITED, _TICK)
        if received and received.si_signo != signal.SIGCHLD:
            number = signal.Signals(received.si_signo)
            hung_up = number == signal.SIGHUP and terminal and not has_terminal()
            if number in ENDING and not hung_up:
                sent = number
            from_kernel = received.si_code > 0  # which sent it to the whole group
            if not hung_up and not (from_kernel and os.getpgid(process) == os.getpgrp()):
                with suppress(OSError):  # it has ended, or belongs to another user
                    os.kill(process, signal.SIGTERM if number == signal.SIGHUP else number)
        tick()
        done, status, used = os.wait4(process, os.WNOHANG)
        if done:
            break
    cpu_seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        return Ending(128 + number, (sent or number).name, sent is not None, cpu_seconds)
    code = os.waitstatus_to_exitcode(status)
    return Ending(code, sent.name if sent and code else "", sent is not None, cpu_seconds)


def has_terminal() -> bool:
    """Whether this process has a terminal that is still connected."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
