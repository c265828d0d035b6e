"""The counters of a run: the largest from any source, until the final report settles them."""

from ...metrics.samples import Family
from . import metrics
from .aggregate import AggregateInterval
from .counting import ProgressCount
from .log import TransactionLog
from .progress import Progress

COUNTERS: dict[str, Family] = {
    "transactions": metrics.TRANSACTIONS,
    "failed": metrics.FAILED,
    "skipped": metrics.SKIPPED,
    "retried": metrics.RETRIED,
    "retries": metrics.RETRIES,
}
"""By the name of the figure in the final report."""


class Totals:
    """Adds up progress lines and intervals of the aggregated log, and compares them with the transaction log.

    None of the three is ever ahead of the truth, so the largest is nearest to it and never goes back.
    """

    def __init__(self, log: TransactionLog) -> None:
        self.count = ProgressCount()
        self._log = log
        self._retries_printed: bool | None = None
        self._lines: dict[str, int] = {}
        self._intervals: dict[str, int] = {}

    def add_line(self, line: Progress) -> float:
        """Takes in a progress line; returns the time it covers, seconds."""
        covered = self.count.add(line)
        self._lines["transactions"] = self.count.transactions
        for name in ("failed", "skipped", "retried", "retries"):
            if (count := getattr(line, name)) is not None:
                self._lines[name] = self._lines.get(name, 0) + count
        self._retries_printed = line.retried is not None
        return covered

    def add_interval(self, record: AggregateInterval) -> None:
        """Takes in an interval of the aggregated log."""
        for name in COUNTERS:
            if (count := getattr(record, name)) is not None:
                self._intervals[name] = self._intervals.get(name, 0) + count

    def total(self, name: str, *, logs: bool) -> int | None:
        """The counter of that name so far, with or without `logs`; None if this run has none, or it is not known."""
        found = [self._lines[name]] if name in self._lines else []
        if not logs:
            return max(found, default=None)
        if self._intervals.get(name):  # 0 may mean that the option is off
            found.append(self._intervals[name])
        if self._log.lines and self._log.whole:
            found += self._logged(name)
        return max(found, default=None)

    def _logged(self, name: str) -> list[int]:
        if name == "transactions":
            return [self._log.transactions]
        if name in ("failed", "skipped"):  # none may mean that there can be none
            count = self._log.failed if name == "failed" else self._log.skipped
            return [count] if count else []
        retries = self._log.retries
        if retries is None or self._retries_printed is False:
            return []
        return [retries[0] if name == "retried" else retries[1]]
