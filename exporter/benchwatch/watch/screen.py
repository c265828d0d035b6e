"""The whole screen: active runs, alerts, vdisks and ended runs, in the space available."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from rich.text import Text

from ..model.cvm import Vdisk
from ..model.run import Measured, Worker
from ..values import numbers as figures
from ..values.printable import printable
from .blocks import Align, Block, cut, fit, joined, line, rest, spread, text
from .curves import Curves
from .rows import RunRows, active_runs, ended_workers, labels_of
from .table import NARROW, Columns, Look, brief, draw_runs, in_style, lines_wanted
from .trends import Trends
from .watched import Alert, Page, Past

_RECENTLY = 600.0
"""Seconds for which an ended run keeps its place on the screen; after that it is shown if it fits."""
_SEVERITIES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


@dataclass(frozen=True)
class ScreenMoment:
    """Everything that is known at a moment. `now` and `read_at` are Unix seconds of the exporter's clock."""

    now: float
    page: Page | None = None
    read_at: float | None = None
    problem: str = ""
    """Why the exporter's numbers are not available; empty if they are."""
    advice: str = ""
    """What to check in that case."""
    alerts: Sequence[Alert] | None = None
    """None: not requested, or not known."""
    alerts_problem: str = ""
    """Why there are no alerts, or no verdicts."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """A sentence for each run that is slower than usual."""
    past: Past = field(default_factory=dict)
    """The reports of workers from before they were first seen."""


class Screen:
    """Draws moments; keeps the trends and the user's choices. `exporter` and `prometheus` are the names shown."""

    def __init__(self, exporter: str, prometheus: str) -> None:
        self.exporter = exporter
        self._prometheus = prometheus
        self._trends = Trends()
        self._moment = ScreenMoment(0.0)
        self._paused: ScreenMoment | None = None
        self._selected = ""

    def show(self, moment: ScreenMoment, fresh: bool = False) -> None:
        """Make this the current moment; `fresh`: its page has just been read."""
        self._moment = moment
        if fresh and moment.page is not None:
            self._trends.add(active_runs(moment.page, moment.now), moment.now, moment.past)

    def pause(self) -> None:
        """Pause, or resume."""
        self._paused = None if self._paused else self._moment

    def select(self, step: int) -> None:
        """Put the next or the previous run first."""
        moment = self._paused or self._moment
        names = [run.name for run in active_runs(moment.page or Page(), moment.now)]
        if names:
            at = names.index(self._selected) + step if self._selected in names else (0 if step > 0 else -1)
            self._selected = names[at % len(names)]

    def lines(self, width: int, height: int) -> list[Text]:
        """The screen, with the keys in the last line."""
        moment = self._paused or self._moment
        body = self._body(moment, width, height - 1)
        keys = ["q quit", "j k run", "p go on" if self._paused else "p pause"]
        if not self._prometheus:
            keys.append("alerts: --prometheus URL")
        foot = joined([text(key, "dim") for key in keys])
        if self._paused:
            foot = spread(text(f"PAUSED at {figures.clock_time(moment.now)}", "bold reverse"), foot, width)
        return [*body, *[text("")] * (height - 1 - len(body)), foot]

    def snapshot(self, width: int) -> list[Text]:
        """Everything once, without charts, in as many lines as needed."""
        return self._body(self._moment, width, 1_000_000, charts=False)

    def _body(self, moment: ScreenMoment, width: int, height: int, charts: bool = True) -> list[Text]:
        page = moment.page or Page()
        verdicts = {} if moment.problem else moment.verdicts
        runs = [
            run._replace(verdict=tuple(wrap(printable(verdicts.get(run.name, "")), max(1, width - 2))))
            for run in active_runs(page, moment.now)
        ]
        ended = ended_workers(page)
        recent = sum(worker.end is not None and moment.now - worker.end < _RECENTLY for worker in ended)
        head = Block(lambda _: self._head(moment, page, width), 1 + 2 * bool(moment.problem), 3)
        below = []
        if moment.alerts or moment.alerts_problem:
            below.append(Block(lambda lines: self._alerts(moment, lines), 1 + len(moment.alerts or ()), 4))
        if page.cvms and not moment.problem:
            mapped = sum(bool(vdisk.vm) for vdisk in page.vdisks)
            wanted = 2 + (mapped + (mapped < len(page.vdisks)) if mapped else len(page.vdisks))
            below.append(Block(lambda lines: _vdisks(page, moment.now, width, lines), wanted, 3 + min(mapped, 2)))
        taken = head.wanted + lines_wanted(runs) + sum(block.wanted for block in below)
        if ended:
            rows = sum(len(_results(worker)) for worker in ended) + bool(_warmups(ended))
            least = 1 + min(recent, 2) if recent else 0
            below.append(Block(lambda lines: _ended(ended, moment.now, width, lines), 1 + rows, least))
            taken += least
        if runs:
            return fit([head, *self._runs(runs, moment, width, height - taken, charts), *below], height)
        nothing = Block(lambda _: [text("Nothing is running.", "dim")], 1, 1)
        return fit([head, *([nothing] if moment.page is not None and not moment.problem else []), *below], height)

    def _runs(self, runs: Sequence[RunRows], moment: ScreenMoment, width: int, spare: int, charts: bool) -> list[Block]:
        """The table of active runs, and the curves for which `spare` lines are left; with them, it needs no charts."""
        room = spare if charts and width >= NARROW and not moment.problem else 0
        curves = Curves.of(runs, self._selected, room)
        rows = [row for run in runs for row in (*run.totals, *run.rows)]
        names = max(row.name_length for row in rows)
        columns = Columns.of(width, names, charts and any(row.key not in curves.keys for row in rows))
        look = Look(width, columns, moment.now, self._selected, bool(moment.problem), curves.keys)
        wanted = lines_wanted(runs)
        table = Block(lambda lines: draw_runs(runs, self._trends, look, lines), wanted, min(wanted, 8))
        return [table, Block(lambda _: curves.draw(self._trends, look), curves.lines, curves.lines)]

    def _head(self, moment: ScreenMoment, page: Page, width: int) -> list[Text]:
        states = [worker.state for worker in page.workers if worker.active]
        counts = [
            in_style(f"{states.count(state)} {state}", state) for state in ("stalled", "running") if state in states
        ]
        if self._prometheus and moment.alerts is not None:
            count = len(moment.alerts)
            counts.append(text(f"{count or 'no'} alert{'s' * (count != 1)}", "bold red" if count else "dim"))
        known = counts if not moment.problem else []
        left = joined([text("benchwatch", "bold"), *known, text(self.exporter, "dim")])
        head = [spread(left, text(figures.clock_time(moment.now), "dim"), width)]
        if moment.problem:
            since = "" if moment.read_at is None else f" Last read {figures.age(moment.now - moment.read_at)}."
            head.append(text(f"The exporter {moment.problem}.{since}", "bold red"))
            head.append(text(f"Trying again. {moment.advice}", "red"))
        return head

    def _alerts(self, moment: ScreenMoment, lines: int) -> list[Text]:
        alerts = moment.alerts or ()
        title = f"Alerts of {self._prometheus}"
        drawn = [text(f"{title}: it {moment.alerts_problem}" if moment.alerts_problem else title, "bold")]
        shown = cut(alerts, lines - 1)
        for alert in shown:
            style = _SEVERITIES.get(alert.severity, "")
            parts = [
                text(alert.severity, style),
                text(brief(max(0.0, moment.now - alert.since))),
                text(alert.name, style),
            ]
            drawn.append(joined(parts, " ").append("  ").append_text(text(alert.summary)))
        return drawn + rest(len(alerts) - len(shown))


