"""`--variant NAME:DIFFERENCE`: variants of one benchmark, run in turn and compared with the first.

The difference is a variable of the environment (`off:PGOPTIONS=-c synchronous_commit=off`: all that follows the equals
sign is its value), arguments that are added to the command (`small:-s 10`), or nothing (`on:`). A round has one run of
each variant; every second round is in reverse, so that a drift of the machine affects all variants alike.

`--before COMMAND` is run by the shell before each run, with the variant's name in BENCHWATCH_VARIANT; what it printed
is in the run's record. With `--until-sure`, the series ends after the third round or later, as soon as a verdict about
the throughput of each variant is certain. It is looked at after each round, so that the probability of an error is
divided by the number of looks (Bonferroni): all looks together are wrong in at most 5 % of series.
"""

import argparse
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from ..tools.invocation import Benchmark
from ..values.errors import FAILED, UserError
from ..values.printable import printable

ROUNDS = 5
"""Rounds if --repeat is not given."""
FEWEST = 3
"""Rounds before --until-sure may end the series."""
ERROR = 0.05
LABEL = "variant"
"""The label of a run with the name of its variant."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_KEPT = 10_000
"""Characters of the output of --before that are recorded."""


class Variant(NamedTuple):
    """One of the things that are compared."""

    name: str
    variables: Sequence[str]
    """NAME=VALUE, for the environment of the benchmark."""
    arguments: Sequence[str]
    """Added to those of the command, after them, so that they override these."""

    def of(self, benchmark: Benchmark) -> Benchmark:
        """The command of this variant."""
        wrapper = (*benchmark.wrapper, "env", *self.variables) if self.variables else benchmark.wrapper
        return benchmark._replace(wrapper=wrapper, arguments=(*benchmark.arguments, *self.arguments))


def variant(text: str) -> Variant:
    """NAME:DIFFERENCE, for argparse."""
    name, colon, difference = text.partition(":")
    if not (colon and _NAME.fullmatch(name)):
        raise argparse.ArgumentTypeError(
            f"expected NAME:, NAME:VARIABLE=VALUE or NAME:ARGUMENTS, such as off:'PGOPTIONS=-c jit=off', got {text!r}"
        )
    if _VARIABLE.fullmatch(difference):
        return Variant(name, (difference,), ())
    try:
        return Variant(name, (), tuple(shlex.split(difference)))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{name}: the arguments cannot be split: {error}; got {difference!r}"
        ) from None


def check(variants: Sequence[Variant]) -> None:
    """Raises UserError unless there are several different ones."""
    names = [one.name for one in variants]
    if len(names) < 2:
        raise UserError(f"--variant: expected two or more, such as --variant {names[0]}: --variant other:'-c 8'")
    if len(set(names)) < len(names):
        raise UserError(f"--variant: expected different names, got {', '.join(names)}")


def in_turn(variants: int, rounds: int) -> list[tuple[int, int]]:
    """(number of the variant, number of the round), both from 0."""
    each = range(variants)
    return [(place, number) for number in range(rounds) for place in (each if number % 2 == 0 else reversed(each))]


def run_before(command: str, name: str) -> dict[str, str]:
    """What `--before` is and printed. Raises UserError if it fails."""
    environment = {**os.environ, "BENCHWATCH_VARIANT": name}
    done = subprocess.run(
        command, shell=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        last = (output.strip().splitlines() or ["it printed nothing"])[-1]
        raise UserError(
            f"--before failed for {name} with exit code {done.returncode}: {printable(last)}; the series ends", FAILED
        )
    return {"command": command, "output": output[:_KEPT]}
