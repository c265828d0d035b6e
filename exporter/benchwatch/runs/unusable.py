"""Faults: input that cannot be used. They are counted by reason and logged; a dashboard shows the most recent ones."""

import logging
import time
from collections import Counter
from collections.abc import Iterator

from ..metrics.samples import Family, Sample

_log = logging.getLogger(__name__)

_KEPT = 20
_LENGTH = 300
"""Characters of a sentence."""

WATCH_ERRORS = Family(
    "benchwatch_watch_errors_total",
    "counter",
    "What cannot be used, by reason: folder, unreadable, unrecognised, run_yaml, disk, twins "
    "(one name, two outputs), mapping (a vdisk on no CVM), internal.",
    ("reason",),
)
WATCH_ERROR_TIME = Family(
    "benchwatch_watch_error_timestamp_seconds",
    "gauge",
    f"When something could not be used, Unix time, with the sentence of the log: the newest {_KEPT}.",
    ("reason", "sentence"),
    "runs",
)


class Faults:
    """The faults of all runs and of the configuration."""

    def __init__(self) -> None:
        self.version = 0
        self.counts: Counter[str] = Counter()
        """By reason."""
        self._newest: dict[tuple[str, str], float] = {}

    def say(self, reason: str, sentence: str, error: Exception | None = None) -> None:
        """Count and log a fault. `error` is a bug in benchwatch; the first one is logged with its traceback."""
        if error is None or not self.counts[reason]:
            _log.getChild(reason).warning("%s", sentence, exc_info=error)
        self.counts[reason] += 1
        self._newest.pop((reason, sentence[:_LENGTH]), None)
        self._newest[reason, sentence[:_LENGTH]] = time.time()
        while len(self._newest) > _KEPT:
            del self._newest[next(iter(self._newest))]
        self.version += 1

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield from (Sample(WATCH_ERRORS, (reason,), count) for reason, count in self.counts.items())
        yield from (Sample(WATCH_ERROR_TIME, what, when) for what, when in self._newest.items())
