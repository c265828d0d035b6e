"""The table of the active runs: as many rows as fit, with remarks beside or below them.

Without room for everything, remarks that are nothing to look at go first, then the fastest workers, then whole runs.
"""

from collections.abc import Sequence
from textwrap import wrap

from rich.text import Text

from ..model.run import Measured
from ..values import numbers as figures
from ..values.printable import printable
from .blocks import Block, columns, cut, joined, text
from .rows import STATES, ActiveRun, Note, Row, severity

_QUANTILES = (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("max", "1"))
_AGE, _RATE, _FIGURE = 4, 6, 7
_FIGURES = 1 + _AGE + 1 + _RATE + (1 + len(_QUANTILES)) * (1 + _FIGURE)
"""Columns of a row without its mark and name."""
_NAME = len("last report")
_SLOW = "bold yellow"


def in_style(content: str, state: str) -> Text:
    """The content in the style of a state."""
    return text(content, STATES.get(state, ("", ""))[1])


def brief(seconds: float | None) -> str:
    """A length of time in four characters: 4s, 99s, 12m, 5h, 4d."""
    if seconds is None:
        return figures.NOT_MEASURED
    for unit, length in (("s", 1), ("m", 60), ("h", 3600)):
        if seconds < 100 * length:
            return f"{int(seconds / length)}{unit}"
    return f"{int(seconds / 86400)}d"


