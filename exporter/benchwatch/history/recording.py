"""A recorded stream, which can be read as far as it had been written at a given time.

Each line of a text is parsed once, although it may be read three times: to find when its parts were written and the
start of its run, and to replay it. Its latencies are gathered on the way, if requested.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any, NamedTuple

from ..runs.layout import StreamPlan
from ..runs.stream import Stream
from ..tools.api import LINE, Bins, Parser, ReadLine, read_lines
from ..values.errors import ConfigError

_MOST_KEPT = 1 << 26
"""Bytes of a stream up to which its records may be kept."""
_HELD = 1 << 24
"""Bytes of a file that are read before their memory is released."""


class Recording(Stream):
    """A stream whose files were read completely; it delivers them up to `until`, bytes."""

    def __init__(self, plan: StreamPlan, folder: Path, gather: bool) -> None:
        self._gather = plan.tool.kinds[plan.kind].bins if gather else None
        self.bins: Bins | None = None
        """The latencies gathered so far, if requested."""
        self.data = self._loaded(plan, folder)
        self.until = 0
        self.modified = math.inf
        """When the part being read was written, Unix seconds."""
        self.start: float | None = None
        """When the run began, which is known while it is played, Unix seconds."""
        self._kept: _Keeping | None = None
        super().__init__(plan, folder)

    @property
    def size(self) -> int:
        """Bytes that were read of it."""
        return self._position

    @property
    def length(self) -> int:
        """How much there is of it, bytes."""
        return len(self.data)

    def _loaded(self, plan: StreamPlan, folder: Path) -> bytes | mmap:
        whole = _content([folder / name for name, _ in plan.parts])
        return whole if plan.cut is None else whole[plan.cut.begin : plan.cut.end]

    def content(self, begin: int, end: int) -> bytes:
        """What is in it from one offset to another."""
        return self.data[begin:end]

    def keep(self) -> None:
        """From now on, parse each line only once, however often it is read; its records stay in memory, if not huge."""
        if self._kept is None and self.length <= _MOST_KEPT:
            self._kept = _Keeping(self.plan.parser())

    def lines(self) -> Iterator[ReadLine]:
        """What its lines say; it is kept, since it will be read again."""
        self.keep()
        yield from self._kept.lines(self.data[:]) if self._kept else read_lines(self.plan.parser(), self.data)

    def restart(self) -> None:
        """Read from the start again."""
        super().restart()
        self._position = self._released = 0
        if self._kept is not None:
            self._kept.rewind()
            self.parser = self._kept
        if self._gather is not None:
            self.bins = self._gather(self.content)
            self.parser = _Gathering(self.parser, self.bins)

    def read(self, limit: int, files: Mapping[str, object]) -> tuple[bytes, float]:
        """The bytes written since the last call."""
        data = self.data[self._position : self.until]
        self._position = max(self._position, self.until)
        if self._position - self._released > _HELD:
            self.release()
        return data, self.modified

    def release(self) -> None:
        """Let the system reclaim the memory of the part of a file that was read; it can be read again."""
        self._released = self._position
        if isinstance(self.data, mmap):
            self.data.madvise(MADV_DONTNEED)

    def begun(self, recorded: float | None) -> tuple[float | None, bool]:
        """As of the files, or as it is known when it is played."""
        return super().begun(recorded) if self.start is None else (self.start, True)


class _Line(NamedTuple):
    """A parser's answer to a line."""

    end: int
    """Bytes."""
    records: Sequence[Any]
    understood: int
    """The parser's `records` up to there."""
    undated: bool


class _Keeping:
    """A parser that keeps its answer to each line, and repeats it when the line is read again."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._lines: list[_Line] = []
        self._parsed = 0
        self._settled: Sequence[Any] | None = None
        self._closed: Sequence[Any] | None = None
        self.rewind()

    def rewind(self) -> None:
        """Begin again."""
        self._offset = self._said = 0
        self._rest_said = False
        self.records = 0
        self.undated = False

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser. Repeated input must be the same as before."""
        self._parse(data[max(0, self._parsed - self._offset) :])
        self._offset += len(data)
        found: list[Any] = []
        while self._said < len(self._lines) and self._lines[self._said].end <= self._offset:
            line = self._lines[self._said]
            found += line.records
            self.records, self.undated = line.understood, line.undated
            self._said += 1
        return found

    def _parse(self, data: bytes) -> None:
        parser = self._parser
        for line in LINE.findall(data):
            self._parsed += len(line)
            records = parser.feed(line)
            self._lines.append(_Line(self._parsed, records, parser.records, parser.undated))

    def lines(self, data: bytes) -> Iterator[ReadLine]:
        """What all lines of a stream say."""
        self._parse(data[self._parsed :])
        if self._settled is None:
            self._settled = self._parser.settle()
        yield from ((line.end, line.records) for line in self._lines)
        yield self._parsed, self._settled

    def settle(self) -> Sequence[Any]:
        """See tools.Parser: only the last line may lack its end."""
        if self._offset < self._parsed or self._rest_said:
            return ()
        if self._settled is None:
            self._settled = self._parser.settle()
        self._rest_said = True
        return self._ended(self._settled)

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        if self._offset < self._parsed:
            return ()
        settled = self.settle()
        if self._closed is None:
            self._closed = self._parser.close()
        return [*settled, *self._ended(self._closed)]

    def _ended(self, records: Sequence[Any]) -> Sequence[Any]:
        self.records, self.undated = self._parser.records, self._parser.undated
        return records


class _Gathering:
    """A parser whose records also go to the gathering of latencies."""

    def __init__(self, parser: Parser, bins: Bins) -> None:
        self._parser = parser
        self._bins = bins
        self._offset = 0

    @property
    def records(self) -> int:
        """See tools.Parser."""
        return self._parser.records

    @property
    def undated(self) -> bool:
        """See tools.Parser."""
        return self._parser.undated

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        begin, self._offset = self._offset, self._offset + len(data)
        return self._gathered(self._parser.feed(data), begin)

    def settle(self) -> Sequence[Any]:
        """See tools.Parser."""
        return self._gathered(self._parser.settle(), self._offset)

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        return self._gathered(self._parser.close(), self._offset)

    def _gathered(self, records: Sequence[Any], begin: int) -> Sequence[Any]:
        self._bins.take(records, begin, self._offset)
        return records


def _content(paths: Sequence[Path]) -> bytes | mmap:
    """The content of these files, one after the other."""
    try:
        if len(paths) == 1 and paths[0].stat().st_size:
            with paths[0].open("rb") as file:
                return mmap(file.fileno(), 0, access=ACCESS_READ)
        return b"".join(path.read_bytes() for path in paths)
    except OSError as error:
        raise ConfigError(
            f"{error.filename}: cannot be read: {error.strerror}; expected output of a benchmark"
        ) from error
