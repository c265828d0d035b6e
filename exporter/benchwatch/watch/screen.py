"""The whole screen: active runs (slow ones first), curves, alerts, vdisks and ended runs, in the space available."""

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from ..values import numbers as figures
from .blocks import Block, cut, fit, joined, spread, text
from .curves import Trends, curves
from .ended import ended
from .known import Alert, Known, Page
from .rows import ActiveRun, active_runs
from .table import RunTable, brief, in_style
from .vdisk_table import vdisks

_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
_HOW = frozenset({"severity", "layer", "since", "corrected"})
"""Labels in which two alerts on the same thing may differ."""


class Screen:
    """Draws moments; keeps the trends and the user's choices. `exporter` and `prometheus` are the names shown."""

    def __init__(self, exporter: str, prometheus: str) -> None:
        self.exporter = exporter
        self._prometheus = prometheus
        self._trends = Trends()
        self._now: tuple[Known, Sequence[ActiveRun]] = Known(0.0), ()
        self._paused: tuple[Known, Sequence[ActiveRun]] | None = None
        self._selected = ""

    def show(self, moment: Known) -> None:
        """Make this the current moment."""
        before, _ = self._now
        judged = moment.judged._replace(slow={}) if moment.problem else moment.judged
        runs = active_runs(moment.page or Page(), moment.now, judged)
        self._now = moment, runs
        if moment.page is not None and moment.page is not before.page:
            self._trends.add(runs, moment.now, moment.page.past)

    def pause(self) -> None:
        """Pause, or resume."""
        self._paused = None if self._paused else self._now

    def select(self, step: int) -> None:
        """Put the next or the previous run first."""
        _, runs = self._paused or self._now
        names = [run.name for run in runs]
        if names:
            at = 0 if step > 0 else -1
            if self._selected in names:
                at = names.index(self._selected) + step
            self._selected = names[at % len(names)]

    def lines(self, width: int, height: int) -> list[Text]:
        """The screen, with the keys in the last line."""
        moment, runs = self._paused or self._now
        body = self._body(moment, runs, width, height - 1)
        keys = ["q quit", "j k run", "p resume" if self._paused else "p pause"]
        if not self._prometheus:
            keys.append("alerts: --prometheus URL")
        foot = joined([text(key, "dim") for key in keys])
        if self._paused:
            foot = spread(text(f"PAUSED at {figures.clock_time(moment.now)}", "bold reverse"), foot, width)
        return [*body, *[text("")] * (height - 1 - len(body)), foot]

    def snapshot(self, width: int) -> list[Text]:
        """Everything once, without charts, in as many lines as needed."""
        return self._body(*self._now, width, 1_000_000, charts=False)

    def _body(
        self, moment: Known, runs: Sequence[ActiveRun], width: int, height: int, charts: bool = True
    ) -> list[Text]:
        page, lost, now = moment.page or Page(), bool(moment.problem), moment.now
        alerts = _one_each(moment.judged.alerts or ())
        head = self._head(moment, runs, len(alerts), width)
        blocks = [Block(lambda _: head, [len(head)] * 4)]
        if runs:
            blocks.append(RunTable(runs, now, width, self._selected, lost).block(height))
            if charts and not lost:
                blocks.append(curves(runs, self._selected, self._trends, now, width, height))
        elif moment.page is not None and not lost:
            blocks.append(Block(lambda _: [text("Nothing is running.", "dim")], (1, 1, 1, 1)))
        blocks.append(self._alerts(alerts, moment.judged.problem, now))
        if not lost:
            blocks.append(vdisks(page, moment.judged.usual, now, width))
        blocks.append(ended(page, now, width))
        return fit(blocks, height)

    def _head(self, moment: Known, runs: Sequence[ActiveRun], alerts: int, width: int) -> list[Text]:
        states: Counter[str] = Counter()
        for run in runs:
            states.update(dict(run.states))
        counts = [in_style(f"{states[state]} {state}", state) for state in ("stalled", "running") if states[state]]
        if slow := sum(run.is_slow for run in runs):
            counts.append(text(f"{slow} slow", "bold yellow"))
        if self._prometheus and moment.judged.alerts is not None:
            counts.append(text(f"{alerts or 'no'} alert{'s' * (alerts != 1)}", "bold red" if alerts else "dim"))
        known = counts if not moment.problem else []
        left = joined([text("benchwatch", "bold"), *known, text(self.exporter, "dim")])
        head = [spread(left, text(figures.clock_time(moment.now), "dim"), width)]
        if moment.problem:
            since = "" if moment.read_at is None else f" Last read {figures.age(moment.now - moment.read_at)}."
            head.append(text(f"The exporter {moment.problem}.{since}", "bold red"))
            head.append(text(f"Trying again. {moment.advice}", "red"))
        return head

    def _alerts(self, alerts: Sequence[Alert], problem: str, now: float) -> Block:
        def draw(lines: int) -> list[Text]:
            shown, more = cut(alerts, lines - 1)
            title = text(problem or f"Alerts of {self._prometheus}", "bold")
            return [title, *[_alert(one, now) for one in shown], *more]

        wanted = 1 + len(alerts) if alerts or problem else 0
        return Block(draw, (min(wanted, 4), wanted, wanted, wanted))


def _one_each(alerts: Sequence[Alert]) -> list[Alert]:
    """Of alerts with one name on one thing, the first: the most severe."""
    found: dict[frozenset[tuple[str, str]], Alert] = {}
    for alert in alerts:
        where = {name: value for name, value in alert.labels.items() if name not in _HOW}
        found.setdefault(frozenset((where or {"summary": alert.summary}).items()) | {("", alert.name)}, alert)
    return list(found.values())


def _alert(alert: Alert, now: float) -> Text:
    style = _STYLES.get(alert.severity, "")
    parts = [text(f"{alert.severity:8}", style), text(f"{brief(max(0.0, now - alert.since)):>4}")]
    return joined([*parts, text(alert.name, style), text(f" {alert.summary}")], " ")
