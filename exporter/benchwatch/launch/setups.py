"""What a series runs: the points of a sweep or the variants of a benchmark, and the order of their runs.

`--sweep NAME=VALUES`: VALUES are separated by commas; `a..b` counts by one, `a..b+K` by K, and `a..bxK` multiplies by
K. In the command, `{NAME}` stands for the value.

`--variant NAME:DIFFERENCE`: the difference is a variable of the environment (`off:PGOPTIONS=-c jit=off`: all that
follows the equals sign is its value), arguments that are added to the command (`small:-s 10`), or nothing (`on:`).
`--variant-file FILE` has one of them a line, with or without the quotes that a shell needs; empty lines, and lines that
begin with `#`, do not count.

Orders: `given` runs all repeats of a setup before the next setup. The others make a round over all setups for each
repeat, so that a drift of the machine affects all setups alike: `interleaved` in the given order; `shuffled`, the
default of sweeps, each round in a random order of its own, so that no setup always follows the same other setup;
`alternating`, that of variants, every second round in reverse.
"""

import argparse
import random
import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..settings.record import MOST_PARAMETERS, SweepPoint, check_label
from ..tools.invocation import Benchmark
from ..values.errors import UserError
from ..values.suggestion import did_you_mean

ROUNDS = 5
"""Rounds of variants if --repeat is not given."""
ORDERS = ("shuffled", "interleaved", "given")
SWEEP = "sweep"
"""The label of a run with the name of its sweep."""
VARIANT = "variant"
"""The label of a run with the name of its variant."""
_MOST_VALUES = 1000
_NUMBER = r"-?\d{1,15}(?:\.\d{1,9})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:([x+])({_NUMBER}))?")
_WORD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)

Values = Mapping[str, str]
"""The values of a sweep's parameters at one point."""


class Setup(NamedTuple):
    """One of the things that a series runs."""

    name: str
    """That of its run or, if it is repeated, the one that its runs have in common."""
    benchmark: Benchmark
    labels: Mapping[str, str] = {}
    """Labels of its runs that it brings along."""
    sweep: SweepPoint | None = None
    """The point of a sweep that it is."""
    variant: str = ""
    """The name of the variant; otherwise empty."""


class SweptParameter(NamedTuple):
    """A parameter that a sweep varies."""

    name: str
    values: Sequence[str]


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


def parameter(text: str) -> SweptParameter:
    """NAME=VALUES, for argparse."""
    name, equals, values = text.partition("=")
    if not (equals and _PLACEHOLDER.fullmatch(f"{{{name}}}") and values):
        raise argparse.ArgumentTypeError(
            f"expected NAME=VALUES, such as clients=1,2,4 or clients=1..64x2, got {text!r}"
        )
    found = [value for part in values.split(",") for value in _values(part)]
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{name} lists a value twice: {values!r}")
    if name == SWEEP:
        raise argparse.ArgumentTypeError(f"{SWEEP} is the label with the sweep's own name: choose another name")
    return SweptParameter(check_label(name, "--sweep"), found)


def _values(text: str) -> list[str]:
    found = _RANGE.fullmatch(text)
    if not found:
        if not _WORD.fullmatch(text) or ".." in text:
            raise argparse.ArgumentTypeError(
                f"expected a number or a word of letters, digits, '.', '_' and '-', or a range such as 1..64x2 or "
                f"0..100+10, got {text!r}"
            )
        return [text]
    value, last, step = Decimal(found[1]), Decimal(found[2]), Decimal(found[4] or 1)
    multiplied = found[3] == "x"
    if value > last or step <= int(multiplied) or (multiplied and value <= 0):
        rule = "a factor above 1, from a number above 0" if multiplied else "a step above 0"
        raise argparse.ArgumentTypeError(f"expected a rising range, with {rule}, got {text!r}")
    each = []
    while value <= last:
        each.append(f"{value.normalize():f}")
        value = value * step if multiplied else value + step
        if len(each) > _MOST_VALUES:
            raise argparse.ArgumentTypeError(f"{text!r} has more than {_MOST_VALUES} values")
    return each


def points_of(parameters: Sequence[SweptParameter], words: Sequence[str]) -> list[Values]:
    """Every combination, in the given order.

    Raises UserError unless each parameter is in the command, and each placeholder of the command is a parameter.
    """
    names = [one.name for one in parameters]
    if len(names) > MOST_PARAMETERS or len(set(names)) < len(names):
        raise UserError(f"--sweep: expected one or two different parameters, got {', '.join(names)}")
    used = [found for word in words for found in _PLACEHOLDER.findall(word)]
    for name in used:
        if name not in names:
            raise UserError(f"the command has {{{name}}}, but no --sweep sets it{did_you_mean(name, names)}")
    for name in names:
        if name not in used:
            raise UserError(f"--sweep {name}: the command has no {{{name}}}: write it where the value belongs")
    return [dict(zip(names, values, strict=True)) for values in product(*(one.values for one in parameters))]


def substituted(words: Sequence[str], values: Values) -> list[str]:
    """The command at a point."""
    return [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in words]


def variant(text: str) -> Variant:
    """NAME:DIFFERENCE, for argparse."""
    name, colon, difference = text.partition(":")
    if not (colon and _WORD.fullmatch(name)):
        raise argparse.ArgumentTypeError(
            f"expected NAME:, NAME:VARIABLE=VALUE or NAME:ARGUMENTS, such as off:'PGOPTIONS=-c jit=off', got {text!r}"
        )
    if _VARIABLE.fullmatch(difference):
        return Variant(name, (difference,), ())
    try:
        words = tuple(shlex.split(difference))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{name}: the arguments cannot be split: {error}; got {difference!r}"
        ) from None
    quoted = len(words) == 1 and _VARIABLE.fullmatch(words[0])
    return Variant(name, words, ()) if quoted else Variant(name, (), words)


def variants_in(file: str) -> list[Variant]:
    """The variants in a file, for argparse."""
    try:
        lines = Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected UTF-8 text"
        raise argparse.ArgumentTypeError(f"{file}: cannot be read: {reason}") from None
    found: dict[str, Variant] = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        try:
            one = variant(line)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{file}:{number}: {error}") from None
        if one.name in found:
            raise argparse.ArgumentTypeError(f"{file}:{number}: {one.name} is there already: expected different names")
        found[one.name] = one
    if not found:
        raise argparse.ArgumentTypeError(f"{file}: no variant in it: expected a line such as off:PGOPTIONS=-c jit=off")
    return list(found.values())


def check_variants(variants: Sequence[Variant]) -> None:
    """Raises UserError unless there are several different ones."""
    names = [one.name for one in variants]
    if len(names) < 2:
        raise UserError(f"--variant: expected two or more, such as --variant {names[0]}: --variant other:'-c 8'")
    if len(set(names)) < len(names):
        raise UserError(f"--variant: expected different names, got {', '.join(names)}")


def arranged(setups: int, rounds: int, order: str, seed: int | None = None) -> list[tuple[int, int]]:
    """The runs in their order: (number of the setup, number of the round), both from 0."""
    if order == "given":
        return [(setup, number) for setup in range(setups) for number in range(rounds)]
    chance = random.Random(seed)
    found = []
    for number in range(rounds):
        each = list(range(setups))
        if order == "shuffled":
            chance.shuffle(each)
        elif order == "alternating" and number % 2:
            each.reverse()
        found += [(setup, number) for setup in each]
    return found
