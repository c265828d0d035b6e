"""`benchwatch list`: the runs of a folder, the latest first; docs/results.md explains the keys of its JSON, schema 1.

States and figures are those of the exporter's page. Logs of single operations are not read: that could take minutes.
"""

import argparse
import json
import logging
import math
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..settings.settings import RunsSettings, load_settings
from ..values import numbers
from ..values.arguments import duration, pair
from ..values.errors import FAILED, UserError
from ..values.printable import printable, say

if TYPE_CHECKING:
    from ..runs.run import Run

SCHEMA = 1
_LOG = re.compile(r"\.\d+(?:\.\d+)?$")
_CHUNK = 1 << 20


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch list [options] [DIR...]",
        description="Lists the runs of a folder, latest first.",
        examples=(
            "benchwatch list",
            "benchwatch list --label cluster=a --newer 7d",
            "benchwatch list /srv/runs --json",
        ),
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, default=[Path("runs")], metavar="DIR", help="folder of runs (default: runs)"
    )
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=VALUE",
        help="only runs with this label; can be repeated",
    )
    parser.add_argument(
        "--newer", type=duration, metavar="TIME", help="only runs that began at most this long ago, such as 7d"
    )
    parser.add_argument(
        "--older", type=duration, metavar="TIME", help="only runs that began at least this long ago, such as 30d"
    )
    parser.add_argument("--json", action="store_true", help="print JSON (docs/results.md)")
    parser.set_defaults(func=_list)


class ListedRun(NamedTuple):
    """One run of the list. Times are Unix seconds; None if unknown."""

    run: str
    path: str
    state: str
    reason: str | None
    tools: Sequence[str]
    workers: int
    start: float | None
    end: float | None
    rate: float | None
    unit: str | None
    latency_mean_seconds: float | None
    latency_p99_seconds: float | None
    labels: Mapping[str, str]
    experiment: str | None

    @property
    def seconds(self) -> float | None:
        """Length; None while it is active, or if its clock was set back to before its start."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return self.end - self.start

    @property
    def result(self) -> str:
        """The figures as text."""
        if self.rate is None:
            return ""
        in_bytes = self.unit == "bytes per second"
        rate = numbers.bandwidth(self.rate) if in_bytes else f"{numbers.rate_in_full(self.rate)} {self.unit}"
        known = {"mean": self.latency_mean_seconds, "p99": self.latency_p99_seconds}
        latencies = [f"{name} {numbers.latency(value)}" for name, value in known.items() if value is not None]
        return ", ".join([rate, *latencies])


def _list(options: argparse.Namespace) -> int:
    settings = load_settings(options.config_file)
    logging.getLogger("benchwatch.runs").setLevel(logging.ERROR)  # files that are no run need no message
    now = time.time()
    oldest = now - options.newer if options.newer is not None else 0.0
    youngest = now - options.older if options.older is not None else float("inf")
    labels = dict(options.label).items()
    unreadable: list[str] = []
    runs = [
        one
        for one, began in _runs(options.paths, settings.runs, now, unreadable)
        if labels <= one.labels.items() and oldest <= began <= youngest
    ]
    runs.sort(key=lambda one: -(one.start or 0.0))
    if options.json:
        rows = [{**one._asdict(), "seconds": one.seconds} for one in runs]
        sys.stdout.write(json.dumps({"schema": SCHEMA, "runs": rows}, indent=2) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _table(runs, now))
    for sentence in unreadable:
        say(sentence)
    if not runs:
        raise UserError(f"no such runs in {', '.join(map(str, options.paths))}", FAILED)
    return 0


def _runs(
    paths: Sequence[Path], settings: RunsSettings, now: float, unreadable: list[str]
) -> Iterator[tuple[ListedRun, float]]:
    """The runs in these folders, and when each began or, failing that, was last written to (Unix seconds).

    Adds a sentence to `unreadable` for each run that cannot be read.
    """
    from ..history.find import find_runs
    from ..metrics.buckets import Buckets

    for run in find_runs(paths, settings, Buckets(1), unreadable=unreadable):
        without_logs = {name: status for name, status in run.listed.items() if not _LOG.search(name)}
        if without_logs:
            run.look(without_logs, now)
            run.read_records(len(without_logs))
        if not run.plans:
            continue
        while run.read(_CHUNK, now):
            pass
        one = _listed(run, now)
        yield one, one.start or run.modified


def _listed(run: "Run", now: float) -> ListedRun:
    from .result import WORST_FIRST

    for worker in run.workers:
        worker.output.over()
        worker.tick(now)
    workers = run.workers
    worst = min(workers, key=lambda worker: (*WORST_FIRST, worker.phase).index(worker.phase))
    counted = [worker for worker in workers if not worker.roles.observer] or workers
    units = {(worker.tool.name, worker.roles.unit) for worker in counted}
    figures = [worker.figures for worker in counted]
    rates = [one.throughput for one in figures]
    known = [rate for rate in rates if rate is not None]
    alone = figures[0] if len(figures) == 1 else None
    unit = next(unit for _, unit in units) if len(units) == 1 else None
    starts = [worker.start for worker in workers if worker.start is not None]
    return ListedRun(
        run.name,
        str(run.folder),
        worst.phase,
        worst.reason or None,
        sorted({worker.tool.name for worker in workers}),
        len(workers),
        min(starts, default=None),
        max(worker.end for worker in workers) if all(worker.ended for worker in workers) else None,
        math.fsum(known) if unit and len(known) == len(rates) else None,
        unit and ("bytes per second" if unit.in_bytes else unit.name),
        alone and alone.latency,
        alone and alone.p99,
        {name: value for worker in workers for name, value in worker.runfile.labels.items()},
        next((worker.runfile.repeat_of for worker in workers if worker.runfile.repeat_of), None),
    )


def _table(found: Sequence[ListedRun], now: float) -> Iterator[str]:
    from .result_text import aligned

    rows = [["run", "state", "tool", "began", "length", "result", "labels"]] if found else []
    for one in found:
        began = "" if one.start is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(one.start))
        on = one.state in ("running", "stalled") and one.start is not None
        seconds = now - one.start if on and one.start is not None else one.seconds
        length = "" if seconds is None else f"{numbers.duration(seconds)}{' so far' if on else ''}"
        tools = f"{', '.join(one.tools)}{f' ({one.workers})' if one.workers > 1 else ''}"
        labels = ", ".join(f"{name}={value}" for name, value in sorted(one.labels.items()))
        rows.append([printable(text) for text in (one.run, one.state, tools, began, length, one.result, labels)])
    yield from aligned(rows, right=4)
