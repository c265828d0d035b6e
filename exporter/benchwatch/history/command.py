"""`benchwatch metrics`: prints the metrics that the exporter would show for recorded output, as of its last change."""

import argparse
import sys
from typing import Any

from ..metrics.samples import PARTS
from ..settings.settings import Settings, load_settings
from ..values.arguments import add_runs
from ..values.printable import lines


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    command = add(
        parents=[common],
        usage="benchwatch metrics [options] PATH...",
        description="Prints the metrics that the exporter would show for recorded output, as of its last change.",
        examples=(
            "benchwatch metrics runs/test1",
            "benchwatch metrics pgbench.log --collect live",
            "benchwatch metrics 'pgbench.log#3'",
            "benchwatch metrics runs/test1 --csv",
        ),
    )
    metrics = command.add_argument_group("what to print")
    add_runs(metrics, "PATH")
    metrics.add_argument("--collect", action="append", choices=PARTS[:2], help="print only this part; can be repeated")
    metrics.add_argument(
        "--csv", action="store_true", help="print a CSV record for each report instead (docs/results.md)"
    )
    command.set_defaults(func=_metrics)


def _metrics(options: argparse.Namespace) -> int:
    from ..metrics.buckets import Buckets
    from ..metrics.exposition import Exposition
    from .find import nothing_recognised, read_runs

    settings = load_settings(options.config_file)
    if options.csv:
        return _csv(options, settings)
    runs = read_runs(options.paths, settings.runs, Buckets(settings.histogram.buckets_per_octave))
    workers = [worker for run in runs for worker in run.workers]
    text = Exposition(settings.runs.limits).render(workers, options.collect or PARTS)
    sys.stdout.write(lines(text) if sys.stdout.isatty() else text)
    if not workers:
        raise nothing_recognised(options.paths)
    return 0


def _csv(options: argparse.Namespace, settings: Settings) -> int:
    from ..tools.registry import TOOLS
    from . import series_csv
    from .find import find_runs, nothing_recognised
    from .replayed_run import timelines

    parts = options.collect or PARTS[:1]
    families = [family for tool in TOOLS for family in tool.families if family.part in parts]
    found = list(timelines(find_runs(options.paths, settings.runs), families=families))
    if not found:
        raise nothing_recognised(options.paths)
    sys.stdout.write(series_csv.table(found))
    return 0
