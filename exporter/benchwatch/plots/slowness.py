"""When and why a run was slow, as `benchwatch why` says it from a Prometheus that watched it, and which alerts fired.

A slow time is compared with what was usual before it began. Times are elapsed, as on the plots.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from time import time as now
from typing import NamedTuple

import numpy as np

from ..metrics.prometheus import Prometheus, Samples, text
from ..show.content import Column, TableRow
from ..values.numbers import clock
from ..values.printable import in_html
from ..why.explanation import Explanation, sentence, shown_stages
from ..why.judging import MOST, explanations
from . import theme
from .axes import Axis, time
from .plot import Drawing, Plot
from .run_tables import table
from .run_view import View
from .section import Section
from .time_lines import Array, Span

_APART = 5.0
"""Seconds without a sample that end an alert."""
_INTERVALS = 2.5
"""The same in intervals of the rules, if these are longer."""
_AFTERWARDS = 100.0
"""Seconds after the end of a run in which alerts about it still fire."""
_OVER = 6.0
"""Seconds without a slow one after which a slow time of an active run is over."""
_RECENT = 300.0
"""Seconds of an active run that are looked at again."""
_MOST_TIMES = 10
_DRAWN = 3
"""Slow times, the longest ones, of which the stages of an operation are drawn."""
_WAITS = Axis("mean operation", time, ".4~s", "s")
_UNNAMED = frozenset({"__name__", "alertname", "alertstate", "severity", "run"})


class Slowness(NamedTuple):
    """The slow times of a run, in order; None: Prometheus did not watch it."""

    run: View
    slow: Sequence[Explanation] | None

    def lasts(self, one: Explanation) -> bool:
        """Whether the run is still slow."""
        return self.run.active and self.run.start + self.run.length - one.end < _OVER

    def span(self, one: Explanation) -> Span:
        """When it was slow, elapsed seconds."""
        return Span(max(0.0, one.begin - self.run.start), min(one.end - self.run.start, self.run.length))

    def seconds(self, one: Explanation) -> str:
        """Which seconds of a slow time its figures are the mean of, in words."""
        begin, end = self.span(one)
        if self.lasts(one) and one.end - one.moment <= 1:
            return f"since {clock(begin)}"
        return f"from {clock(begin)} to {clock(min(one.moment - self.run.start, end))}"


def slowness(prometheus: Prometheus, run: View, known: Slowness | None = None) -> Slowness:
    """When and why it was slow; what is `known` of times long past is kept. Raises PrometheusError."""
    begin, end = run.start, run.start + run.length
    kept: list[Explanation] = []
    if known and known.slow is not None:
        if not run.active and now() > end + _AFTERWARDS:
            return known._replace(run=run)
        begin = max(begin, end - _RECENT)
        kept = [one for one in known.slow if one.end < begin]
    found = explanations(prometheus, run.run, begin, end, end + _AFTERWARDS)
    return Slowness(run, None if found is None else [*kept, *found])


def why_slow(prometheus: Prometheus, of: Slowness, title: str) -> Iterator[Section]:
    """The section about it; none if Prometheus did not watch the run. Raises PrometheusError."""
    run = of.run
    selector = f'ALERTS{{alertstate="firing",run={text(run.run)}}}'
    alerts = prometheus.samples(selector, run.start, run.start + run.length + _AFTERWARDS)
    if of.slow is None and not alerts:
        return
    html = "".join(f'<p class="note">{in_html(doubt)}</p>' for doubt in run.doubts)
    if of.slow:
        if len(of.slow) == MOST:
            html += f"<p>The {MOST} longest times when the run was slower than usual.</p>"
        rows = [
            TableRow([_elapsed(of.span(one), lasts=of.lasts(one)), sentence(one)], meaning=_moment(one.begin))
            for one in of.slow
        ]
        html += table([Column("why", right=False)], rows)
    elif of.slow is not None:
        html += "<p>The run was never slower than usual, as far as Prometheus could compare it.</p>"
    html += _fired(alerts, run.start)
    longest = sorted(of.slow or [], key=lambda one: one.begin - one.end)[:_DRAWN]
    drawn = sorted((one for one in longest if one.slower > 0), key=lambda one: one.begin)
    yield Section(title, [_stages(of, one) for one in drawn], html=html)


def _fired(alerts: Sequence[Samples], start: float) -> str:
    """The alerts about the run with their times, folded: a line for each alert and severity of a thing."""
    if not alerts:
        return "<p>No alert fired.</p>"
    fired = sorted(((_spans(one.times), one.labels) for one in alerts), key=lambda one: one[0])
    columns = [Column(name, right=False) for name in ("fired", "severity", "labels")]
    rows = [_alert(labels, spans, start) for spans, labels in fired]
    names = ", ".join(dict.fromkeys(in_html(row.cells[0]) for row in rows))
    return f"<details><summary>Alerts and their times: {names}</summary>{table(columns, rows)}</details>"


def _stages(of: Slowness, one: Explanation) -> Plot:
    """Two bars, usual and slow, each as long as a mean operation takes and divided into what it waits for."""
    drawings = [
        Drawing(
            stage,
            theme.STAGES.get(stage, theme.WARMUP),
            np.array(both),
            np.array([0.0, 1.0]),
            look="bars",
            words=[f"{stage} {time(seconds)}" for seconds in both],
            colours=[theme.STAGES.get(stage, theme.WARMUP)] * 2,
        )
        for stage, both in shown_stages(one).items()
    ]
    said = "; ".join(f"{one.name} {' to '.join(time(float(seconds)) for seconds in one.x)}" for one in drawings)
    when = _elapsed(of.span(one), lasts=of.lasts(one))
    return Plot(
        f"What an operation waits for, usually and {when}",
        f"Usually: {one.armed}. Slow: the mean {of.seconds(one)}.",
        _WAITS,
        Axis("", str, ticks=[(0.0, "usually"), (1.0, "slow")]),
        drawings,
        f"From usually to slow: {said}",
    )


def _spans(times: Array) -> list[Span]:
    """From when to when there were samples, Unix seconds."""
    if not len(times):
        return []
    steps = np.diff(times)
    most = max(_APART, _INTERVALS * float(steps.min(initial=np.inf))) if len(steps) else _APART
    begins = np.flatnonzero(np.concatenate(([True], steps > most)))
    ends = np.append(begins[1:], len(times)) - 1
    return [Span(float(times[begin]), float(times[end])) for begin, end in zip(begins, ends, strict=True)]


def _alert(labels: Mapping[str, str], spans: Sequence[Span], start: float) -> TableRow:
    fired = ", ".join(
        _elapsed(Span(max(0.0, begin - start), max(0.0, end - start))) for begin, end in spans[:_MOST_TIMES]
    )
    more = f" and {len(spans) - _MOST_TIMES} more" if len(spans) > _MOST_TIMES else ""
    others = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if name not in _UNNAMED)
    values = (fired + more, labels.get("severity", ""), others)
    return TableRow([labels.get("alertname", ""), *values], meaning=_moment(spans[0].begin))


def _elapsed(span: Span, *, lasts: bool = False) -> str:
    return f"since {clock(span.begin)}" if lasts else "–".join(dict.fromkeys(map(clock, span)))


def _moment(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