class RunTable:
    """The table at `now`, Unix seconds.

    `selected` is the run that is shown first; `lost`: the exporter does not answer, so that no number is current.
    """

    def __init__(self, runs: Sequence[ActiveRun], now: float, width: int, selected: str, lost: bool) -> None:
        self._runs = sorted(runs, key=lambda run: run.name != selected)
        self._now, self._width, self._selected, self._lost = now, width, selected, lost
        longest = max(len(row.label) for run in runs for row in (*run.totals, *run.rows))
        self._name = max(8, min(max(longest, _NAME), width - 2 - _FIGURES))

    def block(self, height: int) -> Block:
        """The table on a screen of this height."""
        whole = self._all(height, True)
        wanted = height if whole is None else len(whole)
        return Block(lambda lines: self._draw(lines, whole), (min(wanted, max(8, height // 2)), wanted, wanted, wanted))

    def _draw(self, lines: int, whole: list[Text] | None) -> list[Text]:
        if whole is not None and len(whole) <= lines:
            return whole
        if (important := self._all(lines, False)) is not None:
            return important
        drawn = [self._head()]
        least = [len(self._run(run, False, 0)) for run in self._runs]
        for number, run in enumerate(self._runs):
            left, others = lines - len(drawn), sum(least[number + 1 :])
            if least[number] + (least[number] + others > left) > left:
                more = len(self._runs) - number
                return [*drawn, text(f"+ {more} more run{'s' * (more > 1)}", "dim")]
            drawn += self._fullest(run, max(least[number], left - others))
        return drawn

    def _all(self, most: int, every_note: bool) -> list[Text] | None:
        """All runs; None if these are more lines than that."""
        drawn = [self._head()]
        for run in self._runs:
            drawn += self._run(run, every_note)
            if len(drawn) > most:
                return None
        return drawn

    def _fullest(self, run: ActiveRun, lines: int) -> list[Text]:
        """As much of a run as that many lines have room for."""
        for drawn in (self._run(run, every_note) for every_note in (True, False)):
            if len(drawn) <= lines:
                return drawn
        return self._run(run, False, lines)

    def _head(self) -> Text:
        names = [("age", _AGE), ("rate/s", _RATE), ("mean", _FIGURE)]
        names += ((name, _FIGURE) for name, _ in _QUANTILES)
        head = columns(text("  last report"), 2 + self._name, [(text(name), size) for name, size in names])
        head.stylize("dim")
        return head

    def _run(self, run: ActiveRun, every_note: bool, most: int | None = None) -> list[Text]:
        """A run; with `most`, in at most so many lines, but at least with one row, without remarks."""
        drawn = [self._title(run)]
        if run.slow and run.is_slow:
            drawn += [text(f"  {part}", "yellow") for part in wrap(printable(run.slow.text), max(1, self._width - 2))]
        if most is None:
            for row in (*run.totals, *run.rows):
                drawn += self._row(row, [note for note in row.notes if every_note or note.bad], every_note)
                if every_note and run.is_slow and row.usual != Measured():
                    drawn.append(self._usual(row))
            return drawn
        for row in run.totals:
            drawn += self._row(row, (), False)
        worst = sorted(run.rows, key=_worst_first)
        shown, more = cut(worst, max(most - len(drawn), 1 + (len(worst) > 1) - len(run.totals)))
        for row in shown:
            drawn += self._row(row, (), False)
        return [*drawn, *more]

    def _title(self, run: ActiveRun) -> Text:
        workers = sum(count for _, count in run.states)
        states = [("unknown", workers)] if self._lost else run.states
        parts = [in_style(state if workers == 1 else f"{count} {state}", state) for state, count in states]
        if run.slow:
            begin, end = run.slow.begin, run.slow.end
            since, lasted = figures.clock_time(begin).split()[0], figures.duration((end or self._now) - begin)
            if end is None:
                parts.insert(0, text(f"slow since {since} ({lasted}), still slow", _SLOW))
            else:
                until = figures.clock_time(end).split()[0]
                parts.append(text(f"was slow {since} to {until} ({lasted}), over", "yellow"))
        parts += [text(fact.text, "bold red" if fact.bad else "dim") for fact in run.facts if fact.text]
        name = text(run.name, "bold reverse" if run.name == self._selected else "bold")
        title = text("").append_text(name).append("  ")
        return title.append_text(joined(parts, width=self._width - title.cell_len))

    def _row(self, row: Row, notes: Sequence[Note], every_note: bool) -> list[Text]:
        """A row, and its remarks: beside it if there is room, otherwise below."""
        measured, objective, state = row.measured, row.worker.objective, row.worker.state
        mark, style = " ", ""
        if state:
            mark, style = STATES.get("unknown" if self._lost else state, ("?", ""))
        operation = f" {row.op}" if row.op else ""
        name = text(row.name)
        name.truncate(max(1, self._name - len(operation)), overflow="ellipsis")
        name = joined([text(mark, style), name.append_text(text(operation))], " ")
        overdue = row.age is not None and row.age > 2 * (row.worker.report_interval or 1.0) + 1
        age = text(brief(row.age) if state else "", "yellow" if overdue or self._lost else "dim")
        style = "bold red" if measured.rate == 0 else "bold"
        rate = text(figures.rate(None if self._lost else measured.rate), style)
        cells = [(age, _AGE), (rate, _RATE)]
        instead = self._instead(row, every_note)
        if measured.rate is not None or not instead:
            cells.append((self._latency(measured.latency, objective, "bold red", "bold"), _FIGURE))
        if not instead:
            quantiles = (measured.quantiles.get(quantile) for _, quantile in _QUANTILES)
            cells += [(self._latency(one, objective, "yellow"), _FIGURE) for one in quantiles]
        drawn = columns(name, 2 + self._name, cells)
        if instead:
            drawn.append(" ").append_text(instead)
        if every_note and row.apart and not instead:
            which = "percentiles" if "0.99" in measured.quantiles else "max"  # a total has only the highest latency
            notes = (Note(f"{which} {row.apart}"), *notes)
        if not notes or self._lost:
            return [drawn]
        parts = [text(one.text, "yellow" if one.bad else "dim") for one in notes]
        remarks = text("    ").append_text(joined(parts))
        if not instead and drawn.cell_len + remarks.cell_len <= self._width:
            return [drawn.append_text(remarks)]
        return [drawn, remarks]

    def _usual(self, row: Row) -> Text:
        """The usual values of a slow run's row."""
        rate, latency = figures.rate(row.usual.rate), figures.latency(row.usual.latency)
        drawn = columns(text("  usually"), 2 + self._name + 1 + _AGE, [(text(rate), _RATE), (text(latency), _FIGURE)])
        drawn.stylize("dim")
        return drawn

    def _instead(self, row: Row, every_note: bool) -> Text | None:
        """What is shown instead of percentiles; None if they are shown."""
        state, measured = row.worker.state, row.measured
        if self._lost:
            return in_style("exporter does not answer", "unknown") if state else None
        if state not in ("running", ""):
            silent = state == "stalled" and measured.rate is None and row.age is not None
            reason = f"no report for {figures.duration(row.age)}" if silent else row.worker.reason
            return in_style(": ".join(filter(None, (state, reason))), state)
        if row.apart and not every_note:
            name, quantile = ("p99", "0.99") if "0.99" in measured.quantiles else ("max", "1")
            latency = figures.latency(measured.quantiles.get(quantile)).replace(" ", "")
            return text(f"{name} {latency}, {row.apart}", "dim")
        return None

    def _latency(self, value: float | None, objective: float | None, missed: str, style: str = "") -> Text:
        if self._lost or value is None:
            return text(figures.NOT_MEASURED, "dim")
        return text(figures.latency(value), missed if objective is not None and value > objective else style)


def _worst_first(row: Row) -> tuple[bool, int, float]:
    state = row.worker.state
    return state == "running", severity(state), -(row.measured.latency or 0.0)
