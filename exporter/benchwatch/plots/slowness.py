"""Why a run was slow, as a Prometheus with the rules of prometheus/rules saw it: its spikes, and its alerts.

A spike lasts from the first to the last sample of `run:benchmark_slow:info`. Its verdict is that of its first 35 s, as
in an alert, and of nothing after its end. Times are elapsed, as on the plots.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil

import numpy as np

from ..show.content import Column, TableRow
from ..values.numbers import clock
from ..values.printable import in_html
from ..values.verdict import answered, question
from ..why.exported import INFO
from ..why.prometheus import Prometheus, text
from . import theme
from .axes import Axis
from .plot import Marks, Plot
from .run_tables import table
from .run_view import Trace, View
from .section import Section
from .time_lines import Array, Line, Span
from .timeplot import time_plot

_JUDGED = 35.0
"""Seconds from the beginning of a spike that its verdict covers."""
_AT_LEAST = 5
"""Seconds that a verdict covers if the spike is shorter: the signals themselves look back 3 s."""
_APART = 5.0
"""Seconds without a sample that end a spike."""
_INTERVALS = 2.5
"""The same in intervals of the rules, if these are longer."""
_AFTERWARDS = 100.0
"""Seconds after the end of a run in which alerts about it still fire."""
_STANDS_OUT = 3
"""Multiple of its usual value from which on a layer is drawn, as in the rules."""
_MOST_LAYERS = 6
_MOST_SPIKES = 30
_MOST_TIMES = 10
_TIMES = Axis("times its usual", lambda ratio: f"{ratio:.3g}x", ".3~r", "x", log=True)
_UNNAMED = frozenset({"__name__", "alertname", "alertstate", "severity", "run"})


def why_slow(prometheus: Prometheus, run: View, title: str, doubts: Iterable[str]) -> Iterator[Section]:
    """The section about a run; none if the rules did not watch it. Raises PrometheusError."""
    of_run = f"run={text(run.run)}"
    end = run.start + run.length
    slow = [one.times for one in prometheus.samples(f"run:benchmark_slow:info{{{of_run}}}", run.start, end)]
    times = np.unique(np.concatenate(slow)) if slow else np.empty(0)
    alerts = prometheus.samples(f'ALERTS{{alertstate="firing",{of_run}}}', run.start, end + _AFTERWARDS)
    watched = f"count_over_time(run:benchmark_slowness:ratio{{{of_run}}}[{ceil(run.length)}s])"
    if not (slow or alerts or prometheus.at(watched, end)):
        return
    html = "".join(f'<p class="note">{in_html(doubt)}</p>' for doubt in doubts)
    spikes = _spans(times)
    if spikes:
        shown = sorted(sorted(spikes, key=lambda span: span.begin - span.end)[:_MOST_SPIKES])
        if len(shown) < len(spikes):
            html += f"<p>The {len(shown)} longest of {len(spikes)} times when the run was slower than usual.</p>"
        rows = [_spike(prometheus, run, of_run, times, span) for span in shown]
        html += table([Column("verdict", right=False), Column("moved most", right=False)], rows)
    else:
        html += "<p>The run was never slower than usual, as far as Prometheus could compare it.</p>"
    if alerts:
        fired = sorted((_spans(one.times), _alert(one.labels, _spans(one.times), run.start)) for one in alerts)
        columns = [Column(name, right=False) for name in ("fired", "severity", "labels")]
        html += f"<h3>Alerts</h3>{table(columns, [row for _, row in fired])}"
    else:
        html += "<p>No alert fired.</p>"
    yield Section(title, list(_layers(prometheus, run, of_run, spikes)), html=html)


def _spans(times: Array) -> list[Span]:
    """From when to when there were samples, Unix seconds."""
    if not len(times):
        return []
    steps = np.diff(times)
    most = max(_APART, _INTERVALS * float(steps.min(initial=np.inf))) if len(steps) else _APART
    begins = np.flatnonzero(np.concatenate(([True], steps > most)))
    ends = np.append(begins[1:], len(times)) - 1
    return [Span(float(times[begin]), float(times[end])) for begin, end in zip(begins, ends, strict=True)]


def _spike(prometheus: Prometheus, run: View, of_run: str, times: Array, spike: Span) -> TableRow:
    judged = float(times[times <= min(spike.begin + _JUDGED, spike.end)][-1])
    seconds = max(_AT_LEAST, ceil(judged - spike.begin) + 1)
    evidence = answered(prometheus.at(question(seconds, of_run), judged)).get(run.run)
    values = (evidence.sentence(), ", ".join(evidence.moved_most())) if evidence else ("", "")
    # What `benchwatch why` said at the time, in alerts too, says more.
    said = prometheus.samples(
        f"{INFO.name}{{{of_run}}}", spike.begin, min(spike.begin + _JUDGED, spike.end + _AT_LEAST)
    )
    last = max(said, key=lambda one: one.times[-1], default=None)
    values = (last.labels.get("text", ""), values[1]) if last else values
    return TableRow([_elapsed(spike, run.start), *values], meaning=_moment(spike))


def _layers(prometheus: Prometheus, run: View, of_run: str, spikes: Iterable[Span]) -> Iterator[Plot]:
    """The layers that ever stood out, in the order in which they did most."""
    highest = f"max_over_time(run_layer:slowness:ratio{{{of_run}}}[{prometheus.step:.0f}s])"
    found = [
        one for one in prometheus.range(f"clamp_min(max by (layer) ({highest}), 1)") if one.values.max() >= _STANDS_OUT
    ]
    found = sorted(found, key=lambda one: -one.values.max())[:_MOST_LAYERS]
    if not found:
        return
    traces = [
        Trace(Line(one.times - run.start, one.values), one.labels["layer"].replace("_", " "), "", colour, False)
        for one, colour in zip(found, theme.SERIES, strict=False)
    ]
    marked = [(Span(span.begin - run.start, span.end - run.start), theme.STALL) for span in spikes]
    caption = (
        "The worst signal of each layer that ever reached three times its usual value, or three times the least that "
        "can matter if that is more; lower values than usual are drawn as 1x. From the recorded series "
        "run_layer:slowness:ratio. Marked: when the run was slower than usual."
    )
    title = "Layers, compared with their usual values"
    yield time_plot(title, traces, run.length, _TIMES, Marks(run.warmup, marked), caption)


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
