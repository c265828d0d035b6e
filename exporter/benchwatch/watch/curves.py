"""Curves over the time of active runs: throughput on the left, mean latency on the right, from when a run was first
seen until now. A run has a curve for its total or, without one, for each of its rows. It begins with the reports that
the exporter still has. A column holds the worst moment of its time, so a spike or dip of one second stays visible at
any length. A line shows what is usual, a mark below since when the run has been slow.
"""

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from ..model.run import Measured, Report
from ..values import numbers as figures
from ..values.sparkline import tall
from .blocks import Block, fitted, joined, text
from .known import Past, Slow
from .rows import ActiveRun, Row, total

_LEAST, _GOOD, _MOST = 6, 8, 15
"""Lines of a curve with its title and its axis of time."""
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
        seconds = float(self._seconds * (last - first + 1))
        return [shown.get(place) for place in range((last - first) // each + 1)], seconds


def _worst(one: Report, other: Report) -> Report:
    rates = [rate for rate in (one.throughput, other.throughput) if rate is not None]
    latencies = [latency for latency in (one.latency, other.latency) if latency is not None]
    return Report(one.time, min(rates, default=None), max(latencies, default=None))


class Trends:
    """Those of each active run's total, or of its rows."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Trend] = {}

    def add(self, runs: Sequence[ActiveRun], now: float, past: Past) -> None:
        """Add the current measurements; forget rows that are gone. New rows begin with what is known of their past."""
        before, self._known = self._known, {}
        for run in runs:
            for row in run.charted:
                trend = self._known[row.key] = before.get(row.key) or Trend()
                reports = _reports(run, row, past) if row.key not in before else ()
                for report in (*reports, Report(now, row.measured.rate, row.measured.latency)):
                    trend.add(report)

    def of(self, row: Row) -> Trend:
        """That of a row, which is empty if it is not known."""
        return self._known.get(row.key) or Trend()


def _reports(run: ActiveRun, row: Row, past: Past) -> Sequence[Report]:
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


def curves(runs: Sequence[ActiveRun], selected: str, trends: Trends, now: float, width: int, height: int) -> Block:
    """The curves at `now` of as many rows as there are lines for on a screen of `height` lines, the selected first."""
    rows = [(run, row) for run in sorted(runs, key=lambda run: run.name != selected) for row in run.charted]

    def draw(lines: int) -> list[Text]:
        drawn: list[Text] = []
        shown = rows[: max(1, lines // _GOOD)]
        for number, (run, row) in enumerate(shown):
            each = min(_MOST, (lines - len(drawn)) // (len(shown) - number))
            drawn += _curves(run, row, trends.of(row), now, each - _AROUND, (width - _GAP) // 2)
        return drawn

    first = min(_GOOD, height // 4)
    return Block(draw, (first, first, _GOOD, max(_MOST, _GOOD * len(rows))), _LEAST)


def _curves(run: ActiveRun, row: Row, trend: Trend, now: float, height: int, half: int) -> list[Text]:
    columns, seconds = trend.columns(now, max(1, half - _LABEL - 1))
    axis = fitted(text(" " * (_LABEL + 1) + _axis(len(columns), now - seconds, now, run.slow), "dim"), half)
    name = " ".join(filter(None, (run.name, row.label)))
    rates, latencies = [one and one.throughput for one in columns], [one and one.latency for one in columns]
    unit, measured, usual = row.worker.unit or "rate/s", row.measured, row.usual
    left = _panel(f"{unit} of {name}", rates, measured.rate, usual.rate, figures.rate, height, half)
    right = _panel("mean latency", latencies, measured.latency, usual.latency, figures.latency, height, half)
    return [
        one.append(" " * _GAP).append_text(other)
        for one, other in zip((*left, axis), (*right, axis.copy()), strict=True)
    ]


def _panel(
    title: str,
    values: Sequence[float | None],
    last: float | None,
    usual: float | None,
    write: Callable[[float | None], str],
    height: int,
    width: int,
) -> list[Text]:
    said = text(f": last {write(last)}", "dim")
    if usual is not None:
        said = joined([said, text(f", usually {write(usual)}", "dim")], "")
    name = text(title, "dim")
    name.truncate(max(1, width - said.cell_len), overflow="ellipsis")
    highest = max((value for value in values if value is not None), default=None)
    *levels, line = zip(*tall([*values, usual], height), strict=True)  # the last column says where the line is
    rows = ["".join(row) for row in zip(*levels, strict=True)] or [""] * height
    at = next((place for place, level in enumerate(line) if level != " "), height)
    labels = [write(highest), *[""] * (height - 2), "0"]
    if 0 < at < height - 1:
        labels[at] = "usual"
    drawn = [fitted(joined([name, said], ""), width)]
    for place, (label, row) in enumerate(zip(labels, rows, strict=True)):
        bars = text(row.replace(" ", "─").replace("█", "━") if place == at else row, "blue")
        bars.highlight_words("─", "white")
        bars.highlight_words("━", "white on blue")
        bars.highlight_words("_", "bold red")
        drawn.append(fitted(joined([text(f"{label:>{_LABEL}}", "dim"), bars], " "), width))
    return drawn


def _axis(columns: int, begin: float, end: float, slow: Slow | None) -> str:
    """The time below a curve: its begin, since when it is slow, now."""
    axis = [" "] * columns

    def put(place: int, words: str) -> bool:
        """Write words there if nothing stands there."""
        room = axis[max(0, place - 1) : place + len(words) + 1]
        free = 0 <= place <= columns - len(words) and all(one == " " for one in room)
        if free:
            axis[place : place + len(words)] = words
        return free

    put(0, _time(begin))
    put(columns - len("now"), "now")
    if slow and begin < slow.begin < end:
        place = int((slow.begin - begin) / (end - begin) * columns)
        words = f"slow since {_time(slow.begin)}" if slow.end is None else f"slow until {_time(slow.end)}"
        put(place, f"▲ {words}") or put(place - len(words) - 1, f"{words} ▲") or put(place, "▲")
    return "".join(axis)


def _time(moment: float) -> str:
    return figures.clock_time(moment).split()[0]
