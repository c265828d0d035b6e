"""`benchwatch show RUN...`: the results of runs; exit code 3 if a requirement is not met."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..settings.settings import load_settings
from ..show.content import table
from ..show.form import add_form, written
from ..values.arguments import add_runs, add_warmup
from ..values.errors import FAILED, NOT_MET
from ..values.printable import printable, say

if TYPE_CHECKING:
    from .requirements import CheckedRequirement
    from .subject import Subject

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
    add_form(parser, "markdown", "csv", "json", "junit")
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
    from .result_records import document, records_of
    from .subject import read

    asked = [requirement(text) for text in options.require]
    settings = load_settings(options.config_file)
    unreadable: list[str] = []
    subjects = read(options.paths, settings.runs, options.warmup, unreadable)
    found = [answers(asked, one.results, one.without) for one in subjects]
    if options.format == "csv":
        sys.stdout.write(records_of(subjects))
    elif options.format == "json":
        sys.stdout.write(document(subjects, found))
    elif options.format == "junit":
        sys.stdout.write(_junit(subjects, found))
    else:
        each = zip(subjects, found, strict=True)
        sys.stdout.write("\n".join(_for_people(*one, options.format) for one in each))
    for sentence in unreadable:
        say(sentence)
    if not all(answer.met for each in found for answer in each):
        return NOT_MET
    return FAILED if unreadable else 0


def _for_people(subject: "Subject", checked: Sequence["CheckedRequirement"], form: str) -> str:
    """The results, then the requirements: a line each, in Markdown a table."""
    from .result_view import blocks

    if form != "markdown":
        return written(blocks(subject), form) + "".join(f"{printable(answer.line)}\n" for answer in checked)
    rows = [[answer.requirement.text, "met" if answer.met else "NOT MET", answer.measured] for answer in checked]
    required = [table(["requirement", "", "measured"], rows, left=2)] if rows else []
    return written([*blocks(subject), *required], form)


def _junit(subjects: Sequence["Subject"], found: _Answers) -> str:
    from ..compare.comparison_records import Case, junit

    suites = []
    for one, checked in zip(subjects, found, strict=True):
        ended = [f"{result.name}: {result.state}" for result in one.results if result.state != "finished"]
        ended += [f"{run}: no result" for run in one.without]
        cases = [Case("the run has finished", "; ".join(ended))]
        cases += [Case(answer.requirement.text, "" if answer.met else answer.measured) for answer in checked]
        suites.append((one.name, cases))
    return junit(suites)
