"""The command `benchwatch`: its subcommands, and the one place that reports a failure."""

import argparse
import gc
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from .settings.settings import load_settings
from .values.addresses import DEFAULT_EXPORTER, server_url
from .values.arguments import CommandParser, overview
from .values.errors import EXIT_CODES, FAILED, WRONG_USE, UserError
from .values.printable import LogFormatter, say
from .values.version import VERSION

TRACEBACK = "BENCHWATCH_TRACEBACK"
"""The variable of the environment with which a fault of benchwatch is a traceback, as Python prints it."""
SHELLS = ("bash", "zsh", "fish")
_COMMANDS = {
    "run": ("launch.command.add_parser", "start a benchmark, pass its output on unchanged, and record it"),
    "serve": ("cli.add_serve", "watch runs, accept pushes, poll CVMs, serve metrics"),
    "push": ("launch.push.add_parser", "send recorded runs to an exporter elsewhere"),
    "show": ("results.command.add_parser", "print the results of runs: figures, and warnings about them"),
    "list": ("results.listing.add_parser", "list the runs of a folder: state, tool, start, length, result, labels"),
    "watch": ("watch.command.add_parser", "show in the terminal what an exporter sees"),
    "why": ("why.command.add_parser", "say when a run was slow, and why"),
    "compare": ("compare.command.add_parser", "compare runs: what changed, and how certain that is"),
    "history": ("report.over_months.add_parser", "show results over months, and the points at which they changed"),
    "report": ("report.command.add_parser", "write runs as one HTML file with plots and tables"),
    "backfill": ("backfill.command.add_parser", "load past runs into Prometheus"),
    "metrics": ("history.command.add_parser", "print the metrics of recorded output"),
    "nutanix": ("nutanix.commands.add_parser", "check, save or simulate the pages of a Nutanix CVM"),
    "completion": ("cli.add_completion", "print a script that completes this command in a shell"),
}
"""The function that adds each command, and what the command does. A module is imported only if its command is given."""
_FREED_KEPT = 1 << 23
"""Bytes of freed memory that glibc keeps. By default it returns each page and each block of a log to the system."""
_EPILOG = """\
examples:
  benchwatch run --name test1 -- pgbench -T 600 -c 32 mydb   run a benchmark and record it
  benchwatch serve --runs.path=runs                          watch all runs, then open http://127.0.0.1:19777/
  benchwatch compare runs/test1 runs/test2                   say what changed, and how certain that is

`benchwatch COMMAND --help` explains a command.

exit codes:
""" + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _open_what_is_closed()
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # characters that its encoding does not have
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except UserError as error:
        say(str(error), error.advice)
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough
        _drop_output()
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # of getcwd
            say("the current folder was removed: change to one that exists")
            return WRONG_USE
        if isinstance(error, OSError) and error.filename is None:
            _drop_output()
            say(f"the output cannot be written: {error.strerror or error}")
            return FAILED
        if os.environ.get(TRACEBACK):
            raise
        say(*_fault(error))
        return FAILED


def _fault(error: Exception) -> tuple[str, str]:
    """What a fault of benchwatch is and where, and what to do."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    sentence = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"a fault of benchwatch: {sentence} ({where})", f"Please report it with what {TRACEBACK}=1 prints."


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser(next((argument for argument in given if not argument.startswith("-")), "")).parse_args(given)
    gc.set_threshold(50_000, 20, 50)  # almost all objects are freed without the collector
    bytes(_FREED_KEPT)  # once glibc has freed such a large block, it keeps freed memory up to twice that (mallopt(3))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=getattr(logging, options.log_level.upper()), handlers=[handler])
    return int(options.func(options))


def _open_what_is_closed() -> None:
    """Otherwise the next file that is opened would take the number of a stream that the shell closed (>&-)."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115


