"""The command `benchwatch compare`: its options and output formats."""

import argparse
import sys
from typing import Any

from ..settings.settings import load_settings
from ..show.form import add_form, written
from ..values.arguments import Flattened, add_warmup, run_path, run_paths
from ..values.errors import NOT_MET, ConfigError
from ..values.printable import say


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch compare [options] BASE OTHER...",
        description="Compares runs of one tool: what changed, how certain that is, and which parameters differ.",
        examples=(
            "benchwatch compare runs/default runs/huge",
            "benchwatch compare runs/default runs/huge --vary '*huge*'",
            "benchwatch compare runs/a runs/b runs/c --warmup 60s --format markdown",
        ),
    )
    what = "a file, the folder of a run, or the name of a repeated experiment"
    parser.add_argument("base", type=run_path, metavar="BASE", help=what)
    others = {"nargs": "+", "type": run_paths, "action": Flattened}
    parser.add_argument("others", metavar="OTHER", help="runs to compare with BASE", **others)
    output = parser.add_argument_group("output")
    add_form(output, "markdown", "csv", "json", "junit")
    taken = parser.add_argument_group("what is compared")
    add_warmup(taken)
    taken.add_argument("--force", action="store_true", help="also compare runs that failed or have no end")
    verdict = parser.add_argument_group("verdict")
    verdict.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="NAME",
        help="parameter that you changed, or a pattern; can be repeated; exit with code 1 if another one differs",
    )
    verdict.add_argument(
        "--confidence",
        type=_part,
        default=0.95,
        metavar="RATIO",
        help="probability that all verdicts are right (default: 0.95)",
    )
    verdict.add_argument(
        "--allowance",
        type=_part,
        default=0.05,
        metavar="RATIO",
        help="difference that two equal single runs may show (default: 0.05); not used for repeated runs",
    )
    verdict.add_argument(
        "--fail-on",
        choices=("worse",),
        help="exit with code 3 if a verdict is worse; figures without a verdict do not count",
    )
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
    from .comparison_records import document, junit, suites, table
    from .comparison_view import blocks
    from .experiment import distinctly_named, load, pairs

    settings = load_settings(options.config_file)
    paths = [options.base, *options.others]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("compare: the same run was given twice; expected different ones")
    loaded = [load(path, settings.runs, options.warmup, options.force) for path in paths]
    each, left = pairs(loaded)
    confidence = 1 - (1 - options.confidence) / len(each)  # of each, so that it holds for all together
    found = [
        compare(base, others, confidence=confidence, allowance=options.allowance, vary=options.vary)
        for base, *others in (distinctly_named(one, paths) for one in each)
    ]
    if options.format == "csv":
        sys.stdout.write(table(found))
    elif options.format == "json":
        sys.stdout.write(document(found))
    elif options.format == "junit":
        sys.stdout.write(junit(suite for one in found for suite in suites(one)))
    else:
        sys.stdout.write(written((block for one in found for block in blocks(one)), options.format))
    if left:
        say(f"not compared: {', '.join(left)}: not every side has workers or points of these names")
    compared = [other for one in found for other in one.others]
    if options.fail_on and any(one.verdict == options.fail_on for other in compared for one in other.verdicts):
        return NOT_MET
    other_than_intended = any(not one.intended for other in compared for one in other.parameters)
    return int(other_than_intended)
