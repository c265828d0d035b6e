"""`benchwatch history`: results in the order of their starts, and the points at which they changed, also as a page or a
picture. Exit code 3 with `--fail-on worse`, if the last change of a series was for the worse.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..show.form import add_form, written
from ..values.errors import FAILED, NOT_MET, UserError
from ..values.input_files import shown
from ..values.printable import say
from ..values.suggestion import did_you_mean

if TYPE_CHECKING:
    from ..compare.measures import Measure
    from ..compare.result import Outcome


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    from ..results.listing import add_choice

    parser = add(
        parents=[common],
        usage="benchwatch history [options] [DIR...]",
        description="Shows the results of runs over time, and the points at which they changed.",
        examples=(
            "benchwatch history --label branch=main",
            "benchwatch history nightly/ --metric p99 --newer 90d --fail-on worse",
            "benchwatch history nightly/ --output nightly.html --png nightly.png",
        ),
    )
    add_choice(parser)
    parser.add_argument(
        "--metric",
        default="throughput",
        metavar="FIGURE",
        help="throughput, bandwidth, mean, p50, p95, p99, p99.9, max or connection (default: throughput)",
    )
    add_form(parser, "markdown", "csv")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write it as one HTML file with plots")
    parser.add_argument("--png", type=Path, metavar="FILE", help="also write a picture for posts (needs Chromium)")
    parser.add_argument(
        "--fail-on", choices=("worse",), help="exit with code 3 if the last change of a series is worse"
    )
    parser.set_defaults(func=_history)


def _history(options: argparse.Namespace) -> int:
    from ..results.over_time import all_series, blocks, rows
    from ..results.requirements import MEASURES
    from ..show.as_csv import records

    measure = MEASURES.get(options.metric)
    if measure is None:
        meant = did_you_mean(options.metric, MEASURES)
        raise UserError(f"--metric {options.metric}: unknown figure; expected {', '.join(MEASURES)}{meant}")
    found = list(all_series(_results(options, measure), measure))
    if not found:
        where = ", ".join(str(shown(path)) for path in options.paths)
        raise UserError(f"no matching finished runs with {options.metric} in {where}", FAILED)
    if options.format == "csv":
        sys.stdout.write(records(row for one in found for row in rows(one)))
    else:
        sys.stdout.write(written((block for one in found for block in blocks(one)), options.format))
    if options.output or options.png:
        from .command import save
        from .history_page import history_page, history_picture

        if options.output:
            save("--output", options.output, history_page(found).encode(errors="replace"))
        if options.png:
            save("--png", options.png, history_picture(found))
    worse = any(one.changes and [*one.changes.values()][-1].word == "worse" for one in found)
    return NOT_MET if options.fail_on and worse else 0


def _results(options: argparse.Namespace, measure: "Measure") -> list[tuple[str, "Outcome"]]:
    """The finished results, the oldest first, with the paths of their runs.

    In a terminal, only the results in the tables have intervals: reading them takes three times as long.
    """
    from ..results.listing import chosen_runs, shown_path, since
    from ..results.over_time import latest

    unreadable: list[str] = []
    oldest = since(options)
    every = options.format == "csv" or bool(options.output or options.png)
    places, read = chosen_runs(options, unreadable)
    found = [
        (place, one)
        for place, run in read(places, intervals=every)
        for one in run.results
        if one.state == "finished" and one.measured and (one.start or 0.0) >= oldest
    ]
    found.sort(key=lambda one: one[1].start or 0.0)
    if not every:
        shown_ones = [found[number][0] for number in sorted(latest([one for _, one in found], measure))]
        wanted = {(place.folder, place.name): place for place in shown_ones}
        again = {
            (place.folder, place.name, one.name, one.tool, one.unit): one
            for place, run in read(wanted.values(), intervals=True)
            for one in run.results
        }
        found = [(at, again.get((at.folder, at.name, one.name, one.tool, one.unit), one)) for at, one in found]
    for sentence in dict.fromkeys(unreadable):
        say(sentence)
    return [(shown_path(place), one) for place, one in found]