def _vdisks(page: Page, now: float, width: int, lines: int) -> list[Text]:
    """The vdisks: those of the benchmark (mapped) first, then by latency, slowest first."""
    polls = [
        text(f"{cvm.name} {_polled(now, cvm.last_success)}", "dim")
        if cvm.up
        else text(f"{cvm.name} does not answer", "bold red")
        for cvm in page.cvms
    ]
    drawn = [joined([text("vdisks", "bold"), joined(polls)], "  ")]
    if not page.vdisks:
        return drawn
    vdisks = sorted(page.vdisks, key=lambda vdisk: (not vdisk.vm, -max(vdisk.latencies.values(), default=0.0)))
    shown = cut(vdisks, lines - 2)
    name = min(width - 2 - 7 * 8, max((text(_vdisk_name(vdisk)).cell_len for vdisk in shown), default=0) + 2)
    name = max(name, len("seen by the VM"))
    titles = ("read/s", "write/s", "read", "write", "oplog", "rnd r", "rnd w")
    head = line((text("  seen by the VM"), name + 2, "left"), *((text(title), 7, "right") for title in titles))
    head.stylize("dim")
    drawn.append(head)
    drawn += [_vdisk(vdisk, name) for vdisk in shown]
    return drawn + rest(len(vdisks) - len(shown))


