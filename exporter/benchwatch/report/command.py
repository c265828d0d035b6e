"""The command `benchwatch report`: its options, and the page that it writes."""

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values.addresses import server_url
from ..values.arguments import add_runs, add_warmup
from ..values.errors import ConfigError
from ..values.names import label
from ..values.printable import printable, say

if TYPE_CHECKING:
    from ..history.timeline import Timeline
    from ..runs.observed_run import ObservedRun


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Register the command `report`."""
    parser = add(
        parents=[common],
        usage="benchwatch report [options] RUN...",
        description="Writes one HTML file that works offline; it compares further runs with the first.",
        examples=(
            "benchwatch report runs/test1",
            "benchwatch report runs/test1 --prometheus http://127.0.0.1:9090",
            "benchwatch report results/ --over clients",
            "benchwatch report runs/default runs/huge --warmup 60s --output huge.html --png huge.png",
        ),
    )
    add_runs(parser, "RUN", "a folder of runs, or the name of a repeated experiment")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output", type=Path, default=Path("report.html"), metavar="FILE", help="file to write (default: report.html)"
    )
    output.add_argument(
        "--png",
        type=Path,
        metavar="FILE",
        help="also write a picture for posts: main figures and a plot (needs Chromium)",
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument(
        "--prometheus",
        metavar="URL",
        help="take disks, vdisks, spikes and alerts from this Prometheus, which watched the run",
    )
    shown.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="PARAMETER",
        help="draw the curve of these runs over a parameter, such as clients; twice: a line and a column per value",
    )
    shown.add_argument(
        "--from-path",
        type=_template,
        metavar="PATTERN",
        help="pattern of the parameters in paths, such as '{bs}/{rw}-{iodepth}-{numjobs}' (default: recognised pairs)",
    )
    add_warmup(shown)
    parser.set_defaults(func=_report)


def _template(text: str) -> re.Pattern[str]:
    from ..results.over import template

    try:
        return template(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _report(options: argparse.Namespace) -> int:
    from ..history.find import chosen, find_runs, nothing_recognised, repeats
    from ..history.replayed_run import timelines
    from ..metrics.buckets import Buckets
    from ..plots.benchmark import shown
    from ..plots.run_view import views
    from ..results.over import sweep_name
    from ..settings.record import SUFFIX
    from ..settings.settings import load_settings
    from .contents import Contents

    if options.from_path and not options.over:
        raise ConfigError("--from-path requires --over, such as --over iodepth")
    prometheus = server_url(options.prometheus, "--prometheus") if options.prometheus else ""
    settings = load_settings(options.config_file)
    buckets = Buckets(settings.histogram.buckets_per_octave)
    missing: list[str] = []
    places = find_runs(options.paths, settings.runs, buckets, different="report", unreadable=missing)
    found = [run for run in places if run.plans]
    given = [path for path in options.paths if path.suffix != SUFFIX] if found else options.paths
    empty = [
        path for path in given if not any(run.plans for run in find_runs([path], settings.runs, buckets, unreadable=[]))
    ]
    nothing = nothing_recognised(empty)
    if not found:
        raise nothing
    if empty:
        say(str(nothing))
    named = {path: repeats(path, settings.runs) for path in options.paths if not path.exists() and not chosen(path)}
    alone = len({path.name for path in named}) == len(named)
    sides = {run.resolve(): label(path.name if alone else path) for path, runs in named.items() for run in runs}
    experiments = {run.name: sides[run.folder.resolve()] for run in found if run.folder.resolve() in sides}
    read: Iterable[Timeline] = timelines(found, families=shown(), latencies=True)
    if options.over:
        read = _over(read, found, options)
        experiments = {one.run: sweep_name(options.over) for one in read}
    runs = views(read, options.warmup, experiments)
    report = Contents(runs)
    html, unanswered = report.document(prometheus)
    missing += unanswered
    content = html.encode(errors="replace")
    save("--output", options.output, content)
    if options.png:
        save("--png", options.png, report.preview())
    for sentence in missing:
        say(sentence)
    print(
        f"{printable(str(options.output))}: {len(runs)} run{'s' if len(runs) > 1 else ''}, {len(content) / 1e6:.2f} MB"
    )
    return int(bool(missing or any(path.is_dir() for path in empty)))


def _over(read: "Iterable[Timeline]", found: "Sequence[ObservedRun]", options: argparse.Namespace) -> "list[Timeline]":
    """The runs as points over the given parameters."""
    from ..results.over import points

    paths = {
        (run.name, worker): run.folder / plans[0].parts[-1][0] for run in found for worker, plans in run.plans.items()
    }
    left_out: list[str] = []
    each = list(points(read, paths, options.over, options.from_path, left_out))
    if left_out:
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        say(f"--over: left out runs without {' and '.join(options.over)}: {', '.join(left_out[:3])}{more}")
    return each


def save(option: str, path: Path, content: bytes) -> None:
    """Write a file that an option names. Raises ConfigError."""
    target = path.resolve() if path.is_file() else path
    beside = target if target is path else target.with_name(f".{target.name}.new")
    try:
        beside.write_bytes(content)
        if beside is not target:
            beside.replace(target)  # an earlier report stays whole if there is no room for this one
    except OSError as error:
        if beside is not target:
            beside.unlink(missing_ok=True)
        raise ConfigError(f"{option}: {path} cannot be written: {error.strerror}") from error
