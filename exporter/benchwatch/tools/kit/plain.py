"""A launcher for tools whose options have values: `-x value`, `--name value`, `--name=value`, `-p name=value`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...machine.host import Host
from ..invocation import Benchmark
from ..launcher import Command, Facts, Preparation


class PlainLauncher(NamedTuple):
    """See Launcher. Options are named with their dashes, properties (name=value after an option) without."""

    recorded: Mapping[str, str] = {}
    """Options and properties that are parameters of the run, and the names of these."""
    missing: Sequence[tuple[Sequence[str], Sequence[str]]] = ()
    """If none of these is given, these words are added at the end."""
    length: str = ""
    """How many seconds the tool measures."""
    properties: str = ""
    """The option that is followed by a property."""

    def read(self, arguments: Sequence[str], version: str) -> "PlainCommand":
        """See Launcher."""
        return PlainCommand(self, arguments)


class PlainCommand(Command):
    """The options of a command. If one is repeated, the last counts."""

    def __init__(self, launcher: PlainLauncher, arguments: Sequence[str]) -> None:
        self._launcher = launcher
        self._given: dict[str, str] = {}
        for option, value in pairwise((*arguments, "")):
            name, equals, own = option.partition("=")
            if option == launcher.properties:
                name, _, value = value.partition("=")
            elif not option.startswith("-"):
                continue
            self._given[name] = own if equals else value

    @property
    def length(self) -> float | None:
        """Seconds; None if something else ends it."""
        text = self._given.get(self._launcher.length, "")
        return float(text) or None if text.isdecimal() else None

    def prepare(self, percentiles: bool, room: object) -> Preparation:
        """See Command."""
        added = (words for names, words in self._launcher.missing if self._given.keys().isdisjoint(names))
        return Preparation(appended=tuple(word for words in added for word in words))

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """See Command."""
        said = {name: self._given[option] for option, name in self._launcher.recorded.items() if option in self._given}
        return Facts(said, client="" if benchmark.elsewhere else host.name)
