"""The table of runs on the landing page: a line for each run, each worker of several, and each folded experiment.

All text from outside goes through `in_html`. Which runs are listed: see catalogue.
"""

from collections import Counter
from collections.abc import Callable
from math import inf

from ..model.run import Run, Worker
from ..results.folded import Folded, duration, latency, p99, rate, total
from ..values import numbers as figures
from ..values.names import natural
from ..values.printable import in_html
from . import cells
from .catalogue import LINES, Catalogue, Query
from .svg_sparkline import sparkline

WORKERS_SHOWN = 20
"""Of one run."""
_RIGHT = ' class="figure"'
_COLUMNS = ("State", "Tool", "Throughput", "Trend", "Mean latency", "p99", "Duration", "Last report")
_HEAD = (
    "<thead><tr><th>Run</th>"
    + "".join(f"<th{'' if name in ('State', 'Tool', 'Trend') else _RIGHT}>{name}</th>" for name in _COLUMNS)
    + "</tr></thead>"
)


def runs_table(listed: Catalogue, now: float) -> str:
    """One table: active runs, then ended ones."""
    if not listed.total:
        chosen = any((listed.query.q, listed.query.tool, listed.query.state))
        return '<p>No run matches. <a href="?">Show all runs</a></p>' if chosen else ""
    active = "".join(_run(run, now) for run in listed.active)
    ended = ""
    for line in listed.ended:
        ended += _experiment(line, listed.query, now) if isinstance(line, Folded) else _run(line, now)
    parts = "".join(
        f'<tbody><tr class="part"><th colspan="9" scope="rowgroup">{title}</th></tr>{rows}</tbody>'
        for title, rows in (("Active", active), ("Ended", ended))
        if rows
    )
    return f'<article class="card"><table class="runs">{_HEAD}{parts}</table></article>{_pages(listed)}'


def _pages(listed: Catalogue) -> str:
    """Where this page is among all, and links to its neighbours."""
    if listed.total <= LINES:
        return ""
    page = listed.query.page
    first, last = LINES * (page - 1) + 1, min(LINES * page, listed.total)
    links = []
    if page > 1:
        links.append(f'<a rel="prev" href="{in_html(listed.query._replace(page=page - 1).address)}">previous</a>')
    if last < listed.total:
        links.append(f'<a rel="next" href="{in_html(listed.query._replace(page=page + 1).address)}">next</a>')
    return f'<p class="soft pages">{first} to {last} of {listed.total} {" ".join(links)}</p>'


def _line(kind: str, name: str, state: str, tool: str, *figures: str) -> str:
    """A row of the table, from HTML: throughput, course, mean latency, p99, duration, last report."""
    cells = "".join(figures) or f'<td colspan="{len(_COLUMNS) - 2}"></td>'
    return (
        f'<tr class="{kind}"><th scope="row">{name}</th><td class="where">{state}</td>'
        f'<td class="tool">{in_html(tool)}</td>{cells}</tr>'
    )


def _tick(name: str) -> str:
    """Chooses a run or experiment for the comparison."""
    named = in_html(name)
    return f'<input type="checkbox" form="compare" name="run" value="{named}" aria-label="compare {named}">'


def _experiment(experiment: Folded, query: Query, now: float) -> str:
    """One line for all its runs, and a line for each if it is open."""
    opened = experiment.name in query.open
    address = in_html(query.toggled(experiment.name).address)
    link = f'<a class="fold" aria-expanded="{str(opened).lower()}" href="{address}">'
    worker = experiment.workers[0]
    write = figures.throughput(worker.unit)
    together = experiment.mean(duration)
    row = _line(
        "experiment",
        f'{_tick(experiment.name)}{link}{in_html(experiment.name)}</a> <span class="soft">{experiment.many}</span>',
        cells.badges(Counter(one.state for one in experiment.workers)),
        ", ".join(sorted({worker.tool for worker in experiment.workers})),
        _spread("Throughput", experiment, rate, write, cells.unit(worker)),
        _each(experiment, write),
        _spread("Mean latency", experiment, latency, figures.latency),
        _spread("p99", experiment, p99, figures.latency),
        _figure("Duration", figures.duration(together.value if together else None)),
        _figure("Last report", figures.age(now - experiment.end)),
    )
    return row + ("".join(_run(run, now, member=True) for run in experiment.runs) if opened else "")


def _spread(
    label: str,
    experiment: Folded,
    figure: Callable[[Run], float | None],
    write: Callable[[float | None], str],
    unit: str = "",
) -> str:
    """A figure of an experiment: mean with interval, or from the least to the most of a sweep."""
    found = experiment.mean(figure)
    if found is None:
        return _figure(label, figures.NOT_MEASURED)
    least, most = (write(end) for end in (min(found.values), max(found.values)))
    if experiment.points and least != most:
        (number, _, of), (_, _, same) = least.partition(" "), most.partition(" ")
        return _figure(label, f"{number if of == same else least} to {most}", unit, bold=True)
    return _figure(label, write(found.value), unit, bold=True, note=experiment.certainty(found))


