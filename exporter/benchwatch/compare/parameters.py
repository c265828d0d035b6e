"""Parameters that differ between two sides, and which of them were meant to.

What always differs between runs is left out: times, process ids, load averages, free memory, the size of the database,
and where a command writes its output. `--vary` names the parameters (or patterns such as *huge*) that are meant to
differ. Labels may always differ. So may, in the command, options with a varied name and words that hold a varied value,
with their option: 20, -c20, -c 20, --client=20. Such an option may be there on one side only.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import NamedTuple

from .result import LABEL, Outcome

COMMAND = "command"
_PASSING = re.compile(
    r"(?:.*\.)?(?:start|end|date|time|pid|uptime|load.*|.*free|.*available|database_size)", re.IGNORECASE
)
_OUTPUT = re.compile(r"--(log-prefix|output|progress-timestamp|eta|output-format|status-interval)(=.*)?")
_OUTPUT_WITH_VALUE = frozenset({"--log-prefix", "--output", "--output-format", "--status-interval", "--eta"})
_FLAG = re.compile(r"^(?:[^=]*=|-\w)")
"""The part of a word before its value: -c, --client=, -Dnaccounts=."""
_ALONE = re.compile(r"-\w|--[^=]+")
"""An option whose value, if it has one, is the next word."""
_OPTION = re.compile(r"--?([^=]+)")


class Difference(NamedTuple):
    """A parameter whose values differ; a value is empty if the side has none."""

    name: str
    base: str
    other: str
    named: bool
    """Whether --vary names it."""
    intended: bool
    """Whether it was meant to differ; always true without --vary."""


def differences(base: Sequence[Outcome], other: Sequence[Outcome], vary: Collection[str]) -> Iterator[Difference]:
    """The parameters that differ between two sides, by name."""
    left, right = _values(base), _values(other)
    names = sorted(left.keys() | right.keys())
    named = {name for name in names if any(fnmatchcase(name, pattern) for pattern in vary)}
    varied = {side.get(name, "") for name in named for side in (left, right)} - {""}
    for name in names:
        before, after = left.get(name, ""), right.get(name, "")
        if before == after or _PASSING.fullmatch(name):
            continue
        intended = not vary or name in named or name.startswith(LABEL)
        if name == COMMAND:
            commands = [_commands(side) for side in (base, other)]
            if commands[0].keys() == commands[1].keys():
                continue
            plain = [{tuple(_without(words, varied, vary)) for words in side} for side in commands]
            intended = intended or plain[0] == plain[1]
            before, after = (", ".join(side.values()) for side in commands)
        yield Difference(name, before, after, name in named, intended)


def changed(before: Mapping[str, str], now: Mapping[str, str], runs: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """The parameters that differ between two runs of these names: the name, its value before, and now."""
    for name in sorted(before.keys() | now.keys()):
        values = before.get(name, ""), now.get(name, "")
        said = [
            [word.replace(run, "") for word in _words(value)] if name.startswith(COMMAND) else value
            for run, value in zip(runs, values, strict=True)
        ]
        if said[0] != said[1] and not _PASSING.fullmatch(name):
            yield name, *values


def _values(runs: Sequence[Outcome]) -> Mapping[str, str]:
    """The parameters of one side; if its runs differ, their values side by side."""
    names = dict.fromkeys(name for run in runs for name in run.parameters)
    return {name: ", ".join(dict.fromkeys(run.parameters.get(name, "") for run in runs)) for name in names}


def _commands(runs: Sequence[Outcome]) -> dict[tuple[str, ...], str]:
    """The different commands of one side without their output files: by their words, as they are shown.

    Paths that `benchwatch run` added, in the run's folder or in memory, count as output files.
    """
    found: dict[tuple[str, ...], str] = {}
    for run in runs:
        command = run.parameters.get(COMMAND, "")
        name, workers = re.escape(run.run), "|".join(map(re.escape, run.counted))
        own = re.compile(rf"[^=\s]*/(?:{name}|benchwatch-{name}-[^/\s]*)/(?:{workers})\b")
        words = _words(command)
        found.setdefault(tuple(own.sub("", word) for word in words), shlex.join(words))
    return found


def _words(command: str) -> list[str]:
    """A command without the path of its program, also behind `env`, and without its output files."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    begin = 0
    if words[:1] == ["env"]:
        begin = next((at for at, word in enumerate(words[1:], 1) if "=" not in word), 0)
    found = [*words[:begin], *(PurePath(word).name for word in words[begin : begin + 1])]
    skip = False
    for word in words[begin + 1 :]:
        if not skip and not _OUTPUT.fullmatch(word):
            found.append(word)
        skip = word in _OUTPUT_WITH_VALUE
    return found


def _without(words: Sequence[str], values: Set[str], names: Collection[str]) -> list[str]:
    """The words without these values and their options, and without options with these names (or patterns)."""
    found: list[str] = []
    for word in words:
        if word in values:
            if found and _ALONE.fullmatch(found[-1]):
                found.pop()
        elif _FLAG.sub("", word) not in values:
            option = _OPTION.match(word)
            if not option or not any(fnmatchcase(option[1], name) for name in names):
                found.append(word)
    return found
