"""A log that repeats the same message at most once a minute.

Lines are of one kind if they have the same logger, level and template, ignoring numbers. Within a minute, the same line
passes once, and a hundred different lines of one kind pass (ten with a traceback). After the minute, the log says how
many were left out. So the size of the log depends on what goes wrong, not on how many clients cause it.
"""

import logging
import re
import threading
import time
from collections.abc import Callable

MINUTE = 60.0
_DIFFERENT = 100
_TRACEBACKS = 10
_KINDS = 1000
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")


class _Kind:
    def __init__(self, began: float, before: "_Kind | None") -> None:
        self.began = began
        self.lines: set[str] = set()
        self.more: int = before.more if before else 0
        self.last: str = before.last if before else ""


class Repeats(logging.Filter):
    """A filter for log handlers. `clock` gives seconds since some fixed moment."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds: dict[tuple[str, int, str], _Kind] = {}
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is to be logged."""
        if getattr(record, "sums_up", False):
            return True
        line = record.getMessage()
        template = _NUMBER.sub("#", str(record.msg).partition("\n")[0][:200])
        key = (record.name, record.levelno, template)
        now = self._clock()
        with self._lock:
            kind = self._kinds.get(key)
            if kind is None or now - kind.began >= MINUTE:
                if len(self._kinds) >= _KINDS:
                    self._kinds.pop(next(iter(self._kinds)))
                kind = self._kinds[key] = _Kind(now, kind)
            if line in kind.lines or len(kind.lines) >= (_TRACEBACKS if record.exc_info else _DIFFERENT):
                kind.more += 1
                kind.last = line
                return False
            kind.lines.add(line)
        return True

    def sum_up(self) -> None:
        """Log how many lines of each past minute were left out. To be called regularly."""
        now = self._clock()
        with self._lock:
            over = [(key, kind) for key, kind in self._kinds.items() if now - kind.began >= MINUTE]
            for key, _ in over:
                del self._kinds[key]
        for (name, level, _), kind in over:
            if kind.more:
                text = f"{kind.last.partition(chr(10))[0]} ({kind.more} more like it)"
                logging.getLogger(name).log(level, "%s", text, extra={"sums_up": True})
