"""`benchwatch backfill`: loads past runs into Prometheus, with their true times, and names and labels as if live.

The series are those of `timeline`. Between reports and up to a minute after the end of the run, values are repeated as
scrapes would have seen them (prometheus/prometheus.yml: part "live" once a second, part "runs" every 10 s). Each series
gets the labels that a scrape adds: `instance`, and `job` unless the exporter sets it (honor_labels).
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from ..history.find import find_runs, nothing_recognised
from ..history.replayed_run import timelines
from ..history.timeline import Pairs
from ..metrics.buckets import Buckets
from ..metrics.samples import Family, Part
from ..settings.settings import load_settings
from ..values.addresses import DEFAULT_EXPORTER
from ..values.arguments import add_runs
from ..values.errors import FAILED, ConfigError, UserError
from ..values.interrupts import tidy_up
from ..values.printable import say
from .openmetrics import WrittenText, write

SCRAPED: dict[Part, float] = {"live": 1.0, "runs": 10.0}
"""Seconds after which an unchanged value is repeated."""
_HEAD = 3 * 3600
"""Seconds of data that a Prometheus may not yet have in blocks."""
_RETENTION = 15 * 86400
"""How long a Prometheus keeps data by default, seconds."""
_BLOCK = re.compile(r"^[0-9A-HJKMNP-TV-Z]{26}\b", re.MULTILINE)


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch backfill [options] PATH...",
        description="Writes what the exporter would have shown during past runs, with their true times.",
        examples=(
            "benchwatch backfill runs/test1 --into /var/lib/prometheus/data",
            "benchwatch backfill runs/test1 runs/test2 --output openmetrics.txt",
            "benchwatch backfill runs --instance host:19777 --into /var/lib/prometheus/data",
        ),
    )
    add_runs(parser, "PATH")
    target = parser.add_argument_group("where to write").add_mutually_exclusive_group()
    target.add_argument(
        "--output", type=Path, metavar="FILE", help="write OpenMetrics text to this file (default: standard output)"
    )
    target.add_argument(
        "--into", type=Path, metavar="DIR", help="have promtool write blocks into this data folder of a Prometheus"
    )
    labels = parser.add_argument_group("labels")
    labels.add_argument(
        "--instance",
        default=DEFAULT_EXPORTER,
        metavar="HOST:PORT",
        help=f"label instance, as in Prometheus' scrape configuration (default: {DEFAULT_EXPORTER})",
    )
    labels.add_argument(
        "--job",
        default="benchwatch",
        metavar="NAME",
        help="label job without -live or -runs, as in Prometheus' scrape configuration (default: benchwatch)",
    )
    parser.set_defaults(func=_backfill)


def _backfill(options: argparse.Namespace) -> int:
    tidy_up()
    promtool = None if options.into is None else _promtool(options.into)
    settings = load_settings(options.config_file)
    buckets = Buckets(settings.histogram.buckets_per_octave)
    found = list(timelines(find_runs(options.paths, settings.runs, buckets), hold=SCRAPED))
    if not found:
        raise nothing_recognised(options.paths)
    for timeline in found:
        if timeline.by_file_time:
            say(f"run {timeline.run}, {timeline.name}: no timestamps in the output; using file modification times")

    def labels(family: Family, own: Pairs) -> Pairs:
        return tuple({"job": f"{options.job}-{family.part}", "instance": options.instance, **dict(own)}.items())

    series = [series for timeline in found for series in timeline.series]
    if promtool is None:
        with _output(options.output) as file:
            written = write(series, labels, file)
        say(f"{_summary(written)} written")
        return 0
    with tempfile.TemporaryDirectory(prefix="benchwatch-") as scratch:
        text = Path(scratch) / "openmetrics.txt"
        with _output(text) as file:
            written = write(series, labels, file)
        _keep_off(options.into, written.last)
        command = [promtool, "tsdb", "create-blocks-from", "openmetrics", str(text), str(options.into)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"promtool failed with exit code {done.returncode}: {' '.join(done.stderr.split())}", FAILED)
    blocks = len(_BLOCK.findall(done.stdout))
    say(f"{_summary(written)} in {blocks} block{'s' * (blocks != 1)} in {options.into}")
    say("a Prometheus running on that folder shows them within a minute")
    if time.time() - written.first > _RETENTION:
        say(
            "Prometheus deletes data older than 15 days unless you start it with a longer --storage.tsdb.retention.time"
        )
    return 0


def _keep_off(folder: Path, last: float) -> None:
    """Raises UserError if a block that ends at `last` would make this Prometheus forget data that only its WAL holds.

    At its start, it assumes that its blocks hold everything before the end of the last block, and skips that time in
    the WAL, which covers up to three hours: https://prometheus.io/docs/prometheus/latest/storage/#backfilling-from-openmetrics-format
    """
    written = max((file.stat().st_mtime for file in (folder / "wal").glob("[0-9]*")), default=math.inf)
    if last > written - _HEAD:
        raise UserError(
            f"--into {folder}: the runs end at {_utc(last)}, but this Prometheus does not yet have its data since "
            f"{_utc(written - _HEAD)} in blocks and would lose them at its next start; "
            f"use a folder without wal, or try again after {_utc(last + _HEAD)}, while it runs",
            FAILED,
        )


def _promtool(folder: Path) -> str:
    """The path of promtool, which will make blocks in the folder. Raises ConfigError if either is missing."""
    if not folder.is_dir():
        raise ConfigError(f"--into {folder}: no such folder; expected the folder of Prometheus' --storage.tsdb.path")
    if (found := shutil.which("promtool")) is None:
        raise ConfigError("--into needs promtool on PATH; it comes with Prometheus")
    return found


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    """The file to write to, or standard output; an incomplete file is removed."""
    try:
        if path is None:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with path.open("wb") as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        if path is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        elif path.is_file():
            path.unlink()
        raise UserError(f"{path or 'standard output'}: cannot be written: {error.strerror}", FAILED) from error


def _summary(written: WrittenText) -> str:
    return f"{written.samples} samples from {_utc(written.first)} to {_utc(written.last)}"


def _utc(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
