"""The command `benchwatch compare`.

Exit codes: 0 compared; 1 cannot be compared, or with --vary another parameter differs too; 2 wrong use; 3 with
--fail-on worse a verdict is worse.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from ..settings.settings import load_settings
from ..values.arguments import duration
from ..values.errors import ConfigError
from ..values.printable import printable

WORSE = 3
"""Exit code: compared, and worse."""


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "compare",
        parents=[common],
        help="compare runs: what changed, and how certain that is",
        description="Compares runs of one tool: figures side by side, changes with their intervals, a verdict, "
        "parameters that differ, and warnings about the figures. Example: benchwatch compare runs/default runs/huge "
        "--vary '*huge*'. See docs/compare.md.",
    )
    what = "a file, the folder of a run, or the name of a repeated experiment"
    parser.add_argument("base", type=Path, metavar="BASE", help=what)
    parser.add_argument("others", nargs="+", type=Path, metavar="OTHER", help="runs to compare with BASE")
    parser.add_argument(
        "--format", choices=("terminal", "markdown", "json", "junit"), default="terminal", help="(default: terminal)"
    )
    parser.add_argument(
        "--warmup", type=duration, metavar="60s", help="leave this out of every run (default: what the records say)"
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="NAME",
        help="parameter that was meant to differ, or a pattern; can be repeated; exit code 1 if another one differs",
    )
    parser.add_argument(
        "--confidence",
        type=_part,
        default=0.95,
        metavar="0.95",
        help="probability that all verdicts are right (default: 0.95)",
    )
    parser.add_argument(
        "--allowance",
        type=_part,
        default=0.05,
        metavar="0.05",
        help="change that two equal single runs may show (default: 0.05); not used for repeated runs",
    )
    parser.add_argument(
        "--fail-on", choices=("worse",), help="exit code 3 if a verdict is worse (not for what is not judged)"
    )
    parser.add_argument("--force", action="store_true", help="also compare runs that failed or have no end")
    parser.set_defaults(func=_compare)


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"expected a ratio from 0 to 1, such as 0.95, got {text!r}")
    return value


def _compare(options: argparse.Namespace) -> int:
    from .comparison import compare
    from .document import document
    from .experiment import CannotCompare, load, told_apart
    from .junit import junit, suites
    from .markdown import markdown
    from .terminal import show

    settings = load_settings(options.config_file)
    paths = [options.base, *options.others]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("compare: the same run was given twice; expected different ones")
    try:
        loaded = [load(path, settings.runs, options.warmup, options.force) for path in paths]
        base, *others = told_apart(loaded, paths)
        found = compare(base, others, confidence=options.confidence, allowance=options.allowance, vary=options.vary)
    except CannotCompare as error:
        print(f"benchwatch: {printable(str(error))}", file=sys.stderr)
        return 1
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # characters that its encoding does not have
    if options.format == "json":
        sys.stdout.write(document(found))
    elif options.format == "junit":
        sys.stdout.write(junit(suites(found)))
    elif options.format == "markdown":
        sys.stdout.write(markdown(found))
    else:
        show(found, sys.stdout)
    if options.fail_on and any(one.word == options.fail_on for each in found.others for one in each.verdicts):
        return WORSE
    other_than_intended = any(not one.intended for comparison in found.others for one in comparison.parameters)
    return int(other_than_intended)
