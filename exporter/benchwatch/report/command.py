"""The command `benchwatch report`: its options, and the page that it writes."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values.addresses import server_url
from ..values.arguments import add_runs, add_warmup
from ..values.errors import ConfigError
from ..values.names import label
from ..values.printable import printable, say

if TYPE_CHECKING:
    from ..plots.section import Section


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Register the command `report`."""
    parser = add(
        parents=[common],
        usage="benchwatch report [options] RUN...",
        description="Writes one HTML file that works offline; it compares further runs with the first.",
        examples=(
            "benchwatch report runs/test1",
            "benchwatch report runs/test1 --prometheus http://127.0.0.1:9090",
            "benchwatch report runs/default runs/huge --warmup 60s --output huge.html --png huge.png",
        ),
    )
    add_runs(parser, "RUN", "a folder of runs, or the name of a repeated experiment")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output", type=Path, default=Path("report.html"), metavar="FILE", help="file to write (default: report.html)"
    )
    output.add_argument(
        "--png", type=Path, metavar="FILE", help="also write a picture for posts: title, main figures, throughput"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument(
        "--prometheus",
        metavar="URL",
        help="take disks, vdisks, spikes and alerts from this Prometheus, which watched the run",
    )
    add_warmup(shown, "figures")
    parser.set_defaults(func=_report)


def _report(options: argparse.Namespace) -> int:
    from ..history.find import chosen, find_runs, nothing_recognised, repeats
    from ..history.replayed_run import timelines
    from ..metrics.buckets import Buckets
    from ..plots.benchmark import shown
    from ..plots.run_view import views
    from ..settings.record import SUFFIX
    from ..settings.settings import load_settings
    from . import style
    from .contents import document, preview

    prometheus = server_url(options.prometheus, "--prometheus") if options.prometheus else ""
    try:
        style.begin()
    except ModuleNotFoundError as error:
        raise ConfigError("report needs matplotlib: pip install '.[analysis]' in benchwatch's checkout") from error
    settings = load_settings(options.config_file)
    buckets = Buckets(settings.histogram.buckets_per_octave)
    found = [run for run in find_runs(options.paths, settings.runs, buckets, different="report") if run.plans]
    given = [path for path in options.paths if path.suffix != SUFFIX] if found else options.paths
    empty = [path for path in given if not any(run.plans for run in find_runs([path], settings.runs, buckets))]
    nothing = nothing_recognised(empty)
    if not found:
        raise nothing
    if empty:
        say(str(nothing))
    named = {path: repeats(path, settings.runs) for path in options.paths if not path.exists() and not chosen(path)}
    alone = len({path.name for path in named}) == len(named)
    sides = {run.resolve(): label(path.name if alone else path) for path, runs in named.items() for run in runs}
    experiments = {run.name: sides[run.folder.resolve()] for run in found if run.folder.resolve() in sides}
    runs = views(timelines(found, buckets, families=shown(), latencies=True), options.warmup, experiments)
    machine: Iterable[Section] = ()
    if prometheus:
        from ..plots.machine import sections

        machine = sections(prometheus, runs)
    html, missing = document(runs, machine)
    content = html.encode(errors="replace")
    _save("--output", options.output, content)
    if options.png:
        _save("--png", options.png, preview(runs))
    for sentence in missing:
        say(sentence)
    print(
        f"{printable(str(options.output))}: {len(runs)} run{'s' if len(runs) > 1 else ''}, {len(content) / 1e6:.2f} MB"
    )
    return int(bool(missing or any(path.is_dir() for path in empty)))


def _save(option: str, path: Path, content: bytes) -> None:
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
