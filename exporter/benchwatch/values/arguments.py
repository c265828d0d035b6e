"""Command lines: the parser of all commands, and types of values for its `type=`.

Options cannot be abbreviated, so a new option never changes the meaning of a script. An error in a command line is a
UserError that suggests the word that was probably meant.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from glob import escape
from pathlib import Path
from typing import Any, NoReturn

from .durations import Duration
from .errors import WRONG_USE, UserError
from .input_files import expanded, one_path
from .suggestion import did_you_mean, either
from .timestamps import read_moment


class _Formatter(argparse.HelpFormatter):
    """Lists commands without a heading, and examples line by line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)


class CommandParser(argparse.ArgumentParser):
    """A parser for a command and, as `parser_class`, for its subcommands."""

    def __init__(self, *, examples: Iterable[str] = (), **settings: Any) -> None:
        """`examples` are command lines, shown at the end of the help."""
        shown = "".join(f"\n  {example}" for example in examples)
        settings = {
            "epilog": f"examples:{shown}" if shown else None,
            "formatter_class": _Formatter,
            **settings,
        }
        super().__init__(allow_abbrev=False, **settings)

    def format_help(self) -> str:
        """The command's own groups of options precede the general options."""
        self._optionals.title = "general options"
        self._action_groups.sort(key=lambda group: group is self._optionals)
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Raises UserError for an unknown argument: the parent parser could not suggest what was meant."""
        found, rest = super().parse_known_args(args, namespace)
        self.refuse(rest)
        return found, rest

    def refuse(self, words: Sequence[str]) -> None:
        """Raises UserError if there are any words; its message is about the first option among them."""
        for word in words:
            if word.startswith("-"):
                option = word.partition("=")[0]
                self.error(f"no option {option}{did_you_mean(option, self._option_string_actions)}")
        if words:
            self.error(f"unexpected argument {words[0]!r}")

    def error(self, message: str) -> NoReturn:
        """Raises UserError."""
        raise UserError(message.removeprefix("argument "), advice=f"See: {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            sentence = f"expected {either(choices)}, got {value!r}{did_you_mean(str(value), choices)}"
            raise argparse.ArgumentError(action, sentence)


def duration(text: str) -> Duration:
    """A length of time: seconds (60, 0.5) or a number with a unit (1ms, 5m)."""
    try:
        return Duration.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def moment(text: str) -> float:
    """A time in the future: Unix seconds."""
    try:
        return read_moment(text, time.time())
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def count(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


def run_path(text: str) -> Path:
    """The path of one run; a mere name that is not here is one in `runs`, where `run` puts them."""
    return _in_runs(one_path(text), text)


def run_paths(text: str) -> list[Path]:
    """The same for several runs, such as those that a glob matches."""
    return [_in_runs(path, text) for path in expanded(text)]


def _in_runs(path: Path, text: str) -> Path:
    if str(path) != text or path.name != text or not Path("runs").is_dir():
        return path
    numbered = text.rpartition("#")[0] or text
    here = path.exists() or Path(numbered).exists() or any(Path().glob(f"{escape(text)}-*"))
    return path if here else Path("runs", text)


class Flattened(argparse.Action):
    """Joins the lists that the values of an argument stand for."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        """Sets the joined list."""
        lists = (each if isinstance(each, list) else [each] for each in values)  # a default has single paths
        setattr(namespace, self.dest, [path for each in lists for path in each])


def add_runs(parser: argparse._ActionsContainer, metavar: str, what: str = "") -> None:
    """Add the argument for the runs that a command reads; `what` ends the list of what a path may be."""
    what = what or "or a folder of runs"
    parser.add_argument(
        "paths",
        nargs="+",
        type=run_paths,
        action=Flattened,
        metavar=metavar,
        help=f"a file or archive (-: standard input), the folder of a run, {what}; PATH#3 is the third run in a file",
    )


def add_warmup(parser: argparse._ActionsContainer) -> None:
    """Add the option --warmup."""
    parser.add_argument(
        "--warmup",
        type=duration,
        metavar="TIME",
        help="exclude this much time at the start of every run, such as 60s (default: from the records)",
    )


def overview(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Shows the help of a command that was called without a subcommand; returns the exit code of wrong use."""
    parser.print_help(sys.stderr)
    return WRONG_USE
