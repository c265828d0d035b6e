"""`--sweep NAME=VALUES`: the points of a sweep, the command of each, and the order in which their runs start.

VALUES are separated by commas; `a..b` counts by one, `a..b+K` by K, and `a..bxK` multiplies by K. In the command,
`{NAME}` stands for the value.

Orders: `given` runs all repeats of a point before the next point. `interleaved` makes a round over all points for each
repeat, so that a drift of the machine affects all points alike. `shuffled`, the default, does the same, each round in a
random order of its own, so that no point always follows the same other point.
"""

import argparse
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..settings.record import MOST_PARAMETERS, SUFFIX, SweepPoint, check_label
from ..settings.settings import RunsSettings
from ..tools.invocation import Benchmark, recordable
from ..values.errors import UserError
from ..values.suggestion import did_you_mean
from .worker_record import RunRecord, recorded

ORDERS = ("shuffled", "interleaved", "given")
LABEL = "sweep"
"""The label of a run with the name of its sweep."""
_MOST_VALUES = 1000
_NUMBER = r"-?\d{1,15}(?:\.\d{1,9})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:([x+])({_NUMBER}))?")
_VALUE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_SEEDS = 1 << 32


class SweptParameter(NamedTuple):
    """A parameter that a sweep varies."""

    name: str
    values: Sequence[str]


Point = Mapping[str, str]


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
    if name == LABEL:
        raise argparse.ArgumentTypeError(f"{LABEL} is the label with the sweep's own name: choose another name")
    return SweptParameter(check_label(name, "--sweep"), found)


def _values(text: str) -> list[str]:
    found = _RANGE.fullmatch(text)
    if not found:
        if not _VALUE.fullmatch(text) or ".." in text:
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


def points_of(parameters: Sequence[SweptParameter], words: Sequence[str]) -> list[Point]:
    """Every combination, in the given order; a single empty point if there are no parameters.

    Raises UserError unless each parameter is in the command, and each placeholder of the command is a parameter.
    """
    names = [one.name for one in parameters]
    if not names:
        return [{}]
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


def substituted(words: Sequence[str], point: Point) -> list[str]:
    """The command at a point."""
    if not point:
        return list(words)
    return [_PLACEHOLDER.sub(lambda found: point[found[1]], word) for word in words]


def name_of(name: str, point: Point) -> str:
    """The name of the runs of a point: curve-clients16."""
    return "-".join([name, *(f"{key}{value}" for key, value in point.items())])


class SweepOrder(NamedTuple):
    """The order in which runs start. The seed is None unless the order is random."""

    order: str
    seed: int | None

    @property
    def shown(self) -> str:
        """For people: shuffled with seed 7."""
        return self.order + (f" with seed {self.seed}" if self.seed is not None else "")

    def arranged(self, points: int, rounds: int) -> list[tuple[int, int]]:
        """(number of the point, number of the repeat), both from 0."""
        if self.order == "given":
            return [(point, repeat) for point in range(points) for repeat in range(rounds)]
        chance = random.Random(self.seed)
        found = []
        for repeat in range(rounds):
            order = list(range(points))
            if self.order == "shuffled":
                chance.shuffle(order)
            found += [(point, repeat) for point in order]
        return found


def order_of(
    runs: Path, name: str, parameters: Sequence[SweptParameter], order: str | None, seed: int | None
) -> SweepOrder:
    """The requested order, or else that of the sweep of this name, which is then continued. Raises UserError."""
    if seed is not None and order not in (None, "shuffled"):
        raise UserError(f"--seed requires --order shuffled, got {order}")
    earlier = next((place for _, place in _series_of(runs / name) if place), None)
    if earlier is not None:
        names = [one.name for one in parameters]
        if list(earlier.point) != names:
            raise UserError(
                f"{runs / name} is a sweep of {' and '.join(earlier.point)}, not of {' and '.join(names)}: "
                "choose another --name"
            )
        if order in (None, earlier.order):
            order, seed = earlier.order or None, earlier.seed if seed is None else seed
    order = order or ORDERS[0]
    if order != "shuffled":
        return SweepOrder(order, None)
    return SweepOrder(order, random.SystemRandom().randrange(_SEEDS) if seed is None else seed)


def _series_of(path: Path) -> Iterator[tuple[Path, SweepPoint | None]]:
    """The records of the series or sweep of that name, each with its place in the sweep (None: a series)."""
    from ..history.find import repeats

    for folder in repeats(path, RunsSettings(), tolerant=True):
        for record in folder.glob(f"*{SUFFIX}"):
            found = recorded(record)
            if found and found.sweep and found.sweep.of == path.name:
                yield record, found.sweep
            elif found and found.repeat_of == path.name:
                yield record, None


def earlier_run(record: RunRecord, place: SweepPoint, benchmark: Benchmark) -> bool | None:
    """Whether an earlier start of the sweep finished this run; None: it did not start it.

    Raises UserError if it ran another command.
    """
    found = recorded(record.path)
    if not (found and found.sweep and (found.sweep.of, found.sweep.values) == (place.of, place.values)):
        return None
    before = recordable([*benchmark.wrapper, benchmark.program])
    after = recordable(benchmark.arguments) if benchmark.arguments else []
    words = found.command if isinstance(found.command, list) else []
    same = words[: len(before)] == before and words[len(words) - len(after) :] == after
    if words and not same:
        raise UserError(f"{record.path} ran another command: choose another --name, or add --overwrite")
    return found.exit_code == 0 and not found.signal


def check_is_alone(runs: Path, name: str, *, repeated: bool, swept: bool) -> None:
    """Raises UserError if the name is also that of another kind of thing: a run, a series or a sweep."""
    path = runs / name
    if (repeated or swept) and path.exists():
        raise UserError(f"{path} is already a run: choose another --name, or remove it")
    for record, place in _series_of(path):
        if not (repeated or swept) or (place is not None) != swept:
            what = "series" if place is None else "sweep"
            raise UserError(f"{record} belongs to the {what} {name}: choose another --name, or remove it")
