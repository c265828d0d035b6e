"""A run over time as HTML: its result, its plots, its parameters, and what a Prometheus knows about its machines.

The code of `benchwatch show` makes the figures and sentences, that of the report the plots and tables.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..history.timeline import Timeline
from ..plots import run_tables
from ..plots.benchmark import benchmark_figures, nothing_to_draw
from ..plots.machine import sections
from ..plots.prometheus import Prometheus, PrometheusError
from ..plots.run_view import View, views
from ..plots.section import Section, rendered
from ..plots.stage import stages
from ..results.result import results_of
from ..results.result_text import of_run
from ..tools.registry import names
from ..values.printable import in_html
from .vdisks import VdiskHistory

_PATIENCE = 5.0
"""Seconds that an answer of Prometheus may take."""
_CRITICAL = "critical"


def note(text: str) -> str:
    """A sentence that stands out."""
    return f'<p class="note">{in_html(text)}</p>'


def drawn(timelines: Sequence[Timeline], vdisks: VdiskHistory) -> str:
    """All sections that are made from its files."""
    if not timelines:
        return note(f"nothing is recognised yet in the files of this run: expected output of {names()}")
    (run,) = views(timelines, None, {})
    found = [*_results(timelines), *_plots(run)]
    if run.length and (plots := list(vdisks.plots(run.start, run.length))):
        found.append(Section("Nutanix vdisks", plots))
    return "".join(map(rendered, (*found, *_tables(run))))


def _results(timelines: Sequence[Timeline]) -> Iterator[Section]:
    for result in results_of(timelines, None):
        so_far = " so far" if result.state in ("running", "stalled") else ""
        head, rows, lines = of_run(result)
        items = "".join(f"<li>{in_html(line)}</li>" for line in lines)
        yield Section(
            f"Result{so_far}",
            html=f'<p>{in_html(head)}</p><div class="result">{_figures(rows)}<ul>{items}</ul></div>',
        )


def _figures(table: Sequence[Sequence[str]]) -> str:
    if not table:
        return ""
    head, *rows = table
    found = [run_tables.TableRow(name or "all", "", cells) for name, *cells in rows]
    return run_tables.table([(name, "") for name in head[1:]], found, numbers=True)


def _plots(run: View) -> Iterator[Section]:
    scenes = list(stages([run]))
    for scene in scenes:
        tool = scene.runs[0].timelines[0].tool
        plots = list(benchmark_figures(scene))
        seen = " on the other side" if scene.roles.observer else ""
        yield Section(
            f"{tool}{seen}" if len(scenes) > 1 else "Over time", plots, notes=() if plots else [nothing_to_draw(tool)]
        )


def _tables(run: View) -> Iterator[Section]:
    results = run_tables.results([run])
    if results and all(worker.end is not None for worker in run.timelines):
        yield Section("Results of the whole run, as the tool reports them", html=results)
    _, shared, machine = run_tables.settings([run])
    if shared:
        yield Section("Parameters", html=run_tables.table((), shared))
    disks = {
        f"{worker.runfile.server} {disk}".strip(): role
        for worker in run.timelines
        for disk, role in worker.runfile.roles.items()
    }
    rows = [run_tables.TableRow(f"Disk {disk}", "", [role]) for disk, role in disks.items()]
    yield Section("Environment", html=run_tables.table((), [*run_tables.environment([run]), *rows, *machine]))


def machine(url: str, timelines: Sequence[Timeline]) -> str:
    """The sections about disks and vdisks during the run, from a Prometheus."""
    return "".join(map(rendered, sections(url, views(timelines, None, {}), _PATIENCE)))


def alerts(url: str, name: str) -> str:
    """The firing alerts that name this run or no run, most important first; if Prometheus does not answer, why."""
    try:
        firing = Prometheus(url, 0.0, 0.0, _PATIENCE).firing()
    except PrometheusError as error:
        return note(f"No alerts and no disks: {error}; this page keeps asking.")
    found = [one for one in firing if one.get("labels", {}).get("run") in (None, name)]
    found.sort(key=lambda one: (one["labels"].get("run") is None, one["labels"].get("severity") != _CRITICAL))
    return "".join(map(_alert, found))


def _alert(alert: Mapping[str, Mapping[str, str]]) -> str:
    labels, annotations = alert.get("labels", {}), alert.get("annotations", {})
    name, severity = labels.get("alertname", ""), labels.get("severity", "")
    said = [annotations.get("summary", ""), annotations.get("verdict", "") or annotations.get("description", "")]
    text = ". ".join(part.removesuffix(".") for part in said if part)
    kind = "bad" if severity == _CRITICAL else "warn"
    return f'<p class="banner {kind}"><b>{in_html(name)}</b> {in_html(severity)}: {in_html(text)}</p>'
