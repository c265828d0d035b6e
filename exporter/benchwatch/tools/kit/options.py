"""Command lines with options that have values: `-x value`, `--name value`, `--name=value`, `-p name=value`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...machine.host import Host
from ..invocation import Benchmark
from ..launcher import Command, Facts, Preparation


@dataclass(frozen=True)
class Options:
    """The options that a launcher has to know: see Launcher. Options are named with their dashes, properties without.

    A property is the `name=value` that follows an option. If one is repeated, the last counts.
    """

    recorded: Mapping[str, str] = field(default_factory=dict)
    """Those that are parameters of the run, and the names of these."""
    missing: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Words that are added at the end if none of these options and properties is given."""
    length: str = ""
    """How many seconds the tool measures."""
    properties: str = ""
    """The option that is followed by a property."""

    def __call__(self, arguments: Sequence[str], version: str) -> "OptionsCommand":
        """See Launcher."""
        return OptionsCommand(self, arguments)


class OptionsCommand(Command):
    """A command with these options."""

    def __init__(self, options: Options, arguments: Sequence[str]) -> None:
        self.options = options
        self.given: dict[str, str] = {}
        self.words = [word for word in arguments if not word.startswith("-")]
        for option, value in pairwise((*arguments, "")):
            name, equals, own = option.partition("=")
            if option == options.properties:
                name, _, value = value.partition("=")
            elif not option.startswith("-"):
                continue
            self.given[name] = own if equals else value

    @property
    def length(self) -> float | None:
        """Seconds; None if something else ends it."""
        text = self.given.get(self.options.length, "")
        return float(text) or None if text.isdecimal() else None

    def prepare(self, percentiles: bool, room: object, own: object = None) -> Preparation:
        """See Command."""
        added = [words for words, names in self.options.missing.items() if self.given.keys().isdisjoint(names)]
        return Preparation(appended=tuple(" ".join(added).split()))

    def recorded(self) -> dict[str, str]:
        """The parameters of the run."""
        return {name: self.given[option] for option, name in self.options.recorded.items() if option in self.given}

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """See Command."""
        return Facts(self.recorded(), client="" if benchmark.elsewhere else host.name)
