"""The table of the active runs: as many rows as fit, with remarks below them."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text

from ..values import numbers as figures
from .blocks import Block, joined, line, rest, text
from .rows import Note, RunRows, WorkerRow, severity

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


def table(runs: Sequence[RunRows], width: int, selected: str, lost: bool) -> Block:
    """The runs: without room for everything, remarks are dropped first, then the fastest workers, then runs."""
    longest = max(row.name_length for run in runs for row in (*run.totals, *run.rows))
    look = Look(width, 0, selected, lost)
    look = look._replace(name=max(8, min(max(longest, 12), width - look.row)))
    ordered = sorted(runs, key=lambda run: run.name != selected)
    names = ("mean", *(name for name, _ in QUANTILES))
    head = line(
        (text("  worker"), look.name + 2, "left"),
        (text("age"), _AGE, "right"),
        (text("rate/s"), _RATE, "right"),
        *((text(name), look.figure, "right") for name in names),
    )
    head.stylize("dim")
    wanted = 1 + sum(_height(_with_remarks(run, "all"), look) for run in runs)

    def draw(lines: int) -> list[Text]:
        left = lines - 1
        drawn = [head]
        for number, run in enumerate(ordered):
            others = ordered[number + 1 :]
            shown = _fullest(run, others, look, left)
            height = _height(shown, look)
            if height > left or (others and height == left):
                more = len(ordered) - number
                return [*drawn, text(f"+ {more} more run{'s' * (more > 1)}", "dim")]
            drawn += _draw(shown, look)
            left -= height
        return drawn

    return Block(draw, wanted, min(wanted, 8))


def _fullest(run: RunRows, others: Sequence[RunRows], look: Look, lines: int) -> RunRows:
    """The fullest form in which all these runs fit; if none does, what the shortest form of the others leaves."""
    for remarks in _REMARKS:
        shown = _with_remarks(run, remarks)
        if sum(_height(_with_remarks(one, remarks), look) for one in others) + _height(shown, look) <= lines:
            return shown
    left = lines - sum(_height(_worst(other, 0), look) for other in others)
    return shown if _height(shown, look) <= left else _worst(run, left - 2 - len(run.verdict) - len(run.totals))


def _height(run: RunRows, look: Look) -> int:
    """The number of lines that it takes."""
    rows = (*run.totals, *run.rows)
    below = sum(bool(row.notes) and not _beside(row, look) for row in rows)
    return 1 + len(run.verdict) + len(rows) + below + bool(run.hidden and rows)


def _beside(row: WorkerRow, look: Look) -> bool:
    """Whether the remarks have room in the line of the row."""
    length = look.row + 1 + sum(3 + len(note.text) for note in row.notes)
    return length <= look.width and not look.lost and _instead(row, look) is None


def _worst(run: RunRows, most: int) -> RunRows:
    """The run without remarks, with at most so many rows, the worst ones, but at least one line."""
    rows = sorted(run.rows, key=_worst_first)[: max(most, 0 if run.totals else 1)]
    return _with_remarks(run._replace(rows=tuple(rows), hidden=len(run.rows) - len(rows)), "none")


def _with_remarks(run: RunRows, remarks: str) -> RunRows:
    """The run with these remarks; if percentiles are from another time, one of all remarks says so."""
    totals, rows = (tuple(_remarked(row, remarks) for row in rows) for rows in (run.totals, run.rows))
    return run._replace(totals=totals, rows=rows)


def _remarked(row: WorkerRow, remarks: str) -> WorkerRow:
    if remarks == "all":
        if not row.apart or row.worker.state not in ("running", ""):
            return row
        which = "percentiles" if "0.99" in row.measured.quantiles else "max"  # a total has only the highest latency
        return row._replace(apart="", notes=(Note(f"{which} {row.apart}"), *row.notes))
    return row._replace(notes=tuple(note for note in row.notes if note.bad and remarks == "bad"))


def _draw(run: RunRows, look: Look) -> list[Text]:
    drawn = [_title(run, look)]
    drawn += [text(f"  {part}", "bold yellow") for part in run.verdict]
    rows = (*run.totals, *run.rows)
    for row in rows:
        drawn.append(_row(row, look))
        if row.notes and not look.lost:
            remarks = joined([text(note.text, "yellow" if note.bad else "dim") for note in row.notes])
            if _beside(row, look):
                drawn[-1].append("    ").append_text(remarks)
            else:
                drawn.append(text("    ").append_text(remarks))
    return drawn + rest(run.hidden if rows else 0)


def _worst_first(row: WorkerRow) -> tuple[bool, int, float]:
    state = row.worker.state
    return state == "running", severity(state), -(row.measured.latency or 0.0)


def _title(run: RunRows, look: Look) -> Text:
    workers = sum(count for _, count in run.states)
    states = [("unknown", workers)] if look.lost else run.states
    title = text("").append_text(text(run.name, "bold reverse" if run.name == look.selected else "bold"))
    counts = [in_style(state if workers == 1 else f"{count} {state}", state) for state, count in states]
    facts = [text(fact, "dim") for fact in run.facts if fact]
    return title.append("  ").append_text(joined([*counts, *facts], width=look.width - title.cell_len))


def _row(row: WorkerRow, look: Look) -> Text:
    measured, objective = row.measured, row.worker.objective
    state = "unknown" if look.lost and row.worker.state else row.worker.state
    start = line(
        (in_style(_STATES.get(state, "?")[0], state), 1, "left"),
        (_name(row, look.name), look.name, "left"),
        (text(brief(row.age) if state else "", "yellow" if row.late or look.lost else "dim"), _AGE, "right"),
        (_rate(measured.rate, look), _RATE, "right"),
    )
    mean = _latency(measured.latency, look, objective, "bold red", "bold")
    if instead := _instead(row, look):
        whole = line((start, start.cell_len, "left"), (mean, look.figure, "right"))
        if instead.cell_len > look.width - whole.cell_len - 1 and measured.rate is None:
            whole = start
        return line((whole, whole.cell_len, "left"), (instead, max(1, look.width - whole.cell_len - 1), "left"))
    tails = (_latency(measured.quantiles.get(quantile), look, objective, "yellow") for _, quantile in QUANTILES)
    return line((start, start.cell_len, "left"), *((one, look.figure, "right") for one in (mean, *tails)))


def _instead(row: WorkerRow, look: Look) -> Text | None:
    """What is shown instead of percentiles; None if they are shown."""
    state = row.worker.state
    if look.lost:
        return in_style("exporter does not answer", "unknown") if state else None
    if state not in ("running", ""):
        return in_style(": ".join(filter(None, (state, row.reason))), state)
    if row.apart:
        name, quantile = ("p99", "0.99") if "0.99" in row.measured.quantiles else ("max", "1")
        latency = figures.latency(row.measured.quantiles.get(quantile)).replace(" ", "")
        return text(f"{name} {latency}, {row.apart}", "dim")
    return None


def _name(row: WorkerRow, width: int) -> Text:
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
