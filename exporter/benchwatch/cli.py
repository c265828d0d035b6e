"""The command `benchwatch`: its subcommands and their options.

Exit codes: 0 done, 1 the thing asked for did not work out, 2 wrong use or configuration.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .backfill.command import add_parser as add_backfill
from .compare.command import add_parser as add_compare
from .launch.command import add_parser as add_run
from .metrics.buckets import Buckets
from .metrics.exposition import PARTS, Exposition
from .nutanix.commands import add_parser
from .report.command import add_parser as add_report
from .results.command import add_parser as add_show
from .results.listing import add_parser as add_list
from .settings.settings import Settings, load_settings
from .tools.registry import names
from .values.errors import FAILED, UserError
from .values.printable import LogFormatter, lines, printable
from .values.version import VERSION
from .watch.command import add_parser as add_watch

DEFAULT_ADDRESS = "127.0.0.1:19777"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _open_what_is_closed()
    parser = _parser()
    options = parser.parse_args(arguments)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=getattr(logging, options.log_level.upper()), handlers=[handler])
    try:
        code = _run(options)
        if sys.stdout:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    try:
        return int(options.func(options))
    except UserError as error:
        print(f"benchwatch: {printable(str(error))}", file=sys.stderr)
        return error.exit_code


def _open_what_is_closed() -> None:
    """A stream that the shell has closed (>&-) would else be the next file that is opened, and that written to."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchwatch", description="Shows a database or storage benchmark while it runs, as Prometheus metrics."
    )
    parser.add_argument("--version", action="version", version=f"benchwatch {VERSION}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--log.level",
        dest="log_level",
        default="info",
        choices=("debug", "info", "warning", "error"),
        help="least severe messages to log (default: info)",
    )
    common.add_argument(
        "--config.file",
        dest="config_file",
        type=Path,
        metavar="FILE",
        help="configuration file (YAML): docs/configuration.md",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", parents=[common], help="watch runs, accept pushes, poll CVMs, serve metrics")
    serve.add_argument(
        "--web.listen-address",
        dest="listen",
        action="append",
        metavar="HOST:PORT",
        help="where to listen; can be repeated (default: 127.0.0.1:19777; not a registered port)",
    )
    serve.add_argument(
        "--web.config.file",
        dest="web_config",
        type=Path,
        metavar="FILE",
        help="TLS and users, in the format of the exporter-toolkit",
    )
    serve.add_argument(
        "--runs.path",
        dest="runs_path",
        type=Path,
        metavar="DIR",
        help="folder of runs; overrides the configuration file (default: runs)",
    )
    serve.set_defaults(func=_serve)

    metrics = commands.add_parser(
        "metrics",
        parents=[common],
        help="print the metrics of recorded output",
        description="Reads the output of a benchmark once and prints the metrics as of its last change.",
    )
    metrics.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a file, the folder of a run, or a folder of runs; PATH#3 is the third run in a file",
    )
    metrics.add_argument("--collect", action="append", choices=PARTS[:2], help="print only this part; can be repeated")
    metrics.set_defaults(func=_metrics)

    add_parser(commands)
    add_run(commands)
    add_show(commands, common)
    add_list(commands, common)
    add_watch(commands)
    add_report(commands, common)
    add_backfill(commands, common)
    add_compare(commands, common)
    for command in commands.choices.values():
        command.set_defaults(**{"log_level": "info"} if command.get_default("log_level") is None else {})
    return parser


def _serve(options: argparse.Namespace) -> int:
    from .server.command import serve

    base = options.config_file.parent if options.config_file else Path()
    settings = load_settings(options.config_file)
    runs = options.runs_path or base / settings.runs.path
    push = base / settings.push.path if settings.push.path else runs
    return serve(
        settings,
        base,
        runs,
        push if settings.push.enabled else None,
        options.listen or [DEFAULT_ADDRESS],
        options.web_config,
    )


def _metrics(options: argparse.Namespace) -> int:
    from .history.find import read_runs

    settings: Settings = load_settings(options.config_file)
    runs = read_runs(options.paths, settings.runs, Buckets(settings.histogram.buckets_per_octave))
    workers = [worker for run in runs for worker in run.workers]
    text = Exposition(settings.runs.limits).render(workers, options.collect or PARTS)
    sys.stdout.write(lines(text) if sys.stdout.isatty() else text)
    if not workers:
        paths = ", ".join(map(str, options.paths))
        raise UserError(f"nothing recognised in {paths}: expected output of {names()}", FAILED)
    return 0
