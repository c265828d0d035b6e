"""A command line of the form `tool [--name=value ...] [word ...]`, for launchers."""

from collections.abc import Iterable, Mapping, Sequence

from ...values.errors import UserError
from ..launcher import Command


class Options(Command):
    """The options without their dashes, and the words. If an option is repeated, the last one counts."""

    def __init__(self, arguments: Sequence[str], renamed: Mapping[str, str] | None = None) -> None:
        self.given: dict[str, str] = {}
        for name, _, value in (word[2:].partition("=") for word in arguments if word.startswith("--")):
            self.given[(renamed or {}).get(name, name)] = value
        self.words = [word for word in arguments if not word.startswith("--")]

    def missing(self, flags: Mapping[str, str]) -> list[str]:
        """Those of the flags that are not given, as arguments."""
        return [f"--{name}={value}" for name, value in flags.items() if name not in self.given]

    def recorded(self, names: Iterable[str]) -> dict[str, str]:
        """Options that are parameters of the run."""
        return {name.replace("-", "_"): self.given[name] for name in names if name in self.given}

    def refuse(self, tool: str, names: Iterable[str]) -> None:
        """Raise UserError if an option or the last word has one of these names, which start no benchmark."""
        asked = {*self.given, *(self.words[-1:] or ["without a test"])}
        if wrong := next((name for name in names if name in asked), ""):
            raise UserError(f"{tool} {wrong} is not a benchmark: start it without `benchwatch run`")
