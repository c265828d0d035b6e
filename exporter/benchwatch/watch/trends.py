"""The trends of rows: what each has measured since it was first seen and, if the exporter knows it, before.

A column holds the worst moment of its time, so a spike or dip of one second stays visible at any length. The past of a
worker is known as a whole only: rows of single operations begin without it, and a total adds up its workers second by
second.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..model.run import Measured, Report
from .rows import Key, RunRows, ShownRow, total
from .watched import Past

SECONDS = 5
"""Seconds of a column of a chart. Columns begin at whole multiples: they move to the left without changing."""
COLUMNS = 60
"""Number of columns of a chart."""
_AHEAD = 12
"""Columns by which a measurement may precede an earlier one."""
_MOST = 480
"""Number of columns of a curve."""
_COVERED = 60
"""Seconds that a report covers at most."""

Values = list[float | None]
"""By column, oldest first; None where nothing was measured."""


class Curve(NamedTuple):
    """All of a quantity since it was first seen, and how many seconds that is."""

    values: Values
    seconds: float


class Trend:
    """One quantity: a chart of the last minutes, and a curve since it was first seen.

    `worst` picks one of two values in the same column (min or max).
    """

    def __init__(self, worst: Callable[[float, float], float]) -> None:
        self._worst = worst
        self._chart: dict[int, float] = {}
        self._curve: dict[int, float] = {}
        self._seconds = 1
        """Seconds of a column of the curve; they double when the curve becomes too long."""

    def add(self, time: float, value: float | None) -> None:
        """Add what was measured at `time` (Unix seconds), if anything."""
        if value is None:
            return
        self._put(self._curve, int(time // self._seconds), value)
        while len(self._curve) > _MOST:
            self._seconds *= 2
            self._curve = self._merged(self._curve, lambda column: column // 2)
        column = int(time // SECONDS)
        if column not in self._chart:
            known = [one for one in sorted(self._chart) if one <= column + _AHEAD]  # the clock may have been set back
            self._chart = {one: self._chart[one] for one in known[1 - COLUMNS :]}
        self._put(self._chart, column, value)

    def _put(self, columns: dict[int, float], column: int, value: float) -> None:
        columns[column] = self._worst(value, columns[column]) if column in columns else value

    def _merged(self, columns: Mapping[int, float], place: Callable[[int], int]) -> dict[int, float]:
        merged: dict[int, float] = {}
        for column, value in columns.items():
            self._put(merged, place(column), value)
        return merged

    def chart(self, time: float, columns: int) -> Values:
        """The last columns up to the one of `time`."""
        last = int(time // SECONDS)
        return [self._chart.get(column) for column in range(last - columns + 1, last + 1)]

    def curve(self, time: float, columns: int) -> Curve:
        """All of it up to `time`, in at most so many columns."""
        if not self._curve:
            return Curve([], 0.0)
        first, last = min(self._curve), int(time // self._seconds)
        each = max(1, -(-(last - first + 1) // columns))
        shown = self._merged(self._curve, lambda column: (column - first) // each)
        values = [shown.get(place) for place in range((last - first) // each + 1)]
        return Curve(values, float(self._seconds * (last - first + 1)))


class Trends:
    """Throughput and mean latency of each row of the active runs."""

    def __init__(self) -> None:
        self._known: dict[Key, tuple[Trend, Trend]] = {}

    def add(self, runs: Sequence[RunRows], now: float, past: Past = MappingProxyType({})) -> None:
        """Add the current measurements; forget rows that are gone. New rows begin with what is known of their past."""
        before, self._known = self._known, {}
        for run in runs:
            for row in (*run.totals, *run.rows):
                rates, latencies = self._known[row.key] = before.get(row.key) or (Trend(min), Trend(max))
                reports = _reports(run, row, past) if row.key not in before else ()
                for report in (*reports, Report(now, row.measured.rate, row.measured.latency)):
                    rates.add(report.time, report.throughput)
                    latencies.add(report.time, report.latency)

    def of(self, key: Key) -> tuple[Trend, Trend]:
        """Throughput and mean latency of a row; both are empty if it is not known."""
        return self._known.get(key) or (Trend(min), Trend(max))


def _reports(run: RunRows, row: ShownRow, past: Past) -> Sequence[Report]:
    """The past of a worker with one row, or of a total, second by second; nothing is known of single operations."""
    name, worker, tool = row.key[:3]
    if worker:
        return past.get((name, worker), ()) if sum(one.key[1] == worker for one in run.rows) == 1 else ()
    members = {one.key[1] for one in run.rows if one.key[2] == tool}
    each = [reports for member in members if (reports := past.get((name, member), ()))]
    last = _last_complete(each)
    seconds: dict[int, list[Measured]] = {}
    for reports in each:
        for second, report in _by_second(reports).items():
            if second <= last:
                seconds.setdefault(second, []).append(Measured(rate=report.throughput, latency=report.latency))
    totals = ((second, total(members)) for second, members in sorted(seconds.items()))
    return [Report(second, one.rate, one.latency) for second, one in totals]


def _last_complete(each: Sequence[Sequence[Report]]) -> float:
    """The time up to which all workers that still report have reported: some last reports are a little older."""
    newest = max((reports[-1].time for reports in each), default=0.0)
    gaps = [reports[-1].time - reports[-2].time if len(reports) > 1 else 0.0 for reports in each]
    lasts = (reports[-1].time for reports, gap in zip(each, gaps, strict=True) if newest - reports[-1].time <= gap + 1)
    return min(lasts, default=newest)


def _by_second(reports: Sequence[Report]) -> dict[int, Report]:
    """The report that covers each second; a report covers the time since the one before."""
    found: dict[int, Report] = {}
    before = None
    for report in reports:
        last = int(report.time)
        first = last if before is None else max(before + 1, last - _COVERED)
        found |= dict.fromkeys(range(first, last + 1), report)
        before = last
    return found
