"""`benchwatch history`: results in the order of their starts, and the points at which they changed.

Only finished runs count. Each tool, job and operation is a series of its own. Exit code 3 with `--fail-on worse`, if
the last change of a series was for the worse.
"""

import argparse
import logging
import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..settings.settings import load_settings
from ..show.as_csv import Value, records
from ..show.as_markdown import markdown
from ..show.as_text import colourful, text
from ..show.content import Block, Heading, Sentence, table
from ..values.arguments import Flattened, duration, pair
from ..values.errors import FAILED, NOT_MET, UserError
from ..values.input_files import expanded
from ..values.printable import say
from ..values.sparkline import sparkline

if TYPE_CHECKING:
    from ..compare.measured import Result
    from ..compare.measures import Measure
    from ..metrics.latencies import Group

_SHOWN = 30
"""Latest results in the table of a terminal; all are in the CSV."""
_NAMED = 5
"""Parameters that a change names."""
_FORMATS = ("terminal", "markdown", "csv")
_CSV = ("run", "path", "tool", "part", "measure", "unit", "start", "value", "low", "high", "change", "verdict")


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch history [options] [DIR...]",
        description="Shows the results of runs over time, and the points at which they changed.",
        examples=(
            "benchwatch history --label branch=main",
            "benchwatch history nightly/ --metric p99 --newer 90d --fail-on worse",
        ),
    )
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
        "--newer", type=duration, metavar="TIME", help="only runs that began at most this long ago, such as 90d"
    )
    parser.add_argument(
        "--metric",
        default="throughput",
        metavar="FIGURE",
        help="throughput, bandwidth, mean, p50, p95, p99, p99.9, max or connection (default: throughput)",
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="terminal", help="format of the output (default: terminal)"
    )
    parser.add_argument("--csv", action="store_const", const="csv", dest="format", help="the same as --format csv")
    parser.add_argument(
        "--fail-on", choices=("worse",), help="exit with code 3 if the last change of a series was for the worse"
    )
    parser.set_defaults(func=_history)


class PastResult(NamedTuple):
    """One result of a series."""

    result: "Result"
    path: str
    value: float
    interval: tuple[float, float] | None
    """Its 95 % interval, from its own reports; None with too few of them."""


class PastChange(NamedTuple):
    """A point at which the results of a series changed."""

    number: int
    """Results before it."""
    ratio: float | None
    """From the mean before to the mean after it: 0.1 is +10 %; None if that before is 0."""
    worse: bool
    parameters: Sequence[tuple[str, str, str]]
    """Those that differ between the last run before and the first one after it: name, and both values."""


class PastSeries(NamedTuple):
    """The results of one figure, in the order of their starts."""

    tool: str
    group: "Group"
    measure: "Measure"
    results: Sequence[PastResult]
    changes: Sequence[PastChange]


def _history(options: argparse.Namespace) -> int:
    from .requirements import MEASURES

    measure = MEASURES.get(options.metric)
    if measure is None:
        raise UserError(f"--metric {options.metric}: unknown figure; expected {', '.join(MEASURES)}")
    found = list(_all_series(_results(options), measure))
    if not found:
        raise UserError(f"no such results in {', '.join(map(str, options.paths))}", FAILED)
    if options.format == "csv":
        sys.stdout.write(records(_CSV, (row for one in found for row in _rows(one))))
    else:
        blocks = [block for one in found for block in _blocks(one)]
        sys.stdout.write(markdown(blocks) if options.format == "markdown" else text(blocks, colour=colourful()))
    worse = any(one.changes and one.changes[-1].worse for one in found)
    return NOT_MET if options.fail_on and worse else 0


def _results(options: argparse.Namespace) -> list[tuple[str, "Result"]]:
    """The finished results, the oldest first, with the paths of their runs."""
    from ..history.find import find_runs, reading
    from ..metrics.buckets import Buckets
    from ..values.input_files import shown
    from .result import of_run

    settings = load_settings(options.config_file)
    logging.getLogger("benchwatch.runs").setLevel(logging.ERROR)  # files that are no run need no message
    oldest = time.time() - options.newer if options.newer is not None else 0.0
    labels = dict(options.label).items()
    unreadable: list[str] = []
    found: list[tuple[str, Result]] = []
    for run in find_runs(options.paths, settings.runs, Buckets(1), unreadable=unreadable):
        if run.modified >= oldest and labels <= run.labels.items():
            with reading(run.folder, unreadable):
                found += ((str(shown(run.folder)), one) for one in of_run(run))
    for sentence in unreadable:
        say(sentence)
    kept = [
        (path, one) for path, one in found if one.state == "finished" and one.measured and (one.start or 0.0) >= oldest
    ]
    return sorted(kept, key=lambda one: one[1].start or 0.0)


