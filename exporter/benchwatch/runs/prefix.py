"""What stands before each line of a tool's output where something else has passed it on, and is taken away again.

    pgbench-1  | progress: 5.0 s, ...                                       docker compose
    2026-01-02T03:04:05.123456789Z stdout F progress: 5.0 s, ...            a container's log, kubectl --timestamps
    2026-01-02 03:04:05,123 INFO     [bench] progress: 5.0 s, ...           a logger
        progress: 5.0 s, ...                                                indentation

A prefix is known by what follows it: a tool recognises its output once it is gone. The shortest such prefix counts,
unless all of its lines share a longer one (`INFO fio: ` where fio's own `fio: ` begins lines, too). Lines have the same
prefix if it has the same shape: numbers may differ and so may the names of levels, streams, months and days; other
words, and the number in a name (pgbench-1), may not. The space that ends a prefix is the same throughout, for what
follows may be indented; only behind a level it may fill up a column. Lines without the prefix are left as they are.
Colours and the like (ECMA-48 control sequences) go first.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import accumulate
from typing import Any, NamedTuple

from ..tools.api import Moment, Parser, Tool

_CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_LONGEST = 120
"""Bytes of a prefix."""
_LINES = 40
"""How many lines are looked at for one."""
_SHAPES = 60
_HEAD = 16 * 1024
"""How much of a stream's beginning is looked at, bytes."""
_LONG = 4096
"""How long a first line has to be, bytes, not to be waited for: a compact document."""
_KEPT = 1 << 20
"""How much of a line that has not ended is kept, bytes: what is longer goes on as it is."""

_LEVELS = rb"trace|debug|info|notice|warn|warning|error|err|fatal|critical|severe|[diwef]"
_CLASSES = (
    rb"(?:" + _LEVELS + rb")",
    rb"std(?:out|err)",
    rb"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*",
    rb"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*",
    rb"[fp]",
)
_TOKEN = re.compile(
    rb"(?P<name>[A-Za-z]+[-_]\d+)|(?P<number>\d+)(?:[.,]\d+)?|(?P<word>[A-Za-z]+)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_PADDED = re.compile(rb"\b(?:" + _LEVELS + rb") {2,}$", re.IGNORECASE)
"""A level at the end of a prefix, filled up to a width."""
_BORDER = re.compile(rb"[\s|:\]>)]+")


class Prefix(NamedTuple):
    """What is taken away from the lines of a stream."""

    shape: bytes
    """A regular expression; empty if it is only colours."""
    example: str
    """As it stood before the first line that showed it; empty as well."""
    coloured: bool

    def plain(self, data: bytes) -> bytes:
        """Whole lines without it."""
        if self.coloured:
            data = _CONTROL.sub(b"", data)
        return re.compile(rb"(?im)^" + self.shape).sub(b"", data) if self.shape else data

    def moments(self, tool: Tool, kind: str, data: bytes) -> Iterator[Moment]:
        """See tools.Tool; of a stream with the prefix."""
        lines = data.splitlines(keepends=True)
        plain = [self.plain(line) for line in lines]
        ends, plain_ends = (list(accumulate(map(len, each))) for each in (lines, plain))
        for moment in tool.moments(kind, b"".join(plain)):
            yield moment._replace(offset=ends[bisect_left(plain_ends, moment.offset)])

    @property
    def note(self) -> str:
        """What was taken away, for people."""
        parts = [f"{self.example!r} before each line"] if self.example else []
        return " and ".join([*parts, *(["colours"] if self.coloured else [])]) + " left out"


def find_prefix(head: bytes, tools: Sequence[Tool]) -> tuple[Tool, str, Prefix] | None:
    """The tool and kind of a stream that begins like that, once a prefix is gone; None if there is none."""
    head = head[:_HEAD]
    coloured = _CONTROL.search(head) is not None
    text = _CONTROL.sub(b"", head) if coloured else head
    best: tuple[Tool, str, Prefix] | None = None
    lines = 0
    for shape, example, count in _shapes(text):
        prefix = Prefix(shape, example, coloured)
        if best and not (count == lines and example.startswith(best[2].example)):
            continue
        plain = prefix.plain(head)
        for tool in tools:
            if (kind := tool.recognise(plain)) and not tool.kinds[kind].is_log:
                best, lines = (tool, kind, prefix), count
                break
    return best


def _shapes(text: bytes) -> Iterator[tuple[bytes, str, int]]:
    """Prefixes that at least half of the lines have, short ones first, and how many have them."""
    ended = text.split(b"\n")[:-1] or ([text] if len(text) >= _LONG else [])
    lines = [line for line in ended if line.strip()][:_LINES]
    found: dict[bytes, str] = {}
    for line in lines:
        for border in _BORDER.finditer(line[:_LONGEST]):
            if len(found) < _SHAPES:
                begin = line[: border.end()]
                found.setdefault(_shape(begin), begin.decode("utf-8", "replace"))
    yield b"", "", len(lines)
    for shape, example in sorted(found.items(), key=lambda item: len(item[1])):
        pattern = re.compile(rb"(?i)" + shape)
        count = sum(pattern.match(line) is not None for line in lines)
        if 2 * count >= len(lines):
            yield shape, example, count


def _shape(prefix: bytes) -> bytes:
    """Nothing in it is tried twice, so that no line takes long."""
    end = len(prefix.rstrip())
    parts: list[bytes] = []
    if padded := _PADDED.search(prefix):
        end = padded.start()
        last = rb"(?=(?:" + _LEVELS + rb") )[A-Za-z ]{%d}" % len(padded[0])
    else:
        last = re.escape(prefix[end:])
    for token in _TOKEN.finditer(prefix[:end]):
        text = token[0]
        if token["number"]:
            parts.append(rb"\d++(?:[.,]\d++)?+")
        elif token["space"]:
            parts.append(rb"[ \t]++")
        elif token["word"]:
            parts.append(next((one for one in _CLASSES if re.fullmatch(one, text, re.IGNORECASE)), re.escape(text)))
        else:
            parts.append(re.escape(text))
    return b"".join(parts) + last


class Unprefixed:
    """A parser of a stream without its prefix."""

    def __init__(self, parser: Parser, prefix: Prefix) -> None:
        self._parser = parser
        self._prefix = prefix
        self._rest = b""
        self._tried = False
        """Whether the rest was found to lack more than its end."""

    @property
    def records(self) -> int:
        """See tools.Parser."""
        return self._parser.records

    @property
    def undated(self) -> bool:
        """See tools.Parser."""
        return self._parser.undated or bool(self._rest)

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        lines, end, rest = (self._rest + data).rpartition(b"\n")
        if len(rest) > _KEPT:
            lines, end, rest = lines + end + rest, b"", b""
        self._rest, self._tried = rest, False
        return self._parser.feed(self._prefix.plain(lines + end)) if lines or end else ()

    def settle(self) -> Sequence[Any]:
        """See tools.Parser."""
        if not self._rest:
            return self._parser.settle()
        if self._tried:
            return ()
        self._tried = True
        trial = deepcopy(self._parser)
        records = [*trial.feed(self._prefix.plain(self._rest)), *trial.settle()]
        if records:
            self._parser, self._rest = trial, b""
        return records

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        rest, self._rest = self._rest, b""
        return [*self._parser.feed(self._prefix.plain(rest)), *self._parser.close()]
