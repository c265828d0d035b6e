"""`benchwatch list`: the results of a folder's runs; docs/results.md explains the keys of its JSON, schema 1.

States and figures are those of `benchwatch show`. The latest come first; those that failed end the list.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..settings.settings import load_settings
from ..show.as_csv import Value, records
from ..show.as_text import colourful, text
from ..show.content import Column, Table, TableRow, Tone
from ..values import numbers
from ..values.arguments import Flattened, duration, pair
from ..values.errors import FAILED, UserError
from ..values.input_files import expanded, shown
from ..values.printable import say

if TYPE_CHECKING:
    from ..compare.measured import Result
    from ..runs.observed_run import ObservedRun

SCHEMA = 1


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch list [options] [DIR...]",
        description="Lists the runs of a folder, most recent first.",
        examples=(
            "benchwatch list",
            "benchwatch list --label cluster=a --newer 7d",
            "benchwatch list /srv/runs --json",
        ),
    )
    add_choice(parser)
    parser.add_argument(
        "--older", type=duration, metavar="TIME", help="only runs that began at least this long ago, such as 30d"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (docs/results.md)")
    form.add_argument("--csv", action="store_true", help="print CSV (docs/results.md)")
    parser.set_defaults(func=_list)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose runs."""
    paths: dict[str, Any] = {"nargs": "*", "type": expanded, "action": Flattened, "default": [Path("runs")]}
    parser.add_argument("paths", metavar="DIR", help="folder of runs, file or archive (default: runs)", **paths)
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


def chosen_runs(options: argparse.Namespace, unreadable: list[str]) -> Iterator["ObservedRun"]:
    """The runs with these labels whose files changed since then; `unreadable` takes a sentence for each other file."""
    from ..history.find import find_runs
    from ..metrics.buckets import Buckets

    settings = load_settings(options.config_file)
    logging.getLogger("benchwatch.runs").setLevel(logging.ERROR)  # files that are no run need no message
    labels = dict(options.label).items()
    for run in find_runs(options.paths, settings.runs, Buckets(1), unreadable=unreadable):
        if run.modified >= since(options) and labels <= run.labels.items():
            yield run


def since(options: argparse.Namespace) -> float:
    """When the oldest runs that are wanted began, Unix seconds."""
    return time.time() - options.newer if options.newer is not None else 0.0


_TONES: Mapping[str, Tone] = {"failed": "bad", "stalled": "unclear", "running": "good"}
_IN_BYTES = dict.fromkeys(("B/s", "bit/s"), "bytes per second")
"""The units of throughputs in bytes, and their name in JSON."""


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
    seconds: float | None
    """Length; that of an active run reaches to its last report."""
    rate: float | None
    unit: str | None
    latency_mean_seconds: float | None
    latency_p99_seconds: float | None
    labels: Mapping[str, str]
    experiment: str | None

    @property
    def result(self) -> str:
        """The figures as text."""
        if self.rate is None:
            return ""
        unit = self.unit or ""
        in_bytes = unit in _IN_BYTES
        rate = numbers.throughput(unit)(self.rate) if in_bytes else f"{numbers.rate_in_full(self.rate)} {unit}"
        known = {"mean": self.latency_mean_seconds, "p99": self.latency_p99_seconds}
        latencies = [f"{name} {numbers.latency(value)}" for name, value in known.items() if value is not None]
        return ", ".join([rate, *latencies])


def _list(options: argparse.Namespace) -> int:
    from ..history.find import reading

    oldest = since(options)
    youngest = time.time() - options.older if options.older is not None else float("inf")
    unreadable: list[str] = []
    runs: list[ListedRun] = []
    for run in chosen_runs(options, unreadable):
        with reading(run.folder, unreadable):
            runs += (one for one in _listed(run) if oldest <= (one.start or run.modified) <= youngest)
        unreadable += (f"{run.folder}: {clause}" for clause in (*run.bugs, *run.missing))
    runs.sort(key=lambda one: (one.state == "failed", -(one.start or 0.0)))
    units = [_IN_BYTES.get(one.unit or "", one.unit) for one in runs]
    rows = [{**one._asdict(), "unit": unit} for one, unit in zip(runs, units, strict=True)]
    if options.csv:
        sys.stdout.write(records(map(_record, rows)))
    elif options.json:
        sys.stdout.write(json.dumps({"schema": SCHEMA, "runs": rows}, indent=2) + "\n")
    else:
        sys.stdout.write(text([_table(runs)], colour=colourful()) if runs else "")
    for sentence in unreadable:
        say(sentence)
    if not runs:
        raise UserError(f"no such runs in {', '.join(map(str, options.paths))}", FAILED)
    return 0


def _record(row: Mapping[str, Any]) -> Mapping[str, Value]:
    labels = " ".join(f"{name}={value}" for name, value in sorted(row["labels"].items()))
    return {**row, "tools": " ".join(row["tools"]), "labels": labels or None}


def _listed(run: "ObservedRun") -> Iterator[ListedRun]:
    """A row for each of its results; those of several tools share one."""
    from ..compare.measured import WORST_FIRST
    from .result import of_run

    rows: dict[str, list[Result]] = {}
    for result in of_run(run, course=False):
        rows.setdefault(result.name, []).append(result)
    for name, results in rows.items():
        worst = min(results, key=lambda one: (*WORST_FIRST, one.state).index(one.state))
        workers = [worker for one in results for worker in one.workers]
        ends = [one.end for one in results if one.end is not None]
        (unit, main), *others = ((one.roles.unit, one.overall) for one in results)
        rate, latency, p99 = (None, None, None) if others else main
        yield ListedRun(
            name,
            str(shown(run.folder)),
            worst.state,
            worst.reason or None,
            sorted({one.tool for one in results}),
            len(workers),
            min((one.start for one in results if one.start is not None), default=None),
            max(ends) if len(ends) == len(results) else None,
            max((one.length for one in results if one.length is not None), default=None),
            rate,
            None if others else unit.name,
            latency,
            p99,
            {name: value for one in results for name, value in one.labels.items()},
            next((one.runfile.repeat_of for one in workers if one.runfile.repeat_of), None),
        )


def _table(found: Sequence[ListedRun]) -> Table:
    heads = ("run", "state", "tool", "began", "length", "result", "labels")
    columns = [Column(name, right=name == "length") for name in heads]
    return Table(columns, [TableRow(_cells(one), _TONES.get(one.state, "")) for one in found])


def _cells(one: ListedRun) -> Sequence[str]:
    began = "" if one.start is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(one.start))
    so_far = " so far" if one.state in ("running", "stalled") else ""
    length = "" if one.seconds is None else f"{numbers.duration(one.seconds)}{so_far}"
    tools = f"{', '.join(one.tools)}{f' ({one.workers})' if one.workers > 1 else ''}"
    labels = ", ".join(f"{name}={value}" for name, value in sorted(one.labels.items()))
    return one.run, one.state, tools, began, length, one.result, labels
