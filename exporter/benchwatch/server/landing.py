"""The landing page: active runs and their figures, finished runs, CVMs, and how to begin.

One self-contained HTML document, complete without its script. All text from outside (names of runs and workers,
reasons, the Host header) goes through `in_html`.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import inf

from ..model.cvm import Cvm
from ..model.run import Worker
from ..tools.registry import TOOLS
from ..values import numbers as figures
from ..values.names import natural
from ..values.printable import in_html
from ..values.version import VERSION
from . import cells
from .assets import STYLE, document
from .board import STILL_READING, Exporter
from .svg_sparkline import SECONDS, sparkline

ACTIVE_SHOWN = 100
_REFRESH_SECONDS = 5
_WORKERS_A_SECOND = 4
"""A page with many workers costs more to render, so it is fetched less often."""
ENDED_SHOWN = 50
_SPARKLINES = f"last {SECONDS // 60} min"


def landing_page(board: Exporter, *, now: float, url: str, user: str = "") -> str:
    """The page at `now` (Unix seconds).

    `url` is where the exporter was reached, without a slash at the end; `user` is the user name for pushes, if any.
    """
    workers = [worker for run in board.runs() for worker in run.workers]
    active_runs = {worker.run for worker in workers if worker.active}
    present = [worker for worker in workers if worker.run in active_runs]
    ended = [worker for worker in workers if worker.run not in active_runs]
    counts = Counter(worker.state for worker in present)
    live = "".join(
        (
            f'<p class="summary">{cells.badges(counts) or "Nothing is running "}'
            f"{f'· {len(ended)} ended ' if ended else ''}· as of {figures.clock_time(now)}</p>",
            _banners(board),
            _section("Now", _present(present, now)),
            _section("Ended", _ended(ended, now)),
            _section("Controller VMs", _cvms(board.cvms(), now)),
        )
    )
    seconds = max(_REFRESH_SECONDS, min(len(present), ACTIVE_SHOWN) // _WORKERS_A_SECOND)
    return document(
        f"{cells.counted(counts)} · benchwatch" if counts else "benchwatch",
        STYLE,
        f'<h1>benchwatch</h1><span class="soft">{in_html(VERSION)}</span>',
        f'<div id="live" data-seconds="{seconds}">{live}</div>\n{_begin(board, url, user, first=not workers)}',
        _LINKS,
        refresh=seconds,
    )


_LINKS = (
    'Metrics: <a href="metrics">everything</a><a href="metrics?collect[]=live">live</a>'
    '<a href="metrics?collect[]=runs">runs</a><a href="metrics?collect[]=nutanix">nutanix</a> '
    'Health: <a href="-/healthy">healthy</a><a href="-/ready">ready</a>'
)


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>\n" if body else ""


def _banners(board: Exporter) -> str:
    texts = []
    if not board.ready:
        texts.append(f"Not ready: {STILL_READING}")
    if board.catching_up:
        texts.append(f"Catching up: {board.catching_up}. Figures are incomplete until then.")
    for folder, reason in board.lost.items():
        texts.append(
            f"The folder of runs {folder} cannot be read: {reason}. Create it or let the exporter's user read it, or "
            f"start the exporter with another --runs.path. The exporter watches it as soon as it can read it."
        )
    return cells.faults([*texts, *board.faults])


def _figure(label: str, text: str, unit: str = "", *, bold: bool = False, note: str = "") -> str:
    if text == figures.NOT_MEASURED:
        text = f'<span class="soft" title="not measured">{text}</span>'
    else:
        text = (f"<b>{text}</b>" if bold else text) + (f" {in_html(unit)}" if unit else "")
    beside = f" <small>{note}</small>" if note else ""
    return f'<td class="figure" data-label="{label}">{text}{beside}</td>'


def _present(workers: Iterable[Worker], now: float) -> str:
    """A card for each active run with all its workers: failed and stalled ones first, then the most recent."""
    runs: dict[str, list[Worker]] = {}
    for worker in workers:
        runs.setdefault(worker.run, []).append(worker)

    def rank(group: Sequence[Worker]) -> tuple[int, float]:
        return min(map(_gravity, group)), -max(worker.start or 0.0 for worker in group)

    cards, left = [], ACTIVE_SHOWN
    for group in sorted(runs.values(), key=rank):
        shown = sorted(group, key=lambda worker: natural(worker.name))[: max(left, 0)]
        left -= len(group)
        if shown:
            cards.append(_card(group, shown, now))
    return "".join(cards) + _more(-left)


def _gravity(worker: Worker) -> int:
    """0 for failed, 1 for stalled; all other states rank equally."""
    return {"failed": 0, "stalled": 1}.get(worker.state, 2)


def _more(count: int) -> str:
    return f'<p class="soft">and {count} more: see <a href="metrics">metrics</a>.</p>' if count > 0 else ""


def _card(group: Sequence[Worker], shown: Sequence[Worker], now: float) -> str:
    tools = ", ".join(sorted({worker.tool for worker in group}))
    summary = f'<h3>{cells.run_link(group[0].run)}</h3><span class="soft">{in_html(tools)}'
    if len(group) > 1:
        summary += f" · {len(group)} workers: {cells.counted(Counter(worker.state for worker in group))}"
        summary += cells.together(group)
    rows = "".join(_row(worker, now) for worker in shown)
    return f'<article class="card"><header>{summary}</span></header>{_HEAD}<tbody>{rows}</tbody></table></article>'


_HEAD = (
    '<table><thead><tr><th>Worker</th><th>State</th><th class="figure">Throughput</th>'
    f'<th class="spark">{_SPARKLINES}</th><th class="figure">Mean latency</th><th class="spark">{_SPARKLINES}</th>'
    '<th class="figure">p99</th><th class="figure">Operations</th><th class="figure">Duration</th>'
    '<th class="figure">Last report</th></tr></thead>'
)


def _row(worker: Worker, now: float) -> str:
    age = None if worker.last_report is None else now - worker.last_report
    recent = [report for report in worker.reports if now - SECONDS <= report.time <= now]
    times = [report.time for report in recent]
    rates, delays = [report.throughput for report in recent], [report.latency for report in recent]
    return (
        f'<tr{_STALE if worker.state != "running" else ""}><th scope="row">{in_html(worker.name)}</th>'
        f'<td class="where">{_why(worker, now)}</td>'
        f"{_figure('Throughput', cells.throughput(worker)(worker.throughput), cells.unit(worker), bold=True)}"
        f"{_spark('Throughput', times, rates, now, cells.throughput(worker), 'rate')}"
        f"{_figure('Mean latency', figures.latency(worker.latency), bold=True)}"
        f"{_spark('Mean latency', times, delays, now, figures.latency, 'delay')}"
        f"{_figure('p99', figures.latency(worker.p99), bold=True, note=cells.apart(worker))}"
        f"{_figure('Operations', figures.count(worker.operations))}"
        f"{_figure('Duration', figures.duration(cells.length(worker, now)))}"
        f"{_figure('Last report', figures.age(age))}</tr>"
    )


_STALE = ' class="stale"'


def _why(worker: Worker, now: float) -> str:
    return cells.state(worker.state) + "".join(
        map(_reason, (worker.reason, cells.warmup(worker, now), *cells.notes(worker)))
    )


def _reason(text: str) -> str:
    return f'<span class="reason">{in_html(text)}</span>' if text else ""


def _spark(
    label: str,
    times: Sequence[float],
    values: Sequence[float | None],
    now: float,
    figure: Callable[[float | None], str],
    kind: str,
) -> str:
    values = [value if value is not None and 0 <= value < inf else None for value in values]
    measured = [value for value in values if value is not None]
    if not measured:
        return '<td class="spark"></td>'
    peak = max(measured)
    chart = sparkline(times, values, peak, now, kind, f"{label} over the {_SPARKLINES}, peak {figure(peak)}")
    return f'<td class="spark"><div>{chart}<small>peak {figure(peak)}</small></div></td>'


def _ended(workers: Sequence[Worker], now: float) -> str:
    """One table of the last ones, most recently ended first; those that failed end it."""
    if not workers:
        return ""
    rows = []
    last = sorted(workers, key=_ended_at, reverse=True)[:ENDED_SHOWN]
    for worker in sorted(last, key=lambda one: one.state == "failed"):
        ended = None if worker.end is None else now - worker.end
        name = "" if worker.name == worker.run else f' <span class="soft">{in_html(worker.name)}</span>'
        rows.append(
            f'<tr><th scope="row">{cells.run_link(worker.run)}{name}</th>'
            f'<td class="where">{_why(worker, now)}</td><td>{in_html(worker.tool)}</td>'
            f"{_figure('Throughput', cells.throughput(worker)(worker.throughput), cells.unit(worker), bold=True)}"
            f"{_figure('Mean latency', figures.latency(worker.latency), bold=True)}"
            f"{_figure('p99', figures.latency(worker.p99), bold=True)}"
            f"{_figure('Operations', figures.count(worker.operations))}"
            f"{_figure('Duration', figures.duration(cells.length(worker, now)))}"
            f"{_figure('Ended', figures.age(ended))}</tr>"
        )
    return (
        '<article class="card"><table><thead><tr><th>Run, worker</th><th>State</th><th>Tool</th>'
        '<th class="figure">Throughput</th><th class="figure">Mean latency</th><th class="figure">p99</th>'
        '<th class="figure">Operations</th><th class="figure">Duration</th><th class="figure">Ended</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></article>{_more(len(workers) - ENDED_SHOWN)}"
    )


def _ended_at(worker: Worker) -> float:
    return worker.end or worker.last_report or 0.0


def _cvms(cvms: Sequence[Cvm], now: float) -> str:
    if not cvms:
        return ""
    rows = []
    for cvm in cvms:
        kind, word = {True: ("up", "answers"), False: ("down", "no answer"), None: ("new", "not polled yet")}[cvm.up]
        link = f'<a href="{in_html(cvm.url)}" rel="noreferrer">{in_html(cvm.url)}</a>' if _WEB.match(cvm.url) else ""
        rows.append(
            f'<tr><th scope="row">{in_html(cvm.name)}</th><td class="where">{cells.state(kind, word)}</td>'
            f"{_figure('Last success', figures.age(None if cvm.last_success is None else now - cvm.last_success))}"
            f"{_figure('VDisks', figures.count(len(cvm.vdisks) if cvm.up else None))}"
            f'<td class="wide">{link or in_html(cvm.url)}</td><td class="wide">{in_html(cvm.error)}</td></tr>'
        )
    return (
        '<article class="card"><table><thead><tr><th>CVM</th><th>State</th><th class="figure">Last success</th>'
        '<th class="figure">VDisks</th><th>Address</th><th>Error</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></article>"
    )


_WEB = re.compile(r"https?://")


def _begin(board: Exporter, url: str, user: str, first: bool) -> str:
    """How to watch a benchmark; expanded until there is a run."""
    folder = board.push_folder
    tools = [tool for tool in TOOLS if tool.example]
    name = _worker(tools[0].name)
    if folder is None:
        body = (
            "<p>This exporter does not accept pushes. Write the output of a benchmark into a folder that it "
            "watches, one folder per run, one file per worker:</p>"
            + "".join(_command(f"{tool.example} > runs/my-run/{_worker(tool.name)}.log 2>&1") for tool in tools)
        )
    else:
        send = f"curl -sS {f'-u {shlex.quote(user)} ' if user else ''}-T - {url}/ingest/my-run"
        body = (
            "<ol><li>Run one of these on the machine of the benchmark. Choose your own names for the run "
            f"(<code>my-run</code>) and the worker (<code>{in_html(name)}</code>). You need to install nothing there. "
            "A file keeps a copy of the output, and the benchmark continues if this exporter fails."
            + "".join(
                _command(f"{tool.example} 2>&1 | tee -p {tool.name}.log | {send}/{_worker(tool.name)}")
                for tool in tools
            )
            + '</li><li>It appears on this page and in <a href="metrics">/metrics</a> as soon as it reports. '
            "A run can have many workers: give each its own name.</li>"
            "<li>On this machine, the exporter also watches "
            f"<code>{in_html(str(folder))}/my-run/{in_html(name)}.log</code> and the like.</li></ol>"
        )
    title = "Nothing to show yet: watch a benchmark" if first else "Watch a benchmark"
    return f'<details class="card"{" open" if first else ""}><summary>{title}</summary>{body}</details>\n'


def _worker(tool: str) -> str:
    """A name for its first worker: fio1, iperf3-1."""
    return f"{tool}-1" if tool[-1].isdecimal() else f"{tool}1"


def _command(text: str) -> str:
    return f"<pre><code>{in_html(text)}</code></pre>"
