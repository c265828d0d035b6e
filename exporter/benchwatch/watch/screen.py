"""The whole screen: active runs (slow ones first), alerts, vdisks and ended runs, in the space available."""

from textwrap import wrap

from rich.text import Text

from ..model.cvm import Vdisk
from ..values import numbers as figures
from ..values.printable import printable
from .blocks import Block, cut, fit, joined, line, rest, spread, text
from .curves import Trends, curves
from .ended import ended
from .known import Judged, Known, Page
from .rows import RunRows, active_runs
from .table import brief, in_style, table

_SEVERITIES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


class Screen:
    """Draws moments; keeps the trends and the user's choices. `exporter` and `prometheus` are the names shown."""

    def __init__(self, exporter: str, prometheus: str) -> None:
        self.exporter = exporter
        self._prometheus = prometheus
        self._trends = Trends()
        self._moment = Known(0.0)
        self._paused: Known | None = None
        self._selected = ""

    def show(self, moment: Known) -> None:
        """Make this the current moment."""
        before, self._moment = self._moment, moment
        if moment.page is not None and moment.page is not before.page:
            self._trends.add(active_runs(moment.page, moment.now), moment.now, moment.page.past)

    def pause(self) -> None:
        """Pause, or resume."""
        self._paused = None if self._paused else self._moment

    def select(self, step: int) -> None:
        """Put the next or the previous run first."""
        moment = self._paused or self._moment
        names = [run.name for run in _slow_first(moment)]
        if names:
            at = names.index(self._selected) + step if self._selected in names else (0 if step > 0 else -1)
            self._selected = names[at % len(names)]

    def lines(self, width: int, height: int) -> list[Text]:
        """The screen, with the keys in the last line."""
        moment = self._paused or self._moment
        body = self._body(moment, width, height - 1)
        keys = ["q quit", "j k run", "p resume" if self._paused else "p pause"]
        if not self._prometheus:
            keys.append("alerts: --prometheus URL")
        foot = joined([text(key, "dim") for key in keys])
        if self._paused:
            foot = spread(text(f"PAUSED at {figures.clock_time(moment.now)}", "bold reverse"), foot, width)
        return [*body, *[text("")] * (height - 1 - len(body)), foot]

    def snapshot(self, width: int) -> list[Text]:
        """Everything once, without charts, in as many lines as needed."""
        return self._body(self._moment, width, 1_000_000, charts=False)

    def _body(self, moment: Known, width: int, height: int, charts: bool = True) -> list[Text]:
        page = moment.page or Page()
        verdicts = {} if moment.problem else moment.judged.verdicts
        runs = [
            run._replace(verdict=tuple(wrap(printable(verdicts.get(run.name, "")), max(1, width - 2))))
            for run in _slow_first(moment)
        ]
        head = Block(lambda _: self._head(moment, page, width), 1 + 2 * bool(moment.problem), 3)
        below = [self._alerts(moment.judged, moment.now)]
        below += [] if moment.problem else [_vdisks(page, moment.now, width)]
        results = ended(page, moment.now, width)
        if runs:
            rows = table(runs, width, self._selected, bool(moment.problem))
            spare = height - head.wanted - rows.wanted - sum(block.wanted for block in below) - results.least
            room = max(spare, height // 5) if charts and not moment.problem else 0
            middle = [rows, curves(runs, self._selected, room, self._trends, moment.now, width)]
        else:
            shown = moment.page is not None and not moment.problem
            middle = [Block(lambda _: [text("Nothing is running.", "dim")], int(shown), 1)]
        return fit([head, *middle, *below, results], height)

    def _head(self, moment: Known, page: Page, width: int) -> list[Text]:
        states = [worker.state for worker in page.workers if worker.active]
        counts = [
            in_style(f"{states.count(state)} {state}", state) for state in ("stalled", "running") if state in states
        ]
        if self._prometheus and moment.judged.alerts is not None:
            count = len(moment.judged.alerts)
            counts.append(text(f"{count or 'no'} alert{'s' * (count != 1)}", "bold red" if count else "dim"))
        known = counts if not moment.problem else []
        left = joined([text("benchwatch", "bold"), *known, text(self.exporter, "dim")])
        head = [spread(left, text(figures.clock_time(moment.now), "dim"), width)]
        if moment.problem:
            since = "" if moment.read_at is None else f" Last read {figures.age(moment.now - moment.read_at)}."
            head.append(text(f"The exporter {moment.problem}.{since}", "bold red"))
            head.append(text(f"Trying again. {moment.advice}", "red"))
        return head

    def _alerts(self, judged: Judged, now: float) -> Block:
        alerts = judged.alerts or ()

        def draw(lines: int) -> list[Text]:
            drawn = [text(judged.problem or f"Alerts of {self._prometheus}", "bold")]
            shown = cut(alerts, lines - 1)
            for alert in shown:
                style = _SEVERITIES.get(alert.severity, "")
                age = text(brief(max(0.0, now - alert.since)))
                parts = joined([text(alert.severity, style), age, text(alert.name, style)], " ")
                drawn.append(parts.append("  ").append_text(text(alert.summary)))
            return drawn + rest(len(alerts) - len(shown))

        return Block(draw, 1 + len(alerts) if alerts or judged.problem else 0, 4)


def _slow_first(moment: Known) -> list[RunRows]:
    verdicts = {} if moment.problem else moment.judged.verdicts
    return sorted(active_runs(moment.page or Page(), moment.now), key=lambda run: run.name not in verdicts)


def _vdisks(page: Page, now: float, width: int) -> Block:
    """The vdisks: those of the benchmark (mapped) first, then by latency, slowest first."""
    vdisks = sorted(page.vdisks, key=lambda vdisk: (not vdisk.vm, -max(vdisk.latencies.values(), default=0.0)))
    mapped = sum(bool(vdisk.vm) for vdisk in vdisks)
    polls = [
        text(f"{cvm.name} does not answer", "bold red")
        if not cvm.up
        else text(f"{cvm.name} not read yet", "dim")
        if cvm.last_success is None
        else text(f"{cvm.name} read {figures.age(now - cvm.last_success)}", "dim")
        for cvm in page.cvms
    ]

    def draw(lines: int) -> list[Text]:
        drawn = [joined([text("vdisks", "bold"), joined(polls)], "  ")]
        if not vdisks:
            return drawn
        shown = cut(vdisks, lines - 2)
        name = min(width - 2 - 7 * 8, max((text(_vdisk_name(vdisk)).cell_len for vdisk in shown), default=0) + 2)
        name = max(name, len("seen by the VM"))
        titles = ("read/s", "write/s", "read", "write", "oplog", "rnd r", "rnd w")
        head = line((text("  seen by the VM"), name + 2, "left"), *((text(title), 7, "right") for title in titles))
        head.stylize("dim")
        return [*drawn, head, *(_vdisk(vdisk, name) for vdisk in shown), *rest(len(vdisks) - len(shown))]

    wanted = 2 + (mapped + (mapped < len(vdisks)) if mapped else len(vdisks))
    return Block(draw, wanted if page.cvms else 0, 3 + min(mapped, 2))


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
