"""Curves over the time of active runs: throughput on the left, mean latency on the right, from when a run was first
seen until now, with the highest value and zero beside it and the time below it.

A run has a curve for its total or, without one, for each of its rows. It begins with the reports that the exporter
still has. A column holds the worst moment of its time, so a spike or dip of one second stays visible at any length.
"""

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from ..model.run import Measured, Report
from ..values import numbers as figures
from ..values.sparkline import tall
from .blocks import Block, line, text
from .known import Past
from .rows import Key, RunRows, WorkerRow, total

_LEAST, _MOST = 4, 10
"""Lines of a curve without its title and its axis of time."""
_AROUND = 2
_GAP = 2
_LABEL = 7
_COLUMNS = 480
"""Columns that are remembered."""
_COVERED = 60
"""Seconds that a report covers at most."""


class Trend:
    """What a row reported since it was first seen: in each column, the lowest throughput and the highest latency."""

    def __init__(self) -> None:
        self._columns: dict[int, Report] = {}
        self._seconds = 1
        """Seconds of a column; they double when there are too many."""

    def add(self, report: Report) -> None:
        """Add what was measured at its time, if anything."""
        if report.throughput is None and report.latency is None:
            return
        place = int(report.time // self._seconds)
        self._columns[place] = _worst(report, self._columns.get(place, report))
        while len(self._columns) > _COLUMNS:
            self._seconds *= 2
            self._columns = self._merged(lambda column: column // 2)

    def _merged(self, place: Callable[[int], int]) -> dict[int, Report]:
        merged: dict[int, Report] = {}
        for column, report in self._columns.items():
            merged[place(column)] = _worst(report, merged.get(place(column), report))
        return merged

    def columns(self, time: float, most: int) -> tuple[Sequence[Report | None], float]:
        """All of it up to `time`, in at most so many columns (None: not measured), and how many seconds that is."""
        if not self._columns:
            return [], 0.0
        first, last = min(self._columns), int(time // self._seconds)
        each = max(1, -(-(last - first + 1) // most))
        shown = self._merged(lambda column: (column - first) // each)
        return [shown.get(place) for place in range((last - first) // each + 1)], float(
            self._seconds * (last - first + 1)
        )


def _worst(one: Report, other: Report) -> Report:
    rates = [rate for rate in (one.throughput, other.throughput) if rate is not None]
    latencies = [latency for latency in (one.latency, other.latency) if latency is not None]
    return Report(one.time, min(rates, default=None), max(latencies, default=None))


class Trends:
    """Those of each active run's total, or of its rows."""

    def __init__(self) -> None:
        self._known: dict[Key, Trend] = {}

    def add(self, runs: Sequence[RunRows], now: float, past: Past) -> None:
        """Add the current measurements; forget rows that are gone. New rows begin with what is known of their past."""
        before, self._known = self._known, {}
        for run in runs:
            for row in charted(run):
                trend = self._known[row.key] = before.get(row.key) or Trend()
                reports = _reports(run, row, past) if row.key not in before else ()
                for report in (*reports, Report(now, row.measured.rate, row.measured.latency)):
                    trend.add(report)

    def of(self, key: Key) -> Trend:
        """That of a row, which is empty if it is not known."""
        return self._known.get(key) or Trend()


def charted(run: RunRows) -> Sequence[WorkerRow]:
    """The totals of a run or, where it has none, its rows."""
    return run.totals or run.rows


def _reports(run: RunRows, row: WorkerRow, past: Past) -> Sequence[Report]:
    """The past of a worker with one row, or of a total, second by second; nothing is known of single operations."""
    if row.worker.name:
        alone = sum(one.worker.name == row.worker.name for one in run.rows) == 1
        return past.get((run.name, row.worker.name), ()) if alone else ()
    states = {one.worker.name: one.worker.state for one in run.rows if one.worker.tool == row.worker.tool}
    each = {member: reports for member in states if (reports := past.get((run.name, member), ()))}
    running = [reports[-1].time for member, reports in each.items() if states[member] == "running"]
    last = min(running, default=float("inf"))  # later, some have not reported yet
    seconds: dict[int, list[Measured]] = {}
    for reports in each.values():
        for second, report in _by_second(reports).items():
            if second <= last:
                seconds.setdefault(second, []).append(Measured(rate=report.throughput, latency=report.latency))
    totals = ((second, total(members)) for second, members in sorted(seconds.items()))
    return [Report(second, one.rate, one.latency) for second, one in totals]


def _by_second(reports: Sequence[Report]) -> Mapping[int, Report]:
    """The report that covers each second; a report covers the time since the one before."""
    found: dict[int, Report] = {}
    before = None
    for report in reports:
        last = int(report.time)
        first = last if before is None else max(before + 1, last - _COVERED)
        found |= dict.fromkeys(range(first, last + 1), report)
        before = last
    return found


def curves(runs: Sequence[RunRows], selected: str, lines: int, trends: Trends, now: float, width: int) -> Block:
    """The curves at `now` of as many rows as there are lines for, those of the selected run first."""
    ordered = sorted(runs, key=lambda run: run.name != selected)
    rows = [(run, row) for run in ordered for row in charted(run)][: max(0, lines // (_AROUND + _LEAST))]
    height = min(_MOST, lines // len(rows) - _AROUND) if rows else 0
    half = (width - _GAP) // 2

    def draw(_: int) -> list[Text]:
        return [drawn for run, row in rows for drawn in _curves(run, row, trends.of(row.key), now, height, half)]

    return Block(draw, len(rows) * (_AROUND + height), len(rows) * (_AROUND + height))


def _curves(run: RunRows, row: WorkerRow, trend: Trend, now: float, height: int, half: int) -> list[Text]:
    columns, seconds = trend.columns(now, half - _LABEL - 1)
    name = " ".join(part for part in (run.name, row.name, row.op) if part)
    rates, latencies = [one and one.throughput for one in columns], [one and one.latency for one in columns]
    left = _panel(f"{name}  rate/s", rates, seconds, figures.rate, height, half)
    right = _panel("mean latency", latencies, seconds, figures.latency, height, half)
    return [line((one, half, "left"), (other, half, "left")) for one, other in zip(left, right, strict=True)]


def _panel(
    title: str,
    values: Sequence[float | None],
    seconds: float,
    write: Callable[[float | None], str],
    height: int,
    width: int,
) -> list[Text]:
    highest = max((value for value in values if value is not None), default=None)
    labels = [write(highest), *[""] * (height - 2), "0"]
    drawn = [line((text(title, "dim"), width, "left"))]
    for label, levels in zip(labels, tall(values, height), strict=True):
        columns = text(levels, "blue")
        columns.highlight_words("_", "bold red")
        drawn.append(line((text(label, "dim"), _LABEL, "right"), (columns, width - _LABEL - 1, "left")))
    began = "" if highest is None else f"{figures.duration(seconds)} ago"
    blanks = len(values) - len(began) - len("now")
    time = f"{began}{' ' * blanks}now" if blanks > 0 and began else began
    return [*drawn, line((text(""), _LABEL, "left"), (text(time, "dim"), width - _LABEL - 1, "left"))]