def _each(experiment: Folded, write: Callable[[float | None], str]) -> str:
    """The throughput of each run of an experiment, over the points of a sweep or one repeat after the other."""
    found = experiment.mean(rate)
    if found is None or len(found.values) < 2:
        return '<td class="spark"></td>'
    what = ", ".join(experiment.workers[0].point) if experiment.points else "repeat"
    peak = max(found.values)
    last = len(found.values) - 1.0
    label = f"Throughput by {what}, peak {write(peak)}"
    chart = sparkline(range(len(found.values)), found.values, peak, (0.0, last), label)
    return f'<td class="spark"><div>{chart}<small>by {in_html(what)}</small></div></td>'


def _run(run: Run, now: float, *, member: bool = False) -> str:
    """The line of a run; with several workers one for each below it."""
    kind = " member" if member else ""
    name = f"{_tick(run.name)}{cells.run_link(run.name)}"
    if not run.workers:
        return _line(f"stale{kind}", name, '<span class="reason">ended long ago: its page has the figures</span>', "")
    if len(run.workers) == 1:
        (worker,) = run.workers
        if worker.name not in (run.name, worker.tool):
            name += f' <span class="soft">{in_html(worker.name)}</span>'
        return _worker_line(worker, now, name, kind.strip())
    summary = cells.counted(Counter(worker.state for worker in run.workers))
    unit, write = cells.unit(run.workers[0]), figures.throughput(run.workers[0].unit)
    together = total([worker for worker in run.workers if worker.state == "running" or not run.active])
    shown = sorted(run.workers, key=lambda worker: natural(worker.name))[:WORKERS_SHOWN]
    left = len(run.workers) - len(shown)
    return (
        _line(
            f"whole{kind}",
            name,
            f'<span class="reason">{len(run.workers)} workers: {summary}</span>',
            ", ".join(sorted({worker.tool for worker in run.workers})),
            _figure("Throughput", "" if together is None else write(together), unit, bold=True, note="together"),
            *[f"<td{_RIGHT}></td>"] * 5,
        )
        + "".join(_worker_line(worker, now, in_html(worker.name), "member") for worker in shown)
        + (f'<tr class="member"><td colspan="9" class="soft">and {left} more workers</td></tr>' if left else "")
    )


def _worker_line(worker: Worker, now: float, name: str, kind: str) -> str:
    """The line of a worker; `name` is HTML."""
    end = now if worker.active else worker.end
    last, since = ("Last report", worker.last_report) if worker.active else ("Ended", worker.end)
    lasted = None if worker.start is None or end is None else max(0.0, end - worker.start)
    state = cells.state(worker.state)
    for text in (worker.reason, cells.warmup(worker, now), *cells.notes(worker)):
        state += f'<span class="reason">{in_html(text)}</span>' if text else ""
    return _line(
        f"{kind}{' stale' if worker.state != 'running' else ''}".strip(),
        name,
        state,
        worker.tool,
        _figure("Throughput", figures.throughput(worker.unit)(worker.throughput), cells.unit(worker), bold=True),
        _spark(worker, now),
        _figure("Mean latency", figures.latency(worker.latency), bold=True),
        _figure("p99", figures.latency(worker.p99), bold=True, note=cells.apart(worker)),
        _figure("Duration", figures.duration(lasted)),
        _figure(last, figures.age(None if since is None else now - since)),
    )


def _figure(label: str, text: str, unit: str = "", *, bold: bool = False, note: str = "") -> str:
    if not text:
        return f"<td{_RIGHT}></td>"
    if text == figures.NOT_MEASURED:
        text = f'<span class="soft" title="not measured">{text}</span>'
    else:
        text = (f"<b>{text}</b>" if bold else text) + (f" {in_html(unit)}" if unit else "")
    beside = f" <small>{note}</small>" if note else ""
    return f'<td{_RIGHT} data-label="{label}">{text}{beside}</td>'


def _spark(worker: Worker, now: float) -> str:
    """Its throughput over its own time, or as much of it as there are reports in memory."""
    reports = [report for report in worker.reports if report.time <= now]
    values = [
        report.throughput if report.throughput is not None and 0 <= report.throughput < inf else None
        for report in reports
    ]
    measured = [value for value in values if value is not None]
    if not measured:
        return '<td class="spark"></td>'
    first, last = reports[0].time, reports[-1].time
    interval = (last - first) / (len(reports) - 1) if len(reports) > 1 else last - first
    whole = worker.start is not None and first - worker.start <= 3 * max(interval, 1.0)
    start = worker.start if whole and worker.start is not None else first
    peak = max(measured)
    text = figures.throughput(worker.unit)(peak)
    over = figures.duration(last - start)
    label = f"Throughput over {'' if whole else 'its last '}{over}, peak {text}"
    chart = sparkline([report.time for report in reports], values, peak, (start, last), label)
    return f'<td class="spark"><div>{chart}<small>peak {text}{"" if whole else f", last {over}"}</small></div></td>'
