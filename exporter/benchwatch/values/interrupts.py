"""Ctrl-C: it ends a command at once, unless the command has something to tidy up.

Python's KeyboardInterrupt may arrive during an import, which shows a traceback or swallows it.
"""

import os
import signal
from types import FrameType


def end_at_once() -> None:
    """From now on, Ctrl-C ends the process silently with exit code 130; if Ctrl-C is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def tidy_up() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_: int, __: FrameType | None) -> None:
    os._exit(128 + signal.SIGINT)
