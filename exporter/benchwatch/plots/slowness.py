"""Why a run was slow, as `benchwatch why` says it from a Prometheus that watched the run, and the alerts that fired.

A slow time is compared with what was usual before it began. Times are elapsed, as on the plots.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from ..metrics.prometheus import Prometheus, text
from ..show.content import Column, TableRow
from ..values.numbers import clock
from ..values.printable import in_html
from ..why.explanation import Explanation, sentence, shown_stages
from ..why.past import MOST, explanations
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
_MOST_TIMES = 10
_DRAWN = 3
"""Slow times, the longest ones, of which the stages of an operation are drawn."""
_WAITS = Axis("mean operation", time, ".4~s", "s")
_UNNAMED = frozenset({"__name__", "alertname", "alertstate", "severity", "run"})


def why_slow(prometheus: Prometheus, run: View, title: str, doubts: Iterable[str]) -> Iterator[Section]:
    """The section about a run; none if Prometheus did not watch it. Raises PrometheusError."""
    end = run.start + run.length
    alerts = prometheus.samples(f'ALERTS{{alertstate="firing",run={text(run.run)}}}', run.start, end + _AFTERWARDS)
    slow = explanations(prometheus, run.run, run.start, end, end + _AFTERWARDS)
    if slow is None and not alerts:
        return
    html = "".join(f'<p class="note">{in_html(doubt)}</p>' for doubt in doubts)
    if slow:
        if len(slow) == MOST:
            html += f"<p>The {MOST} longest times when the run was slower than usual.</p>"
        spans = [Span(one.begin, min(one.end, end)) for one in slow]
        rows = [
            TableRow([_elapsed(span, run.start), sentence(one)], meaning=_moment(span))
            for span, one in zip(spans, slow, strict=True)
        ]
        html += table([Column("why", right=False)], rows)
    elif slow is not None:
        html += "<p>The run was never slower than usual, as far as Prometheus could compare it.</p>"
    if alerts:
        fired = sorted((_spans(one.times), _alert(one.labels, _spans(one.times), run.start)) for one in alerts)
        columns = [Column(name, right=False) for name in ("fired", "severity", "labels")]
        names = ", ".join(dict.fromkeys(in_html(str(row.cells[0])) for _, row in fired))
        summary = f"{len(fired)} alert{'s' * (len(fired) > 1)} fired: {names}"
        html += f"<details><summary>{summary}</summary>{table(columns, [row for _, row in fired])}</details>"
    else:
        html += "<p>No alert fired.</p>"
    longest = sorted(slow or [], key=lambda one: one.begin - one.end)[:_DRAWN]
    drawn = sorted((one for one in longest if one.slower > 0), key=lambda one: one.begin)
    yield Section(title, [_stages(one, run.start) for one in drawn], html=html)


def _stages(of: Explanation, start: float) -> Plot:
    """Two bars, usual and now, each as long as a mean operation takes and divided into what it waits for."""
    drawings = [
        Drawing(
            stage,
            colour,
            np.array(both),
            np.array([0.0, 1.0]),
            look="bars",
            words=[f"{stage} {time(seconds)}" for seconds in both],
            colours=[colour, colour],
        )
        for (stage, both), colour in zip(shown_stages(of).items(), (*theme.SERIES, theme.WARMUP), strict=False)
    ]
    said = "; ".join(f"{one.name} {' to '.join(time(float(seconds)) for seconds in one.x)}" for one in drawings)
    return Plot(
        f"What an operation waits for, usually and at {clock(max(0.0, of.begin - start))}",
        f"Compared with {of.armed}.",
        _WAITS,
        Axis("", str, ticks=[(0.0, "usually"), (1.0, "now")]),
        drawings,
        f"From usually to now: {said}",
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
    fired = ", ".join(_elapsed(span, start) for span in spans[:_MOST_TIMES])
    more = f" and {len(spans) - _MOST_TIMES} more" if len(spans) > _MOST_TIMES else ""
    others = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if name not in _UNNAMED)
    values = (fired + more, labels.get("severity", ""), others)
    return TableRow([labels.get("alertname", ""), *values], meaning=_moment(spans[0]))


def _elapsed(span: Span, start: float) -> str:
    return "–".join(dict.fromkeys(clock(max(0.0, moment - start)) for moment in span))


def _moment(span: Span) -> str:
    return f"{datetime.fromtimestamp(span.begin, UTC):%Y-%m-%d %H:%M:%S} UTC"
