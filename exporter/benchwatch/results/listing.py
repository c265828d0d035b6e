"""`benchwatch list`: the results of a folder's runs; docs/results.md explains the keys of its JSON, schema 1.

States and figures are those of `benchwatch show`. The latest come first; those that failed end the list.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..settings.settings import load_settings
from ..show.as_csv import records
from ..show.as_text import colourful, text
from ..show.content import Column, Table, TableRow, Tone
from ..values import numbers
from ..values.arguments import Flattened, duration, pair
from ..values.errors import FAILED, UserError
from ..values.input_files import expanded, shown, unopened
from ..values.printable import say

if TYPE_CHECKING:
    from ..compare.result import Outcome
    from ..runs.place import RunPlace
    from .remembered import PastRun

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


_HERE = Path("runs")
"""The folder that is listed if none is named."""


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose runs."""
    paths: dict[str, Any] = {"nargs": "*", "type": expanded, "action": Flattened, "default": [_HERE]}
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


def chosen_runs(
    options: argparse.Namespace, unreadable: list[str]
) -> tuple[list["RunPlace"], Callable[..., Iterator[tuple["RunPlace", "PastRun"]]]]:
    """The places whose output changed since then, and what reads those of them with these labels (see past_runs)."""
    from ..history.find import find_places
    from .remembered import past_runs

    if options.paths == [_HERE] and not _HERE.exists():
        raise UserError(
            "no folder runs here: name a folder of runs, or change to the folder in which they were recorded"
        )
    settings = load_settings(options.config_file)
    logging.getLogger("benchwatch.runs").setLevel(logging.ERROR)  # files that are no run need no message
    found = find_places(options.paths, settings.runs, unreadable=unreadable)
    read = partial(past_runs, settings=settings.runs, labels=dict(options.label), unreadable=unreadable)
    if packed := unopened(place.folder / name for place in found for name in place.files):
        unreadable.append(packed)
    return [place for place in found if place.modified >= since(options)], read


def since(options: argparse.Namespace) -> float:
    """When the oldest runs that are wanted began, Unix seconds."""
    return time.time() - options.newer if options.newer is not None else 0.0


def shown_path(place: "RunPlace") -> str:
    """What `show` accepts for the run: its folder; in a folder of many its file, of several that with its result."""
    path = shown(place.folder)
    if not place.own and path == place.folder:  # what one file was unpacked from stands for it
        path /= min(place.outputs, key=lambda name: (not name.endswith(".out"), name.endswith(".err"), name))
    return f"{path}#{place.number}" if place.number else str(path)


_TONES: Mapping[str, Tone] = {"failed": "bad", "stalled": "unclear", "running": "good"}
_HEADS = ("run", "state", "tool", "began", "length", "result", "labels")


def _list(options: argparse.Namespace) -> int:
    oldest = since(options)
    youngest = time.time() - options.older if options.older is not None else float("inf")
    unreadable: list[str] = []
    found: list[tuple[dict[str, Any], str]] = []
    places, read = chosen_runs(options, unreadable)
    for place, run in read(places, intervals=False):
        results: dict[str, list[Outcome]] = {}  # those of several tools share one row
        for result in run.results:
            results.setdefault(result.name, []).append(result)
        for those in results.values():
            row = _row(shown_path(place), those)
            if oldest <= (row["start"] or place.modified) <= youngest:
                found.append((row, _figures(those[0]) if len(those) == 1 else ""))
        unreadable += (f"{place.folder}: {clause}" for clause in run.problems)
    found.sort(key=lambda one: (one[0]["state"] == "failed", -(one[0]["start"] or 0.0)))
    rows = [row for row, _ in found]
    if options.csv:
        records_of = ({**row, "tools": " ".join(row["tools"]), "labels": _pairs(row, " ") or None} for row in rows)
        sys.stdout.write(records(records_of))
    elif options.json:
        sys.stdout.write(json.dumps({"schema": SCHEMA, "runs": rows}, indent=2) + "\n")
    elif rows:
        columns = [Column(name, right=name == "length") for name in _HEADS]
        table = Table(columns, [TableRow(_cells(*one), _TONES.get(one[0]["state"], "")) for one in found])
        sys.stdout.write(text([table], colour=colourful()))
    for sentence in dict.fromkeys(unreadable):
        say(sentence)
    if not rows:
        raise UserError(f"no matching runs in {', '.join(str(shown(path)) for path in options.paths)}", FAILED)
    return 0


def _row(path: str, results: Sequence["Outcome"]) -> dict[str, Any]:
    """The keys of its JSON. `results` are those of one name."""
    from ..compare.result import WORST_FIRST

    worst = min(results, key=lambda one: WORST_FIRST.index(one.state))
    ends = [one.end for one in results if one.end is not None]
    unit = results[0].roles.unit
    rate, latency, p99 = results[0].overall if len(results) == 1 else (None, None, None)
    return {
        "run": worst.name,
        "path": path,
        "state": worst.state,
        "reason": worst.reason or None,
        "tools": sorted({one.tool for one in results}),
        "workers": sum(one.number for one in results),
        "start": min((one.start for one in results if one.start is not None), default=None),
        "end": max(ends) if len(ends) == len(results) else None,
        "seconds": max((one.length for one in results if one.length is not None), default=None),
        "rate": rate,
        "unit": None if len(results) > 1 else "bytes per second" if unit.in_bytes else unit.name,
        "latency_mean_seconds": latency,
        "latency_p99_seconds": p99,
        "labels": {name: value for one in results for name, value in one.labels.items()},
        "experiment": next((one.experiment for one in results if one.experiment), None),
    }


def _figures(result: "Outcome") -> str:
    from ..compare.measures import THROUGHPUT, figure

    (rate, *latencies), roles = result.overall, result.roles
    if rate is None:
        return ""
    unit = "" if roles.unit.in_bytes else f" {roles.unit.name}"
    known = zip(("mean", "p99"), latencies, strict=True)
    texts = [f"{name} {numbers.latency(value)}" for name, value in known if value is not None]
    return ", ".join([f"{figure(rate, THROUGHPUT, roles)}{unit}", *texts])


def _pairs(row: Mapping[str, Any], between: str) -> str:
    return between.join(f"{name}={value}" for name, value in sorted(row["labels"].items()))


def _cells(row: Mapping[str, Any], figures: str) -> Sequence[str]:
    from .over_time import date

    began, so_far = date(row["start"]), " so far" if row["state"] in ("running", "stalled") else ""
    length = "" if row["seconds"] is None else f"{numbers.duration(row['seconds'])}{so_far}"
    several = f" ({row['workers']})" if row["workers"] > 1 else ""
    return row["run"], row["state"], ", ".join(row["tools"]) + several, began, length, figures, _pairs(row, ", ")
