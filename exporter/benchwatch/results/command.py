"""`benchwatch show RUN...`: the results of runs; exit code 3 if a requirement is not met."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..settings.settings import load_settings
from ..values.arguments import add_runs, add_warmup
from ..values.errors import NOT_MET

if TYPE_CHECKING:
    from .requirements import CheckedRequirement
    from .result import Subject

_Answers = Sequence[Sequence["CheckedRequirement"]]
"""The checked requirements of each subject."""


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    parser = add(
        parents=[common],
        usage="benchwatch show [options] RUN...",
        description="Prints the results of finished or active runs, and warnings about them.",
        examples=(
            "benchwatch show runs/test1",
            "benchwatch show runs/huge --require 'p99 < 20ms' --require 'failed == 0'",
            "benchwatch show runs/test1 --json",
        ),
    )
    add_runs(parser, "RUN", "a folder of runs, or the name of a repeated experiment")
    parser.add_argument(
        "--format",
        choices=("terminal", "markdown", "csv", "json", "junit"),
        default="terminal",
        help="format of the output (default: terminal)",
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--csv", action="store_const", const="csv", dest="format", help="the same as --format csv")
    add_warmup(parser)
    add_require(parser)
    parser.set_defaults(func=_show)


def add_require(parser: argparse._ActionsContainer) -> None:
    """Add the option --require."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit with code 3 unless the result meets this, such as 'p99 < 20ms'; can be repeated",
    )


def _show(options: argparse.Namespace) -> int:
    from .requirements import answers, requirement
    from .result import read

    asked = [requirement(text) for text in options.require]
    settings = load_settings(options.config_file)
    subjects = read(options.paths, settings.runs, options.warmup)
    found = [answers(asked, one.results, one.without) for one in subjects]
    sys.stdout.write(_formats()[options.format](subjects, found))
    return 0 if all(answer.met for each in found for answer in each) else NOT_MET


def _formats() -> Mapping[str, Callable[[Sequence["Subject"], _Answers], str]]:
    from .result_records import document, table

    return {
        "terminal": _text,
        "markdown": _markdown,
        "csv": lambda subjects, _: table(subjects),
        "json": document,
        "junit": _junit,
    }


def _text(subjects: Sequence["Subject"], found: _Answers) -> str:
    from ..show.as_text import colourful, text
    from ..values.printable import printable
    from .result_view import blocks

    colour, each = colourful(), []
    for one, checked in zip(subjects, found, strict=True):
        lines = [printable(answer.line) for answer in checked]
        each.append(text(blocks(one), colour=colour) + "".join(f"{line}\n" for line in lines))
    return "\n".join(each)


def _markdown(subjects: Sequence["Subject"], found: _Answers) -> str:
    from ..show.as_markdown import markdown
    from ..show.content import table
    from .result_view import blocks

    each = []
    for one, checked in zip(subjects, found, strict=True):
        rows = [[answer.requirement.text, "met" if answer.met else "NOT MET", answer.measured] for answer in checked]
        required = [table(["requirement", "", "measured"], rows, left=2)] if rows else []
        each.append(markdown([*blocks(one), *required]))
    return "\n".join(each)


def _junit(subjects: Sequence["Subject"], found: _Answers) -> str:
    from ..compare.junit import Case, Suite, junit

    suites = []
    for one, checked in zip(subjects, found, strict=True):
        ended = [f"{result.name}: {result.state}" for result in one.results if result.state != "finished"]
        ended += [f"{run}: no result" for run in one.without]
        cases = [Case("the run has finished", "; ".join(ended))]
        cases += [Case(answer.requirement.text, "" if answer.met else answer.measured) for answer in checked]
        suites.append(Suite(one.name, cases))
    return junit(suites)
