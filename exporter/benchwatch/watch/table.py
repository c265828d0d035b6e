"""The table of the active runs: as many rows as fit, with remarks below them."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text

from ..values import numbers as figures
from .blocks import joined, line, rest, text
from .rows import Note, RunRows, ShownRow, severity

_STATES = {
    "running": ("●", "green"),
    "stalled": ("■", "bold red"),
    "failed": ("✗", "bold red"),
    "abandoned": ("✗", "red"),
    "interrupted": ("◌", "yellow"),
    "unknown": ("?", "yellow"),
    "finished": ("✓", "cyan"),
    "": (" ", ""),
}
"""Mark and style."""
QUANTILES = (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("max", "1"))
_REMARKS = ("all", "bad", "none")
"""Which remarks are shown below a row, fullest form first."""
_ROOMY = 100
"""Width from which figures and their units are separated."""
_AGE, _RATE = 4, 6


class Look(NamedTuple):
    """How the table is drawn."""

    width: int
    name: int
    """The width of the column of names."""
    selected: str
    """The run that is shown first."""
    lost: bool
    """Whether the exporter does not answer, so that no number is current."""

    @classmethod
    def of(cls, width: int, names: int, selected: str, lost: bool) -> "Look":
        """For a screen of that width and names of that length."""
        look = cls(width, 0, selected, lost)
        left = width - 2 - _AGE - _RATE - (1 + len(QUANTILES)) * look.figure - 7
        return look._replace(name=max(8, min(max(names, 12), left)))

    @property
    def figure(self) -> int:
        """The width of a column of latencies."""
        return 7 if self.width >= _ROOMY else 6

    @property
    def row(self) -> int:
        """The width of a row."""
        return 2 + self.name + 1 + _AGE + 1 + _RATE + (1 + len(QUANTILES)) * (1 + self.figure)


def in_style(content: str, state: str) -> Text:
    """The content in the style of a state."""
    return text(content, _STATES.get(state, ("", ""))[1])


def brief(seconds: float | None) -> str:
    """A length of time in four characters: 4s, 99s, 12m, 5h, 4d."""
    if seconds is None:
        return figures.NOT_MEASURED
    for unit, length in (("s", 1), ("m", 60), ("h", 3600)):
        if seconds < 100 * length:
            return f"{int(seconds / length)}{unit}"
    return f"{int(seconds / 86400)}d"


def heading(look: Look) -> Text:
    """The titles of the columns."""
    titles = line(
        (text("  worker"), look.name + 2, "left"),
        (text("age"), _AGE, "right"),
        (text("rate/s"), _RATE, "right"),
        *((text(name), look.figure, "right") for name in ("mean", *(name for name, _ in QUANTILES))),
    )
    titles.stylize("dim")
    return titles


class _Plan(NamedTuple):
    """What is shown of a run: rows with their remarks, and the number of hidden rows."""

    run: RunRows
    rows: list[tuple[ShownRow, list[Note]]]
    hidden: int
    look: Look

    @property
    def height(self) -> int:
        """The number of lines that it takes."""
        rows = sum(1 + (bool(notes) and not _beside(row, notes, self.look)) for row, notes in self.rows)
        return 1 + len(self.run.verdict) + rows + bool(self.hidden and self.rows)


def _beside(row: ShownRow, notes: Sequence[Note], look: Look) -> bool:
    """Whether the remarks have room in the line of the row."""
    length = look.row + 1 + sum(3 + len(note.text) for note in notes)
    return length <= look.width and not look.lost and _instead(row, look) is None


def lines_wanted(runs: Sequence[RunRows], look: Look) -> int:
    """The number of lines that hold everything."""
    return 1 + sum(_plan(run, look, "all").height for run in runs)


def draw_runs(runs: Sequence[RunRows], look: Look, lines: int) -> list[Text]:
    """The runs in that many lines: remarks are dropped first, then the fastest workers, then runs."""
    ordered = sorted(runs, key=lambda run: run.name != look.selected)
    left = lines - 1
    drawn = [heading(look)]
    for number, run in enumerate(ordered):
        others = ordered[number + 1 :]
        plan = _fullest(run, others, look, left)
        if plan.height > left or (others and plan.height == left):
            more = len(ordered) - number
            return [*drawn, text(f"+ {more} more run{'s' * (more > 1)}", "dim")]
        drawn += _draw(plan, look)
        left -= plan.height
    return drawn


def _fullest(run: RunRows, others: Sequence[RunRows], look: Look, lines: int) -> _Plan:
    """The fullest form in which all these runs fit; if none does, what the shortest form of the others leaves."""
    for remarks in _REMARKS:
        plan = _plan(run, look, remarks)
        if plan.height + sum(_plan(other, look, remarks).height for other in others) <= lines:
            return plan
    lines -= sum(_plan(other, look, "none", 0).height for other in others)
    plan = _plan(run, look, "none")
    return plan if plan.height <= lines else _plan(run, look, "none", lines - 2 - len(run.verdict) - len(run.totals))


def _plan(run: RunRows, look: Look, remarks: str, most: int | None = None) -> _Plan:
    """A run with all its rows, or with its totals and at most `most` rows, the worst ones, but at least one row."""
    rows: Sequence[ShownRow] = run.rows
    if most is not None:
        rows = sorted(rows, key=_worst_first)[: max(most, 0 if run.totals else 1)]
    shown = [_with_notes(row, remarks) for row in (*run.totals, *rows)]
    return _Plan(run, shown, len(run.rows) - len(rows), look)


def _with_notes(row: ShownRow, remarks: str) -> tuple[ShownRow, list[Note]]:
    """A row and the remarks below it; if its percentiles are from another time, one of them says so."""
    if remarks == "all" and row.apart and row.state in ("running", ""):
        which = "percentiles" if "0.99" in row.measured.quantiles else "max"  # a total has only the highest latency
        return row._replace(apart=""), [Note(f"{which} {row.apart}"), *row.notes]
    return row, [note for note in row.notes if remarks == "all" or (remarks == "bad" and note.bad)]


def _draw(plan: _Plan, look: Look) -> list[Text]:
    drawn = [_title(plan.run, look)]
    drawn += [text(f"  {part}", "bold yellow") for part in plan.run.verdict]
    for row, notes in plan.rows:
        drawn.append(_row(row, look))
        if notes and not look.lost:
            remarks = joined([text(note.text, "yellow" if note.bad else "dim") for note in notes])
            if _beside(row, notes, look):
                drawn[-1].append("    ").append_text(remarks)
            else:
                drawn.append(text("    ").append_text(remarks))
    return drawn + rest(plan.hidden if plan.rows else 0)


def _worst_first(row: ShownRow) -> tuple[bool, int, float]:
    return row.state == "running", severity(row.state), -(row.measured.latency or 0.0)


def _title(run: RunRows, look: Look) -> Text:
    workers = sum(count for _, count in run.states)
    states = [("unknown", workers)] if look.lost else run.states
    title = text("").append_text(text(run.name, "bold reverse" if run.name == look.selected else "bold"))
    counts = [in_style(state if workers == 1 else f"{count} {state}", state) for state, count in states]
    facts = [text(fact, "dim") for fact in run.facts if fact]
    return title.append("  ").append_text(joined([*counts, *facts], width=look.width - title.cell_len))


def _row(row: ShownRow, look: Look) -> Text:
    measured = row.measured
    state = "unknown" if look.lost and row.state else row.state
    start = line(
        (in_style(_STATES.get(state, "?")[0], state), 1, "left"),
        (_name(row, look.name), look.name, "left"),
        (text(brief(row.age) if row.state else "", "yellow" if row.late or look.lost else "dim"), _AGE, "right"),
        (_rate(measured.rate, look), _RATE, "right"),
    )
    mean = _latency(measured.latency, look, row.objective, "bold red", "bold")
    if instead := _instead(row, look):
        whole = line((start, start.cell_len, "left"), (mean, look.figure, "right"))
        if instead.cell_len > look.width - whole.cell_len - 1 and measured.rate is None:
            whole = start
        return line((whole, whole.cell_len, "left"), (instead, max(1, look.width - whole.cell_len - 1), "left"))
    return line(
        (start, start.cell_len, "left"),
        (mean, look.figure, "right"),
        *(
            (_latency(measured.quantiles.get(quantile), look, row.objective, "yellow"), look.figure, "right")
            for _, quantile in QUANTILES
        ),
    )


def _instead(row: ShownRow, look: Look) -> Text | None:
    """What is shown instead of percentiles; None if they are shown."""
    if look.lost:
        return in_style("exporter does not answer", "unknown") if row.state else None
    if row.state not in ("running", ""):
        return in_style(": ".join(filter(None, (row.state, row.reason))), row.state)
    if row.apart:
        name, quantile = ("p99", "0.99") if "0.99" in row.measured.quantiles else ("max", "1")
        latency = figures.latency(row.measured.quantiles.get(quantile)).replace(" ", "")
        return text(f"{name} {latency}, {row.apart}", "dim")
    return None


def _name(row: ShownRow, width: int) -> Text:
    """Name and operation; a long name is cut, the operation stays."""
    operation = f" {row.op}" if row.op else ""
    name = text(row.name)
    name.truncate(max(1, width - len(operation)), overflow="ellipsis")
    return name.append_text(text(operation))


def _rate(value: float | None, look: Look) -> Text:
    return text(figures.rate(None if look.lost else value), "bold red" if value == 0 else "bold")


def _latency(value: float | None, look: Look, objective: float | None, missed: str, style: str = "") -> Text:
    if look.lost or value is None:
        return text(figures.NOT_MEASURED, "dim")
    shown = figures.latency(value)
    above = objective is not None and value > objective
    return text(shown if look.figure > 6 else shown.replace(" ", ""), missed if above else style)