def _polled(now: float, last_success: float | None) -> str:
    return "not read yet" if last_success is None else f"read {figures.age(now - last_success)}"


def _vdisk_name(vdisk: Vdisk) -> str:
    return " ".join(part for part in (vdisk.vm, vdisk.disk, vdisk.role) if part) or f"{vdisk.cvm} {vdisk.vdisk}"


def _vdisk(vdisk: Vdisk, name: int) -> Text:
    cells = [
        figures.rate(vdisk.rates.get("read")),
        figures.rate(vdisk.rates.get("write")),
        figures.latency(vdisk.latencies.get("read")),
        figures.latency(vdisk.latencies.get("write")),
        *(_share(part) for part in (vdisk.oplog, vdisk.random.get("read"), vdisk.random.get("write"))),
    ]
    return line((text(f"  {_vdisk_name(vdisk)}"), name + 2, "left"), *((text(cell), 7, "right") for cell in cells))


def _share(ratio: float | None) -> str:
    return figures.NOT_MEASURED if ratio is None else f"{ratio:.0%}"


_RESULTS: tuple[tuple[str, int], ...] = (("rate/s", 6), ("mean", 7), ("p99", 7), ("max", 7), ("took", 4), ("ended", 5))
_MEASURED = 4
"""How many of these count as measured."""
_STATE = 9
_BEFORE = 2 + 1 + _STATE + 2
"""Columns of a line of an ended worker beside its name and its figures."""


def _ended(workers: Sequence[Worker], now: float, width: int, lines: int) -> list[Text]:
    """Workers of ended runs with their results, one line per operation, most recently ended first."""
    results = [(worker, result) for worker in workers for result in _results(worker)]
    warmups = _warmups(workers)
    shown = cut(results, lines - 1 - bool(warmups))
    names = [
        " ".join(dict.fromkeys(filter(None, (worker.run, *labels_of(worker, result, alone=True)))))
        for worker, result in shown
    ]
    longest = max((text(name).cell_len for name in names), default=0)
    room = max(16, width - 3 - _STATE - sum(1 + size for _, size in _RESULTS))
    length = min(longest, room)
    head = line((text("Ended"), length + 3 + _STATE, "left"), *((text(t), size, "right") for t, size in _RESULTS))
    head.stylize("dim")
    drawn = [head, *(_result(name, length, width, of, now) for name, of in zip(names, shown, strict=True))]
    drawn += rest(len(results) - len(shown))
    if warmups:
        drawn.append(text(f"    benchwatch show leaves out the warm-ups: {warmups}", "dim"))
    return drawn


def _results(worker: Worker) -> Sequence[Measured]:
    """What the tool reports of the whole run is no result if there is a warm-up to leave out."""
    return (not worker.warmup and worker.result) or (Measured(),)


def _warmups(workers: Sequence[Worker]) -> str:
    """The runs with results that have a warm-up, and how long it is."""
    found = {worker.run: worker.warmup for worker in workers if worker.warmup and worker.result}
    return ", ".join(f"{run} {figures.duration(warmup)}" for run, warmup in found.items())


def _result(name: str, length: int, width: int, of: tuple[Worker, Measured], now: float) -> Text:
    worker, result = of
    took = None if worker.start is None or worker.end is None else worker.end - worker.start
    cells = (
        figures.rate(result.rate),
        figures.latency(result.latency),
        figures.latency(result.quantiles.get("0.99")),
        figures.latency(result.quantiles.get("1")),
        brief(took),
        brief(None if worker.end is None else max(0.0, now - worker.end)),
    )
    sizes = [size for _, size in _RESULTS]
    figured: list[tuple[Text, int, Align]] = [
        (text(cell), size, "right") for cell, size in zip(cells, sizes, strict=True)
    ]
    remarks = worker.notes
    instead = "benchwatch show" if worker.warmup and worker.result else worker.reason
    if instead and result.rate is None:
        room = sum(sizes[:_MEASURED]) + _MEASURED - 1
        behind = width - _BEFORE - length - sum(1 + size for size in sizes)
        if room < min(text(instead).cell_len, behind):
            remarks = (instead, *remarks)
        else:
            figured[:_MEASURED] = [(text(instead), room, "left")]
    drawn = line(
        (text(f"  {name}"), length + 2, "left"),
        (in_style(worker.state, worker.state), _STATE, "left"),
        *figured,
    )
    return drawn.append_text(text("".join(f"  {remark}" for remark in remarks), "dim"))