def _all_series(results: Iterable[tuple[str, "Result"]], measure: "Measure") -> Iterator[PastSeries]:
    from ..compare.statistics import student

    series: dict[tuple[str, str, Group], list[PastResult]] = {}
    for path, result in results:
        for group in dict.fromkeys(group for group, _ in result.watched()):
            figure = result.figures.get((group, measure))
            if figure is None:
                continue
            interval, estimate = None, figure.estimate
            if estimate is not None and math.isfinite(estimate.relative_error):
                width = student(0.975, estimate.degrees) * estimate.relative_error * figure.value
                interval = figure.value - width, figure.value + width
            own = series.setdefault((result.tool, result.roles.unit.name, group), [])
            own.append(PastResult(result, path, figure.value, interval))
    for (tool, _, group), each in series.items():
        yield PastSeries(tool, group, measure, each, list(_changes(each, measure)))


def _changes(results: Sequence[PastResult], measure: "Measure") -> Iterator[PastChange]:
    from ..compare.change_points import change_points
    from ..compare.parameters import differences

    values = [one.value for one in results]
    points = change_points(values)
    edges = [0, *points, len(values)]
    for begin, place, end in zip(edges, points, edges[2:], strict=False):
        before = math.fsum(values[begin:place]) / (place - begin)
        after = math.fsum(values[place:end]) / (end - place)
        left, right = (one.result for one in results[place - 1 : place + 1])
        differing = [(one.name, one.base, one.other) for one in differences([left], [right], ())]
        worse = (after < before) == (measure.better == "higher")
        yield PastChange(place, after / before - 1 if before else None, worse, differing)


def _blocks(series: PastSeries) -> Iterator[Block]:
    from ..compare.wording import figure, heading, title

    roles = series.results[0].result.roles
    name = title(series.measure, roles)
    part = f" {heading(series.group)}" if series.group else ""
    yield Heading(f"{series.tool}{part}: {name} of {len(series.results)} runs")
    if len(series.results) > 1:
        yield Sentence(sparkline([one.value for one in series.results[-_SHOWN:]]))
    for change in series.changes:
        at = series.results[change.number].result
        by = "" if change.ratio is None else f"{100 * change.ratio:+.1f} % "
        what = "; ".join(f"{name}: {_value(old)} -> {_value(new)}" for name, old, new in change.parameters[:_NAMED])
        more = f"; and {len(change.parameters) - _NAMED} more" if len(change.parameters) > _NAMED else ""
        why = f"changed with it: {what}{more}" if what else "no recorded parameter changed with it"
        word = "worse" if change.worse else "better"
        tone = "bad" if change.worse else "good"
        yield Sentence(f"{by}from {at.name} on ({_date(at.start)}), {word}; {why}", tone)  # type: ignore[arg-type]
    if not series.changes:
        yield Sentence("no change found")
    changed = {change.number: change for change in series.changes}
    rows = []
    for number, one in list(enumerate(series.results))[-_SHOWN:]:
        low, high = (figure(max(end, 0.0), series.measure, roles) for end in one.interval or (0.0, 0.0))
        mark = changed.get(number)
        word = "" if mark is None else "worse" if mark.worse else "better"
        interval = f"{low} to {high}" if one.interval else ""
        rows.append(
            [one.result.name, _date(one.result.start), word, figure(one.value, series.measure, roles), interval]
        )
    yield table(["run", "began", "change", name, "95 % interval"], rows, left=3)


def _rows(series: PastSeries) -> Iterator[Mapping[str, Value]]:
    from ..compare.measures import unit_of
    from ..compare.wording import heading

    changed = {change.number: change for change in series.changes}
    for number, one in enumerate(series.results):
        change = changed.get(number)
        low, high = one.interval or (None, None)
        yield {
            "run": one.result.name,
            "path": one.path,
            "tool": series.tool,
            "part": heading(series.group),
            "measure": series.measure.name,
            "unit": unit_of(series.measure, one.result.roles),
            "start": one.result.start,
            "value": one.value,
            "low": low,
            "high": high,
            "change": change.ratio if change else None,
            "verdict": None if change is None else "worse" if change.worse else "better",
        }


def _value(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _date(moment: float | None) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
