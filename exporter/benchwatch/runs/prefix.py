"""Finds and removes the prefix that a program in between puts before each line of a tool's output.

    pgbench-1  | progress: 5.0 s, ...                                       docker compose
    2026-01-02T03:04:05.123456789Z stdout F progress: 5.0 s, ...            a container's log, kubectl --timestamps
    2026-01-02 03:04:05,123 INFO     [bench] progress: 5.0 s, ...           a logger
        progress: 5.0 s, ...                                                indentation

A prefix is recognised by what follows it: without the prefix, a tool recognises its output. Two lines have the same
prefix if the prefixes have the same shape: numbers may differ, and so may the names of levels, streams, months and
days; other words, and the number in a name (pgbench-1), may not. The space at the end of a prefix must be the same in
all lines, because what follows may be indented; only after a level may it pad a column. At least half of the first
lines have it; or some lines have it, anywhere in the first bytes (a report in a text, a banner), and the tool
understands several different lines. Lines without the prefix stay as they are. Colours and other control sequences
(ECMA-48) are removed first.
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
"""Bytes of the longest prefix."""
_LINES = 40
"""Lines examined to find one."""
_SHAPES = 60
_FIRST = 1024
"""Bytes of the first lines, which nearly always show whose output it is."""
_HEAD = 16 * 1024
"""Bytes of these lines."""
_UNDERSTOOD = 4
"""Different lines that a tool must understand if fewer than half of the lines have the prefix."""
_CANDIDATES = 30
"""Prefixes of single lines that are tried."""
_LONG = 4096
"""A first line of at least as many bytes is examined before it ends: it is a compact document."""
_KEPT = 1 << 20
"""Bytes of an unfinished line that stay in memory; the rest of a longer line passes unchanged."""

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
"""A level at the end of a prefix, padded to a width."""
_BORDER = re.compile(rb"[\s|:\]>)`]+")


class Prefix(NamedTuple):
    """What is removed from the lines of a stream."""

    shape: bytes
    """A regular expression; empty if it is only colours."""
    example: str
    """The prefix of the first line; empty if it is only colours."""
    coloured: bool

    def plain(self, data: bytes) -> bytes:
        """Whole lines without their prefixes."""
        if self.coloured:
            data = _CONTROL.sub(b"", data)
        if self.example.endswith("`"):  # code in a Markdown text
            data = re.compile(rb"(?im)^(" + self.shape + rb".*?)(?<!`)`++(?=\r?$)").sub(rb"\1", data)
        return re.compile(rb"(?im)^" + self.shape).sub(b"", data) if self.shape else data

    def moments(self, tool: Tool, kind: str, data: bytes) -> Iterator[Moment]:
        """See tools.Tool; `data` is a stream with prefixes."""
        lines = data.splitlines(keepends=True)
        plain = [self.plain(line) for line in lines]
        ends, plain_ends = (list(accumulate(map(len, each))) for each in (lines, plain))
        for moment in tool.moments(kind, b"".join(plain)):
            yield moment._replace(offset=ends[bisect_left(plain_ends, moment.offset)])

    @property
    def note(self) -> str:
        """A clause that says what was removed."""
        parts = [f"{self.example!r} before each line"] if self.example else []
        if self.coloured:
            parts.append("colours")
        return " and ".join(parts) + " left out"


def find_prefix(head: bytes, tools: Sequence[Tool]) -> tuple[Tool, str, Prefix] | None:
    """The tool, kind and prefix of a stream that begins with `head`; None if no prefix leads to a tool's output."""
    coloured = _CONTROL.search(head) is not None
    text = _CONTROL.sub(b"", head) if coloured else head
    lines = [line for line in _lines(text) if line.strip()]
    rests = b"".join(line[begin:] + b"\n" for line in lines for begin in (0, *_begins(line)))
    tools = [tool for tool in tools if tool.recognise(rests)]
    if not tools:
        return None
    for shape, example in _shapes(text[:_HEAD]):
        prefix = Prefix(shape, example, coloured)
        if found := first_tool(prefix.plain(head[:_HEAD]), tools, logs=False):
            return *found, prefix
    tried: set[bytes] = set()
    for line in lines:
        for begin in _begins(line):
            if not first_tool(line[begin:] + b"\n", tools, logs=False):
                continue
            shape = _shape(line[:begin])
            if shape in tried:
                continue
            prefix = Prefix(shape, line[:begin].decode("utf-8", "replace"), coloured)
            plain = prefix.plain(head)
            if found := first_tool(plain, tools, logs=False):
                parser = found[0].parser(found[1])
                parser.feed(b"".join(dict.fromkeys(plain.splitlines(keepends=True))))
                if parser.records >= _UNDERSTOOD:
                    return *found, prefix
            tried.add(shape)
            if len(tried) >= _CANDIDATES:
                return None
    return None


def first_tool(head: bytes, tools: Sequence[Tool], *, logs: bool = True) -> tuple[Tool, str] | None:
    """The tool whose output comes first in these bytes, and its kind; None if no tool recognises them."""
    # What the first lines show is enough to leave out the other tools, whose output comes later if at all.
    tools = [tool for tool in tools if tool.recognise(head[: head.find(b"\n", _FIRST) + 1])] or tools
    kinds = ((tool, tool.recognise(head)) for tool in tools)
    found = [(tool, kind) for tool, kind in kinds if kind and (logs or not tool.kinds[kind].is_log)]
    if len(found) < 2:
        return found[0] if found else None
    ends = [match.end() for match in re.finditer(rb"\n|\Z", head)]
    return min(found, key=lambda one: bisect_left(ends, True, key=lambda end: bool(one[0].recognise(head[:end]))))


def _lines(text: bytes) -> list[bytes]:
    """The lines that have ended, or an unfinished long one."""
    return text.split(b"\n")[:-1] or ([text] if len(text) >= _LONG else [])


def _begins(line: bytes) -> Iterator[int]:
    """Where a tool's line may begin in this line, ascending: what follows a prefix may be indented."""
    for border in _BORDER.finditer(line[:_LONGEST]):
        visible = len(border[0].rstrip())
        yield from dict.fromkeys((border.start() + min(visible + 1, len(border[0])), border.end()))


def _shapes(text: bytes) -> Iterator[tuple[bytes, str]]:
    """Shape and example of each prefix that at least half of the lines have, short ones first."""
    lines = [line for line in _lines(text) if line.strip()][:_LINES]
    found: dict[bytes, str] = {}
    for line in lines:
        for border in _BORDER.finditer(line[:_LONGEST]):
            if len(found) < _SHAPES:
                begin = line[: border.end()]
                found.setdefault(_shape(begin), begin.decode("utf-8", "replace"))
    yield b"", ""
    for shape, example in sorted(found.items(), key=lambda item: len(item[1])):
        pattern = re.compile(rb"(?i)" + shape)
        if 2 * sum(pattern.match(line) is not None for line in lines) >= len(lines):
            yield shape, example


def _shape(prefix: bytes) -> bytes:
    """A regular expression for prefixes of the same shape. It never backtracks, so no line takes long."""
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
            classes = (one for one in _CLASSES if re.fullmatch(one, text, re.IGNORECASE))
            parts.append(next(classes, re.escape(text)))
        else:
            parts.append(re.escape(text))
    return b"".join(parts) + last


class Unprefixed:
    """A parser that removes the prefix before another parser reads a line."""

    def __init__(self, parser: Parser, prefix: Prefix) -> None:
        self._parser = parser
        self._prefix = prefix
        self._rest = b""
        self._tried = False
        """Whether the unfinished line was tried, and lacks more than its newline."""

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
