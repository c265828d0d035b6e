"""Which word of a command is the benchmark: the first, or a later one, as in `sudo -u postgres pgbench ...`.

The words before it (the wrapper) also precede questions to the tool and its server, so that psql runs as the same user
on the same host.

Hosts, users, containers, images and folders may have the name of a tool too. In order of preference, the tool is the
word right after `--`; the first word that is the bare name, an executable on this machine, or an absolute path that is
not the value of an option; or any path that ends in the name (an image). But a path right after a bare name overrides
that name, as in `ssh fio /usr/bin/pgbench`.

Passwords in a command are masked before it is recorded.
"""

import os
import re
import shutil
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple

from ..machine.host import Host
from ..values.errors import UserError
from ..values.suggestion import did_you_mean, either

_VALUE_FOLLOWS = frozenset(
    {"-u", "-g", "-U", "-p", "-l", "-h", "-o", "--user", "--group", "--output", "--name", "--hostname", "--network"}
)
"""Options of wrappers whose value may be a name such as `pgbench`."""
_NO_PROGRAM = re.compile(r"^-|[=:]")
"""An option, an assignment, a URI or a volume, even if it ends in the name of a tool."""
_HERE = frozenset(
    {"env", "nice", "ionice", "chrt", "taskset", "numactl", "cgexec", "systemd-run", "prlimit", "stdbuf", "nohup"}
    | {"setsid", "flock", "ip", "time", "timeout", "strace", "perf", "stat"}
)
"""Wrappers that keep it on this machine and under this user (`stat` as in `perf stat`, and a program of its own)."""
_OTHER_USER = frozenset({"sudo", "su", "runuser", "setpriv", "doas"})
_PASSWORDS = (
    re.compile(r"(://[^/@\s]*?:)[^/\s]*(?=@)"),
    re.compile(r"^([\w-]*=?[\w-]+pass(?:word|wd)?=).+", re.IGNORECASE | re.DOTALL),  # PGPASSWORD=, --env=PGPASSWORD=
    re.compile(r"(pass(?:word|wd)?\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s&]+)", re.IGNORECASE),
)
_OF_SSHPASS = re.compile(r"(\bsshpass(?:\0-[^\0]*)*?\0-p\0?)[^\0]+")
_HIDDEN = "***"


class Benchmark(NamedTuple):
    """A command, split into its parts."""

    wrapper: tuple[str, ...]
    program: str
    arguments: tuple[str, ...]
    tool: str
    """Name of the tool."""

    @property
    def command(self) -> list[str]:
        """The whole command."""
        return [*self.wrapper, self.program, *self.arguments]

    @property
    def elsewhere(self) -> bool:
        """Whether it may run on another machine or in a container, with other files and other facts.

        This is assumed unless all wrappers are known to keep it here.
        """
        words = [word for before, word in pairwise(self.wrapper) if before not in _VALUE_FOLLOWS and shutil.which(word)]
        return not {PurePath(word).name for word in (*self.wrapper[:1], *words)} <= _HERE | _OTHER_USER

    def machine(self, host: Host) -> str:
        """The machine on which it runs, as far as that is known: `host`, or empty."""
        return "" if self.elsewhere else host.name

    @property
    def makes_container(self) -> bool:
        """Whether each start of the wrapper creates a container, so that only the benchmark should start it."""
        return self.elsewhere and not {"run", "create"}.isdisjoint(self.wrapper)

    @property
    def other_user(self) -> bool:
        """Whether it may run as another user, who cannot write everywhere."""
        return any(PurePath(word).name in _OTHER_USER for word in self.wrapper)

    def sibling(self, name: str) -> list[str]:
        """The command of another program in the same folder, behind the same wrapper."""
        return [*self.wrapper, str(PurePath(self.program).with_name(name))]


def find_benchmark(command: Sequence[str], known: Collection[str]) -> Benchmark:
    """The benchmark in a command, by the names of the known tools. Raises UserError if there is none, or several."""
    if command and PurePath(command[0]).name in known:
        place = 0
    else:
        doubts = {
            place: _doubt(before, word)
            for place, (before, word) in enumerate(pairwise(command), 1)
            if PurePath(word).name in known and _may_be_program(before, word)
        }
        if not doubts:
            meant = did_you_mean(PurePath(command[0]).name, known) if command else ""
            raise UserError(
                f"{' '.join(command)[:200] or 'nothing'!r} contains no known benchmark: expected a command with the"
                f" word {either(sorted(known))} in it{meant or ' (to record a script that starts one: docs/push.md)'}"
            )
        place = min(doubts, key=lambda place: doubts[place])
        if doubts[place] and "/" not in command[place] and place + 1 in doubts:
            if "/" not in command[place + 1]:
                words = f"{command[place]!r} and {command[place + 1]!r}"
                path = f"/usr/bin/{command[place + 1]}"
                raise UserError(f"which of {words} is the benchmark? Write it with its path, such as {path}")
            place += 1
    program = command[place]
    return Benchmark(tuple(command[:place]), program, tuple(command[place + 1 :]), PurePath(program).name)


def _may_be_program(before: str, word: str) -> bool:
    """Whether a word that ends in a tool's name may be the tool; a path may exist only on another machine."""
    if _NO_PROGRAM.search(word) or before in _VALUE_FOLLOWS:
        return False
    return "/" not in word or shutil.which(word) is not None or not os.access(word, os.F_OK)


def _doubt(before: str, word: str) -> int:
    """How doubtful it is that this word is the tool: 0, 1 or 2."""
    if before == "--":
        return 0
    absolute = word.startswith("/") and not before.startswith("-")
    return 1 if "/" not in word or absolute or shutil.which(word) else 2


def recordable(command: Sequence[str]) -> list[str]:
    """A command with its passwords masked, including that of sshpass, and bytes that are not UTF-8 replaced."""
    text = "\0".join(without_passwords(word) for word in command)
    return _OF_SSHPASS.sub(rf"\1{_HIDDEN}", text).split("\0")


def without_passwords(text: str) -> str:
    """An argument with the passwords in URIs, connection strings, variables and options masked."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    for pattern in _PASSWORDS:
        text = pattern.sub(rf"\1{_HIDDEN}", text)
    return text
