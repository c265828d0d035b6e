"""The trends of rows: what each has measured since it was first seen and, if the exporter knows it, before.

The past of a worker is known as a whole only: rows of single operations begin without it, and a total adds up its
workers second by second.
"""

from collections.abc import Sequence
from types import MappingProxyType

from .model import Measured, Past, PastReport
from .rows import Key, RunRows, ShownRow, total
from .trend import Curve, Trend

_COVERED = 60
"""Seconds that a report covers at most."""


class Trends:
    """Throughput and mean latency over the last minutes, for each row of the active runs."""

    def __init__(self) -> None:
        self._known: dict[Key, tuple[tuple[Trend, Trend], tuple[Curve, Curve]]] = {}

    def add(self, runs: Sequence[RunRows], now: float, past: Past = MappingProxyType({})) -> None:
        """Add the current measurements; forget rows that are gone. New rows begin with what is known of their past."""
        before, self._known = self._known, {}
        for run in runs:
            for row in (*run.totals, *run.rows):
                self._known[row.key] = before.get(row.key) or ((Trend(min), Trend(max)), (Curve(min), Curve(max)))
                for report in _reports(run, row, past) if row.key not in before else ():
                    self._put(row.key, *report)
                self._put(row.key, now, row.measured.rate, row.measured.latency)

    def _put(self, key: Key, time: float, rate: float | None, latency: float | None) -> None:
        for rates, latencies in self._known[key]:
            rates.add(time, rate)
            latencies.add(time, latency)

    def values(self, key: Key, now: float, columns: int) -> tuple[list[float | None], list[float | None]]:
        """The last columns of throughput and latency."""
        if key not in self._known:
            return [], []
        rates, latencies = self._known[key][0]
        return rates.values(now, columns), latencies.values(now, columns)

    def curves(self, key: Key, now: float, columns: int) -> tuple[list[float | None], list[float | None]]:
        """All of throughput and latency since the row was first seen."""
        if key not in self._known:
            return [], []
        rates, latencies = self._known[key][1]
        return rates.values(now, columns), latencies.values(now, columns)


def _reports(run: RunRows, row: ShownRow, past: Past) -> Sequence[PastReport]:
    """The past of a worker with one row, or of a total, second by second; nothing is known of single operations."""
    name, worker, tool = row.key[:3]
    if worker:
        return past.get((name, worker), ()) if sum(one.key[1] == worker for one in run.rows) == 1 else ()
    members = {one.key[1] for one in run.rows if one.key[2] == tool}
    each = [reports for member in members if (reports := past.get((name, member), ()))]
    told = _told_by_all(each)
    seconds: dict[int, list[PastReport]] = {}
    for reports in each:
        for second, report in _by_second(reports).items():
            if second <= told:
                seconds.setdefault(second, []).append(report)
    found = (
        (second, total([Measured(rate=one.rate, latency=one.latency) for one in all_]))
        for second, all_ in sorted(seconds.items())
    )
    return [PastReport(second, one.rate or 0.0, one.latency) for second, one in found]


def _told_by_all(each: Sequence[Sequence[PastReport]]) -> float:
    """Up to when all workers have reported that still do: the last report of some is a little older."""
    newest = max((reports[-1].time for reports in each), default=0.0)
    gaps = [reports[-1].time - reports[-2].time if len(reports) > 1 else 0.0 for reports in each]
    lasts = (reports[-1].time for reports, gap in zip(each, gaps, strict=True) if newest - reports[-1].time <= gap + 1)
    return min(lasts, default=newest)


def _by_second(reports: Sequence[PastReport]) -> dict[int, PastReport]:
    """What holds in each second; a report covers the time since the one before."""
    found: dict[int, PastReport] = {}
    before = None
    for report in reports:
        last = int(report.time)
        first = last if before is None else max(before + 1, last - _COVERED)
        found |= dict.fromkeys(range(first, last + 1), report)
        before = last
    return found
