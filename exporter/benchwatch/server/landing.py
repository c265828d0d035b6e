"""The landing page: all runs in one table, active ones first, then CVMs, and how to begin.

One self-contained HTML document, complete without its script. All text from outside (names of runs and workers,
reasons, the Host header) goes through `in_html`. What its query selects: see catalogue.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from ..model.cvm import Cvm
from ..model.run import Worker
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow
from ..tools.registry import TOOLS
from ..values import numbers as figures
from ..values.printable import in_html
from ..values.version import VERSION
from . import cells
from .assets import STYLE, document
from .catalogue import SORTS, Query, catalogue
from .exporter import STILL_READING, Exporter
from .past_runs import PastRuns
from .run_lines import runs_table

_REFRESH_SECONDS = 5
_WORKERS_A_SECOND = 4
"""A page with many workers costs more to render, so it is fetched less often."""


def landing_page(
    exporter: Exporter,
    *,
    now: float,
    url: str,
    user: str = "",
    query: Query | None = None,
    past: PastRuns | None = None,
) -> str:
    """The page at `now` (Unix seconds).

    `url` is where the exporter was reached, without a slash at the end; `user` is the user name for pushes, if any;
    `past` knows the runs that have left memory.
    """
    runs = exporter.runs()
    known = past.known() if past else {}
    listed = catalogue(runs, exporter.watched.names, query or Query(), known)
    workers = [worker for run in (*runs, *known.values()) for worker in run.workers]
    counts = Counter(worker.state for run in runs if run.active for worker in run.workers)
    live = "".join(
        (
            f'<p class="summary">{cells.badges(counts) or "Nothing is running "}· as of {figures.clock_time(now)}</p>',
            _banners(exporter),
            runs_table(listed, now),
            _cvms(exporter.cvms(), now),
        )
    )
    seconds = max(_REFRESH_SECONDS, sum(len(run.workers) for run in listed.active) // _WORKERS_A_SECOND)
    choice = _form(workers, listed.query) if workers or listed.total else ""
    return document(
        f"{cells.counted(counts)} · benchwatch" if counts else "benchwatch",
        STYLE,
        f'<h1>benchwatch</h1><span class="soft">{in_html(VERSION)}</span>',
        f'{choice}<div id="live" data-seconds="{seconds}">{live}</div>\n'
        + _begin(exporter, url, user, first=not workers),
        _LINKS,
        refresh=seconds,
    )


_LINKS = (
    'Metrics: <a href="metrics">everything</a><a href="metrics?collect[]=live">live</a>'
    '<a href="metrics?collect[]=runs">runs</a><a href="metrics?collect[]=nutanix">nutanix</a> '
    'Health: <a href="-/healthy">healthy</a><a href="-/ready">ready</a>'
)


def _banners(exporter: Exporter) -> str:
    texts = []
    if not exporter.ready:
        texts.append(f"Not ready: {STILL_READING}")
    if exporter.catching_up:
        texts.append(f"Catching up: {exporter.catching_up}. Figures are incomplete until then.")
    for folder, reason in exporter.watched.roots.lost.items():
        texts.append(
            f"The folder of runs {folder} cannot be read: {reason}. Create it or let the exporter's user read it, or "
            f"start the exporter with another --runs.path. The exporter watches it as soon as it can read it."
        )
    return cells.faults([*texts, *exporter.watched.problems])


def _form(workers: Sequence[Worker], query: Query) -> str:
    """Search, filters and order; a choice that nothing has any more stays in the list."""
    tools = sorted({worker.tool for worker in workers} | {query.tool} - {""})
    present = {worker.state for worker in workers} | {query.state}
    states = [state for state in cells.STATES if state in present]
    opened = "".join(f'<input type="hidden" name="open" value="{in_html(name)}">' for name in query.open)
    return (
        '<div class="choose"><form method="get" role="search">'
        f'<input type="search" name="q" value="{in_html(query.q)}" '
        'placeholder="Name or label=value" aria-label="Name or label=value">'
        f"{_select('tool', 'all tools', tools, query.tool)}{_select('state', 'all states', states, query.state)}"
        f"{_select('sort', '', SORTS, query.sort)}{opened}<button>Show</button></form>\n"
        '<form id="compare" action="compare"><button>Compare the ticked runs</button></form></div>\n'
    )


def _select(name: str, every: str, values: Iterable[str], chosen: str) -> str:
    options = f'<option value="">{every}</option>' if every else ""
    for value in values:
        mark = " selected" if value == chosen else ""
        options += f'<option value="{in_html(value)}"{mark}>{in_html(value)}{"" if every else " first"}</option>'
    return f'<select name="{name}" aria-label="{name}">{options}</select>'


def _cvms(cvms: Sequence[Cvm], now: float) -> str:
    if not cvms:
        return ""
    words = {True: "answers", False: "no answer", None: "not polled yet"}
    rows = [
        TableRow(
            (
                cvm.name,
                words[cvm.up],
                figures.age(None if cvm.last_success is None else now - cvm.last_success),
                figures.count(len(cvm.vdisks) if cvm.up else None),
                cvm.url,
                cvm.error,
            ),
            "bad" if cvm.up is False else "",
        )
        for cvm in cvms
    ]
    columns = [Column(name, right=False) for name in ("CVM", "State", "Last success", "VDisks", "Address", "Error")]
    body = f'<article class="card">{table_html(Table(columns, rows).filled)}</article>'
    return f"<section><h2>Controller VMs</h2>{body}</section>\n"


def _begin(exporter: Exporter, url: str, user: str, first: bool) -> str:
    """How to watch a benchmark; expanded until there is a run."""
    folder = exporter.push_folder
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
