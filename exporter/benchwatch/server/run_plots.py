"""A run over time as HTML: its result, its plots, its parameters, and what a Prometheus knows about its machines.

The code of `benchwatch show` makes the figures and sentences, that of the report the plots and tables.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain

from ..compare.parameters import changed
from ..compare.result import results_of
from ..history.timeline import Timeline
from ..metrics.prometheus import Prometheus, PrometheusError
from ..model.run import Run
from ..plots import run_tables
from ..plots.axes import LATENCY
from ..plots.benchmark import over_time
from ..plots.machine import sections
from ..plots.run_view import Usual, View, parameters, together, view
from ..plots.section import Section, attempted_section, rendered
from ..plots.slowness import Slowness, why_slow
from ..results.result_view import objectives, of_run
from ..show.as_html import html
from ..show.content import Column, Sentence, Table, TableRow
from ..tools.registry import names
from ..values.printable import in_html
from .cells import note
from .comparisons import Asked

PATIENCE = 5.0
"""Seconds that an answer of Prometheus may take."""
_HEIGHT = 148
"""Of the two plots on the first screen, pixels."""


def drawn(timelines: Sequence[Timeline], before: Run | None = None, found: Slowness | None = None) -> str:
    """All sections that are made from its files.

    `before` is the run whose parameters are compared with its own, `found` says when it was slow.
    """
    if not timelines:
        return note(f"the files of this run have no recognised output yet: expected output of {names()}")
    run = view(timelines[0].run, timelines)
    if found and found.slow:
        *_, last = found.slow
        spans = [found.span(one) for one in found.slow]
        if found.lasts(last):
            spans[-1] = spans[-1]._replace(end=run.length)
        run = run._replace(usual=Usual(last.usual.rate, last.usual.latency, spans))
    first, *others = attempted_section("Over time", partial(_over_time, run))
    parts = chain(
        [first],
        attempted_section("Result", partial(_results, timelines)),
        others,
        attempted_section("Details", partial(_details, run, before)),
    )
    return "".join(map(rendered, parts))


def _over_time(run: View) -> Iterator[Section]:
    """Throughput and latency without a title, so that both are on the first screen, then the other plots."""
    found = list(over_time([run]))
    plots = list(found[0].figures) if len(found) == 1 else []
    latency = [one for one in plots[1:] if one.y is LATENCY and one.drawings and one.length]
    first = [*plots[:1], *latency[:1]]
    yield Section("", [one._replace(height=_HEIGHT) for one in first])
    if not first or len(plots) > len(first):
        yield found[0]._replace(figures=[one for one in found[0].figures if one not in first])
    yield from found[1:]


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
        ("Environment", partial(run_tables.environment, [run], {run.name: objectives(run.timelines, run.warmup)})),
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


def machine(url: str, timelines: Sequence[Timeline], found: Slowness | None = None) -> str:
    """The sections about why it was slow, and about its disks and vdisks, from a Prometheus."""
    runs = [view(timelines[0].run, timelines)] if timelines else []
    title = "Why it was slow"
    why = attempted_section(title, partial(_why, url, found, title)) if found else ()
    disks = attempted_section("Disks and vdisks", partial(sections, url, runs, PATIENCE))
    return "".join(map(rendered, chain(why, disks)))


def _why(url: str, found: Slowness, title: str) -> Iterator[Section]:
    with suppress(PrometheusError):  # which the sections below name
        yield from why_slow(Prometheus(url, PATIENCE), found, title)
