"""The page of a run: its present state, and the parts that are drawn over time (see looks).

It is complete without its script. The script fetches changes every second: its request names the versions of the parts
that the browser has (`?since=course:7,machine:3`), and the answer contains only parts with another version. All text
from outside goes through `in_html`; names in links are quoted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from ..model.run import Run, Worker
from ..show.as_html import table_html
from ..show.content import table
from ..values import numbers as figures
from ..values.names import natural
from ..values.printable import in_html
from . import cells
from .assets import RUN_STYLE, document
from .chores import PagePart

_PARTS = ("answers", "course", "machine")
_ACTIVE_SECONDS, _ENDED_SECONDS = 1, 5
_WITHOUT_SCRIPT = 5
"""Seconds after which a browser without scripts loads the whole page again."""
_MOST_WORKERS = 50
_MOST_NAMED = 100
_BOARDS = (("Live", "benchwatch-live"), ("Spike", "benchwatch-spike"))


def run_page(
    view: Run, parts: Mapping[str, PagePart], *, now: float, since: str | None = None, grafana: str = ""
) -> str:
    """The page at `now` (Unix seconds); with `since`, only the parts that differ from a browser's versions.

    It links to the boards of the Grafana at that URL.
    """
    known = dict(one.partition(":")[::2] for one in since.split(",")) if since is not None else {}
    is_reading = "course" in parts and not parts["course"].version
    seconds = _ACTIVE_SECONDS if is_reading or view.active else _ENDED_SECONDS
    body = f'<div id="now" data-seconds="{seconds}">{_now(view, now, _boards(view, now, grafana))}</div>'
    for name in _PARTS:
        part = parts.get(name, PagePart("", ""))
        if since is None or known.get(name) != part.version or not part.version:
            body += f'<div id="{name}" data-version="{part.version}">{part.html}</div>\n'
    counts = Counter(worker.state for worker in view.workers)
    title = f"{view.name} · {cells.counted(counts)}" if counts else view.name
    if since is not None:
        return f"<!doctype html>\n<title>{in_html(title)}</title><main>{body}</main>\n"
    return _document(title, view.name, body, refresh=_WITHOUT_SCRIPT)


def no_run(name: str, names: Sequence[str]) -> str:
    """The page if there is no run of that name: it lists the known runs."""
    links = "".join(f"<li>{cells.run_link(one, up='../')}</li>" for one in names[:_MOST_NAMED])
    more = f"<p>and {len(names) - _MOST_NAMED} more</p>" if len(names) > _MOST_NAMED else ""
    there = "<p>There are no runs yet.</p>"
    if names:
        there = f"<p>Known runs, most recently changed first:</p><ul>{links}</ul>{more}"
    return _document("No such run", "No such run", f"<p>There is no run {in_html(name)}.</p>{there}")


def _document(title: str, heading: str, main: str, *, refresh: int = 0) -> str:
    header = f'<a href="../">benchwatch</a><h1>{in_html(heading)}</h1>'
    footer = (
        '<a href="../">All runs</a><a href="../metrics">Metrics</a> A gap means that nothing was measured; '
        "it is never drawn as zero."
    )
    return document(
        f"{title} · benchwatch", RUN_STYLE, header, main, footer, refresh=refresh, draws="../" if refresh else ""
    )


def _now(view: Run, now: float, boards: str) -> str:
    workers = sorted(view.workers, key=lambda worker: natural(worker.name))
    counts = Counter(worker.state for worker in workers)
    states = cells.badges(counts) if len(workers) > 1 else "".join(cells.state(one.state) for one in workers)
    facts = [", ".join(sorted({worker.tool for worker in workers})), *_times(view, now)]
    said = []
    for worker in workers:
        whose = f"{worker.name}: " if len(workers) > 1 else ""
        warmup = cells.warmup(worker, now) if worker.active else ""
        said += [f"{whose}{text}" for text in (worker.reason, warmup, *cells.notes(worker)) if text]
    shown = f"<p>{states} {in_html(' · '.join(fact for fact in facts if fact))}{boards}</p>"
    if len(workers) == 1 and workers[0].active:
        said.append(_last(workers[0], now))
    shown += "".join(f'<p class="soft">{in_html(text)}</p>' for text in said if text)
    if len(workers) > 1:
        shown += _table(workers, now)
    return cells.faults(view.problems) + shown


def _boards(view: Run, now: float, grafana: str) -> str:
    """Links to the boards about the time of the run; the script narrows them to the time that the plots show."""
    begin, end = view.start, now if view.active else view.end
    if not grafana or begin is None:
        return ""
    query = urlencode({"var-run": view.name, "from": int(1000 * begin), "to": int(1000 * end) + 1000}, errors="replace")
    links = " · ".join(
        f'<a data-begin="{begin:.3f}" rel="noreferrer" href="{in_html(f"{grafana}/d/{board}/?{query}")}">{name}</a>'
        for name, board in _BOARDS
    )
    return f' · <span class="soft">in Grafana: {links}</span>'


def _times(view: Run, now: float) -> list[str]:
    """How long it has been running, the time left, and the time of these figures."""
    if view.start is None:
        return [f"as of {figures.clock_time(now)}"]
    if not view.active:
        return [f"took {figures.duration(view.end - view.start)}", f"ended {figures.age(now - view.end)}"]
    times = [f"running for {figures.duration(max(0.0, now - view.start))}"]
    if view.planned_end is not None and view.planned_end > now:
        times.append(f"{figures.duration(view.planned_end - now)} left")
    return [*times, f"as of {figures.clock_time(now)}"]


def _last(worker: Worker, now: float) -> str:
    """The last report of a worker, and its operations so far; empty without any."""
    age = None if worker.last_report is None else now - worker.last_report
    unit, apart = cells.unit(worker), cells.apart(worker)
    figure, count = figures.throughput(worker.unit)(worker.throughput), figures.count(worker.operations)
    found = [
        (f"{figure} {unit}".rstrip(), figure),
        (f"mean latency {figures.latency(worker.latency)}", figures.latency(worker.latency)),
        (f"p99 {figures.latency(worker.p99)}{f' ({apart})' if apart else ''}", figures.latency(worker.p99)),
        (f"{count} operations so far", count),
    ]
    said = [text for text, figure in found if figure != figures.NOT_MEASURED]
    return f"Last report, {figures.age(age)}: {' · '.join(said)}" if said and age is not None else ""


def _table(workers: Sequence[Worker], now: float) -> str:
    heads = ("", "state", "throughput", "mean latency", "p99", "operations", "last report")
    rows = []
    for worker in workers[:_MOST_WORKERS]:
        age = None if worker.last_report is None else now - worker.last_report
        unit = "" if worker.throughput is None else cells.unit(worker)
        rate = f"{figures.throughput(worker.unit)(worker.throughput)} {unit}".rstrip()
        latencies = figures.latency(worker.latency), figures.latency(worker.p99)
        last = figures.age(age) if worker.active else ""
        rows.append((worker.name, worker.state, rate, *latencies, figures.count(worker.operations), last))
    more = len(workers) - _MOST_WORKERS
    return table_html(table(heads, rows).filled) + (f"<p>and {more} more workers</p>" if more > 0 else "")
