"""Command lines with options that have values: `-x value`, `--name value`, `--name=value`, `-p name=value`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...values.errors import UserError
from ..launcher import Command, CommandLine, Facts


def options(
    arguments: Sequence[str], letters: str = "", names: Mapping[str, str] | None = None, properties: str = ""
) -> dict[str, str]:
    """The values of options; what follows a switch means nothing. If one is repeated, the last counts.

    `letters`: as getopt has them, if several may be in one word; `names`: of options with several names, which may also
    be abbreviated; `properties`: the option that is followed by `name=value`. Options are named with their dashes,
    properties without.
    """
    found: dict[str, str] = {}
    names = names or {}
    for option, value in pairwise((*arguments, "")):
        name, equals, own = option.partition("=")
        if option == properties:
            name, _, value = value.partition("=")
        elif not option.startswith("-"):
            continue
        elif letters and not option.startswith("--"):
            name = next((letter for letter in option[1:] if f"{letter}:" in letters), "")
            switches, _, own = option[1:].partition(name) if name else (option[1:], "", "")
            found |= {f"-{letter}": "" for letter in switches}
            name, equals = f"-{name}", own
        found[name] = own if equals else value
    whole = {name: [one for one in names.values() if one.startswith(name)] for name in found if len(name) > 2}
    return {names.get(name) or [*whole.get(name, ()), name][0]: value for name, value in found.items()}


def seconds(text: str) -> float | None:
    """How long a tool measures; None if something else ends it."""
    return float(text) or None if text.isdecimal() else None


def refuse(program: str, given: Collection[str], others: Iterable[str], dashes: str = "") -> None:
    """Raise UserError if an option among those given asks for something else than a benchmark.

    `others`: the names of such options; `dashes`: how the error writes them.
    """
    for name in others:
        if f"--{name}" in given:
            raise UserError(f"{program} {dashes}{name} is not a benchmark: start it without `benchwatch run`")


@dataclass(frozen=True)
class Options:
    """The options that a launcher has to know: see Launcher."""

    recorded: Mapping[str, str] = field(default_factory=dict)
    """Those that are parameters of the run, and the names of these."""
    missing: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Words that are added at the end if none of these options and properties is given."""
    length: str = ""
    """How many seconds the tool measures."""
    properties: str = ""
    """The option that is followed by a property."""

    def __call__(self, line: CommandLine) -> Command:
        """See Launcher."""
        given = options(line.arguments, properties=self.properties)
        added = [words for words, names in self.missing.items() if given.keys().isdisjoint(names)]
        said = {name: given[option] for option, name in self.recorded.items() if option in given}
        return Command(
            length=seconds(given.get(self.length, "")),
            appended=tuple(" ".join(added).split()),
            facts=lambda benchmark, host: Facts(said, client=benchmark.machine(host)),
        )
