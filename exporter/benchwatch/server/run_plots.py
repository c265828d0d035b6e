"""A run over time as HTML: its result, its plots, its parameters, and what a Prometheus knows about its machines.

The code of `benchwatch show` makes the figures and sentences, that of the report the plots and tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ..compare.measured import results_of
from ..compare.parameters import changed
from ..history.timeline import Timeline
from ..metrics.prometheus import Prometheus, PrometheusError
from ..model.run import Run
from ..plots import run_tables
from ..plots.benchmark import over_time
from ..plots.machine import reasons, sections
from ..plots.run_view import View, parameters, together, view
from ..plots.section import Section, attempted_section, rendered
from ..results.result_view import of_run
from ..show.as_html import html
from ..show.content import Column, Sentence, Table, TableRow
from ..tools.registry import names
from ..values.printable import in_html
from ..why.exported import SLOW, UNSEEN
from .cells import note
from .comparisons import Asked

_PATIENCE = 5.0
"""Seconds that an answer of Prometheus may take."""
_CRITICAL = "critical"
_Alert = Mapping[str, Mapping[str, str]]


def drawn(timelines: Sequence[Timeline], before: Run | None = None) -> str:
    """All sections that are made from its files; `before` is the run whose parameters are compared with its own."""
    if not timelines:
        return note(f"the files of this run have no recognised output yet: expected output of {names()}")
    run = view(timelines[0].run, timelines)
    parts = (
        ("Result", partial(_results, timelines)),
        ("Over time", partial(over_time, [run])),
        ("Details", partial(_details, run, before)),
    )
    return "".join(rendered(section) for title, make in parts for section in attempted_section(title, make))


def _results(timelines: Sequence[Timeline]) -> Iterator[Section]:
    for result in results_of(timelines, None):
        so_far = " so far" if result.state in ("running", "stalled") else ""
        head, *blocks = of_run(result)
        figures = [one for one in blocks if isinstance(one, Table)]
        lines = [one for one in blocks if isinstance(one, Sentence)]
        yield Section(
            f"Result{so_far}",
            html=f'<p>{in_html(str(head[0]))}</p><div class="result">{html(figures)}<div>{html(lines)}</div></div>',
        )


def _details(run: View, before: Run | None) -> Iterator[Section]:
    """What the tool reported, parameters and environment, folded: the result and the plots come first."""
    html = ""
    ended = all(worker.end is not None for worker in run.timelines)
    for title, make in (
        ("Results of the whole run", partial(run_tables.results, [run] if ended else [])),
        ("Parameters", partial(_parameters, run, before)),
        ("Environment", partial(run_tables.environment, [run])),
    ):
        for section in attempted_section(title, make):
            if section.html:
                html += f"<details><summary>{in_html(section.title)}</summary>{section.html}</details>"
            html += "".join(map(note, section.notes))
    yield Section("Details", html=html)


def _parameters(run: View, before: Run | None) -> Iterator[Section]:
    """Those that differ from the run before come first."""
    _, shared, _ = run_tables.settings([run])
    title, first = "Parameters", ""
    if before:
        theirs = together((worker.name, worker.parameters) for worker in before.workers)
        differing = [
            TableRow([name, now, earlier])
            for name, earlier, now in changed(theirs, parameters(run), (before.name, run.run))
        ]
        title += f": {len(differing) or 'none'} differ{'s' * (len(differing) == 1)} from {before.name}, the run before"
        columns = [Column(name, right=False) for name in (run.run, before.name)]
        first = run_tables.table(columns, differing) if differing else ""
        names = {row.cells[0] for row in differing}
        shared = [row for row in shared if row.cells[0] not in names]
        link = "../" + in_html(Asked(before.name, (run.run,)).address)
        first += f'<p><a href="{link}">Compare with {in_html(before.name)}</a></p>'
    if shared or first:
        yield Section(title, html=first + (run_tables.table((), shared) if shared else ""))


def why(url: str, timelines: Sequence[Timeline]) -> str:
    """The section about why the run was slow, from a Prometheus."""
    make = partial(reasons, url, _runs(timelines), _PATIENCE)
    return "".join(map(rendered, attempted_section("Why it was slow", make)))


def machine(url: str, timelines: Sequence[Timeline]) -> str:
    """The sections about its disks and vdisks, from a Prometheus."""
    make = partial(sections, url, _runs(timelines), _PATIENCE)
    return "".join(map(rendered, attempted_section("Disks and vdisks", make)))


def _runs(timelines: Sequence[Timeline]) -> list[View]:
    return [view(timelines[0].run, timelines)] if timelines else []


def alerts(url: str, name: str) -> str:
    """The firing alerts that name this run or no run: one banner, the others are folded.

    The banner is that of the slow run (the section below says why it is slow), otherwise of the most severe alert. If
    Prometheus does not answer, it says why.
    """
    try:
        firing = Prometheus(url, _PATIENCE).firing()
    except PrometheusError as error:
        return note(f"No alerts and no disks: {error}; this page keeps trying.")
    found = [one for one in firing if _labels(one).get("run") in (None, name) and _name(one) != UNSEEN]
    found.sort(key=lambda one: (_labels(one).get("run") is None, _labels(one).get("severity") != _CRITICAL))
    slow = sorted((one for one in found if _name(one) in SLOW), key=lambda one: _name(one) != "RunSlow")
    cause = slow or found[:1]
    others = [one for one in found if one not in cause]
    if not cause:
        return ""
    folded = "".join(_banner([one]) for one in others)
    names = ", ".join(dict.fromkeys(map(_name, others)))
    summary = f"{len(others)} more alert{'s' if len(others) > 1 else ''}: {in_html(names)}"
    return _banner(cause) + (f"<details><summary>{summary}</summary>{folded}</details>" if others else "")


def _banner(alerts: Sequence[_Alert]) -> str:
    """What the first alert says, with the names of all."""
    severe = any(_labels(one).get("severity") == _CRITICAL for one in alerts)
    severity = _CRITICAL if severe else _labels(alerts[0]).get("severity", "")
    annotations = alerts[0].get("annotations", {})
    said = [annotations.get("summary", ""), "" if "verdict" in annotations else annotations.get("description", "")]
    text = ". ".join(part.removesuffix(".") for part in said if part)
    names = ", ".join(dict.fromkeys(map(_name, alerts)))
    kind = "bad" if severe else "warn"
    return f'<p class="banner {kind}"><b>{in_html(names)}</b> {in_html(severity)}: {in_html(text)}</p>'


def _labels(alert: _Alert) -> Mapping[str, str]:
    return alert.get("labels", {})


def _name(alert: _Alert) -> str:
    return _labels(alert).get("alertname", "")
