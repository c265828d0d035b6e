"""The command `benchwatch report`.

Exit codes: 0 written, 1 nothing to report, or written without a part that was asked for, 2 wrong use.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values.arguments import duration
from ..values.errors import ConfigError
from ..values.names import label
from ..values.printable import printable

if TYPE_CHECKING:
    from .page import Section


def add_parser(commands: "argparse._SubParsersAction[Any]", common: argparse.ArgumentParser) -> None:
    """Register the command `report`."""
    parser = commands.add_parser(
        "report",
        parents=[common],
        help="write runs as one HTML file with plots and tables",
        description="Writes one self-contained HTML file: throughput, latency, percentiles and heatmaps over time, "
        "disks and vdisks, results and parameters; compares several runs with the first. "
        "Example: benchwatch report runs/test1 --prometheus http://127.0.0.1:9090. See docs/report.md.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="a file, the folder of a run, a folder of runs, or the name of a repeated experiment; PATH#3 is the third "
        "run in a file",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("report.html"), metavar="FILE", help="file to write (default: report.html)"
    )
    parser.add_argument(
        "--prometheus",
        type=_url,
        metavar="URL",
        help="take disks and vdisks from this Prometheus, which watched the run",
    )
    parser.add_argument(
        "--warmup",
        type=duration,
        metavar="TIME",
        help="leave the first part out of figures, such as 60s (default: what the records say)",
    )
    parser.set_defaults(func=_report)


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+(/\S*)?", text):
        raise argparse.ArgumentTypeError(f"expected http://HOST:PORT, got {text!r}")
    return text.rstrip("/")


def _report(options: argparse.Namespace) -> int:
    try:
        return _write(options)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ConfigError("report needs matplotlib: pip install 'benchwatch[analysis]'") from error


def _write(options: argparse.Namespace) -> int:
    from ..history.find import chosen, find_runs, repeats
    from ..history.timeline import timelines
    from ..metrics.buckets import Buckets
    from ..settings.record import SUFFIX
    from ..settings.settings import load_settings
    from ..tools import registry
    from . import style
    from .contents import document
    from .figures import names
    from .views import views

    style.begin()
    settings = load_settings(options.config_file)
    buckets = Buckets(settings.histogram.buckets_per_octave)
    found = [run for run in find_runs(options.paths, settings.runs, buckets) if run.plans]
    given = [path for path in options.paths if path.suffix != SUFFIX] if found else options.paths
    empty = [path for path in given if not any(run.plans for run in find_runs([path], settings.runs, buckets))]
    if empty:
        paths = ", ".join(map(str, empty))
        print(
            f"benchwatch: nothing recognised in {printable(paths)}: expected output of {registry.names()}",
            file=sys.stderr,
        )
    if not found:
        return 1
    if len({(run.folder.resolve(), run.chosen, *sorted(run.files)) for run in found}) < len(found):
        raise ConfigError("report: the same run was given twice; expected different ones")
    named = {path: repeats(path, settings.runs) for path in options.paths if not path.exists() and not chosen(path)}
    experiments = {label(run.name): label(path.name) for path, runs in named.items() for run in runs}
    runs = views(timelines(found, buckets, names=names(), latencies=True), options.warmup, experiments)
    machine: Iterable[Section] = ()
    if options.prometheus:
        from .machine import sections

        machine = sections(options.prometheus, runs)
    html, missing = document(runs, machine)
    content = html.encode(errors="replace")
    try:
        options.output.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"--output: {options.output} cannot be written: {error.strerror}") from error
    for sentence in missing:
        print(f"benchwatch: {printable(sentence)}", file=sys.stderr)
    print(
        f"{printable(str(options.output))}: {len(runs)} run{'s' if len(runs) > 1 else ''}, {len(content) / 1e6:.2f} MB"
    )
    return int(bool(missing or any(path.is_dir() for path in empty)))