def _drop_output() -> None:
    """Keep what is buffered for stdout from failing again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(given: str = "") -> argparse.ArgumentParser:
    """The parser, with the options of the given command only; for `completion`, with those of all commands."""
    parser = CommandParser(
        prog="benchwatch",
        usage="benchwatch COMMAND [options]",
        description="Shows a database, storage or network benchmark while it runs, and compares runs afterwards.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"benchwatch {VERSION}")
    parser.set_defaults(func=partial(overview, parser), log_level="info")
    common = CommandParser(add_help=False)
    common.add_argument(
        "--log.level",
        dest="log_level",
        default="info",
        choices=("debug", "info", "warning", "error"),
        help="log messages of this severity and above (default: info)",
    )
    common.add_argument(
        "--config.file",
        dest="config_file",
        type=Path,
        metavar="FILE",
        help="configuration file (YAML): docs/configuration.md",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog=parser.prog)

    for name, (function, summary) in _COMMANDS.items():
        add = partial(commands.add_parser, name, help=summary)
        if given in (name, "completion"):
            module, _, adds = function.rpartition(".")
            getattr(import_module(f".{module}", __package__), adds)(add, common)
        else:
            add()
    return parser


def add_serve(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command `serve`."""
    command = add(
        parents=[common],
        usage="benchwatch serve [options]",
        description="Serves metrics and a page about all runs: reads their files, accepts pushes, polls CVMs.",
        examples=(
            "benchwatch serve",
            "benchwatch serve --runs.path=/srv/runs --config.file=benchwatch.yaml",
            "benchwatch serve --web.listen-address=0.0.0.0:19777 --web.config.file=web.yaml",
        ),
    )
    serve = command.add_argument_group("what to serve, and where")
    serve.add_argument(
        "--web.listen-address",
        dest="listen",
        action="append",
        metavar="HOST:PORT",
        help=f"where to listen; can be repeated (default: {DEFAULT_EXPORTER})",
    )
    serve.add_argument(
        "--web.external-url",
        dest="external_url",
        metavar="URL",
        help="URL at which people open the pages, such as the port that a container publishes; a loopback URL silences "
        "the warning about missing users",
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
    serve.add_argument(
        "--host", metavar="NAME", help="name of this machine in node_exporter's label host (default: its host name)"
    )
    serve.add_argument(
        "--prometheus.url",
        dest="prometheus",
        metavar="URL",
        help="say why runs are slow, and show alerts, disks and vdisks on their pages, from this Prometheus",
    )
    serve.add_argument(
        "--grafana.url", dest="grafana", metavar="URL", help="link the pages of runs to the boards of this Grafana"
    )
    command.set_defaults(func=_serve)


def add_completion(add: Any, _: argparse.ArgumentParser) -> None:
    """Add the command `completion`."""
    command = add(
        usage=f"benchwatch completion {'|'.join(SHELLS)}",
        description="Prints a script that lets a shell complete commands, options and files.",
        examples=(
            "benchwatch completion bash >~/.local/share/bash-completion/completions/benchwatch",
            'benchwatch completion zsh >"${fpath[1]}/_benchwatch"',
            "benchwatch completion fish >~/.config/fish/completions/benchwatch.fish",
        ),
    )
    command.add_argument("shell", choices=SHELLS, help="the shell that will read it")
    command.set_defaults(func=_completion)


def _completion(options: argparse.Namespace) -> int:
    import shtab

    parser = _parser("completion")
    _complete_paths(parser)
    print(shtab.complete(parser, options.shell))
    return 0


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    from shtab import DIRECTORY, FILE

    for action in parser._actions:
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                _complete_paths(command)
        elif action.type is Path or action.metavar == "FILE":
            action.complete = DIRECTORY if action.metavar == "DIR" else FILE  # type: ignore[attr-defined]


def _serve(options: argparse.Namespace) -> int:
    import asyncio

    from .server.command import serve

    base = options.config_file.parent if options.config_file else Path()
    settings = load_settings(options.config_file)
    if options.host:
        settings = msgspec.structs.replace(settings, host=options.host)
    runs = options.runs_path or base / settings.runs.path
    push = base / settings.push.path if settings.push.path else runs
    served = serve(
        settings,
        base,
        runs,
        push if settings.push.enabled else None,
        options.listen or [DEFAULT_EXPORTER],
        options.web_config,
        server_url(options.prometheus, "--prometheus.url") if options.prometheus else "",
        server_url(options.external_url, "--web.external-url") if options.external_url else "",
        server_url(options.grafana, "--grafana.url") if options.grafana else "",
    )
    asyncio.run(served)
    return 0
